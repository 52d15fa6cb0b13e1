package diff

import (
	"strings"
	"unicode/utf8"

	"github.com/phero-agent/agent/ui/text"
	"github.com/phero-agent/agent/ui/text/syntax"
)

const (
	tabStop  = 4
	longLine = 4096 // bytes; longer lines are drawn only as far as they are seen, without colours
	maxDrawn = 2000 // lines that are kept as drawn
	maxMarks = 8    // combining marks of one character
)

// content returns line i as drawn, at least as far as the given number of cells.
func (v *View) content(i, cells int) string {
	if s, ok := v.known[i]; ok {
		return s
	}
	l := v.lines[i]
	if len(l.text) > longLine {
		return v.draw(l, cells, nil)
	}
	if len(v.known) >= maxDrawn {
		clear(v.known)
	}
	s := v.draw(l, longLine*tabStop, v.colors(l))
	v.known[i] = s
	return s
}

// changed returns the ranges of a line that its pair does not have.
func (v *View) changed(l line) []span {
	if l.pair < 0 {
		return nil
	}
	other := v.lines[l.pair]
	if l.kind == '-' {
		gone, _ := changes(l.text, other.text)
		return gone
	}
	_, come := changes(other.text, l.text)
	return come
}

// draw styles a line: syntax colours, what changed, signs.
func (v *View) draw(l line, cells int, colors []syntax.Span) string {
	lk := v.t.look(l.kind)
	changed := v.changed(l)
	var (
		b      strings.Builder
		run    strings.Builder // in one style
		style  text.Style
		color  text.Style
		colEnd int // where the piece of colors ends
		at     int
	)
	flush := func() {
		b.WriteString(style.Render(run.String()))
		run.Reset()
	}
	for g := range v.glyphs(l, changed) {
		for g.from >= colEnd && len(colors) > 0 {
			color = colors[0].Style
			colEnd += len(colors[0].Text)
			colors = colors[1:]
		}
		st := lk.fg
		if lk.colored {
			st = ""
			if g.from < colEnd {
				st = color
			}
		}
		if within(changed, g.from) {
			st = st.With(lk.word)
		}
		if g.sign {
			st = st.With(v.t.Mark)
		}
		if st != style {
			flush()
			style = st
		}
		run.WriteString(g.s)
		if at += g.cells; at > cells {
			break
		}
	}
	flush()
	return b.String()
}

func within(spans []span, at int) bool {
	for _, s := range spans {
		if at >= s.from && at < s.to {
			return true
		}
	}
	return false
}

// glyph is what is shown for one character.
type glyph struct {
	s     string
	cells int
	from  int // byte in the line
	sign  bool
}

// glyphs yields what is shown of a line, character by character. What a change
// could hide is shown by signs: controls and invisible characters always, blanks
// at the end of changed lines and where nothing but blanks changed.
func (v *View) glyphs(l line, changed []span) func(yield func(glyph) bool) {
	s := l.text
	if v.crlf {
		s = strings.TrimSuffix(s, "\r")
	}
	blanks := len(s)
	if l.kind == '+' || l.kind == '-' {
		blanks = len(strings.TrimRight(s, " \t\r"))
	}
	return func(yield func(glyph) bool) {
		col, marks := 0, maxMarks // a mark at the beginning has nothing to sit on
		for i := 0; i < len(s); {
			r, n := utf8.DecodeRuneInString(s[i:])
			g := glyph{s: s[i : i+n], from: i}
			seen := i >= blanks || blankChange(s, changed, i)
			switch sign := text.Sign(r); {
			case r == '\t':
				g.s = v.tab(tabStop-col%tabStop, seen)
				g.sign = seen
			case r == ' ' && seen:
				g.s, g.sign = v.t.signs().dot, true
			case r == utf8.RuneError && n == 1:
				g.s, g.sign = text.BadByte(s[i]), true
			case sign != "":
				g.s, g.sign = sign, true
			}
			g.cells = text.Width(g.s)
			if g.cells == 0 { // a combining mark
				if marks++; marks > maxMarks {
					g.s, g.sign = "◌"+g.s, true
					g.cells = text.Width(g.s)
				}
			} else {
				marks = 0
			}
			if !yield(g) {
				return
			}
			col += g.cells
			i += n
		}
	}
}

// blankChange reports whether byte i is in a change of nothing but blanks.
func blankChange(s string, changed []span, i int) bool {
	for _, c := range changed {
		if i >= c.from && i < c.to {
			return strings.Trim(s[c.from:min(c.to, len(s))], " \t\r") == ""
		}
	}
	return false
}

func (v *View) tab(cells int, seen bool) string {
	blanks := strings.Repeat(" ", cells)
	if seen {
		return v.t.signs().tab + blanks[1:]
	}
	return blanks
}
