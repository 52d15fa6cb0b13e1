package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools"
)

// What a call without a result is answered with (LOOP-09, SESS-06).
const (
	resultInterrupted = "interrupted by the user"
	resultTimeout     = "interrupted: the time of the turn was up"
	resultFailed      = "not run: the turn ended before"
	resultCrashed     = "not run: the program ended before it was done. If it had begun, look at what it left behind."
	resultWritten     = "The program ended before the result was known. This was written before that: %s"
)

// resultEmpty stands for a result without text, which some servers refuse.
const resultEmpty = "(no output)"

// historyLost stands for the beginning of a conversation that a damaged log has lost.
const historyLost = "(The beginning of this conversation was lost.)"

// History makes the model's history from the entries of a log. It is valid for
// the strictest server, whatever the entries are:
//
//   - it begins with a message of the user, and no message is empty;
//   - each reply's results come right behind it, in call order, and every call
//     has exactly one: a result that is missing says why, one without a call is left out;
//   - the arguments of a call are a JSON object;
//   - of a reply that was cut off only the text is kept;
//   - notes stand at the end of the newest message that is not the model's.
//
// Sub-agents' messages are left out. The entries are not changed, and the same
// entries give the same history.
func History(entries []Entry) []Message {
	h := history{open: map[string]*slot{}, written: map[string][]string{}}
	for _, e := range entries {
		h.add(e)
	}
	h.settle(resultCrashed)
	return h.messages()
}

// history is the conversation while it is put together.
type history struct {
	groups []*group
	turn   int              // the number of the newest message's
	held   []string         // notes that wait for the next message of the user
	open   map[string]*slot // the calls without a result, by id

	changes map[string]*Change  // intents by id
	written map[string][]string // paths that a call has written, by its id
}

// group is a message with the results that belong to it.
type group struct {
	message Message
	results []*slot
	notes   []string
}

// slot is the place of one result.
type slot struct {
	call   string // its id
	result *Message
}

func (h *history) add(e Entry) {
	switch e.Kind {
	case KindMessage:
		if e.Message.Parent == "" {
			h.message(*e.Message, e.Step)
		}
	case KindNote:
		h.note(e.Note)
	case KindChange:
		if h.changes == nil {
			h.changes = map[string]*Change{}
		}
		h.changes[e.Change.ID] = e.Change
	case KindDone:
		if c := h.changes[e.Done]; c != nil {
			h.written[c.CallID] = append(h.written[c.CallID], c.Path)
		}
	case KindTurn:
		h.ended(e.Turn.Outcome)
	}
}

// message adds a message of the turn with the given number. The calls of a turn
// that has no end, or of a reply before the newest one, get no results any more.
func (h *history) message(m Message, turn int) {
	if m.Role == RoleAssistant || m.Role == RoleUser && turn != h.turn {
		h.settle(resultCrashed)
	}
	h.turn = turn
	switch m.Role {
	case RoleUser:
		h.user(m)
	case RoleAssistant:
		h.reply(m)
	case RoleTool:
		h.result(m)
	}
}

func (h *history) result(m Message) {
	s := h.open[m.CallID]
	if s == nil {
		return
	}
	if m.Text == "" && len(m.Images) == 0 {
		m.Text = resultEmpty
	}
	s.result = &m
	delete(h.open, m.CallID)
}

func (h *history) user(m Message) {
	if strings.TrimSpace(m.Text) == "" && len(m.Images) == 0 {
		return
	}
	h.groups = append(h.groups, &group{message: m, notes: h.held})
	h.held = nil
}

func (h *history) reply(m Message) {
	if m.Cut {
		// What the server wants back, and the arguments, may be halves.
		m.Calls, m.Echo = nil, nil
	}
	if strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
		return
	}
	if len(h.groups) == 0 {
		h.user(Message{Role: RoleUser, Text: historyLost})
	}
	g := &group{message: m}
	g.message.Calls = make([]tools.ToolCall, 0, len(m.Calls))
	for _, c := range m.Calls {
		if slices.ContainsFunc(g.results, func(s *slot) bool { return s.call == c.ID }) {
			continue // a result could not tell which one it answers
		}
		c.Arguments = object(c.Arguments)
		s := &slot{call: c.ID}
		g.message.Calls = append(g.message.Calls, c)
		g.results = append(g.results, s)
		h.open[c.ID] = s
	}
	h.groups = append(h.groups, g)
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
func (h *history) note(text string) {
	if text == "" {
		return
	}
	if n := len(h.groups); n > 0 {
		if g := h.groups[n-1]; g.message.Role == RoleUser || len(g.results) > 0 {
			g.notes = append(g.notes, text)
			return
		}
	}
	h.held = append(h.held, text)
}

func (h *history) ended(o Outcome) {
	switch o {
	case OutcomeInterrupted:
		h.settle(resultInterrupted)
	case OutcomeTimeout:
		h.settle(resultTimeout)
	default:
		h.settle(resultFailed)
	}
}

// settle answers the calls that are open.
func (h *history) settle(text string) {
	for id, s := range h.open {
		s.result = &Message{Role: RoleTool, CallID: id, Status: StatusInterrupted, Text: text}
		if paths := h.written[id]; len(paths) > 0 {
			s.result.Text = fmt.Sprintf(resultWritten, strings.Join(paths, ", "))
		}
		delete(h.open, id)
	}
}

func (h *history) messages() []Message {
	var out []Message
	for _, g := range h.groups {
		out = append(out, g.message)
		for _, s := range g.results {
			out = append(out, *s.result)
		}
		last := &out[len(out)-1]
		for _, n := range g.notes {
			last.Text = appendNote(last.Text, n)
		}
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
