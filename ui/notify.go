package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/ui/text"
)

// notify tells the person something while the terminal has not the focus, in the
// way that it understands.
func (m *Model) notify(words string) tea.Cmd {
	if !m.blurred {
		return nil
	}
	words = text.Truncate(text.Line(words), 80, "")
	switch m.opts.Notify {
	case "bell":
		return tea.Raw("\a")
	case "osc9":
		return tea.Raw("\x1b]9;agent: " + words + "\x1b\\")
	case "osc777":
		return tea.Raw("\x1b]777;notify;agent;" + strings.ReplaceAll(words, ";", ",") + "\x1b\\")
	}
	return nil
}

// progress shows in the terminal's tab or on its icon that something is at work, or
// waits for the person.
func (m *Model) progress() *tea.ProgressBar {
	switch {
	case !m.opts.Progress:
		return nil
	case m.question() != nil:
		return tea.NewProgressBar(tea.ProgressBarWarning, 100)
	case m.status.running:
		return tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
	return nil
}
