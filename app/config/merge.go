package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// merged are the settings of all layers: the last one that says something wins,
// lists are added up.
type merged struct {
	file File
	from map[string][]string // where a setting comes from; of a list, each element
}

func merge(layers []*layer) *merged {
	m := &merged{from: map[string][]string{}}
	for _, l := range layers {
		for _, s := range all() {
			m.take(l, s)
		}
	}
	return m
}

func (m *merged) take(l *layer, s setting) {
	v, to := s.in(&l.file), s.in(&m.file)
	switch {
	case v.IsZero():
	case v.Kind() == reflect.Map:
		m.takeServers(l)
	case v.Kind() == reflect.Slice:
		to.Set(reflect.AppendSlice(to, v))
		for i := range v.Len() {
			m.from[s.key] = append(m.from[s.key], l.where(s, i))
		}
	default:
		to.Set(v)
		m.from[s.key] = []string{l.where(s, 0)}
	}
}

const fromDefault = "default"

// defaults are the settings where nothing is said.
func defaults() *layer {
	l := &layer{source: func(setting) string { return fromDefault }}
	for _, s := range all() {
		if text, ok := s.tag.Lookup("default"); ok {
			s.set(&l.file, text)
		}
	}
	return l
}

// set gives a setting the value of a tag or a variable.
func (s setting) set(f *File, text string) { s.in(f).Set(s.parse(text)) }

// parse is the value that a tag or a variable says, as the setting's field holds it.
func (s setting) parse(text string) reflect.Value {
	if s.kind.Kind() == reflect.Slice {
		return reflect.ValueOf(lines(text))
	}
	v := reflect.New(s.kind)
	switch p := v.Interface().(type) { // of tags, which a test reads: no error
	case *string:
		*p = text
	case *bool:
		*p = text == "true"
	case *int:
		*p, _ = strconv.Atoi(text)
	case *Duration:
		_ = p.UnmarshalText([]byte(text))
	}
	return v
}

// environment are the settings of variables.
func environment(getenv func(string) string) *layer {
	l := &layer{source: func(s setting) string { return s.tag.Get("env") }}
	for _, s := range all() {
		if name := s.tag.Get("env"); name != "" && getenv(name) != "" {
			s.set(&l.file, getenv(name))
		}
	}
	return l
}

// lines are the lines of a variable that holds a list, without blanks around them.
func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// drop takes from a project's file the settings with one tag of "project", and names them.
func (l *layer) drop(tag string) (keys []string) {
	for _, s := range all() {
		if v := s.in(&l.file); !v.IsZero() && s.tag.Get("project") == tag {
			keys = append(keys, s.key)
			v.SetZero()
		}
	}
	return keys
}

// effects are what a project's file says that does not count without trust.
func (l *layer) effects() (list []string) {
	for _, s := range all() {
		v := s.in(&l.file)
		if s.key == serversKey {
			for _, name := range slices.Sorted(maps.Keys(l.file.MCP)) {
				one := l.file.MCP[name]
				one.Name = name
				list = append(list, one.Effect())
			}
			continue
		}
		if !v.IsZero() && s.tag.Get("project") == "" {
			list = append(list, s.key+" = "+tomlText(v))
		}
	}
	return list
}
