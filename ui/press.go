package ui

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
)

const quitWithin = 2 * time.Second // the second ctrl+c

// key sends a key to who has the keys: the dialog, the popup, then the focus.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	defer func() { m.lastKey = m.look.now }()
	m.status.pressed()
	a := m.keys.find(k, everywhere)
	if a != actStop {
		m.quitAt = time.Time{}
	}
	switch a {
	case actStop:
		return m.stop()
	case actRedraw:
		return tea.ClearScreen
	case actSuspend:
		return tea.Suspend
	}
	switch {
	case m.lay.tooSmall && m.asking() != nil && k != "esc": // what is not seen is not answered (D16)
		return nil
	case m.modal != nil:
		return m.act(m.modal.key(k, msg, m.keys))
	case m.question() != nil:
		return m.keyQuestion(k, msg, a)
	case m.finding != nil:
		return m.keyFind(k, msg)
	}
	if m.focus == onComposer && m.complete.open() {
		if cmd, done := m.keyPopup(k); done {
			return cmd
		}
	}
	if m.focus == onComposer && m.vim.key(m.composer, msg) {
		return m.typed()
	}
	switch m.focus {
	case onTranscript:
		if b := m.keys.find(k, inTranscript); b != actNone {
			return m.browse(b)
		}
	case onPane:
		if b := m.keys.find(k, inPane); b != actNone {
			return m.act(m.panes()[m.pane].act(b))
		}
	case onComposer:
		if b := m.keys.find(k, inComposer); b != actNone {
			return m.compose(b, msg)
		}
	}
	if a != actNone {
		return m.global(a, msg)
	}
	m.focus = onComposer
	m.composer.key(msg)
	return m.typed()
}

// keyQuestion answers the question that is shown, once it is armed. Until then
// what is typed goes on into the draft (decision 30).
func (m *Model) keyQuestion(k string, msg tea.KeyPressMsg, a action) tea.Cmd {
	q := m.question()
	switch {
	case a == actScrollUp:
		m.transcript.act(actPageUp)
	case a == actScrollDown:
		m.transcript.act(actPageDown)
	case k == "esc":
		q.held = nil
		return m.act(q.dialog.key(k, msg, m.keys))
	case !q.armed:
		q.pressed(m.look.now)
		m.draft(msg)
	case q.held != nil: // it began a word
		m.draft(*q.held)
		m.draft(msg)
		return q.disarm(m.look.now)
	case !q.dialog.takes(k, m.keys) && msg.Text != "":
		m.draft(msg)
		return q.disarm(m.look.now)
	case msg.IsRepeat:
	case q.dialog.decides(k):
		return q.hold(msg)
	default:
		return m.act(q.dialog.key(k, msg, m.keys))
	}
	return nil
}

// draft writes what is typed under a question into the text.
func (m *Model) draft(msg tea.KeyPressMsg) {
	if msg.Text != "" {
		m.composer.key(msg)
	}
}

// global does what a key means everywhere.
func (m *Model) global(a action, msg tea.KeyPressMsg) tea.Cmd {
	switch a {
	case actQuitIfEmpty:
		if m.composer.empty() {
			return m.quit()
		}
		m.composer.key(msg)
		return m.typed()
	case actEscape:
		return m.escape()
	case actEscapeTwice:
		return tea.Batch(m.escape(), m.escape())
	case actHelp:
		m.modal = m.help()
	case actMode:
		return m.nextMode()
	case actPanes:
		m.nextPane()
	case actBackground:
		return m.background(msg)
	case actFoldAll:
		m.transcript.unfoldAll()
	case actSessions:
		return m.openSessions()
	case actCommands:
		m.modal = m.commandPicker()
	case actEditor:
		return m.edit()
	case actScrollUp:
		m.transcript.act(actPageUp)
	case actScrollDown:
		m.transcript.act(actPageDown)
	}
	return nil
}

// escape goes back by one step, or stops the turn.
func (m *Model) escape() tea.Cmd {
	switch {
	case m.focus != onComposer:
		m.focus = onComposer
	case m.status.running:
		return m.cancel()
	default:
		return m.escAgain()
	}
	return nil
}

// stop is ctrl+c: it closes what the person opened, stops the turn, clears the
// text, and at last quits.
func (m *Model) stop() tea.Cmd {
	switch {
	case m.modal != nil:
		return m.act(doClose{})
	case m.finding != nil:
		m.finding = nil
	case m.status.running:
		return m.cancel()
	case !m.composer.empty():
		m.composer.set("")
		m.complete.close()
	case m.look.now.Before(m.quitAt):
		return m.quit()
	default:
		m.quitAt = m.look.now.Add(quitWithin)
	}
	return nil
}

// cancel stops the turn. What was queued comes back into the composer, and none
// of it is sent (decision 29).
func (m *Model) cancel() tea.Cmd {
	return func() tea.Msg {
		var texts []string
		for {
			s, ok := m.agent.Unqueue()
			if !ok {
				break
			}
			texts = append([]string{s}, texts...)
		}
		m.agent.Cancel()
		return unqueuedMsg(strings.Join(texts, "\n"))
	}
}

// quit asks first when commands run in the background.
func (m *Model) quit() tea.Cmd {
	n := m.shells.running()
	if n == 0 {
		return tea.Quit
	}
	c := &confirm{name: "Quit?", label: "kill and quit", yes: doQuit{}}
	c.lines = append(c.lines, plural(n, "command runs", "commands run")+" in the background and will be killed:")
	for _, s := range m.shells.list {
		if s.Running {
			c.lines = append(c.lines, "$ "+s.Command)
		}
	}
	m.modal = c
	return nil
}

// compose does what a key means while the person writes.
func (m *Model) compose(a action, msg tea.KeyPressMsg) tea.Cmd {
	c := m.composer
	switch a {
	case actSend:
		if !c.continued() {
			return m.enter()
		}
	case actNewline:
		if msg.String() == "ctrl+j" && m.look.now.Sub(m.begun) < typedAhead {
			return m.enter()
		}
		c.newline()
	case actHistoryBack:
		m.recall(msg, c.atFirstRow(), m.history.back)
		return nil
	case actHistoryForward:
		m.recall(msg, c.atLastRow(), func(string) (string, bool) { return m.history.forward() })
		return nil
	case actHistorySearch:
		m.modal = m.historyPicker()
	case actUnqueue:
		return m.unqueue()
	case actComplete:
		if word, start := wordBefore(c.line(), c.area.Column()); strings.HasPrefix(word, "@") || strings.HasPrefix(word, "/") && start == 0 {
			m.complete.reopen()
			return m.typed()
		}
		if m.transcript.enter() {
			m.focus = onTranscript
		}
		return nil
	case actPageUp, actPageDown:
		m.transcript.act(a)
		return nil
	case actUndoInput:
		c.undo()
	case actYank:
		c.yank()
	case actYankOlder:
		c.yankOlder()
	case actPaste:
		return m.pasteClipboard()
	case actLineEnd:
		if c.atEnd() {
			m.transcript.act(actBottom)
		}
		c.key(msg)
	case actHelpIfEmpty:
		if c.empty() {
			m.modal = m.help()
			return nil
		}
		c.key(msg)
	}
	return m.typed()
}

// unqueue takes the last waiting message back into the text.
func (m *Model) unqueue() tea.Cmd {
	return m.calls.inOrderMsg(func() tea.Msg {
		s, _ := m.agent.Unqueue()
		return unqueuedMsg(s)
	})
}

// recall shows another prompt of before when the cursor cannot go further in the text.
func (m *Model) recall(msg tea.KeyPressMsg, atEdge bool, next func(string) (string, bool)) {
	if !atEdge {
		m.composer.key(msg)
		return
	}
	if s, ok := next(m.composer.shown()); ok {
		m.composer.set(s)
	}
	word, _ := wordBefore(m.composer.line(), m.composer.area.Column())
	m.complete.skip(word)
}

// typed looks at what was written: it may want a popup.
func (m *Model) typed() tea.Cmd {
	c := m.composer
	return m.complete.update(c.line(), c.area.Column(), c.area.Line(), m.commands, m.opts.Files)
}

// keyPopup moves in the popup of completions and takes one; the rest goes on to the composer.
func (m *Model) keyPopup(k string) (tea.Cmd, bool) {
	p := m.complete
	switch k {
	case "up", "ctrl+p":
		p.move(-1)
	case "down", "ctrl+n":
		p.move(1)
	case "esc":
		p.close()
	case "tab", "enter":
		if k == "enter" && p.kind == ' ' && p.word == "" { // the command alone is meant
			p.close()
			return nil, false
		}
		isCommand, chosen := p.kind != '@', p.chosen()
		if dir := strings.HasSuffix(chosen, "/"); dir && k == "tab" { // go on in it
			m.composer.replaceWord(p.word, chosen)
			return m.typed(), true
		}
		m.composer.replaceWord(p.word, chosen+" ")
		p.close()
		switch {
		case isCommand && k == "enter":
			return m.send(), true
		case isCommand:
			return m.typed(), true // its arguments
		}
	default:
		return nil, false
	}
	return nil, true
}

// browse does what a key means in the transcript.
func (m *Model) browse(a action) tea.Cmd {
	tr := m.transcript
	switch a {
	case actEscape:
		if tr.marking {
			tr.unmark()
			return nil
		}
		m.focus = onComposer
	case actMark:
		tr.mark()
	case actCopy:
		s := tr.copied()
		tr.unmark()
		return m.copy(s)
	case actFind:
		m.finding = &finder{input: newInput("find")}
	case actFindNext:
		m.found(tr.search("", 1))
	case actFindPrevious:
		m.found(tr.search("", -1))
	default:
		tr.browse(a)
	}
	return nil
}

// finder is the line to search the transcript with.
type finder struct{ input textinput.Model }

func (m *Model) keyFind(k string, msg tea.KeyPressMsg) tea.Cmd {
	switch k {
	case "esc":
		m.finding = nil
	case "enter":
		what := m.finding.input.Value()
		m.finding = nil
		m.found(m.transcript.search(what, -1))
	default:
		m.finding.input, _ = m.finding.input.Update(msg)
	}
	return nil
}

func (m *Model) found(ok bool) {
	if !ok {
		m.status.say(app.Notice{Level: app.Warning, Text: "not found: " + m.transcript.find}, m.look.now)
	}
}
