package ui

import (
	"slices"
	"strings"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/ui/list"
	"github.com/phero-agent/agent/ui/md"
	"github.com/phero-agent/agent/ui/text"
)

// transcript is the conversation: what the entries of the log and the events of
// the moment make of it, and where the person looks at it.
type transcript struct {
	look  *look
	list  *list.List
	items []item
	calls map[string]*place // every call of the session, by its id

	reply   *replyItem   // that comes in
	thought *thoughtItem // that comes in
	allOpen bool

	cursor list.Row // where the person is, while the transcript has the keys
	find   string   // what was searched last
	inner  int      // columns of the items
	drag   *drag    // a selection; nil: none

	marking bool // the selection goes to the cursor, by keys
}

// place is a call and the item that shows it.
type place struct {
	call  *call
	index int
}

func newTranscript(k *look) *transcript {
	return &transcript{look: k, list: list.New(), calls: map[string]*place{}}
}

func (tr *transcript) add(it item) {
	if n := len(tr.items); n > 0 && apart(tr.items[n-1], it) {
		it.setGap()
	}
	if tr.allOpen {
		it.unfold(true)
	}
	tr.items = append(tr.items, it)
	tr.list.Append(it)
}

// apart says whether an empty row is between two items: not between calls.
func apart(a, b item) bool { return !isCall(a) || !isCall(b) }

func isCall(it item) bool {
	switch it.(type) {
	case *toolItem, *exploreItem:
		return true
	}
	return false
}

// change shows what a call wrote.
func (tr *transcript) change(c *session.Change) {
	if p := tr.calls[c.CallID]; p != nil {
		p.call.changes = append(p.call.changes, *c)
		tr.changed(p.index)
	}
}

// found shows with its call what a command changed. Of several it shows it with the last.
func (tr *transcript) found(f *session.Found) {
	if len(f.CallIDs) == 0 {
		return
	}
	if p := tr.calls[f.CallIDs[len(f.CallIDs)-1]]; p != nil {
		for i := range f.Changes {
			if !f.Changes[i].IsDir() {
				p.call.found++
			}
		}
		tr.changed(p.index)
	}
}

// doing says what runs, for the status line.
func (tr *transcript) doing() string {
	for i := len(tr.items) - 1; i >= 0; i-- {
		var running []*call
		switch it := tr.items[i].(type) {
		case *toolItem:
			running = []*call{it.call}
		case *exploreItem:
			running = it.calls
		default:
			return ""
		}
		for _, c := range running {
			if c.state == callRunning {
				return "Running " + text.Line(c.Name)
			}
		}
	}
	return ""
}

// runningCommand is the newest shell command that runs, "" when there is none.
func (tr *transcript) runningCommand() string {
	for i := len(tr.items) - 1; i >= 0; i-- {
		switch it := tr.items[i].(type) {
		case *userItem:
			return ""
		case *toolItem:
			if it.call.Name == "bash" && it.call.state == callRunning {
				return it.call.ID
			}
		}
	}
	return ""
}

// restyle draws everything anew in the present theme.
func (tr *transcript) restyle() {
	tr.list.ChangedAll()
}

func (tr *transcript) changed(i int) { tr.list.Changed(i) }

// message shows a message of the log, whose entry has the number.
func (tr *transcript) message(seq int64, m *session.Message) {
	switch m.Role {
	case session.RoleUser:
		if m.Parent == "" && m.Text != "" {
			tr.endReply()
			tr.add(&userItem{entry: entry{look: tr.look}, seq: seq, text: m.Text, images: len(m.Images)})
		}
	case session.RoleAssistant:
		tr.assistant(m)
	case session.RoleTool:
		if p := tr.calls[m.CallID]; p != nil {
			p.call.end(m)
			tr.changed(p.index)
		}
	}
}

// assistant ends the reply that came in, and shows its calls.
func (tr *transcript) assistant(m *session.Message) {
	if m.Parent != "" {
		tr.subReply(m)
		return
	}
	if m.Reasoning != "" && tr.thought == nil && tr.reply == nil {
		tr.think(m.Reasoning)
		tr.thought.begun, tr.thought.took = time.Time{}, m.Thought
	}
	if m.Text != "" {
		if tr.reply != nil && tr.reply.size != len(strings.TrimLeft(m.Text, "\n ")) { // it came differently
			tr.reply.doc, tr.reply.size = md.Stream{}, 0
			tr.reply.write(m.Text)
		}
		if tr.reply == nil && strings.TrimSpace(m.Text) != "" {
			tr.say(m.Text)
		}
	}
	if tr.reply != nil {
		tr.reply.cut = m.Cut
	}
	tr.endReply()
	for _, c := range m.Calls {
		tr.addCall(c)
	}
}

// subReply keeps what a sub-agent said and called, below the call that it is of.
func (tr *transcript) subReply(m *session.Message) {
	p := tr.calls[m.Parent]
	if p == nil {
		return
	}
	if s := strings.TrimSpace(m.Text); s != "" {
		p.call.words = s
	}
	for _, c := range m.Calls {
		c.Parent = m.Parent
		tr.subCall(c)
	}
	tr.changed(p.index)
}

// subCall shows a call of a sub-agent below the call that the sub-agent is of.
func (tr *transcript) subCall(c tools.ToolCall) *place {
	p := tr.calls[c.Parent]
	if p == nil {
		return nil
	}
	sub := &place{&call{ToolCall: c}, p.index}
	p.call.subs = append(p.call.subs, sub.call)
	tr.calls[c.ID] = sub
	return sub
}

func (tr *transcript) addCall(c tools.ToolCall) {
	added := &call{ToolCall: c}
	if explores(c.Name) {
		if n := len(tr.items); n > 0 {
			if e, ok := tr.items[n-1].(*exploreItem); ok {
				e.calls = append(e.calls, added)
				tr.calls[c.ID] = &place{added, n - 1}
				tr.changed(n - 1)
				return
			}
		}
		tr.add(&exploreItem{entry: entry{look: tr.look}, calls: []*call{added}})
	} else {
		tr.add(&toolItem{entry: entry{look: tr.look}, call: added})
	}
	tr.calls[c.ID] = &place{added, len(tr.items) - 1}
}

// delta adds to the reply that comes in.
func (tr *transcript) delta(d app.ReplyDelta) {
	if d.Parent != "" {
		if p := tr.calls[d.Parent]; p != nil {
			p.call.hear(d.Text)
			tr.changed(p.index)
		}
		return
	}
	if d.Reasoning != "" {
		tr.think(d.Reasoning)
	}
	if d.Text != "" {
		tr.say(d.Text)
	}
}

func (tr *transcript) think(s string) {
	if tr.thought == nil {
		tr.thought = &thoughtItem{entry: entry{look: tr.look}, begun: tr.look.now}
		tr.add(tr.thought)
	}
	tr.thought.text.WriteString(s)
}

func (tr *transcript) say(s string) {
	if tr.reply == nil {
		if s = strings.TrimLeft(s, "\n "); s == "" {
			return
		}
		tr.endThought()
		tr.reply = &replyItem{entry: entry{look: tr.look}}
		tr.add(tr.reply)
	}
	tr.reply.write(s)
}

func (tr *transcript) endThought() {
	if tr.thought != nil {
		tr.thought.end()
		tr.thought = nil
	}
}

// endReply ends what comes in.
func (tr *transcript) endReply() {
	tr.endThought()
	if tr.reply != nil {
		tr.reply.doc.Finish()
		tr.reply.done = true
		tr.reply = nil
	}
}

// dropReply takes back what came in of a reply that will be sent again.
func (tr *transcript) dropReply() {
	if n := tr.arriving(); n < len(tr.items) {
		tr.list.Remove(n, len(tr.items))
		tr.items = tr.items[:n]
	}
	tr.reply, tr.thought = nil, nil
}

// backTo takes away the person's message whose entry has the number, and what
// followed it; false where there is no such message.
func (tr *transcript) backTo(seq int64) bool {
	tr.endReply()
	at := slices.IndexFunc(tr.items, func(it item) bool {
		u, ok := it.(*userItem)
		return ok && u.seq == seq
	})
	if at < 0 {
		return false
	}
	tr.list.Remove(at, len(tr.items))
	tr.items = tr.items[:at]
	for id, p := range tr.calls {
		if p.index >= at {
			delete(tr.calls, id)
		}
	}
	tr.cursor = list.Row{Item: max(0, min(tr.cursor.Item, at-1))}
	tr.unmark()
	return true
}

// stop ends what the end of a turn left open.
func (tr *transcript) stop() {
	tr.endReply()
	for i := len(tr.items) - 1; i >= 0; i-- {
		switch it := tr.items[i].(type) {
		case *userItem:
			return
		case *toolItem:
			tr.interrupt(i, it.call)
		case *exploreItem:
			for _, c := range it.calls {
				tr.interrupt(i, c)
			}
		}
	}
}

func (tr *transcript) interrupt(i int, c *call) {
	if !c.over() {
		c.state = callInterrupted
		tr.changed(i)
	}
}

// note adds a line of ours.
func (tr *transcript) note(level app.Level, sign, words string) {
	it := &noteItem{entry: entry{look: tr.look}, level: level, sign: sign, text: words}
	at := tr.arriving()
	if at == len(tr.items) {
		tr.add(it)
		return
	}
	if at > 0 && apart(tr.items[at-1], it) {
		it.setGap()
	}
	tr.items[at].setGap()
	tr.items = slices.Insert(tr.items, at, item(it))
	tr.list.Insert(at, it)
	tr.changed(at + 1)
}

// arriving is the index of the first item that still comes in, and the count of
// items when none does. What is said meanwhile goes before it: a reply is one item.
func (tr *transcript) arriving() int {
	n := len(tr.items)
	for n > 0 && (tr.items[n-1] == item(tr.reply) || tr.items[n-1] == item(tr.thought)) {
		n--
	}
	return n
}

// askingCall is the id of the first call by which the model asks the person and
// that does not wait for them yet; "" where there is none.
func (t *transcript) askingCall() (id string) {
	first := len(t.items)
	for callID, p := range t.calls {
		if p.call.Name == "user_interaction" && p.call.state == callRunning && p.index < first {
			id, first = callID, p.index
		}
	}
	return id
}
