package file

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// span is a stretch of bytes of a file.
type span struct{ start, end int }

// patch is one replacement: what was taken out, and what is in its place now.
type patch struct{ old, new span }

// replace applies one edit to the content of a file. The bytes outside of what is
// replaced never change, whatever they are.
func replace(content []byte, e Edit) (after []byte, done []patch, err error) {
	if e.OldString == "" {
		return nil, nil, ErrOldStringRequired
	}
	if e.OldString == e.NewString {
		return nil, nil, fmt.Errorf("%w: old_string and new_string are equal", ErrNoChange)
	}
	spans := find(content, e.OldString)
	switch {
	case len(spans) == 0:
		return nil, nil, notFound(content, e.OldString)
	case len(spans) > 1 && !e.ReplaceAll:
		return nil, nil, notUnique(content, spans)
	}
	grow := max(0, len(e.NewString)-len(e.OldString))
	out := make([]byte, 0, len(content)+grow*min(len(spans), 1000))
	end := 0
	for _, s := range spans {
		if s.start < end {
			continue // it overlaps the one before
		}
		out = append(out, content[end:s.start]...)
		at := len(out)
		out = appendNew(out, content, s, e)
		end = s.end
		done = append(done, patch{s, span{at, len(out)}})
	}
	return append(out, content[end:]...), done, nil
}

// shownPlaces is how many places the result of an edit names.
const shownPlaces = 10

// places follows the beginnings of what was put in through later edits, the first
// few of them.
type places []int

func (p places) add(done []patch) places {
	for i, at := range p {
		n := sort.Search(len(done), func(n int) bool { return done[n].old.start > at })
		switch {
		case n == 0:
		case at < done[n-1].old.end:
			p[i] = done[n-1].new.start
		default:
			p[i] += done[n-1].new.end - done[n-1].old.end
		}
	}
	for _, d := range done[:min(len(done), shownPlaces-len(p))] {
		p = append(p, d.new.start)
	}
	return p
}

// lines returns the numbers of the lines in which the places are, each once.
func (p places) lines(content []byte) []int {
	slices.Sort(p)
	last := bytes.Count(bytes.TrimSuffix(content, []byte("\n")), []byte("\n")) + 1
	line, from := 1, 0
	var out []int
	for _, at := range p {
		line += bytes.Count(content[from:at], []byte("\n"))
		from = at
		out = append(out, min(line, last)) // what was deleted at the end was behind the last line
	}
	return slices.Compact(out)
}

// find returns every place of text in content, overlapping ones too (FILE-48). A
// "\n" of the text also stands for a "\r\n" of the content, as read shows both
// alike; a text with a "\r" of its own is taken as it is.
func find(content []byte, text string) []span {
	if !strings.Contains(text, "\n") || strings.Contains(text, "\r") || !bytes.Contains(content, []byte("\r\n")) {
		return findExact(content, text)
	}
	spans := findExact(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), text)
	for k, at, dropped := 0, 0, 0; k < len(spans); k++ {
		// Starts grow, so that one walk over the content places them all.
		at, dropped = advance(content, at, dropped, spans[k].start)
		_, more := advance(content, at, dropped, spans[k].end)
		spans[k] = span{spans[k].start + dropped, spans[k].end + more}
	}
	return spans
}

func findExact(content []byte, text string) []span {
	var spans []span
	for at := 0; ; at++ {
		i := bytes.Index(content[at:], []byte(text))
		if i < 0 {
			return spans
		}
		at += i
		spans = append(spans, span{at, at + len(text)})
	}
}

// advance walks content from at, with dropped "\r" before it, until byte number
// to of the flat text. It returns the place and the "\r" dropped before it.
func advance(content []byte, at, dropped, to int) (int, int) {
	for {
		i := bytes.Index(content[at:], []byte("\r\n"))
		if i < 0 || at+i-dropped >= to {
			return at, dropped
		}
		at += i + 1 // stays before the "\n"
		dropped++
	}
}

// appendNew appends what replaces one span: new_string, with the line ends that
// the span has, or where it has none those of the lines around it.
func appendNew(out, content []byte, s span, e Edit) []byte {
	text := e.NewString
	if !strings.Contains(text, "\n") || strings.Contains(e.OldString, "\r") || strings.Contains(text, "\r\n") {
		return append(out, text...)
	}
	old := content[s.start:s.end]
	if !bytes.Contains(old, []byte("\n")) {
		if endsAround(content, s) == "\r\n" {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return append(out, text...)
	}
	if !bytes.Contains(old, []byte("\r\n")) {
		return append(out, text...)
	}
	return appendLines(out, splitLines(old), splitLines([]byte(text)))
}

// endsAround returns the end of the line that holds the end of a span, or where
// the file ends there that of the line before.
func endsAround(content []byte, s span) string {
	nl := bytes.IndexByte(content[s.end:], '\n')
	if nl >= 0 {
		nl += s.end
	} else if nl = bytes.LastIndexByte(content[:s.start], '\n'); nl < 0 {
		return "\n"
	}
	if nl > 0 && content[nl-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// appendLines appends new lines with the ends of the old ones: a line that stays
// keeps its own, another takes that of the line before it, or of the first.
func appendLines(out []byte, old, lines [][]byte) []byte {
	flat := make([][]byte, len(old))
	for i, l := range old {
		flat[i] = bytes.TrimSuffix(l, []byte("\r\n"))
		if len(flat[i]) < len(l) {
			flat[i] = append(bytes.Clone(flat[i]), '\n')
		}
	}
	crlf := bytes.HasSuffix(old[0], []byte("\r\n"))
	pairs := matchLines(flat, lines)
	for j, l := range lines {
		if len(pairs) > 0 && pairs[0][1] == j {
			if at := pairs[0][0]; bytes.HasSuffix(old[at], []byte("\n")) {
				crlf = bytes.HasSuffix(old[at], []byte("\r\n"))
			}
			pairs = pairs[1:]
		}
		text, ended := bytes.CutSuffix(l, []byte("\n"))
		out = append(out, text...)
		if ended && crlf {
			out = append(out, '\r')
		}
		if ended {
			out = append(out, '\n')
		}
	}
	return out
}

// notUnique lists the lines of the places.
func notUnique(content []byte, spans []span) error {
	const shown = 10
	var at []string
	line, from := 1, 0
	for _, s := range spans[:min(shown, len(spans))] {
		line += bytes.Count(content[from:s.start], []byte("\n"))
		from = s.start
		at = append(at, fmt.Sprint(line))
	}
	more := ""
	if len(spans) > shown {
		more = fmt.Sprintf(" and %d more", len(spans)-shown)
	}
	return fmt.Errorf("%w: it occurs %d times, at lines %s%s; add lines around it until it is unique, or set replace_all",
		ErrOldStringNotUnique, len(spans), strings.Join(at, ", "), more)
}
