package file

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"unicode/utf8"
)

const (
	searchBlock = 128 << 10 // bytes read at once
	maxLine     = 1 << 20   // bytes of a line that are searched as one piece
	shownLine   = 500       // characters of a line that are shown
)

// output modes of grep.
const (
	modeFiles   = "files_with_matches"
	modeContent = "content"
	modeCount   = "count"
)

// query is what one grep looks for and how it shows it.
type query struct {
	matcher       *matcher
	mode          string
	numbers       bool
	before, after int   // lines of context
	entries       int   // that are wanted of one file at most; 0 is no limit
	multiLimit    int64 // bytes of a file that multiline takes; 0 is no limit

	// held is how much of results, in bytes, may wait for those of earlier paths. What
	// comes when it is full is thrown away, and searched again when its turn comes.
	held int64
}

// searcher searches files, one after the other, with the same memory.
type searcher struct {
	*query
	scanner *scanner
	buf     []byte
	text    []byte // of the entry that is made
	progress
}

// progress is what is known of the file that is searched.
type progress struct {
	label   string // how its path is shown
	out     []string
	count   int
	line    int  // number of the line at counted
	counted int  // offset up to which lines are counted
	shown   int  // offset up to which lines are shown; negative when it is out of the buffer
	any     bool // whether anything is shown
	pending int  // lines of context still to be shown after a match
	last    int  // number of the last line shown as a match
}

// search returns the entries of one file. skipped tells of a file too large for multiline.
func (s *searcher) search(ctx context.Context, label string, r io.Reader) (entries []string, skipped bool) {
	s.progress = progress{label: label, line: 1}
	if s.buf == nil {
		s.buf = make([]byte, searchBlock)
	}
	if s.scanner == nil {
		s.scanner = newScanner(s.matcher)
	}
	s.scanner.ctx = ctx
	if s.matcher.multi {
		skipped = s.whole(ctx, r)
	} else {
		s.lines(ctx, r)
	}
	switch {
	case s.count == 0:
		return nil, skipped
	case s.mode == modeFiles:
		return []string{showBytes(label)}, skipped
	case s.mode == modeCount:
		return []string{label + ":" + strconv.Itoa(s.count)}, skipped
	}
	return s.out, skipped
}

func isBinary(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), binaryHead)], 0) >= 0
}

// whole searches a file in one piece.
func (s *searcher) whole(ctx context.Context, r io.Reader) (skipped bool) {
	have := 0
	for {
		if have == len(s.buf) {
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
		n, err := r.Read(s.buf[have:min(len(s.buf), have+maxLine)])
		have += n
		if ctx.Err() != nil || isBinary(s.buf[:have]) {
			return false
		}
		if s.multiLimit > 0 && int64(have) > s.multiLimit {
			return true
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return false
		}
	}
	text := bytes.TrimPrefix(s.buf[:have], []byte(bom))
	if l := s.matcher.literal; l == nil || l.index(text) >= 0 {
		s.scan(text, 0)
	}
	if len(s.buf) > maxLine {
		s.buf = nil // one large file is no reason to keep so much
	}
	return false
}

// lines searches a file block by block, each up to its last line end.
func (s *searcher) lines(ctx context.Context, r io.Reader) {
	have := 0  // bytes in buf
	start := 0 // where the part not yet searched begins
	first := true
	for ctx.Err() == nil {
		if have == len(s.buf) {
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
		n, err := r.Read(s.buf[have:])
		have += n
		final := err != nil
		if first {
			if isBinary(s.buf[:have]) {
				return
			}
			if bytes.HasPrefix(s.buf[:have], []byte(bom)) {
				have = copy(s.buf, s.buf[len(bom):have])
			}
			first = false
		}
		end := have
		if !final {
			end = bytes.LastIndexByte(s.buf[start:have], '\n') + 1 + start
			if end == start {
				if have-start < maxLine {
					continue
				}
				end = have // a line of this length is searched in pieces
			}
		}
		if s.scan(s.buf[:end], start) || final {
			return
		}
		start, have = s.slide(end, have)
	}
}

// slide moves what is still needed to the front of the buffer: lines before end
// that may become context, and what is not searched yet.
func (s *searcher) slide(end, have int) (start, left int) {
	keep := end
	for range s.before {
		if keep <= max(s.shown, 0) {
			break
		}
		keep = bytes.LastIndexByte(s.buf[:keep-1], '\n') + 1
	}
	keep = max(keep, s.shown, end-maxLine)
	if s.mode != modeContent {
		keep = end
	}
	s.advance(s.buf, keep)
	copy(s.buf, s.buf[keep:have])
	s.counted = 0
	s.shown -= keep // negative when lines in between were not shown
	return end - keep, have - keep
}

// advance counts the lines up to an offset.
func (s *searcher) advance(text []byte, to int) {
	if to > s.counted {
		s.line += bytes.Count(text[s.counted:to], []byte("\n"))
		s.counted = to
	}
}

// scan searches text from an offset on. It tells true when the file need not be
// searched further.
func (s *searcher) scan(text []byte, from int) bool {
	for from < len(text) && s.scanner.ctx.Err() == nil {
		start, end, ok := s.scanner.next(text, from)
		if !ok {
			break
		}
		from = end
		s.count++
		switch {
		case s.mode == modeFiles:
			return true
		case s.mode == modeContent:
			s.show(text, start, end)
			if s.entries > 0 && len(s.out) >= s.entries {
				return true
			}
		}
	}
	if s.mode == modeContent && s.pending > 0 {
		s.follow(text, len(text))
	}
	return false
}

// show adds the lines of a match, and its context.
func (s *searcher) show(text []byte, start, end int) {
	start = max(start, s.shown)
	s.follow(text, start)
	first := start // line of the context before it
	for range s.before {
		if first <= max(s.shown, 0) {
			break
		}
		first = bytes.LastIndexByte(text[:first-1], '\n') + 1
	}
	first = max(first, s.shown)
	if s.any && first > s.shown && s.before+s.after > 0 {
		s.out = append(s.out, "--")
	}
	s.any = true
	s.emit(text, first, start, '-')
	s.emit(text, start, end, ':')
	s.pending = s.after
}

// follow adds the lines of context that the last match still wants, up to an offset.
func (s *searcher) follow(text []byte, to int) {
	for s.pending > 0 && s.shown < to {
		end := to
		if i := bytes.IndexByte(text[s.shown:to], '\n'); i >= 0 {
			end = s.shown + i + 1
		}
		s.emit(text, s.shown, end, '-')
		s.pending--
	}
}

// emit adds the lines of text[start:end].
func (s *searcher) emit(text []byte, start, end int, mark byte) {
	for start < end {
		stop := end
		next := end
		if i := bytes.IndexByte(text[start:end], '\n'); i >= 0 {
			stop, next = start+i, start+i+1
		}
		s.advance(text, start)
		if mark == '-' || s.line != s.last {
			s.out = append(s.out, s.entry(bytes.TrimSuffix(text[start:stop], []byte("\r")), mark))
		}
		if mark == ':' {
			s.last = s.line
		}
		start = next
	}
	s.shown = max(s.shown, end)
}

// entry makes the entry of a line, in memory that is used again.
func (s *searcher) entry(line []byte, mark byte) string {
	b := append(s.text[:0], s.label...)
	b = append(b, mark)
	if s.numbers {
		b = strconv.AppendInt(b, int64(s.line), 10)
		b = append(b, mark)
	}
	switch {
	case len(line) <= shownLine && utf8.Valid(line):
		b = append(b, line...)
	case len(line) > shownLine && mark == ':':
		b = append(b, clipLine(line, s.scanner.matchIn(line))...)
	default:
		b = append(b, clipLine(line, 0)...)
	}
	s.text = b
	return string(b)
}

// clipLine shows a line, of a long one the part around the match.
func clipLine(line []byte, match int) string {
	if len(line) <= shownLine || utf8.RuneCount(line) <= shownLine {
		return showBytes(string(line))
	}
	from := 0
	if match > shownLine/2 {
		from = min(match, len(line)) - shownLine/2
		for from > 0 && !utf8.RuneStart(line[from]) {
			from--
		}
	}
	rest := line[from:]
	if len(rest) > shownLine*utf8.UTFMax {
		rest = rest[:shownLine*utf8.UTFMax]
	}
	text := string(rest)
	cut := runeOffset(text, shownLine)
	out := showBytes(text[:cut])
	if from > 0 {
		out = "…" + out
	}
	if from+cut < len(line) {
		out += "… [line clipped: it has " + strconv.Itoa(len(line)) + " bytes]"
	}
	return out
}
