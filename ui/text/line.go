package text

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

const (
	tabStop  = 8
	maxCells = 4096 // of a line that a Writer keeps, and the farthest column a cursor goes to
)

// line is one line of a terminal: characters are written at a cursor that can go
// back over them. While there is only ASCII and the cursor is at the end, which
// is nearly always, it is no more than a buffer.
type line struct {
	colors bool
	limit  int // cells kept; 0 is all

	pen  pen  // of what comes next
	col  int  // the cursor
	home bool // a carriage return came last: the cursor is really at 0
	over bool // there was text beyond the limit

	buf    []byte // the simple form: text with changes of the pen
	bufPen pen    // at its end

	split bool // the line is in cells now
	cells []cell
}

// cell is one cell of a line.
type cell struct {
	s   string // a grapheme cluster; empty in the second cell of a wide one
	pen pen
}

// clear begins a new line; the pen stays.
func (l *line) clear() {
	l.buf, l.cells = l.buf[:0], l.cells[:0]
	if cap(l.cells) > 1024 { // rare: not worth keeping
		l.cells = nil
	}
	l.bufPen = pen{}
	l.col, l.home, l.over, l.split = 0, false, false, false
}

func (l *line) empty() bool { return len(l.buf) == 0 && len(l.cells) == 0 }

func (l *line) ascii(run []byte) {
	l.returnHome()
	if l.limit > 0 && len(run) > l.limit-l.col {
		run = run[:max(l.limit-l.col, 0)]
		l.over = true
	}
	if l.split {
		for _, c := range run {
			l.put(string(rune(c)), 1)
		}
		return
	}
	if len(run) > 0 && l.pen != l.bufPen {
		l.buf = append(l.buf, l.bufPen.change(l.pen)...)
		l.bufPen = l.pen
	}
	l.buf = append(l.buf, run...)
	l.col += len(run)
}

func (l *line) rune(r rune) {
	l.returnHome()
	l.toCells()
	s := string(r)
	if i := l.before(); i >= 0 && l.grow(i, s) {
		return
	}
	if l.col == 0 && unicode.In(r, unicode.Mn, unicode.Me) { // the cursor went back to the edge
		s = "◌" + s
	}
	width := ansi.StringWidth(s)
	if l.limit > 0 && l.col+width > l.limit {
		l.over = true
		return
	}
	l.put(s, width)
}

// before returns the cell with the cluster in front of the cursor, or -1.
func (l *line) before() int {
	i := l.col - 1
	if i >= len(l.cells) {
		return -1
	}
	for i > 0 && l.cells[i].s == "" {
		i--
	}
	return i
}

// grow adds s to the cluster in cell i if it belongs to it.
func (l *line) grow(i int, s string) bool {
	old := l.cells[i].s
	if old == "" || len(old) > 128 {
		return false
	}
	joined := old + s
	cluster, width := ansi.FirstGraphemeCluster(joined, ansi.GraphemeWidth)
	if len(cluster) < len(joined) {
		return false
	}
	l.col = i
	l.put(joined, max(width, 1))
	return true
}

// put writes a cluster at the cursor.
func (l *line) put(s string, width int) {
	for len(l.cells) < l.col {
		l.cells = append(l.cells, cell{s: " "})
	}
	for range max(width, 1) {
		l.set(l.col, cell{pen: l.pen})
		l.col++
	}
	l.cells[l.col-max(width, 1)].s = s
}

// set replaces cell i; of a wide cluster that loses a half a space stays.
func (l *line) set(i int, c cell) {
	if i == len(l.cells) {
		l.cells = append(l.cells, c)
		return
	}
	if l.cells[i].s == "" && i > 0 {
		l.cells[i-1].s = " "
	}
	if i+1 < len(l.cells) && l.cells[i+1].s == "" {
		l.cells[i+1].s = " "
	}
	l.cells[i] = c
}

// returnHome carries out a carriage return that text follows.
func (l *line) returnHome() {
	if l.home {
		l.home = false
		l.move(0)
	}
}

// move puts the cursor into a column.
func (l *line) move(col int) {
	if col = min(max(col, 0), maxCells); col != l.col {
		l.toCells()
		l.col = col
	}
}

// toCells leaves the simple form.
func (l *line) toCells() {
	if l.split {
		return
	}
	l.split = true
	var p pen
	for s := string(l.buf); s != ""; {
		n, width := next(s)
		if width == escape {
			params, _ := sgrParams(s[:n])
			p.apply(params)
		} else {
			l.cells = append(l.cells, cell{s[:n], p})
		}
		s = s[n:]
	}
	l.buf = l.buf[:0]
}

// control carries out \b, \r and \t.
func (l *line) control(c byte) {
	switch c {
	case '\r':
		l.home = true
	case '\b':
		l.returnHome()
		l.move(l.col - 1)
	case '\t':
		l.returnHome()
		n := tabStop - l.col%tabStop
		if l.split && l.col < len(l.cells) {
			l.move(l.col + n)
		} else {
			l.ascii([]byte(spaces(n)))
		}
	}
}

// csi carries out the control sequences that act within a line.
func (l *line) csi(final byte, params []byte) {
	if final == 'm' {
		if l.colors {
			l.pen.apply(string(params))
		}
		return
	}
	n := number(params)
	switch final {
	case 'K':
		l.returnHome()
		l.erase(n)
	case 'C', 'a':
		l.returnHome()
		l.move(l.col + max(n, 1))
	case 'D':
		l.returnHome()
		l.move(l.col - max(n, 1))
	case 'G', '`':
		l.returnHome()
		l.move(n - 1)
	case '@', 'P', 'X':
		l.returnHome()
		l.shift(final, max(n, 1))
	}
}

// shift inserts (@), deletes (P) or blanks (X) n cells at the cursor.
func (l *line) shift(how byte, n int) {
	l.toCells()
	at, end := l.col, min(l.col+n, len(l.cells))
	if at >= len(l.cells) {
		return
	}
	for _, i := range []int{at, end} { // of a wide cluster that loses a half a space stays
		if i < len(l.cells) && l.cells[i].s == "" {
			l.set(i, cell{s: " "})
		}
	}
	switch how {
	case '@':
		l.cells = slices.Insert(l.cells, at, slices.Repeat([]cell{{s: " "}}, n)...)
		l.cells = l.cells[:min(len(l.cells), maxCells)]
	case 'P':
		l.cells = slices.Delete(l.cells, at, end)
	case 'X':
		for i := at; i < end; i++ {
			l.set(i, cell{s: " "})
		}
	}
}

// erase clears from the cursor (0), up to it (1) or the whole line (2).
func (l *line) erase(what int) {
	l.toCells()
	if what == 0 && l.col < len(l.cells) {
		if l.cells[l.col].s == "" {
			l.cells[l.col-1].s = " "
		}
		l.cells = l.cells[:l.col]
	}
	if what == 1 {
		for i := range min(l.col+1, len(l.cells)) {
			l.set(i, cell{s: " "})
		}
	}
	if what == 2 {
		l.cells = l.cells[:0]
	}
}

// String returns the line as it looks.
func (l *line) String() string {
	tail := ""
	if l.over {
		tail = "…"
	}
	if !l.split {
		return string(l.buf) + l.bufPen.change(pen{}) + tail
	}
	var (
		b strings.Builder
		p pen
	)
	for _, c := range l.cells {
		if c.s != "" {
			b.WriteString(p.change(c.pen))
			p = c.pen
			b.WriteString(c.s)
		}
	}
	b.WriteString(p.change(pen{}))
	b.WriteString(tail)
	return b.String()
}
