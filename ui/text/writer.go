package text

import "bytes"

// maxKept is how many bytes of lines a [Writer] keeps at most.
const maxKept = 1 << 20

// Writer keeps the last lines of a command's output as a terminal would show
// them: colours, carriage returns, backspaces and erasing within the line are
// carried out, everything else that drives a terminal is dropped. It takes
// pieces of any size, works in time linear in them, and its memory is bounded:
// at most 1 MiB of lines, each at most 4,096 cells. It is not safe for
// concurrent use.
type Writer struct {
	max   int
	kept  []string // from head on
	head  int
	bytes int // of the lines kept
	total int // lines that were ended
	line  line
	d     decoder
}

// NewWriter returns a Writer that keeps the last n lines.
func NewWriter(n int) *Writer {
	return &Writer{max: max(n, 1), line: line{colors: true, limit: maxCells}}
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
func (w *Writer) Lines() []string { return w.Tail(w.Len()) }

// Tail returns the last n of the lines kept.
func (w *Writer) Tail(n int) []string {
	ended := w.kept[w.head:]
	if w.line.empty() {
		return append([]string(nil), ended[max(len(ended)-n, 0):]...)
	}
	if n <= 0 {
		return nil
	}
	out := append([]string(nil), ended[max(len(ended)-n+1, 0):]...)
	return append(out, w.line.String())
}

// Len returns the number of lines kept.
func (w *Writer) Len() int { return w.Total() - w.Dropped() }

// Total returns the number of lines written, the open one too.
func (w *Writer) Total() int {
	if w.line.empty() {
		return w.total
	}
	return w.total + 1
}

// Dropped returns the number of lines that are no longer kept.
func (w *Writer) Dropped() int { return w.total - (len(w.kept) - w.head) }

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
	if bytes.IndexByte(p[:start], 0x1b) >= 0 || bytes.IndexByte(p[:start], 0xc2) >= 0 || bytes.ContainsAny(p[:start], "\v\f") {
		w.d.feed(p[:start], (*skim)(w))
	} else {
		w.total += n - w.max
		w.d.filter.reset(0)
	}
	w.forget(len(w.kept) - w.head)
	w.line.clear()
	return start
}

var newline = []byte{'\n'}

// skim is the sink of a [Writer] for lines that it will not keep: it counts them,
// and follows the pen.
type skim Writer

func (s *skim) ascii([]byte) {}
func (s *skim) rune(rune)    {}

func (s *skim) control(c byte) {
	if c == '\n' || c == '\v' || c == '\f' {
		s.total++
	}
}

func (s *skim) csi(final byte, params []byte) {
	if final == 'm' {
		s.line.pen.apply(string(params))
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

func (s *screen) ascii(run []byte)              { s.line.ascii(run) }
func (s *screen) rune(r rune)                   { s.line.rune(r) }
func (s *screen) csi(final byte, params []byte) { s.line.csi(final, params) }

func (s *screen) control(c byte) {
	if c != '\n' && c != '\v' && c != '\f' {
		s.line.control(c)
		return
	}
	w := (*Writer)(s)
	line := w.line.String()
	w.line.clear()
	w.kept = append(w.kept, line)
	w.bytes += len(line)
	w.total++
	for w.bytes > maxKept || len(w.kept)-w.head > w.max {
		w.forget(1)
	}
}
