package session

import (
	"slices"
	"time"

	"github.com/phero-agent/agent/tools/todo"
)

// Rewind takes the conversation back to before a message of the person, and
// nothing else: the log keeps what followed.
type Rewind struct {
	To int64 `json:"to"` // the number of the message's entry
}

// mark is the conversation before a message of the person. What it holds is not
// changed any more, but for results that a compaction leaves out.
type mark struct {
	seq       int64 // of the message's entry
	time      time.Time
	text      string
	groups    []*group
	held      []string
	said      int
	compacted *Compaction
	todo      []todo.Item
}

func (c *Conversation) mark(e Entry) mark {
	return mark{
		seq: e.Seq, time: e.Time, text: e.Message.Text,
		groups: slices.Clip(c.groups), held: c.held, said: len(c.said), compacted: c.compacted, todo: c.todo,
	}
}

// rewind goes back to before the message whose entry has the number. One that is
// not there changes nothing.
func (c *Conversation) rewind(to int64) {
	i := slices.IndexFunc(c.marks, func(m mark) bool { return m.seq == to })
	if i < 0 {
		return
	}
	c.settle(resultInterrupted)
	m := c.marks[i]
	c.groups, c.held, c.said, c.compacted = m.groups, m.held, slices.Clip(c.said[:m.said]), m.compacted
	c.todo, c.marks = m.todo, c.marks[:i]
}

// Todo is the task list as it stands.
func (c *Conversation) Todo() []todo.Item { return c.todo }

// Prompt is a message of the person that a conversation can go back to.
type Prompt struct {
	Seq  int64 // of its entry
	Time time.Time
	Text string
}

// Prompts lists what the person said, the oldest first.
func (c *Conversation) Prompts() []Prompt {
	list := make([]Prompt, len(c.marks))
	for i, m := range c.marks {
		list[i] = Prompt{Seq: m.seq, Time: m.time, Text: m.text}
	}
	return list
}

// Active leaves out what the person went back behind: messages, notes,
// compactions and ends of turns. Changes of files stay, since a rewind is of the
// conversation alone.
func Active(entries []Entry) []Entry {
	active := make([]Entry, 0, len(entries))
	for _, e := range entries {
		if e.Kind == KindRewind && slices.ContainsFunc(active, e.Rewind.goesTo) {
			active = slices.DeleteFunc(active, func(old Entry) bool { return old.Seq >= e.Rewind.To && old.Kind.said() })
			continue
		}
		active = append(active, e)
	}
	return active
}

func (r *Rewind) goesTo(e Entry) bool {
	return e.Seq == r.To && e.Kind == KindMessage && e.Message.Role == RoleUser && e.Message.Parent == ""
}

// said tells whether entries of a kind are of the conversation.
func (k Kind) said() bool {
	return k == KindMessage || k == KindNote || k == KindCompact || k == KindTurn
}
