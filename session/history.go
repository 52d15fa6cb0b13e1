package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/todo"
)

// What a call without a result is answered with (LOOP-09, SESS-06).
const (
	resultInterrupted = "interrupted by the user"
	resultTimeout     = "interrupted: the time of the turn was up"
	resultFailed      = "not run: the turn ended before"
	resultCrashed     = "no result: the program ended before this call was done. It may have run in part: look at what it left behind."
	resultWritten     = "The program ended before the result was known. This was written before that: %s"
)

// resultEmpty stands for a result without text, which some servers refuse.
const resultEmpty = "(no output)"

// historyLost stands for the beginning of a conversation that a damaged log has lost.
const historyLost = "(The beginning of this conversation was lost.)"

// History makes the model's history from the entries of a log, see [Conversation].
func History(entries []Entry) []Message { return NewConversation(entries).Messages() }

// Conversation is the model's history, made from the entries of a log and from
// those that follow, by the same code: a resumed session sends what the one
// before it would have sent. It is valid for the strictest server, whatever the
// entries are:
//
//   - it begins with a message of the user, and no message is empty;
//   - each reply's results come right behind it, in call order, and every call
//     has exactly one: a result that is missing says why, one without a call is left out;
//   - the arguments of a call are a JSON object;
//   - of a reply that was cut off only the text is kept, and nothing when the
//     next message is the reply that was asked for instead;
//   - notes stand at the end of the newest message that is not the model's;
//   - what a compaction stands for is replaced by its text;
//   - what followed a message that the person went back to is left out.
//
// Sub-agents' messages are left out. The entries are not changed, and the same
// entries give the same history. A conversation is for one goroutine at a time.
type Conversation struct {
	groups []*group
	turn   int              // the number of the newest message's
	held   []string         // notes that wait for the next message of the user
	open   map[string]*slot // the calls without a result, by id

	said      []string    // by the user, from the beginning on
	todo      []todo.Item // as it stands
	marks     []mark      // where it can go back to
	compacted *Compaction // the newest that has a text

	changes map[string]*Change  // intents by id
	written map[string][]string // paths that a call has written, by its id
}

// group is a message with the results that belong to it.
type group struct {
	seq     int64 // of the message's entry; 0 for one that stands for something
	message Message
	results []*slot
	notes   []string
}

// slot is the place of one result.
type slot struct {
	call   string // its id
	result *Message
}

// NewConversation begins with the entries of a log; nil for a new session. Calls
// without a result were cut off by the end of the program.
func NewConversation(entries []Entry) *Conversation {
	c := &Conversation{open: map[string]*slot{}, changes: map[string]*Change{}, written: map[string][]string{}}
	for _, e := range entries {
		c.Add(e)
	}
	c.settle(resultCrashed)
	return c
}

// Add takes the next entry.
func (c *Conversation) Add(e Entry) {
	switch e.Kind {
	case KindMessage:
		if e.Message.Parent == "" {
			c.message(*e.Message, e)
		}
	case KindNote:
		c.note(e.Note)
	case KindChange:
		c.changes[e.Change.ID] = e.Change
	case KindDone:
		if ch := c.changes[e.Done]; ch != nil {
			c.written[ch.CallID] = append(c.written[ch.CallID], ch.Path)
			delete(c.changes, e.Done)
		}
	case KindTurn:
		c.ended(e.Turn.Outcome)
	case KindCompact:
		c.compact(e.Compact)
	case KindRewind:
		c.rewind(e.Rewind.To)
	case KindTodo:
		c.todo = e.Todo
	}
}

// message adds a message of the turn with the given number. The calls of a turn
// that has no end, or of a reply before the newest one, get no results any more.
func (c *Conversation) message(m Message, e Entry) {
	if m.Role == RoleAssistant || m.Role == RoleUser && e.Step != c.turn {
		c.settle(resultCrashed)
	}
	c.turn = e.Step
	switch m.Role {
	case RoleUser:
		before := c.mark(e)
		if c.user(m, e.Seq) {
			c.said = append(c.said, m.Text)
			c.marks = append(c.marks, before)
		}
	case RoleAssistant:
		c.reply(m, e.Seq)
	case RoleTool:
		c.result(m)
	}
}

func (c *Conversation) result(m Message) {
	s := c.open[m.CallID]
	if s == nil {
		return
	}
	if m.Text == "" && len(m.Images) == 0 {
		m.Text = resultEmpty
	}
	s.result = &m
	delete(c.open, m.CallID)
	delete(c.written, m.CallID)
}

func (c *Conversation) user(m Message, seq int64) bool {
	if strings.TrimSpace(m.Text) == "" && len(m.Images) == 0 {
		return false
	}
	c.groups = append(c.groups, &group{seq: seq, message: m, notes: c.held})
	c.held = nil
	return true
}

func (c *Conversation) reply(m Message, seq int64) {
	if m.Cut {
		// What the server wants back, and the arguments, may be halves.
		m.Calls, m.Echo = nil, nil
	}
	if strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
		return
	}
	if len(c.groups) == 0 {
		c.user(Message{Role: RoleUser, Text: historyLost}, 0)
	}
	if last := c.groups[len(c.groups)-1]; last.message.Cut {
		c.groups = c.groups[:len(c.groups)-1] // it was asked for again, and this is the answer
	}
	g := &group{seq: seq, message: m}
	g.message.Calls = make([]tools.ToolCall, 0, len(m.Calls))
	for _, call := range m.Calls {
		if slices.ContainsFunc(g.results, func(s *slot) bool { return s.call == call.ID }) {
			continue // a result could not tell which one it answers
		}
		call.Arguments = object(call.Arguments)
		s := &slot{call: call.ID}
		g.message.Calls = append(g.message.Calls, call)
		g.results = append(g.results, s)
		c.open[call.ID] = s
	}
	c.groups = append(c.groups, g)
}

// object makes arguments that every server takes back.
func object(arguments string) string {
	if a := strings.TrimSpace(arguments); strings.HasPrefix(a, "{") && json.Valid([]byte(a)) {
		return arguments
	}
	return "{}"
}

// note puts a note to the newest group that ends with a message of the user or a
// tool. Behind a reply without calls it waits for the person's next message.
func (c *Conversation) note(text string) {
	if text == "" {
		return
	}
	if n := len(c.groups); n > 0 {
		if g := c.groups[n-1]; g.message.Role == RoleUser || len(g.results) > 0 {
			g.notes = append(g.notes, text)
			return
		}
	}
	c.held = append(c.held, text)
}

func (c *Conversation) ended(o Outcome) {
	switch o {
	case OutcomeInterrupted:
		c.settle(resultInterrupted)
	case OutcomeTimeout:
		c.settle(resultTimeout)
	default:
		c.settle(resultFailed)
	}
}

// settle answers the calls that are open.
func (c *Conversation) settle(text string) {
	for id, s := range c.open {
		s.result = c.missing(id, text)
		delete(c.open, id)
		delete(c.written, id)
	}
}

// missing stands for a result that there is not.
func (c *Conversation) missing(call, text string) *Message {
	if paths := c.written[call]; len(paths) > 0 {
		text = fmt.Sprintf(resultWritten, strings.Join(paths, ", "))
	}
	return &Message{Role: RoleTool, CallID: call, Status: StatusInterrupted, Text: text}
}

// Messages is the history now. A call that runs still counts as one that will
// never have a result.
func (c *Conversation) Messages() []Message {
	n := 0
	for _, g := range c.groups {
		n += 1 + len(g.results)
	}
	out := make([]Message, 0, n)
	for _, g := range c.groups {
		out = c.appendGroup(out, g)
	}
	return out
}

// appendGroup appends the messages of a group, its notes in the last one.
func (c *Conversation) appendGroup(out []Message, g *group) []Message {
	out = append(out, g.message)
	for _, s := range g.results {
		r := s.result
		if r == nil {
			r = c.missing(s.call, resultCrashed)
		}
		out = append(out, *r)
	}
	last := &out[len(out)-1]
	for _, n := range g.notes {
		last.Text = appendNote(last.Text, n)
	}
	return out
}

// The tag of a note, that the system prompt explains to the model.
const (
	NoteStart = "<note>"
	NoteEnd   = "</note>"
)

func appendNote(text, note string) string {
	if text != "" {
		text += "\n\n"
	}
	note = strings.ReplaceAll(note, NoteEnd, "<\\/note>")
	return text + NoteStart + "\n" + note + "\n" + NoteEnd
}
