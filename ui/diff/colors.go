package diff

import (
	"strings"

	"github.com/phero-agent/agent/ui/text/syntax"
)

// chunkLines is how many lines are coloured at once: few enough not to be felt.
const chunkLines = 50

// chunk is a run of lines of one side of the diff that are coloured together.
type chunk struct {
	code  []string
	done  bool
	spans [][]syntax.Span // nil if there are no colours
}

// chunk divides the lines of the side that has kind, and those around, into chunks.
func (v *View) chunk(kind byte) {
	c := &chunk{}
	for i := range v.lines {
		l := &v.lines[i]
		if l.kind == 0 || len(c.code) == chunkLines {
			c = &chunk{}
		}
		if l.kind != kind && l.kind != ' ' {
			continue
		}
		l.chunk, l.at = c, len(c.code)
		c.code = append(c.code, strings.TrimSuffix(l.text, "\r"))
	}
}

// colors returns the pieces of a line in the colours of its language.
func (v *View) colors(l line) []syntax.Span {
	c := l.chunk
	if c == nil {
		return nil
	}
	if !c.done {
		c.done = true
		c.spans = syntax.Spans(syntax.Language(v.name), strings.Join(c.code, "\n"), &v.t.Syntax)
	}
	if l.at >= len(c.spans) {
		return nil
	}
	return c.spans[l.at]
}
