package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Value is a setting that holds.
type Value struct {
	Key    string   `json:"key"`
	Value  string   `json:"value"`  // as a file says it; "" where nothing is said
	Source []string `json:"source"` // where it comes from, as "/home/me/.config/phero/config.toml:3" or "--model"; of a list, each element
}

// List is every setting in the order of the reference.
func (s *Settings) List() (list []Value) {
	for _, one := range all() {
		if one.key == serversKey {
			for _, server := range s.Servers {
				list = append(list, Value{Key: serversKey + "." + server.Name, Value: server.Text(), Source: []string{server.Source}})
			}
			continue
		}
		v := Value{Key: one.key, Source: unique(s.merged.from[one.key])}
		if field := one.in(&s.merged.file); !field.IsZero() {
			v.Value = tomlText(field)
		}
		list = append(list, v)
	}
	return list
}

// Given are the settings that something else than the program says.
func (s *Settings) Given() (list []Value) {
	for _, v := range s.List() {
		if len(v.Source) > 0 && v.Source[0] != fromDefault {
			list = append(list, v)
		}
	}
	return list
}

func unique(list []string) (out []string) {
	for _, s := range list {
		if len(out) == 0 || out[len(out)-1] != s {
			out = append(out, s)
		}
	}
	return out
}

// Check reads one settings file as a start would, without looking at the others.
// Its error names each fault on a line of its own.
func Check(path string) error {
	l, err := readFile(path, false)
	if err == nil && l == nil {
		err = fmt.Errorf("%s does not exist", path)
	}
	if err == nil {
		_, err = merge([]*layer{l}).servers()
	}
	return err
}

// Reference is the reference of all settings, in Markdown.
func Reference() string {
	var b strings.Builder
	table := ""
	b.WriteString("```toml\n")
	for _, s := range all() {
		if s.key == serversKey {
			b.WriteString(serverExample())
			table = serversKey
			continue
		}
		name := s.key
		if dot := strings.LastIndexByte(s.key, '.'); dot >= 0 {
			if t := s.key[:dot]; t != table {
				table = t
				fmt.Fprintf(&b, "\n[%s]\n", t)
			}
			name = s.key[dot+1:]
		}
		fmt.Fprintf(&b, "# %s = %s\n", name, s.example())
	}
	b.WriteString("```\n\n| setting | what it does | values | flag, variable | in a project's file |\n|---|---|---|---|---|\n")
	list := all()
	for _, s := range serverSettings() {
		s.key = serversKey + ".<name>." + s.key
		list = append(list, s)
	}
	for _, s := range list {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.key, s.tag.Get("doc"), s.kinds(), s.elsewhere(), s.projects())
	}
	return b.String()
}

// serverExample is a server's table as the reference shows it, a comment as a whole.
func serverExample() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## [%s.name]\n", serversKey)
	for _, s := range serverSettings() {
		fmt.Fprintf(&b, "## %s = %s\n", s.key, s.example())
	}
	return b.String()
}

// example is the value that the reference shows: the default, or an empty one.
func (s setting) example() string {
	if d, ok := s.tag.Lookup("default"); ok {
		return tomlText(s.parse(d))
	}
	switch s.kind.Kind() {
	case reflect.Slice:
		return "[]"
	case reflect.Map:
		return "{}"
	}
	return `""`
}

func (s setting) kinds() string {
	if v := s.values(); v != nil {
		return "`" + strings.Join(v, "`, `") + "`"
	}
	switch s.kind {
	case reflect.TypeFor[Duration]():
		return "duration"
	case reflect.TypeFor[[]string]():
		return "list of strings"
	case reflect.TypeFor[map[string]string]():
		return "table of strings"
	case reflect.TypeFor[map[string]Server]():
		return "tables"
	case reflect.TypeFor[bool]():
		return "`true`, `false`"
	case reflect.TypeFor[int]():
		return "whole number"
	}
	return "string"
}

func (s setting) elsewhere() string {
	var list []string
	for _, name := range []string{s.tag.Get("flag"), s.tag.Get("env")} {
		if name != "" {
			list = append(list, "`"+name+"`")
		}
	}
	return strings.Join(list, ", ")
}

func (s setting) projects() string {
	switch s.tag.Get("project") {
	case "tighten":
		return "counts at once"
	case "no":
		return "never counts"
	}
	return "after trust"
}

// Schema is the JSON schema of a settings file, for editors.
func Schema() []byte {
	root := map[string]any{"$schema": "http://json-schema.org/draft-07/schema#", "title": "Settings of agent"}
	object(root)
	for _, s := range all() {
		at, name := root, s.key
		for {
			table, rest, ok := strings.Cut(name, ".")
			if !ok {
				break
			}
			props := at["properties"].(map[string]any)
			if props[table] == nil {
				props[table] = object(map[string]any{})
			}
			at, name = props[table].(map[string]any), rest
		}
		at["properties"].(map[string]any)[name] = s.schema()
	}
	data, _ := json.MarshalIndent(root, "", "  ") // strings and maps: cannot fail
	return append(data, '\n')
}

func object(m map[string]any) map[string]any {
	m["type"], m["additionalProperties"], m["properties"] = "object", false, map[string]any{}
	return m
}

func (s setting) schema() map[string]any {
	m := map[string]any{"description": s.tag.Get("doc")}
	switch s.kind {
	case reflect.TypeFor[[]string]():
		m["type"], m["items"] = "array", map[string]any{"type": "string"}
	case reflect.TypeFor[map[string]string]():
		m["type"], m["additionalProperties"] = "object", map[string]any{"type": "string"}
	case reflect.TypeFor[map[string]Server]():
		server := object(map[string]any{})
		for _, s := range serverSettings() {
			server["properties"].(map[string]any)[s.key] = s.schema()
		}
		m["type"], m["additionalProperties"] = "object", server
	case reflect.TypeFor[bool]():
		m["type"] = "boolean"
	case reflect.TypeFor[int]():
		m["type"] = "integer"
	default:
		m["type"] = "string"
	}
	if v := s.values(); v != nil {
		m["enum"] = v
	}
	if d, ok := s.tag.Lookup("default"); ok {
		m["default"] = reflect.Indirect(s.parse(d)).Interface()
	}
	return m
}
