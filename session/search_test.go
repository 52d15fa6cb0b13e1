package session

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	s := newStore(t)
	if hits := must[[]Hit](t)(s.Search(t.Context(), "x")); hits != nil {
		t.Errorf("in nothing: %v", hits)
	}
	made := func(entries ...Entry) string {
		l := create(t, s)
		put(t, l, entries...)
		ok(t, l.Close())
		return l.ID()
	}
	reply := func(text string) Entry {
		return Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleAssistant, Text: text}}
	}
	a := made(say("Fix the Parser"), reply("I look at\nlexer.go, \"quoted\" <b> \\path\nand more"))
	b := made(say("über Größe"), reply(strings.Repeat("word ", 200)+"NEEDLE in a long line"))
	long := made(say(strings.Repeat("straw ", 200_000) + "in the end a Zebra"))
	made(say("other"), Entry{Kind: KindMessage, Message: &Message{Role: RoleTool, CallID: "1", Text: "parser in a result"}},
		Entry{Kind: KindNote, Note: "parser in a note"}, Entry{Kind: KindMessage, Message: &Message{Role: RoleUser, Parent: "1", Text: "parser of a sub-agent"}})

	for _, c := range []struct{ text, id, line string }{
		{"parser", a, "Fix the Parser"}, {" THE PARSER ", a, "Fix the Parser"}, {"lexer.go, \"Quoted\"", a, `lexer.go, "quoted" <b> \path`},
		{`\path`, a, `lexer.go, "quoted" <b> \path`}, {"<B>", a, `lexer.go, "quoted" <b> \path`},
		{"ÜBER", b, "über Größe"}, {"größe", b, "über Größe"}, {"needle", b, ""}, {"a zebra", long, ""},
		{"kind", "", ""}, {"nowhere", "", ""}, {"", "", ""}, {"\n", "", ""},
	} {
		hits := must[[]Hit](t)(s.Search(t.Context(), c.text))
		switch {
		case c.id == "" && len(hits) > 0:
			t.Errorf("%q is found: %+v", c.text, hits)
		case c.id != "" && (len(hits) != 1 || hits[0].ID != c.id || c.line != "" && hits[0].Line != c.line):
			t.Errorf("%q gives %+v", c.text, hits)
		case c.text == "needle" && !strings.HasSuffix(hits[0].Line, "word NEEDLE in a long line"):
			t.Errorf("the line is %q", hits[0].Line)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, "parser"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
