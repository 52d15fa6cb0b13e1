package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// reading is a log as it was found.
type reading struct {
	entries []Entry
	notices []string // damage, in words for a person
	harmed  bool     // some of it is more than what a newer version wrote

	size  int64 // bytes
	torn  bool  // the last line has no end: what is appended must begin a new one
	seq   int64 // of the last entry
	tally tally
}

// readLog reads a log from its beginning to its end. Whatever it holds, the good
// lines are used and the bad ones are named; an error is one of r alone.
//
// Lines end with "\n" and nothing else: a U+2028 is a letter. Entries get rising
// numbers, also where two programs wrote side by side.
func readLog(r io.Reader) (reading, error) {
	var (
		got  reading
		harm damages
		line int
	)
	err := decodeLines(r, maxLine, func(l lineRead) {
		line++
		at := got.size
		got.size += l.size
		got.torn = !l.ended
		if l.empty {
			return
		}
		if l.lost > 0 || l.err != nil {
			harm.add(line, l)
		}
		if l.err != nil {
			return
		}
		e := l.entry
		harm.sequence(line, got.seq, e.Seq)
		if e.Kind == KindRepair {
			harm.missing = 0 // it says what
		}
		e.Seq = max(e.Seq, got.seq+1)
		got.seq = e.Seq
		got.tally = got.tally.add(e, at+l.lost)
		got.entries = append(got.entries, e)
	})
	if len(got.entries) > 0 && got.entries[0].Kind != KindHead {
		harm.headless = true
	}
	for _, e := range got.entries {
		if e.Kind == KindHead {
			harm.version = max(harm.version, e.Head.Version)
		}
	}
	if got.torn {
		harm.tail = line
	}
	got.notices, got.harmed = harm.words(), harm.real()
	return got, err
}

// lineRead is what became of one line.
type lineRead struct {
	entry Entry
	err   error // the line gives no entry
	lost  int64 // bytes before a rescued entry
	size  int64 // bytes, with the line's end
	ended bool  // by "\n"
	empty bool
}

func newLineRead(line []byte) lineRead {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	l := lineRead{size: int64(len(line)), ended: ended, empty: len(text) == 0}
	if l.empty {
		return l
	}
	l.entry, l.err = decodeLine(text)
	if l.err == errDamaged {
		var lost int
		l.entry, lost, l.err = rescueLine(text)
		l.lost = int64(lost)
	}
	return l
}

// batch is a run of whole lines that one goroutine decodes.
type batch struct {
	text    []byte
	skipped int64 // bytes of one more line, too long to be read
	ended   bool  // that line has an end
	lines   []lineRead
	done    chan struct{}
}

func (b *batch) decode() {
	for rest := b.text; len(rest) > 0; {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		b.lines = append(b.lines, newLineRead(rest[:n]))
		rest = rest[n:]
	}
	if b.skipped > 0 {
		b.lines = append(b.lines, lineRead{err: errDamaged, size: b.skipped, ended: b.ended})
	}
	b.text = nil
	close(b.done)
}

// decodeLines calls each with every line, in order, decoding on all processors.
// Lines of more than most bytes are counted and not read.
func decodeLines(r io.Reader, most int, each func(lineRead)) error {
	workers := min(runtime.GOMAXPROCS(0), 8)
	var (
		order = make(chan *batch, workers)
		turns = make(chan struct{}, workers)
		err   error
	)
	go func() {
		defer close(order)
		err = splitBatches(r, most, func(b *batch) {
			b.done = make(chan struct{})
			turns <- struct{}{}
			go func() {
				b.decode()
				<-turns
			}()
			order <- b
		})
	}()
	for b := range order {
		<-b.done
		for _, l := range b.lines {
			each(l)
		}
	}
	return err
}

const batchSize = 256 << 10 // bytes

// splitBatches cuts what it reads into batches of whole lines.
func splitBatches(r io.Reader, most int, emit func(*batch)) error {
	buf, n := make([]byte, batchSize), 0
	for {
		got, err := r.Read(buf[n:])
		n += got
		if err != nil {
			if n > 0 {
				emit(&batch{text: buf[:n]})
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if n < len(buf) {
			continue
		}
		cut := bytes.LastIndexByte(buf, '\n') + 1
		switch {
		case cut > 0:
			next := make([]byte, max(batchSize, 2*(n-cut)))
			n = copy(next, buf[cut:])
			emit(&batch{text: buf[:cut]})
			buf = next
		case n > most:
			skipped, rest, ended, err := skipLine(r, buf[:0:batchSize])
			emit(&batch{skipped: int64(n) + skipped, ended: ended})
			buf = make([]byte, batchSize)
			n = copy(buf, rest)
			if err != nil {
				return err
			}
		default:
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

// skipLine reads to the next line's end, through buf. It returns how many bytes
// the line still had, what was read beyond it, and whether there was an end.
func skipLine(r io.Reader, buf []byte) (skipped int64, rest []byte, ended bool, err error) {
	buf = buf[:cap(buf)]
	for {
		n, err := r.Read(buf)
		if at := bytes.IndexByte(buf[:n], '\n') + 1; at > 0 {
			return skipped + int64(at), buf[at:n], true, ignoreEOF(err)
		}
		skipped += int64(n)
		if err != nil {
			return skipped, nil, false, ignoreEOF(err)
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// damages collects what is wrong with a log.
type damages struct {
	runs     []damage
	unknown  []string // kinds, each once
	passed   int      // entries of unknown kinds
	strange  int      // entries that are not understood
	missing  int64    // entries that are gone without a trace
	mixed    int      // the first line of a second writer, 0: none
	headless bool
	version  int

	tail    int // the last line, where it has no end
	lastBad int // the newest damaged line
}

// damage is a run of damaged lines.
type damage struct {
	first, last int
	bytes       int64
	rescued     bool
}

func (d *damages) add(line int, l lineRead) {
	switch l.err {
	case errNewer:
		d.passed++
		d.addUnknown(string(l.entry.Kind))
	case errNotWhole:
		d.strange++
	}
	lost := l.lost
	if l.err == errDamaged {
		lost = l.size
	}
	if lost == 0 {
		return
	}
	d.lastBad = line
	rescued := l.err != errDamaged
	if n := len(d.runs); n > 0 && d.runs[n-1].last == line-1 && !d.runs[n-1].rescued {
		d.runs[n-1].last, d.runs[n-1].rescued = line, rescued
		d.runs[n-1].bytes += lost
		return
	}
	d.runs = append(d.runs, damage{first: line, last: line, bytes: lost, rescued: rescued})
}

func (d *damages) addUnknown(kind string) {
	const most = 5
	for _, k := range d.unknown {
		if k == kind {
			return
		}
	}
	if len(d.unknown) < most {
		d.unknown = append(d.unknown, kind)
	}
}

// sequence compares an entry's number with the one before it.
func (d *damages) sequence(line int, last, seq int64) {
	switch {
	case seq <= last && d.mixed == 0:
		d.mixed = line
	case seq > last+1 && d.lastBad == 0 && d.passed+d.strange == 0 && d.mixed == 0:
		// After damage a gap is no news.
		d.missing += seq - last - 1
	}
}

// real tells whether something is wrong with the log, and not only too new.
func (d *damages) real() bool { return len(d.runs) > 0 || d.headless || d.missing > 0 || d.mixed > 0 }

// words names the damage, worst first.
func (d *damages) words() []string {
	const most = 10
	var w []string
	if d.version > formatVersion {
		w = append(w, fmt.Sprintf("the log was written by a newer version (format %d, this one knows %d): what is new in it is passed over", d.version, formatVersion))
	}
	if d.headless {
		w = append(w, "the log does not begin with its head: its first line was lost")
	}
	for i, r := range d.runs {
		if i == most {
			w = append(w, fmt.Sprintf("%d more parts of the log are damaged", len(d.runs)-most))
			break
		}
		w = append(w, r.words(d.tail))
	}
	if d.passed > 0 {
		w = append(w, fmt.Sprintf("%s of a kind that this version does not know were passed over: %q", count(d.passed, "entry", "entries"), d.unknown))
	}
	if d.strange > 0 {
		w = append(w, fmt.Sprintf("%s of the log could not be understood and were passed over", count(d.strange, "entry", "entries")))
	}
	if d.missing > 0 {
		w = append(w, fmt.Sprintf("%s of the log are missing", count(int(d.missing), "entry", "entries")))
	}
	if d.mixed > 0 {
		w = append(w, fmt.Sprintf("two programs wrote to the log at the same time, from line %d on: both are used, in the order of the file", d.mixed))
	}
	return w
}

func (r damage) words(tail int) string {
	if r.first == tail && !r.rescued {
		return fmt.Sprintf("the last line of the log was cut off (%s): the program or the machine stopped while it was written", count(int(r.bytes), "byte", "bytes"))
	}
	where := fmt.Sprintf("line %d of the log is", r.first)
	if r.last > r.first {
		where = fmt.Sprintf("lines %d to %d of the log are", r.first, r.last)
	}
	rest := "passed over"
	if r.rescued {
		rest = "passed over up to the entry at the end"
	}
	return fmt.Sprintf("%s damaged (%s) and %s", where, count(int(r.bytes), "byte", "bytes"), rest)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
