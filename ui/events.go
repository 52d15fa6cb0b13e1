package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/ui/text"
)

// fold shows a batch of events.
func (m *Model) fold(b batch) tea.Cmd {
	m.spin()
	m.foldedAt = m.look.now
	var cmds []tea.Cmd
	for _, e := range b.events {
		cmds = append(cmds, m.apply(e, b.skipped))
	}
	return tea.Batch(cmds...)
}

// apply shows one event.
func (m *Model) apply(e app.Event, skipped map[string]int) tea.Cmd {
	switch e := e.(type) {
	case app.Opened:
		return m.opened(e)
	case app.Committed:
		m.committed(&e.Entry)
	case app.TurnStarted:
		m.status.begin(m.look.now)
		return m.readMode()
	case app.TurnEnded:
		m.transcript.stop()
		m.status.end()
		return tea.Batch(m.readMode(), m.notify("the turn ended: "+string(e.Outcome)))
	case app.Queued:
		m.queued = e.Texts
	case app.ReplyDelta:
		m.status.heard(e)
		m.transcript.delta(e)
	case app.CallDelta:
		m.status.retry, m.status.doing = nil, doingCall(e.Tool, e.Bytes)
	case app.Retrying:
		if e.Parent == "" {
			m.status.retry = &e
			m.transcript.dropReply()
		}
	case app.ToolStarted:
		m.started(e)
	case app.ToolOutput:
		m.printed(e, skipped)
	case app.ToolSilent:
		if p := m.transcript.calls[e.CallID]; p != nil {
			p.call.silent = e.Since
			m.transcript.changed(p.index)
		}
	case app.ToolProgress:
		if p := m.transcript.calls[e.CallID]; p != nil {
			p.call.progress = e.Text
			m.transcript.changed(p.index)
		}
	case app.CommandsChanged:
		m.offered(e.List)
	case app.Asked:
		return m.ask(e.ID, e.Call.ID, newPermission(e, m.look.workspace, func() bool { return !m.composer.empty() }))
	case app.Questioned:
		callID := ""
		if e.Source == "" {
			callID = m.transcript.askingCall()
		}
		return m.ask(e.ID, callID, newForm(e))
	case app.Closed:
		m.close(e.ID)
		return tea.Batch(m.nextQuestion(), m.readMode())
	case app.Shells:
		m.shellsChanged(e.List)
	case app.Usage:
		m.status.usage, m.status.estimated, m.status.cost = e.Last, e.Estimated, e.Cost
		if e.Window > 0 {
			m.status.window = e.Window
		}
	case app.Compacting:
		m.compacting(e)
	case app.State:
		m.status.state = e
		m.look.workspace = e.Workspace
	case app.ModeChanged:
		return m.readMode()
	case app.Restart:
		m.restart = true
		return tea.Quit
	case app.Notice:
		return m.notice(e)
	}
	return nil
}

// opened shows another session, through the same code that shows a live one.
func (m *Model) opened(e app.Opened) tea.Cmd {
	m.session, m.title, m.spoken = e.ID, "", false
	m.queued, m.questions = nil, nil
	m.status.end()
	m.status.usage, m.status.estimated, m.status.cost = session.Usage{}, false, 0
	m.todos.items, m.files, m.output = nil, newFiles(), newOutput()
	m.transcript = newTranscript(m.look)
	if m.focus == onTranscript {
		m.focus = onComposer
	}
	for i := range e.Entries {
		m.committed(&e.Entries[i])
	}
	m.transcript.stop()
	for _, n := range e.Notices {
		m.transcript.note(app.Warning, m.look.theme.sign.warning, n)
	}
	return m.readMode()
}

// committed shows an entry of the log. One whose field is missing, as in a log
// that somebody edited, shows nothing.
func (m *Model) committed(e *session.Entry) {
	switch {
	case e.Kind == session.KindHead && e.Head != nil:
		m.session = e.Head.ID
	case e.Kind == session.KindMessage && e.Message != nil:
		m.said(e)
	case e.Kind == session.KindTodo:
		m.todos.items = e.Todo
	case e.Kind == session.KindChange && e.Change != nil:
		m.transcript.change(e.Change)
		m.files.intends(e.Change)
	case e.Kind == session.KindDone:
		m.files.wrote(e.Done)
	case e.Kind == session.KindFound && e.Found != nil:
		m.commandsChanged(e.Found)
	case e.Kind == session.KindUndo && e.Undo != nil:
		m.undone(e.Undo)
	case e.Kind == session.KindTurn && e.Turn != nil:
		level, sign, words := turnNote(m.look.theme, e.Turn.Outcome, e.Turn.Error)
		m.transcript.endReply()
		if words != "" {
			m.transcript.note(level, sign, words)
		}
	case e.Kind == session.KindCompact && e.Compact != nil:
		m.compacted(e.Compact)
	case e.Kind == session.KindRewind && e.Rewind != nil:
		m.rewound(e.Rewind)
	case e.Kind == session.KindTitle:
		m.title = e.Title
	}
}

func (m *Model) said(e *session.Entry) {
	msg := e.Message
	m.spoken = true
	m.transcript.message(e.Seq, msg)
	switch msg.Role {
	case session.RoleTool:
		m.status.doing = m.transcript.doing()
	case session.RoleAssistant:
		m.status.retry = nil
		if msg.Usage != nil && msg.Parent == "" {
			m.status.usage = *msg.Usage
		}
	}
}

func (m *Model) compacted(c *session.Compaction) {
	words := "old results were left out of the context"
	if c.Text != "" {
		words = "the conversation was summed up"
	}
	m.transcript.note(app.Info, m.look.theme.sign.dot, fmt.Sprintf("%s: %s, now %s tokens; the log keeps everything", words, app.Tokens(c.Before), app.Tokens(c.After)))
}

// commandsChanged shows what commands changed: how much with the call, and what of it cannot
// be taken back at once (decision 32).
func (m *Model) commandsChanged(f *session.Found) {
	m.files.found(f)
	m.transcript.found(f)
	if len(f.Lost) == 0 {
		return
	}
	lost := make([]string, len(f.Lost))
	for i, l := range f.Lost {
		lost[i] = text.Line(relative(m.look.workspace, l.Path)) + " " + text.Line(l.Why)
	}
	m.transcript.note(app.Warning, m.look.theme.sign.warning, "cannot be undone: "+some(lost))
}

// someMost is how many of many things a note names.
const someMost = 8

func some(things []string) string {
	if more := len(things) - someMost; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(things[:someMost], ", "), more)
	}
	return strings.Join(things, ", ")
}

// rewound takes what the person went back behind off the screen; the log keeps it.
func (m *Model) rewound(r *session.Rewind) {
	if m.transcript.backTo(r.To) {
		m.transcript.note(app.Info, m.look.theme.sign.dot, "went back to here; the log keeps what followed")
	}
}

func (m *Model) undone(u *session.Undo) {
	m.files.undid(u)
	word := "undid"
	if u.Redo {
		word = "did again"
	}
	paths, changes := m.files.paths(m.look.workspace, u.Changes)
	m.transcript.note(app.Info, m.look.theme.sign.done,
		fmt.Sprintf("%s %s: %s", word, plural(changes, "change", "changes"), some(paths)))
}

func (m *Model) started(e app.ToolStarted) {
	p := m.transcript.calls[e.Call.ID]
	if p == nil {
		if p = m.transcript.subCall(e.Call); p == nil {
			return
		}
	}
	p.call.begin(e.Time)
	m.transcript.changed(p.index)
	m.status.retry, m.status.doing = nil, "Running "+text.Line(e.Call.Name)
}

// printed gives output to the call that printed it, and to no other (UI-13).
func (m *Model) printed(e app.ToolOutput, skipped map[string]int) {
	p := m.transcript.calls[e.CallID]
	if p == nil {
		return
	}
	p.call.wrote(e.Chunk, skipped[e.CallID])
	delete(skipped, e.CallID)
	m.transcript.changed(p.index)
	m.output.watch(p.call)
}

// ask puts a question at the end of the queue (UI-17).
func (m *Model) ask(id, callID string, d asker) tea.Cmd {
	q := &question{id: id, callID: callID, dialog: d, asked: m.look.now}
	if f, ok := d.(*form); ok && f.asked.Secret {
		q.arm() // a key that is pasted early must not get into the draft
	}
	m.questions = append(m.questions, q)
	if p := m.transcript.calls[callID]; p != nil {
		p.call.state = callAsking
		m.transcript.changed(p.index)
	}
	m.complete.close()
	cmds := []tea.Cmd{m.nextQuestion()}
	if len(m.questions) == 1 {
		left, _ := d.title(m.look.theme)
		cmds = append(cmds, m.notify(left))
	}
	return tea.Batch(cmds...)
}

// answered lets the call of a question go on.
func (m *Model) answered(q *question) {
	if p := m.transcript.calls[q.callID]; p != nil && p.call.state == callAsking {
		p.call.state = callRunning
		p.call.started = m.look.now
		m.transcript.changed(p.index)
	}
}

func (m *Model) notice(n app.Notice) tea.Cmd {
	sign := m.look.theme.sign
	switch {
	case n.Level == app.Error:
		m.transcript.note(n.Level, sign.failed, n.Text)
	case n.Level == app.Warning:
		m.transcript.note(n.Level, sign.warning, n.Text)
	case len(n.Text) > m.w/2: // it could not be read in the status line
		m.transcript.note(n.Level, sign.dot, n.Text)
	}
	m.status.say(n, m.look.now)
	return nil
}

func (m *Model) fail(err error) tea.Cmd {
	m.status.say(app.Notice{Level: app.Error, Text: err.Error()}, m.look.now)
	return nil
}

// begin, end and heard keep the status line's account of a turn.

func (s *status) begin(now time.Time) { s.running, s.since, s.doing, s.retry = true, now, "", nil }

func (s *status) end() { s.running, s.doing, s.retry = false, "", nil }

func (s *status) heard(d app.ReplyDelta) {
	s.retry = nil
	switch {
	case d.Parent != "":
	case d.Text != "":
		s.doing = "Writing"
	default:
		s.doing = "Thinking"
	}
}
