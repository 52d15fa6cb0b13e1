package text

import (
	"bytes"
	"strconv"
)

const (
	maxKept = 1 << 20 // bytes of lines that a Writer keeps at most
	maxRows = 24      // lines at the end over which the cursor can go up
)

// Writer keeps the last lines of a command's output as a terminal would show
// them: colours, carriage returns, backspaces, erasing, and going up over the
// last 24 lines, as progress of several lines does, are carried out; everything
// else that drives a terminal is dropped. It takes pieces of any size, works in
// time linear in them, and its memory is bounded: at most 1 MiB of lines, each
// at most 4,096 cells. It is not safe for concurrent use.
type Writer struct {
	blank line     // what a new line is
	max   int      // lines kept
	most  int      // bytes of lines kept
	kept  []string // from head on: lines that the cursor cannot reach
	head  int
	bytes int // of the lines kept
	past  int // lines before rows, kept or not
	rows  []*line
	row   int     // of the cursor
	free  []*line // to be used again
	d     decoder
}

// NewWriter returns a Writer that keeps the last n lines.
func NewWriter(n int) *Writer {
	return newWriter(line{colors: true, limit: maxCells}, max(n, 1), maxKept)
}

func newWriter(blank line, lines, bytes int) *Writer {
	w := &Writer{blank: blank, max: lines, most: bytes}
	w.addRow(pen{})
	return w
}

// Write takes output. It never fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.d.feed(p[w.skip(p):], (*screen)(w))
	return len(p), nil
}

// WriteString is [Writer.Write] of a string.
func (w *Writer) WriteString(s string) { w.Write([]byte(s)) }

// Flush shows what waits for the rest of a character. Call it at the end.
func (w *Writer) Flush() { w.d.flush((*screen)(w)) }

// Lines returns the lines kept, the open one last.
func (w *Writer) Lines() []string { return w.Tail(w.max) }

// Tail returns the last n of the lines kept.
func (w *Writer) Tail(n int) []string {
	n = min(n, w.Len())
	if n <= 0 {
		return nil
	}
	rows := w.rows[:w.shown()]
	out := make([]string, 0, n)
	if old := n - len(rows); old > 0 {
		out = append(out, w.kept[len(w.kept)-old:]...)
		n = len(rows)
	}
	for _, l := range rows[len(rows)-n:] {
		out = append(out, l.String())
	}
	return out
}

// shown returns how many rows count as lines: a last one without text does not.
func (w *Writer) shown() int {
	if n := len(w.rows); w.rows[n-1].empty() {
		return n - 1
	}
	return len(w.rows)
}

// Len returns the number of lines kept.
func (w *Writer) Len() int { return min(len(w.kept)-w.head+w.shown(), w.max) }

// Total returns the number of lines written, the open one too.
func (w *Writer) Total() int { return w.past + w.shown() }

// Dropped returns the number of lines that are no longer kept.
func (w *Writer) Dropped() int { return w.Total() - w.Len() }

// line returns the line with the cursor.
func (w *Writer) line() *line { return w.rows[w.row] }

// addRow begins a new line at the end and puts the cursor there.
func (w *Writer) addRow(p pen) {
	var l *line
	if n := len(w.free); n > 0 {
		l, w.free = w.free[n-1], w.free[:n-1]
	} else {
		l = new(line)
		*l = w.blank
	}
	l.clear()
	l.pen = p
	w.rows = append(w.rows, l)
	w.row = len(w.rows) - 1
}

// newline puts the cursor at the beginning of the next line.
func (w *Writer) newline() {
	p := w.line().pen
	if w.row < len(w.rows)-1 {
		w.row++
		w.line().pen = p
		w.line().home = true
		return
	}
	if len(w.rows) == maxRows {
		w.retire()
	}
	w.addRow(p)
}

// retire takes the first row out of the cursor's reach.
func (w *Writer) retire() {
	l := w.rows[0]
	s := l.String()
	w.free = append(w.free, l)
	w.rows = append(w.rows[:0], w.rows[1:]...)
	w.row--
	w.past++
	w.kept = append(w.kept, s)
	w.bytes += len(s)
	for w.bytes > w.most || len(w.kept)-w.head > w.max {
		w.forget(1)
	}
}

// up moves the cursor by rows, down if n is negative, as far as there are any.
func (w *Writer) up(n int) {
	from := w.line()
	w.row = min(max(w.row-n, 0), len(w.rows)-1)
	to := w.line()
	if to == from {
		return
	}
	col := from.col
	if from.home {
		col = 0
	}
	to.pen, to.home = from.pen, false
	to.move(col)
}

// cutRows drops the rows below the cursor.
func (w *Writer) cutRows() {
	w.free = append(w.free, w.rows[w.row+1:]...)
	w.rows = w.rows[:w.row+1]
}

// skip returns where the lines of p begin that can still be kept when p is
// written, and counts those before: a flood costs no more than a look at it.
func (w *Writer) skip(p []byte) int {
	n := bytes.Count(p, newline)
	if n <= w.max || w.d.state != ground || len(w.d.partial) > 0 {
		return 0
	}
	start := len(p)
	for range w.max + 1 {
		start = bytes.LastIndexByte(p[:start], '\n')
	}
	start++
	w.past += len(w.rows) - 1
	s := &skim{pen: w.line().pen}
	if bytes.IndexByte(p[:start], 0x1b) >= 0 || bytes.IndexByte(p[:start], 0xc2) >= 0 || bytes.ContainsAny(p[:start], "\v\f") {
		w.d.feed(p[:start], s)
	} else {
		s.lines = n - w.max
		w.d.filter.reset(0)
	}
	w.past += s.lines
	w.forget(len(w.kept) - w.head)
	w.free = append(w.free, w.rows...)
	w.rows = w.rows[:0]
	w.addRow(s.pen)
	return start
}

var newline = []byte{'\n'}

// skim is a sink for lines that are not kept: it counts them, and follows the pen.
type skim struct {
	lines int
	pen   pen
}

func (s *skim) ascii([]byte) {}
func (s *skim) rune(rune)    {}

func (s *skim) control(c byte) {
	if c == '\n' || c == '\v' || c == '\f' {
		s.lines++
	}
}

func (s *skim) csi(final byte, params []byte) {
	if final == 'm' {
		s.pen.apply(string(params))
	}
}

// forget drops the first n lines kept.
func (w *Writer) forget(n int) {
	for range n {
		w.bytes -= len(w.kept[w.head])
		w.kept[w.head] = ""
		w.head++
	}
	if w.head > w.max {
		w.kept = append(w.kept[:0], w.kept[w.head:]...)
		w.head = 0
	}
}

// screen is the sink of a [Writer].
type screen Writer

func (s *screen) ascii(run []byte) { (*Writer)(s).line().ascii(run) }
func (s *screen) rune(r rune)      { (*Writer)(s).line().rune(r) }

func (s *screen) control(c byte) {
	w := (*Writer)(s)
	switch c {
	case '\n', '\v', '\f':
		w.newline()
	default:
		w.line().control(c)
	}
}

func (s *screen) csi(final byte, params []byte) {
	w := (*Writer)(s)
	n := 0
	switch final {
	case 'A', 'B', 'E', 'F', 'J':
		n = number(params)
	}
	switch final {
	case 'A', 'F':
		w.up(max(n, 1))
	case 'B', 'E':
		w.up(-max(n, 1))
	case 'J':
		if n == 0 {
			w.cutRows()
			w.line().csi('K', params)
		}
		return
	}
	if final == 'E' || final == 'F' {
		w.line().home = true
	}
	w.line().csi(final, params)
}

// number returns the first parameter of a control sequence, 0 if there is none.
func number(params []byte) int {
	first, _, _ := bytes.Cut(params, []byte{';'})
	n, _ := strconv.Atoi(string(first))
	return min(n, maxCells)
}
