package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// maxConversations is how many conversations are remembered: the person's own
// and those of sub-agents that run beside it.
const maxConversations = 8

// conversation remembers the messages of the last request as they were sent.
// The next request of the same conversation only adds to them, so that the work
// for a request does not grow with the conversation, but for copying its bytes.
type conversation struct {
	system  string
	profile Profile
	model   string

	seen  []session.Message // what the last request had
	wire  bytes.Buffer      // its messages, joined by commas
	marks []mark            // where wire may be cut and continued
	ids   map[string]string // of calls: ours → the server's

	rest     []byte // the request without its messages
	restOf   []app.ToolSpec
	restWith string // the effort
}

// mark is a place before an assistant's message. All before it is settled: users' messages are
// joined and the images of results are sent.
type mark struct{ messages, bytes int }

// take returns the conversation that a request goes on, for the caller alone.
func (c *Client) take(req app.Request) *conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, conv := range c.conversations {
		if conv.goesOn(req) {
			c.conversations = slices.Delete(c.conversations, i, i+1)
			return conv
		}
	}
	return &conversation{}
}

// give puts a conversation back, as the newest.
func (c *Client) give(conv *conversation) {
	if len(conv.seen) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.conversations) == maxConversations {
		c.conversations = slices.Delete(c.conversations, 0, 1)
	}
	c.conversations = append(c.conversations, conv)
}

func (conv *conversation) goesOn(req app.Request) bool {
	return conv.system == req.System && len(conv.seen) > 0 && len(req.Messages) > 0 &&
		sameMessage(&conv.seen[0], &req.Messages[0])
}

// begin forgets everything, unless the request can go on with it.
func (conv *conversation) begin(p Profile, model string, req app.Request) {
	if conv.system != req.System || conv.profile != p || conv.model != model {
		*conv = conversation{system: req.System, profile: p, model: model}
	}
	if conv.ids == nil {
		conv.ids = map[string]string{}
	}
}

// around returns the request without its messages, as params makes it. Tools
// are made once, not changed: the same map is the same schema.
func (conv *conversation) around(req app.Request, params func() any) ([]byte, error) {
	if conv.rest != nil && len(req.Tools) > 0 && conv.restWith == req.Effort && slices.EqualFunc(conv.restOf, req.Tools, sameTool) {
		return conv.rest, nil
	}
	rest, err := json.Marshal(params())
	if err != nil {
		return nil, fmt.Errorf("the request cannot be written as JSON: %w", err)
	}
	conv.rest, conv.restOf, conv.restWith = rest, slices.Clone(req.Tools), req.Effort
	return rest, nil
}

func sameTool(a, b app.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description &&
		reflect.ValueOf(a.Schema).UnsafePointer() == reflect.ValueOf(b.Schema).UnsafePointer()
}

// write returns the messages of a request as JSON, joined by commas. They are
// valid until the next write.
func (conv *conversation) write(req app.Request) ([]byte, error) {
	known := 0
	for known < min(len(conv.seen), len(req.Messages)) && sameMessage(&conv.seen[known], &req.Messages[known]) {
		known++
	}
	w := writer{conv: conv, images: req.Images}
	start := conv.cut(known)
	if start == 0 {
		w.system(req.System)
	} else {
		w.last = lastAny
	}
	conv.seen = append(conv.seen[:min(known, len(conv.seen))], req.Messages[known:]...)
	for i := start; i < len(req.Messages); i++ {
		w.message(i, &req.Messages[i])
	}
	w.flush()
	if w.err != nil {
		*conv = conversation{} // half written
		return nil, w.err
	}
	return conv.wire.Bytes(), nil
}

// cut drops what comes after the last mark whose message is among the first
// known ones, and returns how many messages remain.
func (conv *conversation) cut(known int) int {
	for len(conv.marks) > 0 && conv.marks[len(conv.marks)-1].messages >= known {
		conv.marks = conv.marks[:len(conv.marks)-1]
	}
	var at mark
	if n := len(conv.marks); n > 0 {
		at = conv.marks[n-1]
		conv.marks = conv.marks[:n-1] // it is set again when the message behind it is written
	}
	conv.wire.Truncate(at.bytes)
	return at.messages
}

// sameMessage tells whether two messages are sent as the same bytes.
func sameMessage(a, b *session.Message) bool {
	return a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID && a.Model == b.Model &&
		a.Reasoning == b.Reasoning && bytes.Equal(a.Echo, b.Echo) &&
		slices.EqualFunc(a.Calls, b.Calls, sameCall) && slices.Equal(a.Images, b.Images)
}

func sameCall(a, b tools.ToolCall) bool {
	return a.ID == b.ID && a.WireID == b.WireID && a.Name == b.Name && a.Arguments == b.Arguments && bytes.Equal(a.Extra, b.Extra)
}
