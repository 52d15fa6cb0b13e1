package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/ui/text"
)

// askingModels is said until the list is there.
const askingModels = "asking the server for its models"

// modelsMsg brings the models to choose from.
type modelsMsg struct{ list []app.ModelInfo }

// modelCommand changes the model, or shows which there are.
func (m *Model) modelCommand(args string) tea.Cmd {
	if args != "" {
		return m.calls.inOrder(func() { m.agent.SetModel(args) })
	}
	m.status.say(app.Notice{Text: askingModels}, m.look.now)
	return func() tea.Msg {
		list, err := m.agent.Models()
		if err != nil {
			return failure{err}
		}
		return modelsMsg{list}
	}
}

// picker lists the models; the present one is marked and first.
func (msg modelsMsg) picker(present string) *picker {
	var first, others []pick
	for _, info := range msg.list {
		row := pick{label: text.Line(info.ID), detail: info.Facts(), intent: doCommand{"model " + info.ID}}
		if info.ID == present || strings.HasSuffix(info.ID, "/"+present) && len(first) == 0 {
			row.detail = strings.TrimSuffix("now  "+row.detail, "  ")
			first = append(first, row)
			continue
		}
		others = append(others, row)
	}
	return newPicker("Models", "no such model; /model <name> takes any", append(first, others...))
}

// effortCommand sets how much the model reasons, or lets the person pick.
func (m *Model) effortCommand(args string) tea.Cmd {
	if args == "" {
		return func() tea.Msg { return effortsMsg{now: m.agent.Effort(), levels: m.agent.Efforts()} }
	}
	return m.calls.inOrderMsg(func() tea.Msg {
		if err := m.agent.SetEffort(args); err != nil {
			return failure{err}
		}
		return said("reasoning effort: " + args + ", from the next request on")
	})
}

// effortsMsg brings the levels of reasoning.
type effortsMsg struct {
	now    string
	levels []string
}

func (msg effortsMsg) picker() *picker {
	var rows []pick
	for _, level := range msg.levels {
		row := pick{label: text.Line(level), intent: doCommand{"effort " + level}}
		if level == msg.now || level == "default" && msg.now == "" {
			row.detail = "now"
		}
		rows = append(rows, row)
	}
	return newPicker("Reasoning effort", "no such level", rows)
}
