// Package diff renders the hunks of a change, unified or side by side.
//
//	hunks ──► lines with numbers, removed ones paired with added ones (New)
//	                 │
//	                 └──► rows of a window, each one screen line (Rows)
//
// Every line is one row: a long one is panned. So the number of rows is known
// without rendering, and only what is asked for is rendered; a diff of ten
// thousand lines opens at once. Nothing of a file reaches the terminal as it is:
// in changed lines every character that would not be seen has a sign.
package diff

import (
	"strings"

	"github.com/phero-agent/agent/tools/file"
)

// View shows one change. It is not safe for concurrent use.
type View struct {
	name  string
	t     *Theme
	lines []line
	split []row // rows side by side

	digits int            // of line numbers
	crlf   bool           // all lines end in CR LF: not worth a sign each
	known  map[int]string // lines as drawn, by index
	widest int            // cells; -1 when not yet measured
}

// line is one line of a diff, or what is between hunks.
type line struct {
	kind     byte // ' ', '-', '+'; '\\' is a note, 0 a gap
	text     string
	old, new int
	pair     int // the line of the other side that this one became or was; -1 if none
	chunk    *chunk
	at       int // in chunk
}

// row is two lines side by side, by index; -1 is none.
type row struct{ left, right int }

// New returns a view of hunks of a file, whose name tells the language.
func New(name string, hunks []file.Hunk, t *Theme) *View {
	v := &View{name: name, t: t, known: map[int]string{}, widest: -1, crlf: true}
	p := pairer{budget: pairBudget}
	end := 0 // the line after the last hunk, before the change
	for i, h := range hunks {
		if i > 0 {
			v.lines = append(v.lines, line{kind: 0, old: max(h.Old-end, 0), pair: -1})
		}
		end = v.hunk(h)
	}
	v.pair(&p)
	v.chunk('-')
	v.chunk('+')
	return v
}

// hunk adds the lines of a hunk and returns the number of the old line after it.
func (v *View) hunk(h file.Hunk) int {
	o, n := h.Old, h.New
	for _, s := range h.Lines {
		if s == "" {
			s = " "
		}
		l := line{kind: s[0], text: s[1:], pair: -1}
		switch l.kind {
		case '-':
			l.old = o
			o++
		case '+':
			l.new = n
			n++
		case ' ':
			l.old, l.new = o, n
			o++
			n++
		default:
			l.kind = '\\'
		}
		if l.kind != '\\' && !strings.HasSuffix(l.text, "\r") {
			v.crlf = false
		}
		v.lines = append(v.lines, l)
	}
	v.digits = max(v.digits, digits(max(o, n)-1))
	return o
}

func digits(n int) int {
	d := 1
	for n >= 10 {
		n /= 10
		d++
	}
	return d
}

// Counts returns the numbers of added and removed lines.
func (v *View) Counts() (added, removed int) {
	for _, l := range v.lines {
		switch l.kind {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}
