package md

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/phero-agent/agent/ui/text"
)

const (
	chunk    = 64 << 10 // bytes that are parsed at once
	bigBlock = 16 << 10 // an open block above that is not parsed at every look
)

// Stream is a document that arrives in pieces. The zero value is an empty one.
// It is not safe for concurrent use.
type Stream struct {
	clean    text.Cleaner
	tame     tamer
	src      []byte // clean
	newlines int
	finished bool

	theme *Theme // of the lines
	width int
	lines []string // of the finished blocks, then of the open one
	done  int      // lines of the finished blocks
	open  int      // where the open block begins in src
	refs  bool     // link references are defined: they may be used before

	fence  *fence // the open block is a listing
	look   int    // src up to here was searched for the beginning of a block
	shown  int    // src up to here is in lines as markdown; what follows is added as plain lines
	at     int    // the first line of src not yet added as a plain line
	whole  int    // lines that stay when more is added as plain lines
	known  int    // length of src that lines show
	listed listings
}

// Render returns a whole document as lines.
func Render(src string, t *Theme, width int) []string {
	var s Stream
	s.Write(src)
	s.Finish()
	return s.Lines(t, width)
}

// Write adds the next piece of the source, which may end anywhere.
func (s *Stream) Write(delta string) { s.add(s.clean.Write(delta)) }

// Finish says that the document is complete.
func (s *Stream) Finish() {
	if s.finished {
		return
	}
	s.add(s.clean.Flush())
	s.finished = true
	s.known = -1
	if s.refs {
		s.Release()
	}
}

func (s *Stream) add(clean string) {
	s.src = s.tame.add(s.src, clean)
	s.newlines += strings.Count(clean, "\n")
}

// Finished reports whether the document is complete.
func (s *Stream) Finished() bool { return s.finished }

// Source returns the source so far, cleaned.
func (s *Stream) Source() string { return string(s.src) }

// Len returns the length of the source in bytes.
func (s *Stream) Len() int { return len(s.src) }

// Estimate returns about how many lines the document has, without rendering it.
func (s *Stream) Estimate(width int) int { return s.newlines + len(s.src)/max(width, 1) }

// Release drops the lines: they are made again when they are asked for.
func (s *Stream) Release() {
	s.lines, s.listed = nil, listings{}
	s.done, s.open, s.look, s.shown, s.known = 0, 0, 0, 0, -1
	s.fence = nil
}

// Lines returns the document so far, no line wider than width. The lines are
// valid until the next call of any method, and must not be changed.
func (s *Stream) Lines(t *Theme, width int) []string {
	width = max(width, 1)
	if t != s.theme || width != s.width {
		s.Release()
		s.theme, s.width = t, width
	}
	if s.known != len(s.src) {
		s.advance()
		s.known = len(s.src)
	}
	return s.lines
}

// advance brings the lines up to date.
func (s *Stream) advance() {
	if s.finished && s.refs {
		s.all()
		return
	}
	for s.step() {
	}
	if s.finished && s.refs { // found in what came last
		s.Release()
		s.all()
	}
}

// all renders the whole document at once, so that references resolve everywhere.
func (s *Stream) all() {
	doc, _ := parse(s.src)
	s.lines = nil
	s.finish(doc.FirstChild(), nil, s.src)
	s.open = len(s.src)
}

// step finishes some blocks, or shows the open one and reports that it is the last.
func (s *Stream) step() (more bool) {
	if s.fence == nil {
		s.skipBlank()
		if line, end := s.lineAt(s.open); end > 0 {
			if f, ok := openFence(line); ok {
				s.fence = &f
				s.at = end
				s.begin()
			}
		}
	}
	switch {
	case s.open >= len(s.src):
		s.lines = s.lines[:s.done]
		return false
	case s.fence != nil:
		return s.listing()
	}
	return s.block()
}

// skipBlank moves the beginning of the open block over blank lines.
func (s *Stream) skipBlank() {
	for {
		line, end := s.lineAt(s.open)
		if end == 0 || strings.Trim(line, " \t") != "" {
			return
		}
		s.open = end
	}
}

// lineAt returns the line at a place in the source and where the next begins; 0
// if the line is not complete.
func (s *Stream) lineAt(at int) (line string, end int) {
	n := bytes.IndexByte(s.src[at:], '\n')
	switch {
	case n >= 0:
		return string(s.src[at : at+n]), at + n + 1
	case s.finished && at < len(s.src):
		return string(s.src[at:]), len(s.src)
	}
	return "", 0
}

// begin makes room for plain lines of the open block.
func (s *Stream) begin() {
	s.lines = s.lines[:s.done]
	if s.done > 0 {
		s.lines = append(s.lines, "")
	}
	s.whole = len(s.lines)
}

// listing adds the new lines of an open listing, or finishes one that is closed.
func (s *Stream) listing() (more bool) {
	s.lines = s.lines[:s.whole]
	for {
		line, end := s.lineAt(s.at)
		if end == 0 {
			break
		}
		if s.fence.closes(line) {
			s.finishListing(end)
			return true
		}
		s.lines = codeLines(s.lines, plainCode(s.fence.content(line)), s.theme, s.width)
		s.at, s.whole = end, len(s.lines)
	}
	if s.finished { // and never closed
		s.finishListing(len(s.src))
		return false
	}
	if s.at < len(s.src) {
		s.lines = codeLines(s.lines, plainCode(s.fence.content(string(s.src[s.at:]))), s.theme, s.width)
	}
	return false
}

// finishListing renders the open listing, which ends there, for good.
func (s *Stream) finishListing(end int) {
	src := s.src[s.open:end]
	doc, _ := parse(src)
	s.finish(doc.FirstChild(), nil, src)
	s.moveTo(end)
}

// moveTo begins a new open block.
func (s *Stream) moveTo(at int) {
	s.open, s.look, s.shown = at, at, at
	s.fence = nil
	s.listed = listings{}
}

// finish appends blocks from n up to end of src for good.
func (s *Stream) finish(n, end ast.Node, src []byte) {
	s.lines = s.lines[:s.done]
	r := s.renderer(src)
	for ; n != nil && n != end; n = n.NextSibling() {
		s.lines = join(s.lines, r.block(n, s.width))
	}
	s.done = len(s.lines)
}

// join appends the lines of a block to those before, behind a blank line.
func join(lines, block []string) []string {
	if len(lines) > 0 && len(block) > 0 {
		lines = append(lines, "")
	}
	return append(lines, block...)
}

func (s *Stream) renderer(src []byte) *renderer {
	return &renderer{t: s.theme, src: src, listings: &s.listed, signs: s.theme.signs()}
}

// block finishes the blocks behind which another one begins, and shows the last.
func (s *Stream) block() (more bool) {
	end := len(s.src)
	if !s.finished {
		end = 1 + bytes.LastIndexByte(s.src, '\n')
		if s.big() {
			s.addPlain()
			return false
		}
	}
	if s.finished || end > s.look {
		for size := chunk; ; size *= 2 {
			stop := s.cut(size, end)
			doc, refs := parse(s.src[s.open:stop])
			s.refs = s.refs || refs
			last := doc.LastChild()
			if stop == end && s.finished {
				s.finish(doc.FirstChild(), nil, s.src[s.open:stop])
				s.moveTo(end)
				return true
			}
			if n := blockStart(s.src[s.open:stop], last); n > 0 {
				s.finish(doc.FirstChild(), last, s.src[s.open:stop])
				s.moveTo(s.open + n)
				return true
			}
			if stop == end {
				break
			}
		}
		s.look = end
	}
	s.showOpen()
	return false
}

// cut returns where to stop a look of size bytes into the open block: at a line's
// end, and not beyond end.
func (s *Stream) cut(size, end int) int {
	if end-s.open <= size {
		return end
	}
	if n := bytes.LastIndexByte(s.src[s.open:s.open+size], '\n'); n >= 0 {
		return s.open + n + 1
	}
	if n := bytes.IndexByte(s.src[s.open+size:end], '\n'); n >= 0 {
		return s.open + size + n + 1
	}
	return end
}

// showOpen renders the open block as it is.
func (s *Stream) showOpen() {
	src := s.src[s.open:]
	doc, _ := parse(src)
	r := s.renderer(src)
	r.unclosed = true
	s.lines = join(s.lines[:s.done], r.blocks(doc, s.width))
	s.shown = len(s.src)
	s.whole = len(s.lines)
	s.at = s.shown
}

// big reports whether the open block is so big that it is parsed only after it
// has grown by a part of its size: else a long list or table would cost the
// square of its length.
func (s *Stream) big() bool {
	size, shown := len(s.src)-s.open, s.shown-s.open
	if size < bigBlock || shown <= 0 {
		return false
	}
	if size > 16*bigBlock {
		return size < 2*shown
	}
	return size < shown+shown/4
}

// addPlain adds what is new of a big block as plain lines.
func (s *Stream) addPlain() {
	s.lines = s.lines[:s.whole]
	for {
		line, end := s.lineAt(s.at)
		if end == 0 {
			break
		}
		s.lines = append(s.lines, text.Wrap(text.Untab(line), s.width)...)
		s.at, s.whole = end, len(s.lines)
	}
	if s.at < len(s.src) {
		s.lines = append(s.lines, text.Wrap(text.Untab(string(s.src[s.at:])), s.width)...)
	}
}
