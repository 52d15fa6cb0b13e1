package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// shellsCommand opens the pane of the shells. In line mode there is no pane to
// move in: the shells are a list, and choosing a running one asks to kill it.
func (m *Model) shellsCommand(string) tea.Cmd {
	if !m.opts.Plain {
		m.openPane(m.shells)
		return nil
	}
	var rows []pick
	for i, s := range m.shells.list {
		state := fmt.Sprintf("exit %d", s.ExitCode)
		if s.Running {
			state = "running, choose it to kill it"
		}
		m.shells.at = i
		rows = append(rows, pick{label: s.ID + "  " + s.Command, detail: strings.TrimRight(state+"  "+lastLine(s.Tail), " "), intent: m.shells.act(actKill)})
	}
	m.modal = newPicker("Background shells", "none", rows)
	return nil
}

func (m *Model) unfoldCommand(string) tea.Cmd {
	if !m.opts.Plain {
		m.transcript.unfoldAll()
		return nil
	}
	for i := len(m.transcript.items) - 1; i >= 0; i-- {
		if it := m.transcript.items[i]; isCall(it) {
			text := it.plain()
			return func() tea.Msg { return said(text) }
		}
	}
	return nil
}
