package openai

import (
	"bytes"
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
	wire  []byte            // its messages, joined by commas
	marks []mark            // where wire may be cut and continued
	ids   map[string]string // of calls: ours → the server's
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

// write returns the messages of a request as JSON, joined by commas. They are
// valid until the next write.
func (conv *conversation) write(p Profile, model string, req app.Request) ([]byte, error) {
	if conv.system != req.System || conv.profile != p || conv.model != model {
		*conv = conversation{system: req.System, profile: p, model: model}
	}
	if conv.ids == nil {
		conv.ids = map[string]string{}
	}
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
		conv.system, conv.seen = "", nil // half written: begin anew
		return nil, w.err
	}
	return conv.wire, nil
}

// cut drops what comes after the last mark within the first known messages,
// and returns how many messages remain.
func (conv *conversation) cut(known int) int {
	for len(conv.marks) > 0 && conv.marks[len(conv.marks)-1].messages > known {
		conv.marks = conv.marks[:len(conv.marks)-1]
	}
	var at mark
	if n := len(conv.marks); n > 0 {
		at = conv.marks[n-1]
		conv.marks = conv.marks[:n-1] // it is set again when the message behind it is written
	}
	conv.wire = conv.wire[:at.bytes]
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
