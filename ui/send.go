package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// Keys that come closer than a person types are a paste that the terminal
	// did not mark as one.
	burst = 5 * time.Millisecond
	// An enter that was typed before the terminal was ours comes as a line feed,
	// which is ctrl+j, and comes at once.
	typedAhead = 250 * time.Millisecond
)

// held is an enter within a burst of keys. It waits for what follows: more text
// makes it a line end of a paste, nothing a send.
type held struct {
	waits bool
	count int // so that an old wait ends nothing
}

// sendMsg ends the wait of a held enter.
type sendMsg struct{ count int }

// enter sends what is written, or waits to see whether it is a paste.
func (m *Model) enter() tea.Cmd {
	if m.look.now.Sub(m.lastKey) >= burst || m.composer.empty() {
		return m.send()
	}
	m.held.waits = true
	m.held.count++
	msg := sendMsg{m.held.count}
	return tea.Tick(2*burst, func(time.Time) tea.Msg { return msg })
}

// endHold sends when nothing followed on a held enter.
func (m *Model) endHold(msg sendMsg) tea.Cmd {
	if !m.held.waits || msg.count != m.held.count {
		return nil
	}
	m.held.waits = false
	return m.send()
}

// settleEnter decides about a held enter when a key comes.
func (m *Model) settleEnter() tea.Cmd {
	if !m.held.waits {
		return nil
	}
	m.held.waits = false
	if m.look.now.Sub(m.lastKey) < burst {
		m.composer.newline()
		return nil
	}
	return m.send()
}

// send gives what is written to the application, or does the command that it is.
func (m *Model) send() tea.Cmd {
	s := strings.TrimSpace(m.composer.text())
	if s == "" {
		return nil
	}
	m.complete.close()
	m.composer.clear()
	m.vim.insert()
	save := m.history.add(s)
	if line, ok := asCommand(s); ok {
		return tea.Batch(save, m.run(line))
	}
	if line, told, ok := ownLine(s); ok {
		return tea.Batch(save, m.runOwn(line, told))
	}
	return tea.Batch(save, m.submit(s))
}

func (m *Model) submit(s string) tea.Cmd {
	m.transcript.act(actBottom)
	return m.calls.inOrder(func() { m.agent.Submit(s) })
}
