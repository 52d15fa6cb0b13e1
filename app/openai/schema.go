package openai

import (
	"maps"
	"slices"
	"strings"
)

// plainSchema is a JSON schema cut down to what every server takes: type,
// description, enum, items, properties, required and two formats. References
// are put in place, of alternatives the first that is not null is taken.
func plainSchema(schema map[string]any) map[string]any {
	return plain(schema, schema, 0)
}

// maxDepth ends schemas that refer to themselves.
const maxDepth = 12

func plain(s, root map[string]any, depth int) map[string]any {
	s = resolve(s, root)
	out := map[string]any{}
	for _, key := range []string{"type", "description", "enum", "required"} {
		if v, ok := s[key]; ok {
			out[key] = v
		}
	}
	if types, ok := s["type"].([]any); ok {
		out["type"] = firstType(types)
	}
	if f, _ := s["format"].(string); f == "date-time" || f == "enum" {
		out["format"] = f
	}
	if v, ok := s["const"]; ok {
		out["enum"] = []any{v}
		if _, isText := v.(string); isText {
			out["type"] = "string"
		}
	}
	if depth >= maxDepth {
		return out
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		cleaned := make(map[string]any, len(properties))
		for name, p := range properties {
			cleaned[name] = plain(object(p), root, depth+1)
		}
		out["properties"], out["type"] = cleaned, "object"
	}
	if items, ok := s["items"]; ok {
		out["items"] = plain(object(items), root, depth+1)
	} else if out["type"] == "array" {
		out["items"] = map[string]any{"type": "string"}
	}
	return out
}

// object is a schema in object form; true and false are schemas too.
func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// resolve follows a reference, joins allOf and picks one of anyOf and oneOf.
// What stands beside them stays.
func resolve(s, root map[string]any) map[string]any {
	for range maxDepth {
		var parts []map[string]any
		if ref, ok := s["$ref"].(string); ok {
			parts = append(parts, pointer(root, ref))
		}
		for _, p := range list(s["allOf"]) {
			parts = append(parts, object(p))
		}
		for _, key := range []string{"anyOf", "oneOf"} {
			if i := slices.IndexFunc(list(s[key]), func(v any) bool { return object(v)["type"] != "null" }); i >= 0 {
				parts = append(parts, object(list(s[key])[i]))
			}
		}
		if len(parts) == 0 {
			return s
		}
		joined := map[string]any{}
		for _, p := range parts {
			join(joined, p)
		}
		rest := maps.Clone(s)
		for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
			delete(rest, key)
		}
		join(joined, rest)
		s = joined
	}
	return s
}

// join puts the fields of p into s; properties and required add up.
func join(s, p map[string]any) {
	for key, v := range p {
		switch old := s[key].(type) {
		case map[string]any:
			if key == "properties" {
				both := maps.Clone(old)
				maps.Copy(both, object(v))
				v = both
			}
		case []any:
			if key == "required" {
				v = append(slices.Clone(old), list(v)...)
			}
		}
		s[key] = v
	}
}

// pointer finds "#/$defs/name" in root; an unknown one is any object.
func pointer(root map[string]any, ref string) map[string]any {
	at := root
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		next, ok := at[part].(map[string]any)
		if !ok {
			return map[string]any{"type": "object"}
		}
		at = next
	}
	return at
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func firstType(types []any) any {
	for _, t := range types {
		if t != "null" {
			return t
		}
	}
	return "string"
}
