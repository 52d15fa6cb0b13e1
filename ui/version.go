package ui

import (
	"fmt"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/file"
)

// doOwnVersion opens what a call would write in the person's editor (decision 12).
type doOwnVersion struct {
	id     string // of the question
	change *file.Change
}

// versionMsg is what the person made of a proposal.
type versionMsg struct {
	doOwnVersion
	content string
}

// ownVersion lets the person change a proposal. Whatever they type there answers
// nothing, so the question is armed anew when they come back.
func (m *Model) ownVersion(in doOwnVersion) tea.Cmd {
	return m.inEditor(filepath.Base(in.change.Path), string(in.change.After), func(s string) tea.Msg {
		return versionMsg{in, s}
	})
}

// gotVersion answers the question with the person's version. A proposal that comes
// back as it was decides nothing.
func (m *Model) gotVersion(msg versionMsg) tea.Cmd {
	q := m.question()
	if q == nil || q.id != msg.id {
		return m.keepVersion(msg)
	}
	if msg.content == string(msg.change.After) {
		m.status.say(app.Notice{Text: "you changed nothing: the question is still open"}, m.look.now)
		return q.disarm(m.look.now)
	}
	return m.act(doAnswer{id: msg.id, answer: app.Answer{Allow: true, Version: &msg.content}})
}

// keepVersion saves what the person wrote for a question that nobody asks any more.
func (m *Model) keepVersion(msg versionMsg) tea.Cmd {
	dir, err := os.MkdirTemp("", "agent-")
	if err == nil {
		path := filepath.Join(dir, filepath.Base(msg.change.Path))
		if err = os.WriteFile(path, []byte(msg.content), 0o600); err == nil {
			m.transcript.note(app.Warning, m.look.theme.sign.warning, "nobody waits for your version any more, so it was not written; it is kept in "+path)
			return nil
		}
	}
	return m.fail(fmt.Errorf("nobody waits for your version any more, and it could not be kept: %w", err))
}
