package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrap breaks s into lines of at most w cells: after a word where it can, within
// one where it must, never within a grapheme cluster. Blanks at a break are left
// out. Styles go on in the next line. A w below 1 counts as 1.
func Wrap(s string, w int) []string { return wrap(s, wrapper{w: w}) }

// WrapKeep is [Wrap] that keeps every character: blanks at a break stay, at the
// end of a line or, where it is full, at the beginning of the next.
func WrapKeep(s string, w int) []string { return wrap(s, wrapper{w: w, keep: true}) }

// Hardwrap breaks s into lines that are full, and keeps every character: for code.
func Hardwrap(s string, w int) []string { return wrap(s, wrapper{w: w, keep: true, hard: true}) }

func wrap(s string, wr wrapper) []string {
	wr.w = max(wr.w, 1)
	for line := range strings.SplitSeq(s, "\n") {
		wr.line(line)
	}
	return wr.out
}

type wrapper struct {
	w    int
	keep bool // blanks at breaks
	hard bool // words do not matter
	out  []string
	pen  pen // at the place that is read

	src   string
	start mark // of the line that is made
	word  mark // after the last blank: where the line can be broken
	end   int  // before the blanks in front of word
}

// mark is a place in the source.
type mark struct {
	at, cell int
	pen      pen
}

func (wr *wrapper) line(src string) {
	if len(src) <= wr.w && plain(src) && wr.pen == (pen{}) {
		wr.out = append(wr.out, src)
		return
	}
	wr.src = src
	wr.start = mark{pen: wr.pen}
	wr.word, wr.end = wr.start, 0
	cell := 0
	blank, wide, text := false, false, false // the last was a blank, or of a script without blanks; the line has text
	for at := 0; at < len(src); {
		n, width := 1, 1
		if c := src[at]; c < 0x20 || c >= 0x7f || at+1 < len(src) && src[at+1] >= 0x80 {
			n, width = next(src[at:])
		}
		if width == escape {
			if params, ok := sgrParams(src[at : at+n]); ok {
				wr.pen.apply(params)
			}
			at += n
			continue
		}
		isBlank := n == 1 && src[at] == ' '
		isWide := width == 2 && breaksAround(src[at:at+n])
		if text && !blank && !isBlank && (wide || isWide) && !closes(src[at:at+n]) {
			wr.word, wr.end = mark{at, cell, wr.pen}, at
		}
		if (!isBlank || wr.keep) && cell+width > wr.start.cell+wr.w {
			text = wr.breakBefore(mark{at, cell, wr.pen}, width)
		}
		if isBlank {
			wr.blank(mark{at, cell, wr.pen}, blank, text)
		}
		text = text || !isBlank
		blank, wide = isBlank, isWide
		at += n
		cell += width
	}
	wr.emit(len(src))
}

// blank notes that the line can be broken behind a blank: after text, or where
// blanks are kept.
func (wr *wrapper) blank(here mark, again, text bool) {
	if wr.keep {
		wr.end = here.at + 1
	} else if !again {
		wr.end = here.at
	}
	if text || wr.keep {
		wr.word = mark{here.at + 1, here.cell + 1, here.pen}
	}
}

// breakBefore ends the line at the last word's beginning, or else here, and
// reports whether the new line has text already.
func (wr *wrapper) breakBefore(here mark, width int) bool {
	if !wr.hard && wr.word.at > wr.start.at {
		wr.emit(wr.end)
		wr.start = wr.word
		if here.cell+width <= wr.start.cell+wr.w {
			return wr.start.at < here.at
		}
	}
	if here.at > wr.start.at {
		wr.emit(here.at)
	}
	wr.start = here
	return false
}

// emit appends the source from the line's start up to end as one line.
func (wr *wrapper) emit(end int) {
	s := wr.src[wr.start.at:max(end, wr.start.at)]
	if !wr.keep {
		s = trimBlank(s, wr.w)
	}
	s, added := based(s)
	p := wr.start.pen
	styled := strings.IndexByte(s, 0x1b) >= 0
	// Blanks before a style may be too much, or a wide character in one cell; and
	// there may be other sequences.
	if wr.w < 2 || added || styled && (Width(s) > wr.w || !p.follow(s)) {
		wr.out = append(wr.out, Cut(wr.start.pen.open()+s, 0, wr.w))
		return
	}
	wr.out = append(wr.out, wr.start.pen.open()+s+p.change(pen{}))
}

// follow changes the pen as s does, and reports whether s has no escape
// sequences but those of styles.
func (p *pen) follow(s string) bool {
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			return true
		}
		s = s[i:]
		n := escapeLen(s)
		params, ok := sgrParams(s[:n])
		if !ok {
			return false
		}
		p.apply(params)
		s = s[n:]
	}
}

// based puts a base under a combining mark that a line begins with: else it would
// sit on whatever is drawn to its left.
func based(s string) (based string, added bool) {
	at := 0
	for at < len(s) && s[at] == 0x1b {
		at += escapeLen(s[at:])
	}
	if at == len(s) || s[at] < 0x80 {
		return s, false
	}
	if r, _ := utf8.DecodeRuneInString(s[at:]); !unicode.In(r, unicode.Mn, unicode.Me) {
		return s, false
	}
	return s[:at] + "◌" + s[at:], true
}

// trimBlank cuts blanks off the end; if there is nothing else they are what fits.
func trimBlank(s string, w int) string {
	if t := strings.TrimRight(s, " "); t != "" {
		return t
	}
	return s[:min(len(s), w)]
}

// breaksAround reports whether a line may break before and after a wide cluster:
// true of CJK text, which has no blanks.
func breaksAround(cluster string) bool {
	r, _ := utf8.DecodeRuneInString(cluster)
	return r >= 0x2e80 && r < 0x1f000 || r >= 0x20000
}

// closes reports whether a cluster must not begin a line.
func closes(cluster string) bool {
	return strings.Contains("、。，．・：；？！）」』】〉》〕］｝ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ", cluster)
}
