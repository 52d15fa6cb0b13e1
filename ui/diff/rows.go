package diff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/phero-agent/agent/ui/text"
)

// Layout is how rows are laid out.
type Layout struct {
	Width int  // of a row, in cells
	Split bool // old and new side by side; else one below the other
	Pan   int  // cells by which the text is moved to the left
}

const (
	compact = 60 // below that width there is one column of numbers only
	between = 3  // cells between the halves, and between two numbers
)

// Len returns the number of rows.
func (v *View) Len(split bool) int {
	if split {
		return len(v.split)
	}
	return len(v.lines)
}

// Rows returns the rows from up to to, as far as they exist. None is wider than
// the layout. Only these are rendered.
func (v *View) Rows(l Layout, from, to int) []string {
	from, to = max(from, 0), min(to, v.Len(l.Split))
	if from >= to || l.Width < 1 {
		return nil
	}
	out := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		var s string
		if l.Split {
			s = v.sides(v.split[i], l)
		} else {
			s = v.unified(i, l)
		}
		out = append(out, text.Truncate(s, l.Width, ""))
	}
	return out
}

// Lines returns all rows.
func (v *View) Lines(l Layout) []string { return v.Rows(l, 0, v.Len(l.Split)) }

// MaxPan returns the greatest useful Pan: then the end of the longest line is seen.
func (v *View) MaxPan(l Layout) int {
	if v.widest < 0 {
		v.widest = 0
		for _, line := range v.lines {
			if len(line.text)*mostCells > v.widest { // else it cannot be the longest
				v.widest = max(v.widest, v.cells(line))
			}
		}
	}
	return max(v.widest-v.room(l), 0)
}

// mostCells is how many cells one byte of a line takes at most: a broken one.
const mostCells = 6

// cells returns the width of a line as drawn.
func (v *View) cells(l line) int {
	n := 0
	for g := range v.glyphs(l, nil) {
		n += g.cells
	}
	return n
}

// room returns the cells for the text of a line.
func (v *View) room(l Layout) int {
	w := l.Width - 2*v.digits - between - 3
	switch {
	case l.Split:
		w = (l.Width-between)/2 - v.digits - 3
	case l.Width < compact:
		w = l.Width - v.digits - 3
	}
	return max(w, 1)
}

// unified draws a line with the numbers of both sides.
func (v *View) unified(i int, l Layout) string {
	line := v.lines[i]
	if line.kind == 0 || line.kind == '\\' {
		return v.aside(line)
	}
	lk := v.t.look(line.kind)
	numbers := v.number(line.old) + strings.Repeat(" ", between) + v.number(line.new)
	switch {
	case l.Width >= compact:
	case line.kind == '-':
		numbers = v.number(line.old)
	default:
		numbers = v.number(line.new)
	}
	return v.row(i, lk, numbers, l.Width, l)
}

// sides draws a row side by side.
func (v *View) sides(r row, l Layout) string {
	if r.left >= 0 {
		if line := v.lines[r.left]; r.left == r.right && (line.kind == 0 || line.kind == '\\') {
			return v.aside(line)
		}
	}
	half := (l.Width - between) / 2
	left, right := v.half(r.left, half, true, l), v.half(r.right, half, false, l)
	return text.Pad(left, half) + " " + v.t.Gap.Render(v.t.signs().bar) + " " + right
}

// half draws one half of a row side by side.
func (v *View) half(i, width int, old bool, l Layout) string {
	if i < 0 {
		return ""
	}
	line := v.lines[i]
	if line.kind == '\\' {
		return text.Truncate(v.aside(line), width, "")
	}
	n := line.new
	if old {
		n = line.old
	}
	return v.row(i, v.t.look(line.kind), v.number(n), width, l)
}

// row draws the numbers, the sign and what is seen of the text.
func (v *View) row(i int, lk look, numbers string, width int, l Layout) string {
	room := v.room(l)
	head := v.t.Number.Render(numbers) + " " + lk.fg.Render(lk.sign) + " "
	s := head + v.window(i, l.Pan, room)
	if lk.line != "" {
		s = lk.line.Render(text.Pad(s, width))
	}
	return s
}

// window returns the cells of a line from pan on. Where the line goes on beyond,
// a sign says so.
func (v *View) window(i, pan, room int) string {
	s := v.content(i, pan+room+1)
	pan = max(pan, 0)
	w := text.Width(s)
	before, after := pan > 0 && w > 0, w > pan+room
	out := text.Cut(s, pan, pan+room)
	if after && room > 1 {
		out = text.Cut(out, 0, room-1) + v.t.Gap.Render(v.t.signs().right)
	}
	if before && room > 1 {
		out = v.t.Gap.Render(v.t.signs().left) + text.Cut(out, 1, room)
	}
	return out
}

// aside draws what is said between lines.
func (v *View) aside(l line) string {
	if l.kind == '\\' {
		return strings.Repeat(" ", v.digits+1) + v.t.Gap.Render(`\`+text.Visible(l.text, ""))
	}
	s := fmt.Sprintf("%*s", v.digits, v.t.signs().gap)
	if l.old > 0 {
		s += fmt.Sprintf("  %d unchanged lines", l.old)
	}
	return v.t.Gap.Render(strings.Replace(s, " 1 unchanged lines", " 1 unchanged line", 1))
}

// number returns n aligned to the right; blanks for 0.
func (v *View) number(n int) string {
	s := ""
	if n > 0 {
		s = strconv.Itoa(n)
	}
	return strings.Repeat(" ", max(v.digits-len(s), 0)) + s
}
