package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s with a sign for every character that would not be seen as
// what it is: controls as ␛, zero-width, bidi and odd blank characters as
// <U+202E>, bytes that are no text as <0x9B>, a tab as ␉ up to the next fourth
// column (PERM-82). Line ends stay. The signs are drawn in mark. Nothing of s is
// lost: what is approved is what is seen.
func Visible(s string, mark Style) string {
	if cleanAlready(s) {
		return s
	}
	v := viewer{mark: mark}
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			v.sign(BadByte(s[0]))
		} else {
			v.rune(r, s[:n])
		}
		s = s[n:]
	}
	v.unmark()
	return v.b.String()
}

type viewer struct {
	b      strings.Builder
	mark   Style
	marked bool // the style of signs is on
	col    int
	based  bool // a combining mark has a character to sit on
	marks  int
}

func (v *viewer) rune(r rune, src string) {
	sign := Sign(r)
	switch {
	case r == '\n':
		v.unmark()
		v.b.WriteByte('\n')
		v.col, v.based = 0, false
	case r == '\t':
		v.sign(sign + spaces(codeTab-1-v.col%codeTab))
	case sign != "":
		v.sign(sign)
	case unicode.In(r, unicode.Mn, unicode.Me):
		if v.marks++; !v.based || v.marks > maxMarks {
			v.sign(codePoint(r))
			return
		}
		v.b.WriteString(src)
	default:
		v.unmark()
		v.b.WriteString(src)
		v.col += Width(src)
		v.based, v.marks = true, 0
	}
}

// Sign returns what [Visible] shows for a character; "" if it is seen as what it is.
func Sign(r rune) string {
	switch {
	case r >= ' ' && r < 0x7f:
		return ""
	case r < ' ':
		return string('␀' + r)
	case r == 0x7f:
		return "␡"
	case r >= 0x80 && r < 0xa0, invisible(r), blank(r), r == 0x3000, r == 0x2800, r >= '␀' && r <= '␦':
		return codePoint(r)
	}
	return ""
}

// BadByte returns what [Visible] shows for a byte that is no part of a character.
func BadByte(b byte) string { return fmt.Sprintf("<0x%02X>", b) }

func codePoint(r rune) string { return fmt.Sprintf("<U+%04X>", r) }

func (v *viewer) sign(s string) {
	if !v.marked {
		v.b.WriteString(v.mark.Open())
		v.marked = v.mark != ""
	}
	v.b.WriteString(s)
	v.col += Width(s)
	v.based = false
}

func (v *viewer) unmark() {
	if v.marked {
		v.b.WriteString(Reset)
		v.marked = false
	}
}
