package ui

import (
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/permissions"
)

// modeMsg is the permission mode as it is now.
type modeMsg struct{ mode permissions.Mode }

func (m *Model) readMode() tea.Cmd {
	return func() tea.Msg { return modeMsg{m.agent.Mode()} }
}

func (m *Model) setMode(mode permissions.Mode) tea.Cmd {
	return m.calls.inOrderMsg(func() tea.Msg {
		m.agent.SetMode(mode)
		return modeMsg{m.agent.Mode()}
	})
}

// nextMode goes ask → accept edits → sandboxed auto → plan; auto is there only
// with the sandbox that counts (decisions 1 and 20).
func (m *Model) nextMode() tea.Cmd {
	switch m.status.mode {
	case permissions.ModeAsk:
		return m.setMode(permissions.ModeAcceptEdits)
	case permissions.ModeAcceptEdits:
		if canAuto(m.status.state) {
			return m.setMode(permissions.ModeAuto)
		}
		return m.setMode(permissions.ModePlan)
	case permissions.ModeAuto:
		return m.setMode(permissions.ModePlan)
	}
	return m.setMode(permissions.ModeAsk)
}

// modeName is a mode as the status line shows it.
func modeName(mode permissions.Mode) string {
	switch mode {
	case permissions.ModeAcceptEdits:
		return "accept edits"
	case permissions.ModeAuto:
		return "auto"
	case permissions.ModePlan:
		return "plan"
	case permissions.ModeYolo:
		return "yolo"
	}
	return "ask"
}

func (m *Model) modeCommand(args string) tea.Cmd {
	switch args {
	case "":
		return m.nextMode()
	case "ask":
		return m.setMode(permissions.ModeAsk)
	case "edits", "accept-edits", "accept edits":
		return m.setMode(permissions.ModeAcceptEdits)
	case "plan":
		return m.setMode(permissions.ModePlan)
	case "auto":
		if !canAuto(m.status.state) {
			return m.fail(fmt.Errorf("auto needs the bwrap sandbox, offline"))
		}
		return m.setMode(permissions.ModeAuto)
	}
	if args == "yolo" {
		return m.fail(fmt.Errorf("yolo is a flag of the start: agent --yolo"))
	}
	return m.fail(fmt.Errorf("the modes are ask, edits, auto and plan, not %q", args))
}

// permissionsCommand shows what the application answers.
func (m *Model) permissionsCommand(args string) tea.Cmd {
	return m.calls.inOrderMsg(func() tea.Msg {
		out, err := m.agent.Permissions(args)
		if err != nil {
			return failure{err}
		}
		return said(out)
	})
}

// background moves the newest running command to the background. Where none
// runs, the key moves the cursor, as in readline.
func (m *Model) background(msg tea.KeyPressMsg) tea.Cmd {
	if m.transcript.runningCommand() == "" {
		m.composer.key(msg)
		return m.typed()
	}
	return m.toBackground()
}

func (m *Model) toBackground() tea.Cmd {
	id := m.transcript.runningCommand()
	if id == "" {
		return m.fail(errors.New("no command runs"))
	}
	return func() tea.Msg {
		if !m.agent.Background(id) {
			return failure{fmt.Errorf("this command cannot be moved to the background")}
		}
		return nil
	}
}
