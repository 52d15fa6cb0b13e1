package openai

import "strings"

// thinkTags begin reasoning when they are the first thing in a reply's text.
var thinkTags = [...]string{"<think>", "<thinking>", "<thought>"}

// thinkSplitter takes reasoning out of a text that begins with <think>…</think>,
// as local models without a reasoning parser write it. The tags may be cut
// anywhere. A tag further on is text.
type thinkSplitter struct {
	text, reasoning func(string)

	state thinkState
	held  string // what may yet turn out to be a tag
	end   string // the tag that ends the reasoning
}

type thinkState int

const (
	thinkStart  thinkState = iota // nothing but white space or a part of a tag so far
	thinkInside                   // between the tags
	thinkAfter                    // behind the end tag, in white space
	thinkPlain                    // in the text
)

func (t *thinkSplitter) add(s string) {
	switch t.state {
	case thinkStart:
		t.start(t.held + s)
	case thinkInside:
		t.inside(t.held + s)
	case thinkAfter:
		if s = strings.TrimLeft(s, " \t\r\n"); s != "" {
			t.state = thinkPlain
			t.text(s)
		}
	case thinkPlain:
		if s != "" {
			t.text(s)
		}
	}
}

func (t *thinkSplitter) start(s string) {
	t.held = ""
	trimmed := strings.TrimLeft(s, " \t\r\n")
	for _, tag := range thinkTags {
		if rest, ok := strings.CutPrefix(trimmed, tag); ok {
			t.state, t.end = thinkInside, "</"+tag[1:]
			t.inside(rest)
			return
		}
		if strings.HasPrefix(tag, trimmed) {
			t.held = s
			return
		}
	}
	t.state = thinkPlain
	t.text(s)
}

func (t *thinkSplitter) inside(s string) {
	thought, rest, ended := strings.Cut(s, t.end)
	t.held = ""
	if !ended {
		n := partial(s, t.end)
		thought, t.held = s[:len(s)-n], s[len(s)-n:]
	}
	if thought != "" {
		t.reasoning(thought)
	}
	if ended {
		t.state = thinkAfter
		t.add(rest)
	}
}

// flush gives out what was held back, because no more comes.
func (t *thinkSplitter) flush() {
	held := t.held
	t.held = ""
	switch {
	case t.state == thinkInside && held != "":
		t.reasoning(held)
	case strings.TrimSpace(held) != "":
		t.text(held)
	}
}

// partial is the length of the longest end of s that tag begins with, without being all of it.
func partial(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
