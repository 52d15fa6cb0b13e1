package ui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/phero-agent/agent/ui/text"
)

// Themes are the names of the themes; "auto" is dark or light, as the terminal is.
var themes = [...]string{"auto", "dark", "light", "contrast"}

// role is the style of a theme that a person's own colours can set.
func (t *theme) role(name string) *text.Style {
	switch name {
	case "dim":
		return &t.dim
	case "accent":
		return &t.accent
	case "user":
		return &t.user
	case "ok":
		return &t.ok
	case "fail":
		return &t.fail
	case "warn":
		return &t.warn
	case "add":
		return &t.diff.AddLine
	case "del":
		return &t.diff.DelLine
	}
	return nil
}

const roleNames = "dim, accent, user, ok, fail, warn, add, del"

// namedColors are the sixteen that every terminal has, by the parameters of SGR.
func namedColors() map[string]int {
	colors := map[string]int{}
	for i, name := range []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"} {
		colors[name], colors["bright-"+name] = 30+i, 90+i
	}
	return colors
}

// ownColor is a setting as "accent = #ff8800", "ok = 34" of the 256, "dim = bold" or
// "user = bright-blue".
func ownColor(setting string) (role string, style text.Style, err error) {
	role, value, ok := strings.Cut(setting, "=")
	role, value = strings.TrimSpace(role), strings.TrimSpace(value)
	if !ok || newTheme("dark", false, 0).role(role) == nil {
		return "", "", fmt.Errorf("%q: write it as \"accent = #ff8800\", with one of %s", setting, roleNames)
	}
	back := role == "add" || role == "del"
	kind, named := "38", 0
	if back {
		kind, named = "48", 10
	}
	if n, ok := namedColors()[value]; ok {
		return role, text.Style(strconv.Itoa(n + named)), nil
	}
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 256 {
		return role, text.Style(fmt.Sprintf("%s;5;%d", kind, n)), nil
	}
	if rgb, err := strconv.ParseUint(strings.TrimPrefix(value, "#"), 16, 24); err == nil && len(value) == 7 && value[0] == '#' {
		return role, text.Style(fmt.Sprintf("%s;2;%d;%d;%d", kind, rgb>>16, rgb>>8&0xff, rgb&0xff)), nil
	}
	attributes := map[string]text.Style{"bold": "1", "dim": "2", "italic": "3", "underline": "4", "plain": ""}
	if style, ok := attributes[value]; ok && !back {
		return role, style, nil
	}
	return "", "", fmt.Errorf("%q: the colour is #rrggbb, a number from 0 to 255, or one of %s", setting, strings.Join(slices.Sorted(maps.Keys(namedColors())), ", "))
}

// paint lays the person's own colours over the theme.
func (t *theme) paint(colors []string) {
	for _, setting := range colors {
		role, style, err := ownColor(setting)
		if err != nil {
			continue // [Options.Check] told
		}
		*t.role(role) = style
	}
	t.share()
}
