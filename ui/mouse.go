package ui

import tea "charm.land/bubbletea/v2"

const wheelLines = 3

// mouse scrolls what is under the pointer, and unfolds what is clicked.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		m.wheel(at, msg.Button)
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			m.click(at)
		}
	case tea.MouseMotionMsg:
		if msg.Button == tea.MouseLeft && m.onScrollbar(at) {
			m.transcript.list.DragTo(at.Y)
		}
	}
	return nil
}

func (m *Model) wheel(at tea.Mouse, button tea.MouseButton) {
	by := 0
	switch button {
	case tea.MouseWheelUp:
		by = -wheelLines
	case tea.MouseWheelDown:
		by = wheelLines
	}
	if at.Y < m.lay.main && at.X < m.lay.mainW {
		m.transcript.list.Scroll(by)
		return
	}
	a := actDown
	if by < 0 {
		a, by = actUp, -by
	}
	for range by {
		switch d := m.asking().(type) {
		case *permission:
			d.scroll.act(a)
		case *help:
			d.scroll.act(a)
		}
	}
}

func (m *Model) click(at tea.Mouse) {
	if m.onScrollbar(at) {
		m.transcript.list.DragTo(at.Y)
		return
	}
	if at.Y >= m.lay.main || at.X >= m.lay.mainW || m.focus == onPane && m.lay.sideW == 0 {
		return
	}
	row, ok := m.transcript.list.At(at.Y)
	if !ok || m.asking() != nil {
		return
	}
	m.transcript.cursor = row
	m.transcript.browse(actToggle)
}

func (m *Model) onScrollbar(at tea.Mouse) bool {
	return at.Y < m.lay.main && at.X == m.lay.mainW-1 && m.w >= plainBelowW
}
