package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/ui/list"
	"github.com/phero-agent/agent/ui/text"
)

const wheelLines = 3

// mouse scrolls what is under the pointer, unfolds what is clicked, and selects
// text of the transcript, which is copied when the button is let go.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	tr := m.transcript
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		m.wheel(at, msg.Button)
	case tea.MouseClickMsg:
		tr.drag = nil
		switch {
		case msg.Button != tea.MouseLeft:
		case m.onScrollbar(at):
			tr.dragTo(at.Y)
		case m.onTranscript(at):
			tr.press(at.X, at.Y)
		}
	case tea.MouseMotionMsg:
		switch {
		case msg.Button != tea.MouseLeft:
		case tr.drag != nil:
			tr.pull(at.X, at.Y, m.lay.main)
		case m.onScrollbar(at):
			tr.dragTo(at.Y)
		}
	case tea.MouseReleaseMsg:
		return m.release()
	}
	return nil
}

// release ends a selection and copies it; without one it was a click.
func (m *Model) release() tea.Cmd {
	tr := m.transcript
	d := tr.drag
	if d == nil {
		return nil
	}
	tr.drag = nil
	if d.moved {
		return m.copy(tr.selected(d))
	}
	if m.asking() == nil {
		tr.cursor = d.from.row
		tr.browse(actToggle)
	}
	return nil
}

// scrolls is a dialog or pane that the wheel can scroll.
type scrolls interface{ scrollBy(a action) }

func (p *permission) scrollBy(a action) { p.scroll.act(a) }

func (m *Model) wheel(at tea.Mouse, button tea.MouseButton) {
	a := actDown
	switch button {
	case tea.MouseWheelUp:
		a = actUp
	case tea.MouseWheelDown:
	default:
		return
	}
	for range wheelLines {
		switch d, ok := m.asking().(scrolls); {
		case m.onTranscript(at):
			m.transcript.scrollBy(a)
		case ok:
			d.scrollBy(a)
		case m.focus == onPane && at.Y < m.lay.main:
			m.panes()[m.pane].act(a)
		}
	}
}

func (m *Model) onTranscript(at tea.Mouse) bool {
	return at.Y < m.lay.main && at.X < m.lay.mainW && (m.focus != onPane || m.lay.sideW > 0)
}

func (m *Model) onScrollbar(at tea.Mouse) bool {
	if m.lay.sideW > 0 {
		return at.Y < m.lay.main && at.X == m.lay.mainW
	}
	return m.onTranscript(at) && at.X == m.w-1 && m.w >= plainBelowW
}

// drag is a selection in the transcript while the button is down.
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
	right = 1 << 20
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
	return text.Cut(line, 0, left) + tr.look.theme.selected.Render(text.Cut(plain, left, right)) + text.Cut(line, right, 1<<20)
}

// selected is the text of a selection, as it is on the screen.
func (tr *transcript) selected(d *drag) string {
	first, last := d.ends()
	var lines []string
	for i := first.row.Item; i <= last.row.Item && i < len(tr.items); i++ {
		for n, l := range tr.items[i].Lines(max(1, tr.inner)) {
			if left, right, ok := d.span(list.Row{Item: i, Line: n}); ok {
				lines = append(lines, strings.TrimRight(text.Cut(text.Clean(l), left, right), " "))
			}
		}
	}
	return strings.Join(lines, "\n")
}
