package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

const spinEvery = 100 * time.Millisecond

// tickMsg moves the spinner and the clocks.
type tickMsg struct{}

// tick keeps the one timer of the screen: ten times a second while something
// moves, once a second while only clocks do, not at all while nothing goes on.
func (m *Model) tick() tea.Cmd {
	if m.ticking {
		return nil
	}
	every := spinEvery
	switch {
	case m.status.running:
		if m.opts.Still || m.blurred || m.question() != nil {
			every = time.Second
		}
	case m.question() != nil || m.shells.running() > 0 || !m.status.until.IsZero() || !m.quitAt.IsZero():
		every = time.Second
	default:
		return nil
	}
	m.ticking = true
	return tea.Tick(every, func(time.Time) tea.Msg { return tickMsg{} })
}

func (m *Model) ticked() tea.Cmd {
	m.ticking = false
	if m.look.now.Sub(m.foldedAt) >= spinEvery { // else what comes in moves it
		m.spin()
	}
	m.status.expired(m.look.now)
	if !m.look.now.Before(m.quitAt) {
		m.quitAt = time.Time{}
	}
	return m.watchShells()
}

// spin moves the spinner on, at most ten times a second: with what comes in, so that
// this needs no frame of its own, or with the timer where nothing does.
func (m *Model) spin() {
	if m.look.now.Sub(m.spunAt) >= spinEvery {
		m.look.spin++
		m.spunAt = m.look.now
	}
}
