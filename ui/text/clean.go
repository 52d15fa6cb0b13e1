package text

import (
	"math"
	"strings"
)

// Clean returns the text that a terminal would show of s, without colours:
// escape sequences, control, zero-width and bidi characters are gone, tabs are
// spaces, and a carriage return wrote over its line (UI-20). Lines end in "\n".
func Clean(s string) string { return clean(s, false) }

// CleanColor is [Clean] that keeps colours and attributes.
func CleanColor(s string) string { return clean(s, true) }

// Line returns [Clean] of s as one line: line ends and blanks around them are one space.
func Line(s string) string {
	s = Clean(s)
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	parts := strings.Split(s, "\n")
	kept := parts[:0]
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, " ")
}

func clean(s string, colors bool) string {
	if cleanAlready(s) {
		return s
	}
	w := newWriter(line{colors: colors}, math.MaxInt, math.MaxInt)
	w.WriteString(s)
	w.Flush()
	out := strings.Join(w.Lines(), "\n")
	if w.shown() < len(w.rows) && w.Total() > 0 { // the last line is ended
		out += "\n"
	}
	return out
}

func cleanAlready(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 0x20 || c >= 0x7f) && c != '\n' {
			return false
		}
	}
	return true
}

// Cleaner cleans text that arrives in pieces, for further reading: line ends
// become "\n", tabs stay, everything else that [Clean] drops is dropped. A piece
// may end anywhere, also inside of a character or an escape sequence.
// The zero value is ready.
type Cleaner struct {
	d    decoder
	flow flow
}

// Write returns the clean text of the next piece.
func (c *Cleaner) Write(s string) string {
	if c.d.state == ground && len(c.d.partial) == 0 && c.d.filter.joiner == 0 && !c.flow.cr && cleanAlready(s) {
		if s != "" {
			c.d.filter.reset(lastOf(s))
		}
		return s
	}
	c.d.feed([]byte(s), &c.flow)
	return c.flow.take()
}

// Flush returns what was held back, as half a character at the end.
func (c *Cleaner) Flush() string {
	c.d.flush(&c.flow)
	return c.flow.take()
}

func lastOf(s string) rune {
	if c := s[len(s)-1]; c != '\n' {
		return rune(c)
	}
	return 0
}

// flow is a sink that makes one text of everything.
type flow struct {
	b  strings.Builder
	cr bool // a carriage return came last: a line feed belongs to it
}

func (f *flow) take() string {
	s := f.b.String()
	f.b.Reset()
	return s
}

func (f *flow) ascii(run []byte) { f.cr = false; f.b.Write(run) }
func (f *flow) rune(r rune)      { f.cr = false; f.b.WriteRune(r) }
func (f *flow) csi(byte, []byte) {}

func (f *flow) control(c byte) {
	cr := f.cr
	f.cr = c == '\r'
	switch {
	case c == '\n' && cr:
	case c == '\t':
		f.b.WriteByte(c)
	case c == '\n' || c == '\r' || c == '\v' || c == '\f':
		f.b.WriteByte('\n')
	}
}
