package md

import "slices"

// Nesting beyond these is text of no use to anybody; the parser would need the
// square of its length.
const (
	maxContainers = 40  // quotes and lists that begin on one line
	maxBrackets   = 200 // brackets, or addresses of links, that are open in one paragraph
)

// tamer escapes what nests too deep, byte by byte, so that it does not matter in
// which pieces a document arrives.
type tamer struct {
	start      int  // where the line begins in the source
	prefix     bool // only markers of containers on the line so far
	containers int
	brackets   int  // open in the paragraph
	addresses  int  // likewise: "](" without ")"
	last       byte // of the source
}

// add appends s to src.
func (t *tamer) add(src []byte, s string) []byte {
	for i := range len(s) {
		src = t.byte(src, s[i])
	}
	return src
}

func (t *tamer) byte(src []byte, c byte) []byte {
	last := t.last
	t.last = c
	if c == '\n' {
		if last == '\n' || len(src) == 0 {
			t.brackets, t.addresses = 0, 0
		}
		t.start, t.prefix, t.containers = len(src)+1, true, 0
		return append(src, c)
	}
	if len(src) == 0 {
		t.prefix = true
	}
	if t.prefix {
		if t.container(c, last); t.containers > maxContainers {
			src = slices.Insert(src, t.start, '\\')
			t.prefix = false
		}
	}
	switch c {
	case '[':
		if t.brackets++; t.brackets > maxBrackets {
			src = append(src, '\\')
		}
	case ']':
		t.brackets = max(t.brackets-1, 0)
	case '(':
		if last == ']' {
			if t.addresses++; t.addresses > maxBrackets {
				src = append(src, '\\')
			}
		}
	case ')':
		t.addresses = max(t.addresses-1, 0)
	}
	return append(src, c)
}

// container counts the markers that a line begins with.
func (t *tamer) container(c, last byte) {
	switch {
	case c == '>':
		t.containers++
	case c == ' ' || c == '\t':
		if last == '-' || last == '*' || last == '+' || last == '.' || last == ')' {
			t.containers++
		}
	case c == '-' || c == '*' || c == '+' || c == '.' || c == ')' || c >= '0' && c <= '9':
	default:
		t.prefix = false
	}
}
