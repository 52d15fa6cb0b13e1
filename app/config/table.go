package config

import (
	"reflect"
	"strings"

	"github.com/phero-agent/agent/permissions"
)

// find is the setting of a key.
func find(key string) (setting, bool) {
	for _, s := range all() {
		if s.key == key {
			return s, true
		}
	}
	if name, ok := strings.CutPrefix(key, serversKey+"."); ok {
		_, field, _ := strings.Cut(name, ".")
		for _, s := range serverSettings() {
			if s.key == field || strings.HasPrefix(field, s.key+".") {
				s.key = key
				return s, true
			}
		}
	}
	return setting{}, false
}

// wants says what a value of the setting looks like.
func (s setting) wants() string {
	switch s.kind {
	case reflect.TypeFor[Duration]():
		return `it must be a duration, as "90s" or "30m"`
	case reflect.TypeFor[string]():
		return "it must be a string in quotes"
	case reflect.TypeFor[int]():
		return "it must be a whole number"
	case reflect.TypeFor[bool]():
		return "it must be true or false"
	case reflect.TypeFor[map[string]string]():
		return `it must be a table of strings, as {NAME = "value"}`
	}
	return `it must be a list of strings, as ["a", "b"]`
}

// nearest is the key or the table that is most like one; "" when none is.
func nearest(key string) string {
	if name, ok := strings.CutPrefix(key, serversKey+"."); ok {
		if server, field, ok := strings.Cut(name, "."); ok {
			return nearestOf(serverSettings(), field, serversKey+"."+server+".")
		}
	}
	return nearestOf(all(), key, "")
}

// nearestOf is nearest among some settings, with what stands before their keys.
func nearestOf(list []setting, key, before string) string {
	best, least := "", 4
	consider := func(name, meant string, more int) {
		if d := permissions.Distance(key, name) + more; d < least && d < len(key) {
			best, least = before+meant, d
		}
	}
	for _, s := range list {
		consider(s.key, s.key, 0)
		if table, name, ok := strings.Cut(s.key, "."); ok {
			consider(table, table, 0)
			consider(name, s.key, 1) // the table was forgotten
		}
	}
	return best
}
