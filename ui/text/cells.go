package text

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// escape is the width that [next] gives for an escape sequence.
const escape = -1

// next measures the first thing in s: n bytes of width cells. It is a grapheme
// cluster, an escape sequence (width [escape]) or a control character (width 0).
func next(s string) (n, width int) {
	switch c := s[0]; {
	case c == 0x1b:
		return escapeLen(s), escape
	case c < 0x20 || c == 0x7f:
		return 1, 0
	case c < 0x7f && (len(s) == 1 || s[1] < 0x80):
		return 1, 1
	}
	for at := 0; at < 2 && at < len(s); at++ { // a broken byte is no part of a cluster
		if r, size := utf8.DecodeRuneInString(s[at:]); r == utf8.RuneError && size == 1 {
			return 1, 1
		} else if size > 1 {
			break
		}
	}
	cluster, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(cluster), width
}

// escapeLen returns the length of the escape sequence that s begins with.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	if s[1] != '[' {
		return 2
	}
	for i := 2; i < len(s); i++ {
		if c := s[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// sgrParams returns the parameters of an SGR sequence.
func sgrParams(seq string) (string, bool) {
	if len(seq) < 3 || seq[1] != '[' || seq[len(seq)-1] != 'm' {
		return "", false
	}
	return seq[2 : len(seq)-1], true
}

// plain reports whether s is printable ASCII only: then its width is its length.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// run returns how many characters of printable ASCII s begins with. One that a
// character of another kind follows is left out: they may be one cluster.
func run(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x80:
			return max(i-1, 0)
		case c < 0x20 || c == 0x7f:
			return i
		}
	}
	return len(s)
}

// Width returns the number of cells of s, styles not counted.
func Width(s string) int {
	w := run(s)
	for s = s[w:]; s != ""; {
		n, width := next(s)
		w += max(width, 0)
		s = s[n:]
		n = run(s)
		w += n
		s = s[n:]
	}
	return w
}

// Pad returns s in exactly w cells: spaces are added, or what is too much is cut.
func Pad(s string, w int) string {
	w = max(w, 0)
	if n := Width(s); n <= w {
		return s + spaces(w-n)
	}
	return Cut(s, 0, w)
}

// spaces returns n spaces.
func spaces(n int) string {
	const some = "                                                                                "
	if n <= len(some) {
		return some[:max(n, 0)]
	}
	return strings.Repeat(" ", n)
}

// Truncate returns s in at most w cells; when something is cut, tail stands for it.
func Truncate(s string, w int, tail string) string {
	if Width(s) <= w {
		return s
	}
	keep := w - Width(tail)
	if keep < 0 {
		return Cut(tail, 0, w)
	}
	return Cut(s, 0, keep) + tail
}

// Cut returns the cells from left up to right of s. Of a wide character that the
// cut halves a space stays, so that the result is exactly right-left cells wide
// where s is long enough. Escape sequences other than SGR are left out.
func Cut(s string, left, right int) string {
	left = max(left, 0)
	if right <= left {
		return ""
	}
	if plain(s) {
		return s[min(left, len(s)):min(right, len(s))]
	}
	var (
		b    strings.Builder
		p    pen // in s
		out  pen // in b
		at   int // cell
		half = func(n int) { b.WriteString(out.change(p)); out = p; b.WriteString(spaces(n)) }
	)
	for s != "" && at < right {
		if n := min(run(s), right-at); n > 0 {
			if from := max(left-at, 0); from < n {
				b.WriteString(out.change(p))
				out = p
				b.WriteString(s[from:n])
			}
			at += n
			s = s[n:]
			continue
		}
		n, width := next(s)
		switch end := at + width; {
		case width == escape:
			if params, ok := sgrParams(s[:n]); ok {
				p.apply(params)
			}
		case at >= left && end <= right && (end > left || b.Len() > 0):
			b.WriteString(out.change(p))
			out = p
			b.WriteString(s[:n])
		case end > left && at < left:
			half(min(end, right) - left)
		case end > right:
			half(right - at)
		}
		at += max(width, 0)
		s = s[n:]
	}
	b.WriteString(out.change(pen{}))
	return b.String()
}

// Strip returns s without escape sequences.
func Strip(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	var b strings.Builder
	for s != "" {
		n, width := next(s)
		if width != escape {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// Untab returns s with its tabs as spaces up to the next fourth cell.
func Untab(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		at := 0
		for {
			before, after, found := strings.Cut(line, "\t")
			b.WriteString(before)
			if !found {
				break
			}
			at += Width(before)
			n := codeTab - at%codeTab
			b.WriteString(spaces(n))
			at += n
			line = after
		}
	}
	return b.String()
}

// codeTab is the distance of tab stops in code, in cells.
const codeTab = 4
