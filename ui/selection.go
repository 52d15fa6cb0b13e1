package ui

import (
	"strings"

	"github.com/phero-agent/agent/ui/list"
	"github.com/phero-agent/agent/ui/text"
)

// drag is a selection in the transcript: with the mouse, while the button is down,
// or with the keys, by whole lines.
type drag struct {
	from, to spot
	moved    bool
}

// spot is a cell of the transcript: it stays with its text when that scrolls.
type spot struct {
	row list.Row
	col int // of the text, without the margin
}

func (s spot) before(o spot) bool {
	return before(s.row, o.row) || s.row == o.row && s.col < o.col
}

// press begins a selection, or a click.
func (tr *transcript) press(x, y int) {
	if row, ok := tr.list.At(y); ok {
		at := spot{row, max(0, x-1)}
		tr.drag = &drag{from: at, to: at}
	}
}

// pull moves the end of the selection; beyond the window's edges it scrolls.
func (tr *transcript) pull(x, y, h int) {
	switch {
	case y >= h:
		tr.list.Scroll(1)
		y = h - 1
	case y <= 0:
		tr.list.Scroll(-1)
		y = 0
	}
	if row, ok := tr.list.At(y); ok {
		tr.drag.to = spot{row, max(0, x-1)}
		tr.drag.moved = tr.drag.moved || tr.drag.to != tr.drag.from
	}
}

// ends are the first and the last cell of a selection.
func (d *drag) ends() (first, last spot) {
	if d.to.before(d.from) {
		return d.to, d.from
	}
	return d.from, d.to
}

// span is what of a row is selected, in columns.
func (d *drag) span(row list.Row) (left, right int, ok bool) {
	first, last := d.ends()
	if !d.moved || before(row, first.row) || before(last.row, row) {
		return 0, 0, false
	}
	right = lineEnd
	if row == first.row {
		left = first.col
	}
	if row == last.row {
		right = last.col + 1
	}
	return left, right, true
}

// highlight shows what of a row is selected.
func (tr *transcript) highlight(line string, row list.Row) string {
	if tr.drag == nil {
		return line
	}
	left, right, ok := tr.drag.span(row)
	if !ok {
		return line
	}
	plain := text.Clean(line)
	return text.Cut(line, 0, left) + tr.look.theme.selected.Render(text.Cut(plain, left, right)) + text.Cut(line, right, lineEnd)
}

// selected is the text of a selection, as it is on the screen, without the bar of
// the person's messages.
func (tr *transcript) selected(d *drag) string {
	first, last := d.ends()
	var lines []string
	for i := first.row.Item; i <= last.row.Item && i < len(tr.items); i++ {
		bar := 0
		if u, ok := tr.items[i].(*userItem); ok {
			bar = text.Width(u.look.theme.sign.user) + 1
		}
		for n, l := range tr.items[i].Lines(max(1, tr.inner)) {
			if left, right, ok := d.span(list.Row{Item: i, Line: n}); ok {
				left = max(left, bar)
				lines = append(lines, strings.TrimRight(text.Cut(text.Clean(l), left, right), " "))
			}
		}
	}
	return strings.Join(lines, "\n")
}

const lineEnd = 1 << 20 // a column beyond every line

// mark begins a selection of lines at the cursor, or ends it.
func (tr *transcript) mark() {
	if tr.marking {
		tr.unmark()
		return
	}
	tr.marking = true
	tr.drag = &drag{from: spot{row: tr.cursor}, moved: true}
	tr.extend()
}

func (tr *transcript) unmark() { tr.marking, tr.drag = false, nil }

// extend moves the end of a selection of lines to the cursor.
func (tr *transcript) extend() {
	if !tr.marking {
		return
	}
	d := tr.drag
	d.to.row = tr.cursor
	d.from.col, d.to.col = 0, lineEnd
	if before(d.to.row, d.from.row) {
		d.from.col, d.to.col = lineEnd, 0
	}
}

// copied is the text of the selection, or of the item with the cursor.
func (tr *transcript) copied() string {
	switch {
	case tr.marking:
		return tr.selected(tr.drag)
	case tr.cursor.Item >= len(tr.items):
		return ""
	}
	return text.Clean(tr.items[tr.cursor.Item].plain())
}
