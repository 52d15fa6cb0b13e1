package skill

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Whatever a SKILL.md holds, it is refused or its texts are fit for the catalogue.
func FuzzParseSkill(f *testing.F) {
	for _, seed := range []string{
		"", "---", "---\n---", "---\nname: x\ndescription: d\n---\nbody",
		"\ufeff---\r\nname: x\r\ndescription: |\r\n  a\r\n  ---\r\n---\r\n",
		"---\nname: &a x\ndescription: *a\nmetadata: {<<: *a}\n---\n",
		"---\nname: x\ndescription: \"\\x1b\\u202e\"\nallowed-tools: [read, bash(a b)]\n---\n$ARGUMENTS",
		"---\nmetadata:\n  - - - - ? a\n  : b\nallowed-tools: {a: [b]}\n---\n",
		"---\nname: !!binary aGk=\ndescription: >-\n\n  x\n...\n---\n",
	} {
		f.Add([]byte(seed), "arguments")
	}
	f.Fuzz(func(t *testing.T, data []byte, arguments string) {
		s, err := parseSkill(data)
		if err == nil {
			err = s.tidy()
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		for _, text := range append(s.AllowedTools, s.Name, s.Description, s.License, s.Compatibility) {
			if strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
				t.Errorf("not fit for a line: %q", text)
			}
		}
		if !utf8.ValidString(s.Body) {
			t.Errorf("the body is no UTF-8: %q", s.Body)
		}
		if body, err := expand(s.Body, arguments); err == nil && !strings.Contains(body, strings.TrimSpace(arguments)) {
			t.Errorf("%q does not hold %q", body, arguments)
		}
	})
}
