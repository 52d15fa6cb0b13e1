package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	maxSchema = 32 << 10 // bytes of a tool's schema as JSON
	maxDepth  = 16       // of schemas within schemas
)

// Schema makes a server's schema of a tool's arguments one that model servers
// take: one wrong schema would make them refuse every request. What is no part of
// a JSON schema is left out, alternatives at the top are joined, and the top is an
// object. What cannot be made right is an error.
func Schema(given any) (map[string]any, error) {
	top, ok := given.(map[string]any)
	if given != nil && !ok {
		return nil, errors.New("its schema is no object")
	}
	if data, err := json.Marshal(top); err != nil || len(data) > maxSchema {
		return nil, fmt.Errorf("its schema is larger than %d KB", maxSchema>>10)
	}
	s := clean(flat(top), 0)
	if t, ok := s["type"]; ok && t != "object" {
		return nil, fmt.Errorf("its arguments are of the type %v, not an object", t)
	}
	s["type"] = "object"
	if s["properties"] == nil {
		s["properties"] = map[string]any{}
	}
	for name := range s["properties"].(map[string]any) {
		if name == "" || len(name) > maxName || strings.ContainsFunc(name, notInArgument) {
			return nil, fmt.Errorf("the name of its argument %q is none that models can give", name)
		}
	}
	return s, nil
}

func notInArgument(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r))
}

// flat joins the alternatives at the top of a schema, which many servers refuse:
// all their properties are there, and none is required by them.
func flat(s map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, s)
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		parts, _ := out[key].([]any)
		delete(out, key)
		for _, part := range parts {
			p, _ := part.(map[string]any)
			theirs, _ := p["properties"].(map[string]any)
			if len(theirs) == 0 {
				continue
			}
			ours, _ := out["properties"].(map[string]any)
			both := maps.Clone(theirs)
			maps.Copy(both, ours)
			out["properties"] = both
		}
	}
	for _, key := range []string{"not", "enum", "const", "$ref"} {
		delete(out, key)
	}
	return out
}

// clean keeps of a schema what is well formed.
func clean(s map[string]any, depth int) map[string]any {
	out := map[string]any{}
	for key, v := range s {
		if v, ok := cleanPart(key, v, depth); ok {
			out[key] = v
		}
	}
	return out
}

func cleanPart(key string, v any, depth int) (any, bool) {
	switch key {
	case "type":
		return cleanType(v)
	case "description", "format", "pattern", "title", "$ref":
		_, ok := v.(string)
		return v, ok
	case "required":
		return texts(v)
	case "enum":
		list, ok := v.([]any)
		return v, ok && len(list) > 0
	case "const", "default":
		return v, true
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems":
		_, ok := v.(float64)
		return v, ok
	case "uniqueItems":
		_, ok := v.(bool)
		return v, ok
	case "properties", "$defs", "definitions":
		return cleanMap(v, depth)
	case "items", "additionalProperties":
		if on, ok := v.(bool); ok {
			return on, key == "additionalProperties"
		}
		return cleanOne(v, depth)
	case "anyOf", "oneOf", "allOf":
		return cleanList(v, depth)
	}
	return nil, false
}

func cleanOne(v any, depth int) (any, bool) {
	s, ok := v.(map[string]any)
	if !ok {
		return map[string]any{}, v == true
	}
	if depth >= maxDepth {
		return map[string]any{}, true
	}
	return clean(s, depth+1), true
}

func cleanMap(v any, depth int) (any, bool) {
	given, ok := v.(map[string]any)
	out := map[string]any{}
	for name, one := range given {
		if s, ok := cleanOne(one, depth); ok {
			out[name] = s
		}
	}
	return out, ok
}

func cleanList(v any, depth int) (any, bool) {
	given, _ := v.([]any)
	var out []any
	for _, one := range given {
		if s, ok := cleanOne(one, depth); ok {
			out = append(out, s)
		}
	}
	return out, len(out) > 0
}

func cleanType(v any) (any, bool) {
	known := func(v any) bool {
		name, _ := v.(string)
		return slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, name)
	}
	if list, ok := v.([]any); ok {
		return v, len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return !known(v) })
	}
	return v, known(v)
}

func texts(v any) (any, bool) {
	list, ok := v.([]any)
	return v, ok && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok })
}
