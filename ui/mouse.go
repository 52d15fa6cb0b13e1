package ui

import (
	tea "charm.land/bubbletea/v2"
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
		tr.unmark()
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
	if d == nil || tr.marking {
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
