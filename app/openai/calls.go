package openai

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools"
)

// openCall is a call whose pieces are arriving.
type openCall struct {
	index     *int // as the server numbers it, nil where it does not
	id        string
	name      string
	arguments strings.Builder
	extra     json.RawMessage
}

// complete tells whether the arguments are one whole JSON value. It looks at
// the last byte first, so that asking for each piece stays cheap.
func (c *openCall) complete() bool {
	s := c.arguments.String()
	return strings.HasSuffix(strings.TrimRight(s, " \r\n\t"), "}") && json.Valid([]byte(s))
}

// openCalls joins pieces of calls, in the order in which the calls began.
type openCalls struct{ list []*openCall }

// add takes a piece and returns the place of its call. first says that no piece
// of the same delta came before: after one, a piece that names nothing but a
// function is a call of its own.
func (cs *openCalls) add(p callPiece, first bool) int {
	at := cs.find(p, first)
	if at < 0 {
		at = len(cs.list)
		cs.list = append(cs.list, &openCall{index: p.Index})
	}
	c := cs.list[at]
	if c.id == "" {
		c.id = p.ID
	}
	if c.name == "" {
		c.name = p.Function.Name
	}
	if len(p.Extra) > 0 && string(p.Extra) != "null" {
		c.extra = p.Extra
	}
	c.arguments.WriteString(string(p.Function.Arguments))
	return at
}

// find returns the place of the call that the piece goes on, or -1 where it
// begins one. A known id wins; a new id on a used index is a new call; without
// either the piece belongs to the newest call.
func (cs *openCalls) find(p callPiece, first bool) int {
	if p.ID != "" {
		return cs.findID(p)
	}
	if p.Index != nil {
		at := cs.findIndex(*p.Index)
		if at >= 0 && cs.begins(cs.list[at], p) {
			return -1
		}
		return at
	}
	newest := len(cs.list) - 1
	if newest >= 0 && p.Function.Name != "" && (!first || cs.begins(cs.list[newest], p)) {
		return -1
	}
	return newest
}

func (cs *openCalls) findID(p callPiece) int {
	for i := len(cs.list) - 1; i >= 0; i-- {
		c := cs.list[i]
		if c.id != p.ID {
			continue
		}
		otherPlace := c.index != nil && p.Index != nil && *c.index != *p.Index
		if otherPlace && p.Function.Name != "" {
			return -1 // the server gives all calls the same id
		}
		return i
	}
	if p.Index == nil {
		return -1
	}
	// The id of a call may come after its first piece.
	if at := cs.findIndex(*p.Index); at >= 0 && cs.list[at].id == "" && !cs.begins(cs.list[at], p) {
		return at
	}
	return -1
}

func (cs *openCalls) findIndex(index int) int {
	for i := len(cs.list) - 1; i >= 0; i-- {
		if at := cs.list[i].index; at != nil && *at == index {
			return i
		}
	}
	return -1
}

// begins tells whether a piece that seems to go on c begins another call: it
// names a function although c has its name and all of its arguments.
func (cs *openCalls) begins(c *openCall, p callPiece) bool {
	if p.Function.Name == "" || c.name == "" {
		return false
	}
	return p.Function.Name != c.name || c.complete()
}

// close returns the calls, each with an id of its own. offered tells the names of the tools; where the reply
// was ended by its limit, a last call that has no arguments yet is left out.
func (cs *openCalls) close(offered func(string) bool, limited bool) []tools.ToolCall {
	calls := make([]tools.ToolCall, 0, len(cs.list))
	for i, c := range cs.list {
		raw := c.arguments.String()
		if limited && i == len(cs.list)-1 && strings.TrimSpace(raw) == "" {
			continue
		}
		if c.name == "" && c.id == "" && strings.TrimSpace(raw) == "" {
			continue // the stub of a gateway
		}
		call := tools.ToolCall{ID: c.id, Name: toolName(c.name, offered), Arguments: mendArguments(raw)}
		if call.ID == "" || slices.ContainsFunc(calls, func(other tools.ToolCall) bool { return other.ID == call.ID }) {
			call.ID = "call_" + rand.Text()[:20]
		}
		if c.extra != nil {
			call.Extra, _ = json.Marshal(map[string]json.RawMessage{"extra_content": c.extra})
		}
		calls = append(calls, call)
	}
	return calls
}

// toolName takes off what templates leave around a name, where an offered tool remains.
func toolName(name string, offered func(string) bool) string {
	if offered(name) {
		return name
	}
	short, _, _ := strings.Cut(strings.TrimSpace(name), "<|") // gpt-oss
	short = strings.TrimPrefix(short, "functions.")           // Kimi
	short, _, _ = strings.Cut(short, ":")
	if offered(short) {
		return short
	}
	return name
}

// mendArguments makes a JSON object of a call's arguments where nothing has to
// be guessed: nothing at all is {}, a string that holds an object is the object,
// and an object that was sent twice is taken once. Everything else stays as it
// came, for the model to be told.
func mendArguments(raw string) string {
	s := strings.TrimSpace(raw)
	if s == "" || s == "null" {
		return "{}"
	}
	if json.Valid([]byte(s)) {
		var inner string
		if s[0] == '"' && json.Unmarshal([]byte(s), &inner) == nil {
			if t := strings.TrimSpace(inner); isObject(t) {
				return t
			} else if t == "" || t == "null" {
				return "{}"
			}
		}
		return s
	}
	dec := json.NewDecoder(strings.NewReader(s))
	var head json.RawMessage
	if dec.Decode(&head) != nil {
		return raw
	}
	rest := strings.TrimSpace(s[dec.InputOffset():])
	switch {
	case rest == string(head):
		return rest
	case string(head) == "{}" && isObject(rest): // a placeholder that the real ones follow
		return rest
	}
	return raw
}

func isObject(s string) bool { return strings.HasPrefix(s, "{") && json.Valid([]byte(s)) }
