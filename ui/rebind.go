package ui

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
)

// rebindable are the places whose keys a person can change; what answers a
// question stays as it is.
var rebindable = [...]scope{everywhere, inComposer, inTranscript, inPane, inPicker}

// Check finds faults in what the person set: colours, and keys that cannot be
// bound or are bound already.
func (o Options) Check() error {
	for _, c := range o.Colors {
		if _, _, err := ownColor(c); err != nil {
			return fmt.Errorf("ui.colors: %w", err)
		}
	}
	if _, err := rebind(bindings(), o.Keys); err != nil {
		return fmt.Errorf("ui.keys: %w", err)
	}
	return nil
}

// rebind gives rows of the table other keys. A setting is "ctrl+s = alt+s" for what
// works everywhere, and "transcript d = ctrl+n" for a place; nothing after the sign
// takes the key away.
func rebind(table []binding, settings []string) ([]binding, error) {
	for _, setting := range settings {
		left, fresh, ok := strings.Cut(setting, "=")
		words := strings.Fields(left)
		if !ok || len(words) == 0 || len(words) > 2 {
			return nil, fmt.Errorf(`%q: write it as "ctrl+s = alt+s", or "composer ctrl+r = alt+r"`, setting)
		}
		in, old, fresh := everywhere, words[len(words)-1], strings.TrimSpace(fresh)
		if len(words) == 2 {
			in = scope(words[0])
		}
		if !slices.Contains(rebindable[:], in) {
			return nil, fmt.Errorf("%q: keys can be changed in %s", setting, join(rebindable[:]))
		}
		row := slices.IndexFunc(table, func(b binding) bool { return b.scope == in && slices.Contains(b.keys, old) })
		switch {
		case row < 0:
			return nil, fmt.Errorf("%q: %s is no key of %s; F1 lists them", setting, old, in)
		case old == "ctrl+c" || old == "esc":
			return nil, fmt.Errorf("%q: ctrl+c and esc keep what they do", setting)
		}
		if err := free(table, in, fresh); err != nil {
			return nil, fmt.Errorf("%q: %w", setting, err)
		}
		b := &table[row]
		keys := slices.Clone(b.keys)
		at := slices.Index(keys, old)
		if keys[at] = fresh; fresh == "" {
			keys = slices.Delete(keys, at, at+1)
		}
		b.keys = keys
		b.shown = strings.ReplaceAll(strings.Join(keys, " "), "pgdown", "pgdn")
	}
	return table, nil
}

// rebound are the first keys of rows that have another one now, by the first that
// they had: for the hints on the screen.
func rebound(table []binding) map[string]string {
	keys := map[string]string{}
	for i, b := range bindings() {
		if now := table[i].keys; (b.scope == everywhere || b.scope == inComposer) && !slices.Equal(now, b.keys) {
			keys[b.keys[0]] = append(now, "/")[0] // without a key there is the command
		}
	}
	return keys
}

// free says why a key cannot be bound in a place.
func free(table []binding, in scope, fresh string) error {
	if fresh == "" {
		return nil
	}
	name := fresh
	for _, mod := range []string{"ctrl+", "alt+", "shift+", "super+"} {
		name = strings.TrimPrefix(name, mod)
	}
	if len([]rune(name)) != 1 && !knownKey(name) {
		return fmt.Errorf("%q is no key", fresh)
	}
	if typed := len([]rune(fresh)) == 1; typed && in != inTranscript && in != inPane {
		return fmt.Errorf("%s is for typing", fresh)
	}
	for _, b := range table {
		together := b.scope == in || b.scope == everywhere || in == everywhere && slices.Contains(rebindable[:], b.scope)
		if together && slices.Contains(b.keys, fresh) {
			return fmt.Errorf("%s is bound already, in %s", fresh, b.scope)
		}
	}
	if in == everywhere || in == inComposer {
		keys := reflect.ValueOf(composerKeys())
		for i := range keys.NumField() {
			if edits := keys.Field(i).Interface().(key.Binding); slices.Contains(edits.Keys(), fresh) {
				return fmt.Errorf("%s edits the text", fresh)
			}
		}
	}
	return nil
}

// knownKey tells whether a terminal sends a key of this name.
func knownKey(name string) bool {
	switch name {
	case "up", "down", "left", "right", "home", "end", "pgup", "pgdown", "insert", "delete", "enter", "tab", "esc", "backspace", "space",
		"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12":
		return true
	}
	return false
}

func join(scopes []scope) string {
	var names []string
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
