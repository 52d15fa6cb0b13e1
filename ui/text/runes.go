package text

import "unicode"

// filter decides which characters of a text are shown.
type filter struct {
	last   rune // the last character of this line that was shown; 0 at its start
	joiner rune // waits for the character after it
	marks  int  // combining marks on the last character
}

// maxMarks is how many combining marks one character may carry: more would smear
// over the lines around.
const maxMarks = 8

// reset tells the filter of a character that it need not look at.
func (f *filter) reset(last rune) { *f = filter{last: last} }

// rune passes r on to a sink if it may be shown.
func (f *filter) rune(r rune, to sink) {
	joiner := f.joiner
	f.joiner = 0
	switch {
	case r == 0x200c || r == 0x200d:
		f.joiner = r
		return
	case invisible(r):
		return
	case blank(r):
		r = ' '
	case unicode.In(r, unicode.Mn, unicode.Me):
		f.mark(r, to)
		return
	}
	if joiner != 0 && joins(joiner, f.last, r) {
		to.rune(joiner)
	}
	f.last, f.marks = r, 0
	to.rune(r)
}

func (f *filter) mark(r rune, to sink) {
	if f.last == 0 { // else it would sit on whatever is drawn to its left
		f.last = '◌'
		to.rune('◌')
	}
	if f.marks++; f.marks <= maxMarks {
		to.rune(r)
	}
}

// joins reports whether a joiner has a meaning between two characters: in an
// emoji sequence, or between letters of the scripts that join.
func joins(joiner, before, after rune) bool {
	if joiner == 0x200d && pictograph(before) && pictograph(after) {
		return true
	}
	joining := func(r rune) bool { return r >= 0x600 && r < 0x1900 }
	return joining(before) && joining(after)
}

func pictograph(r rune) bool { return r >= 0x2190 && r < 0x2c00 || r >= 0x1f000 && r < 0x20000 }

// invisible reports whether r shows nothing by itself, or reorders text: bidi
// controls, zero-width characters, variation selectors, tags, fillers.
func invisible(r rune) bool {
	switch {
	case r < 0x300:
		return r == 0xad
	case r == 0xd4e, r == 0x111c2, r == 0x111c3, r == 0x1193f, r == 0x11941, r == 0x11a3a, r >= 0x11a84 && r <= 0x11a89, r == 0x11d46, r == 0x11f02:
		return true // make one cluster with whatever follows, also with a blank beside the text
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f,
		r >= 0x2060 && r <= 0x206f, r == 0x3164, r == 0xffa0, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	case r&0xfffe == 0xfffe:
		return true // not a character
	}
	return unicode.Is(unicode.Cf, r)
}

// blank reports whether r is a blank that looks like a space but is none.
func blank(r rune) bool {
	return r == 0xa0 || r == 0x1680 || r >= 0x2000 && r <= 0x200a || r == 0x2028 || r == 0x2029 || r == 0x202f || r == 0x205f
}
