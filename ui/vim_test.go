package ui

import (
	"strings"
	"testing"
)

// vi presses the keys of a script as "esc 0 2dw": words are named keys, or runs of letters.
func (s *stage) vi(script string) {
	for word := range strings.FieldsSeq(script) {
		if word == "esc" || strings.Contains(word, "+") || word == "enter" {
			s.Key(word)
			continue
		}
		s.Type(word)
	}
}

func TestVim(t *testing.T) {
	for _, tt := range []struct{ text, script, want string }{
		{"one two three", "esc 0 dw", "two three"},
		{"one two three", "esc 0 2dw", "three"},
		{"one two three", "esc 0 wcw2 esc", "one 2 three"},
		{"one two three", "esc bD", "one two "},
		{"one two", "esc 0 xp", "noe two"},
		{"one two", "esc bdbP", "one two"},
		{"one two", "esc 0 deA! esc", " two!"},
		{"one two", "esc 0 rO", "One two"},
		{"one two", "esc 0 ~ u", "one two"},
		{"one two", "esc Ia", "aone two"},
		{"one two", "esc 0 d$", ""},
		{"one", "esc yyp", "one\none"},
		{"one", "esc otwo esc ggdd", "two"},
		{"one", "esc Ozero esc jdd", "zero"},
		{"one", "esc ccx", "x"},
		{"f(a.b)", "esc 0 wdw", "fa.b)"},
		{"日本語 x", "esc 0 xw", "本語 x"},
		{"one", "esc 99999x", "on"},
		{"", "esc xXdwpu~ jkG iok", "ok"},
	} {
		on(t, 80, 24, Options{Vim: true}, func(t *testing.T, s *stage) {
			s.Type(tt.text)
			s.vi(tt.script)
			if got := s.model.composer.text(); got != tt.want {
				t.Errorf("%q, %s: %q, want %q", tt.text, tt.script, got, tt.want)
			}
		})
	}
}

// Sending works in both modes, and writing begins anew; esc with nothing pending
// is what it is without vi's keys.
func TestVimSends(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.enter("/vim")
		s.Wait(2 * noticeFor)
		s.Type("fix it")
		s.Key("esc")
		s.wantOn(t, "normal mode")
		s.Key("enter")
		s.wantLog(t, `submit "fix it"`)
		s.Type("x")
		s.wantText(t, "x")
		s.Key("esc", "esc")
		s.enter("dd")
		s.wantText(t, "")
	})
}
