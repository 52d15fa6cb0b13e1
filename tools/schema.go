package tools

import (
	"reflect"
	"strings"
)

// Schema makes the JSON schema of a struct, within the subset that every
// compatible server takes: type, description, enum, items, properties and
// required; nothing nullable, no references, no additionalProperties.
//
// Names come from the json tag, and the fields of embedded structs are
// promoted; a field without omitempty or omitzero is required (CORE-15). The
// description tag is the field's description, and the enum tag lists its
// values, separated by commas. T must not be recursive.
func Schema[T any]() map[string]any { return schemaOf(reflect.TypeFor[T]()) }

func schemaOf(t reflect.Type) map[string]any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string"} // base64
		}
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Struct:
		return structSchema(t)
	case reflect.Map:
		return map[string]any{"type": "object"}
	}
	return map[string]any{"type": "string"}
}

func structSchema(t reflect.Type) map[string]any {
	properties := map[string]any{}
	var required []string
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || f.Tag.Get("json") == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		properties[name] = fieldSchema(f)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func fieldSchema(f reflect.StructField) map[string]any {
	s := schemaOf(f.Type)
	if d := f.Tag.Get("description"); d != "" {
		s["description"] = d
	}
	if e := f.Tag.Get("enum"); e != "" {
		s["enum"] = strings.Split(e, ",")
	}
	return s
}
