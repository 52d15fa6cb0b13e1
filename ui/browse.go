package ui

import (
	"github.com/phero-agent/agent/ui/list"
	"github.com/phero-agent/agent/ui/text"
)

// view draws the transcript in w by h cells, its margin included, and of these
// bar cells (0 or 1) for a scrollbar.
func (tr *transcript) view(w, h, bar int, focused bool) []string {
	tr.inner = max(1, w-1-bar)
	tr.list.SetSize(tr.inner, h)
	rows := tr.list.View()
	if focused {
		tr.keepCursor(h)
	}
	t := tr.look.theme
	_, _, scrolls := tr.list.Bar()
	for y := range rows {
		if row, ok := tr.list.At(y); ok {
			if focused {
				rows[y] = tr.highlightFound(rows[y])
			}
			rows[y] = tr.highlight(rows[y], row)
		}
		rows[y] = tr.margin(y, focused) + rows[y]
		if bar == 1 && scrolls {
			rows[y] = text.Pad(rows[y], w-1) + tr.bar(y)
		}
	}
	if label := tr.below(); label != "" && h > 2 && text.Width(label)+4 < w {
		at := w - bar - text.Width(label)
		last := rows[h-1]
		rows[h-1] = text.Pad(text.Cut(last, 0, at), at) + t.selected.Render(label) + text.Cut(last, w-bar, w)
	}
	return rows
}

// bar is a cell of the scrollbar; it is a line where everything is seen.
func (tr *transcript) bar(y int) string {
	t := tr.look.theme
	if thumb, size, ok := tr.list.Bar(); ok && y >= thumb && y < thumb+size {
		return t.sign.thumb
	}
	return t.dim.Render(t.sign.track)
}

// margin is the first cell of a row: it shows where the person is.
func (tr *transcript) margin(y int, focused bool) string {
	if !focused {
		return " "
	}
	t := tr.look.theme
	switch row, ok := tr.list.At(y); {
	case !ok || row.Item != tr.cursor.Item || row.Line < tr.items[row.Item].lead():
		return " "
	case row.Line == tr.cursor.Line:
		return t.accent.Render(t.sign.current)
	}
	return t.accent.Render(t.sign.selection)
}

// below says what there is to see under the window.
func (tr *transcript) below() string {
	if tr.list.Below() == 0 {
		return ""
	}
	sign := " " + tr.look.theme.sign.down + " "
	if n := tr.list.Unseen(); n > 0 {
		return sign + plural(n, "new", "new") + " "
	}
	return sign + plural(tr.list.Below(), "line", "lines") + " "
}

func (tr *transcript) scrollBy(a action) {
	if a == actUp {
		tr.list.Scroll(-1)
	} else {
		tr.list.Scroll(1)
	}
}

// dragTo moves the scrollbar's thumb to row y.
func (tr *transcript) dragTo(y int) { tr.list.DragTo(y) }

// act scrolls, and says whether the action was one of scrolling.
func (tr *transcript) act(a action) bool {
	switch a {
	case actHalfUp:
		tr.list.HalfPage(-1)
	case actHalfDown:
		tr.list.HalfPage(1)
	case actPageUp:
		tr.list.Page(-1)
	case actPageDown:
		tr.list.Page(1)
	case actTop:
		tr.list.Top()
	case actBottom:
		tr.list.Bottom()
	default:
		return false
	}
	return true
}

// enter puts the cursor at the newest message.
func (tr *transcript) enter() bool {
	if len(tr.items) == 0 {
		return false
	}
	tr.cursor = tr.start(len(tr.items) - 1)
	return true
}

// browse does what a key means while the transcript has the keys.
func (tr *transcript) browse(a action) {
	if len(tr.items) == 0 {
		return
	}
	tr.cursor.Item = min(tr.cursor.Item, len(tr.items)-1)
	defer tr.extend()
	switch a {
	case actUp:
		tr.step(-1)
	case actDown:
		tr.step(1)
	case actPrevious:
		tr.toMessage(-1)
	case actNext:
		tr.toMessage(1)
	case actTop:
		tr.list.Top()
		tr.cursor = tr.start(0)
	case actBottom:
		tr.list.Bottom()
		tr.cursor = list.Row{Item: len(tr.items) - 1, Line: tr.height(len(tr.items)-1) - 1}
	case actToggle:
		it := tr.items[tr.cursor.Item]
		it.unfold(!it.unfolded())
		tr.changed(tr.cursor.Item)
		tr.cursor.Line = min(tr.cursor.Line, tr.height(tr.cursor.Item)-1)
	default:
		tr.act(a)
	}
}

func (tr *transcript) height(i int) int { return max(1, len(tr.items[i].Lines(max(1, tr.inner)))) }

// start is the first row of an item that is not empty.
func (tr *transcript) start(i int) list.Row { return list.Row{Item: i, Line: tr.items[i].lead()} }

// step moves the cursor by a line.
func (tr *transcript) step(by int) {
	c := &tr.cursor
	c.Line += by
	switch first := tr.items[c.Item].lead(); {
	case c.Line < first && c.Item == 0:
		c.Line = first
	case c.Line < first:
		c.Item--
		c.Line = tr.height(c.Item) - 1
	case c.Line >= tr.height(c.Item) && c.Item == len(tr.items)-1:
		c.Line = tr.height(c.Item) - 1
	case c.Line >= tr.height(c.Item):
		*c = tr.start(c.Item + 1)
	}
	tr.list.Show(c.Item, c.Line)
}

// toMessage moves the cursor to the next message, of the person or the model.
func (tr *transcript) toMessage(by int) {
	i := tr.cursor.Item + by
	if by < 0 && tr.cursor.Line > tr.items[tr.cursor.Item].lead() && tr.items[tr.cursor.Item].message() {
		i = tr.cursor.Item
	}
	for i > 0 && i < len(tr.items)-1 && !tr.items[i].message() {
		i += by
	}
	tr.cursor = tr.start(max(0, min(i, len(tr.items)-1)))
	tr.list.Show(tr.cursor.Item, min(tr.height(tr.cursor.Item)-1, 3))
	tr.list.Show(tr.cursor.Item, 0)
}

// keepCursor moves the cursor into the window when the window was scrolled away from it.
func (tr *transcript) keepCursor(h int) {
	first, ok := tr.list.At(0)
	if !ok {
		return
	}
	last := first
	for y := range h {
		row, ok := tr.list.At(y)
		if !ok {
			break
		}
		last = row
	}
	if before(tr.cursor, first) {
		tr.cursor = first
	} else if before(last, tr.cursor) {
		tr.cursor = last
	}
}

func before(a, b list.Row) bool {
	return a.Item < b.Item || a.Item == b.Item && a.Line < b.Line
}

// unfoldAll shows all of every item, or the usual part again.
func (tr *transcript) unfoldAll() {
	tr.allOpen = !tr.allOpen
	for i, it := range tr.items {
		if it.unfolded() != tr.allOpen {
			it.unfold(tr.allOpen)
			tr.changed(i)
		}
	}
}

// lastReply is the newest text of the model.
func (tr *transcript) lastReply() string {
	for i := len(tr.items) - 1; i >= 0; i-- {
		if r, ok := tr.items[i].(*replyItem); ok {
			return text.Clean(r.plain())
		}
	}
	return ""
}

// tail is the end of the transcript for the normal screen, at most n lines.
func (tr *transcript) tail(w, n int) []string {
	var parts [][]string
	for i := len(tr.items) - 1; i >= 0 && n > 0; i-- {
		lines := tr.items[i].Lines(max(1, w))
		if len(lines) > n {
			lines = lines[len(lines)-n:]
		}
		n -= len(lines)
		parts = append(parts, lines)
	}
	var out []string
	for i := len(parts) - 1; i >= 0; i-- {
		out = append(out, parts[i]...)
	}
	return out
}
