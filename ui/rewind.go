package ui

import (
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/ui/text"
)

// escTwice is how soon the second esc opens the picker of messages.
const escTwice = 800 * time.Millisecond

// goBack is what to do at a message of the person (decision 29).
type goBack int

const (
	backWithFiles goBack = iota // edit from there, and undo what was changed since
	backAlone                   // edit from there; files stay
	backFiles                   // only undo what was changed since
	backFork                    // edit from there in a copy of the session
	backs
)

func (b goBack) String() string {
	return [...]string{"edit from here, undo its files", "edit from here, files stay", "only undo the files", "fork here: a copy, files stay"}[b]
}

// rewind is the dialog to go back to a message of the person.
type rewind struct {
	prompts []app.Prompt
	now     time.Time
	at      int
	how     goBack
	page    int
	picked  bool // the message, in line mode
}

// doRewind goes back to a message.
type doRewind struct {
	prompt app.Prompt
	how    goBack
}

func newRewind(prompts []app.Prompt, now time.Time) *rewind {
	return &rewind{prompts: prompts, now: now, at: len(prompts) - 1, page: 1}
}

func (d *rewind) title(*theme) (string, string) {
	return "Go back to a message", plural(len(d.prompts), "message", "messages")
}
func (d *rewind) rows(*theme, int) int { return min(len(d.prompts), pickerRows) + 3 }
func (d *rewind) wantsAll() bool       { return false }
func (d *rewind) paste(string)         {}

func (d *rewind) key(k string, _ tea.KeyPressMsg, keys keymap) intent {
	switch keys.find(k, inRewind) {
	case actUp:
		d.at--
	case actDown:
		d.at++
	case actPageUp:
		d.at -= d.page
	case actPageDown:
		d.at += d.page
	case actTop:
		d.at = 0
	case actBottom:
		d.at = len(d.prompts)
	case actLeft:
		d.how = (d.how + backs - 1) % backs
	case actRight:
		d.how = (d.how + 1) % backs
	case actChoose:
		return doRewind{d.prompts[d.at], d.how}
	case actDeny:
		return doClose{}
	}
	d.at = max(0, min(d.at, len(d.prompts)-1))
	return nil
}

func (d *rewind) view(t *theme, w, h int) ([]string, *tea.Cursor) {
	n := max(1, min(len(d.prompts), h-3))
	d.page = n
	first := max(0, min(d.at-n/2, len(d.prompts)-n))
	out := make([]string, 0, h)
	for i := first; i < first+n; i++ {
		p := d.prompts[i]
		detail := ago(p.Time, d.now)
		if p.Files > 0 {
			detail = plural(p.Files, "file", "files") + " since  " + detail
		}
		row := spread(t, w, " "+text.Line(p.Text), detail+" ")
		if i == d.at {
			row = t.selected.Render(text.Pad(row, w))
		}
		out = append(out, row)
	}
	if h-len(out) > 2 {
		out = append(out, "")
	}
	choice := " " + t.accent.Render(t.sign.leftRight) + " " + t.bold.Render(d.how.String())
	out = append(out, text.Truncate(spread(t, w, choice, t.dim.Render(fmt.Sprintf("%d of %d ", d.how+1, int(backs)))), w, t.sign.ellipsis))
	if len(out) < h {
		out = append(out, t.dim.Render(text.Truncate(" enter does it "+t.sign.dot+" "+t.sign.upDown+" message "+t.sign.dot+" esc closes", w, t.sign.ellipsis)))
	}
	return out, nil
}

// promptsMsg brings the person's messages.
type promptsMsg []app.Prompt

func (m *Model) rewindCommand(string) tea.Cmd {
	return m.calls.inOrderMsg(func() tea.Msg {
		prompts, err := m.agent.Prompts()
		switch {
		case err != nil:
			return failure{err}
		case len(prompts) == 0:
			return said("there is no message of yours to go back to")
		}
		return promptsMsg(prompts)
	})
}

// escAgain opens the picker of messages at the second esc.
func (m *Model) escAgain() tea.Cmd {
	if !m.composer.empty() {
		return nil
	}
	if m.look.now.Sub(m.escAt) > escTwice {
		m.escAt = m.look.now
		return nil
	}
	m.escAt = time.Time{}
	return m.rewindCommand("")
}

// goBack does what was chosen at a message. Files are looked at first.
func (m *Model) goBack(in doRewind) tea.Cmd {
	p := in.prompt
	workspace := m.look.workspace
	return m.calls.inOrderMsg(func() tea.Msg {
		switch in.how {
		case backFork:
			return m.backTo(p, m.agent.Fork)
		case backAlone:
			return m.backTo(p, m.agent.Rewind)
		}
		scope := session.Scope{From: p.Seq}
		plan, err := m.agent.PlanUndo(scope, false)
		switch {
		case errors.Is(err, session.ErrNothingToUndo) && in.how == backWithFiles:
			return m.backTo(p, m.agent.Rewind)
		case err != nil:
			return failure{err}
		}
		d := newRevert(plan, scope, false, workspace)
		if in.how == backWithFiles {
			d.back = &p
		}
		return revertMsg{d}
	})
}

// backTo goes back to a message, whose text comes into the composer.
func (m *Model) backTo(p app.Prompt, do func(int64) error) tea.Msg {
	if err := do(p.Seq); err != nil {
		return failure{err}
	}
	return backMsg(p.Text)
}

// backMsg is the text of a message that the person went back to.
type backMsg string

func (m *Model) forkCommand(string) tea.Cmd {
	return m.failing(func() error { return m.agent.Fork(0) })
}

func (m *Model) renameCommand(title string) tea.Cmd {
	return m.failing(func() error { return m.agent.Rename(title) })
}

// failing runs f in order and shows its error.
func (m *Model) failing(f func() error) tea.Cmd {
	return m.calls.inOrderMsg(func() tea.Msg {
		if err := f(); err != nil {
			return failure{err}
		}
		return nil
	})
}

func (m *Model) exportCommand(name string) tea.Cmd {
	return m.calls.inOrderMsg(func() tea.Msg {
		path, err := m.agent.Export(name)
		if err != nil {
			return failure{err}
		}
		return said("written to " + path)
	})
}
