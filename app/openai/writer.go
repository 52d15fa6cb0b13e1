package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// message is a message on the wire. It is our own type, not one of openai-go,
// whose encoder copies a message four times: too slow for a whole session.
type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"` // a string, or parts
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	echo
}

// echo are the fields of a reply that its server wants back.
type echo struct {
	ReasoningContent json.RawMessage `json:"reasoning_content,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // "function"
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	callExtra
}

// callExtra is [tools.ToolCall.Extra] of this package.
type callExtra struct {
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

// part is a part of a user's message that has images.
type part struct {
	Type  string    `json:"type"` // "text" or "image_url"
	Text  string    `json:"text,omitempty"`
	Image *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// writer writes messages for the strictest server: one system message in front,
// neighbouring messages of the user and of the assistant joined, no empty ones,
// results as strings, and their images in a user's message after the last result.
type writer struct {
	conv   *conversation
	images func(blob string) ([]byte, error)
	err    error

	last      role               // of the message written last
	user      []userPart         // of the user's message that is being gathered
	assistant []*session.Message // the same of the assistant: texts, then at most one with calls
}

// userPart is a text or an image.
type userPart struct {
	text  string
	image *session.Image
}

type role int

const (
	lastNone role = iota
	lastAny       // any but a tool's
	lastTool
)

// Texts that stand for something else.
const (
	textEmptyResult = "(no output)"
	textAfterTool   = "Understood."
	textNoImages    = "[an image was here, but this model takes none]"
	textLostImage   = "[an image was here that cannot be read any more]"
)

func (w *writer) system(text string) {
	switch {
	case strings.TrimSpace(text) == "":
	case w.conv.profile.SystemRole == "user":
		w.user = append(w.user, userPart{text: text})
	case w.conv.profile.SystemRole == "developer":
		w.put(&message{Role: "developer", Content: text})
	default:
		w.put(&message{Role: "system", Content: text})
	}
}

// message takes message i of the request.
func (w *writer) message(i int, m *session.Message) {
	switch m.Role {
	case session.RoleUser:
		w.flushAssistant()
		w.gather(m.Text, m.Images)
	case session.RoleTool:
		w.flushAssistant()
		w.result(m)
	case session.RoleAssistant:
		if strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
			return
		}
		if len(w.assistant) == 0 {
			w.flushUser()
			w.conv.marks = append(w.conv.marks, mark{messages: i, bytes: w.conv.wire.Len()})
		}
		w.assistant = append(w.assistant, m)
		if len(m.Calls) > 0 {
			w.flushAssistant()
		}
	}
}

func (w *writer) gather(text string, images []session.Image) {
	if strings.TrimSpace(text) != "" {
		w.user = append(w.user, userPart{text: text})
	}
	for i := range images {
		w.user = append(w.user, userPart{image: &images[i]})
	}
}

func (w *writer) flush() {
	w.flushAssistant()
	w.flushUser()
}

// result writes a tool's message. Its images wait until all results of the reply are written.
func (w *writer) result(m *session.Message) {
	text := m.Text
	if strings.TrimSpace(text) == "" {
		text = textEmptyResult
	}
	id, ok := w.conv.ids[m.CallID]
	if !ok {
		id = m.CallID
	}
	w.put(&message{Role: "tool", ToolCallID: id, Content: text})
	w.last = lastTool
	if len(m.Images) > 0 {
		w.gather("Images of the results above:", m.Images)
	}
}

// flushUser writes the user's message that was gathered. Plain text stays a plain string.
func (w *writer) flushUser() {
	if len(w.user) == 0 {
		return
	}
	parts := w.user
	w.user = nil
	if w.last == lastTool && w.conv.profile.AssistantAfterTool {
		w.put(&message{Role: "assistant", Content: textAfterTool})
	}
	var texts []string
	var content []part
	for _, p := range parts {
		url, text := p.load(w)
		if url == "" {
			texts = append(texts, text)
			continue
		}
		content = appendText(content, texts)
		texts = nil
		content = append(content, part{Type: "image_url", Image: &imageURL{url}})
	}
	if len(content) == 0 {
		w.put(&message{Role: "user", Content: strings.Join(texts, "\n\n")})
		return
	}
	w.put(&message{Role: "user", Content: appendText(content, texts)})
}

func appendText(content []part, texts []string) []part {
	if len(texts) == 0 {
		return content
	}
	return append(content, part{Type: "text", Text: strings.Join(texts, "\n\n")})
}

// load returns an image as a data URL, or the text of the part.
func (p userPart) load(w *writer) (url, text string) {
	switch {
	case p.image == nil:
		return "", p.text
	case w.conv.profile.NoImages:
		return "", textNoImages
	case w.images == nil:
		return "", textLostImage
	}
	data, err := w.images(p.image.Blob)
	if err != nil || len(data) == 0 {
		return "", textLostImage
	}
	return "data:" + p.image.MediaType + ";base64," + base64.StdEncoding.EncodeToString(data), ""
}

// flushAssistant writes the assistant's message that was gathered.
func (w *writer) flushAssistant() {
	if len(w.assistant) == 0 {
		return
	}
	group := w.assistant
	w.assistant = nil
	var texts []string
	for _, m := range group {
		if strings.TrimSpace(m.Text) != "" {
			texts = append(texts, m.Text)
		}
	}
	m := group[len(group)-1] // only the last one can have calls
	msg := &message{Role: "assistant"}
	if len(texts) > 0 || w.conv.profile.EmptyContent {
		msg.Content = strings.Join(texts, "\n\n")
	}
	if len(m.Calls) > 0 {
		own := m.Model == "" || m.Model == w.conv.model
		for i := range m.Calls {
			msg.ToolCalls = append(msg.ToolCalls, w.call(&m.Calls[i], own, i == 0))
		}
		msg.echo = w.echo(m, own)
	}
	w.put(msg)
}

// signature is what Google documents for calls that another model made.
const signature = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// call writes one call. own says that the model of this request made it.
func (w *writer) call(call *tools.ToolCall, own, first bool) wireCall {
	c := wireCall{ID: wireID(call, own, w.conv.profile.CallIDs), Type: "function"}
	w.conv.ids[call.ID] = c.ID
	c.Function.Name = portableName(call.Name)
	c.Function.Arguments = call.Arguments
	if !isObject(strings.TrimSpace(call.Arguments)) {
		c.Function.Arguments = "{}" // servers refuse what is no object; the result tells the model what was wrong
	}
	if own && len(call.Extra) > 0 {
		_ = json.Unmarshal(call.Extra, &c.callExtra) // an extra of another kind is not for this server
	}
	if first && c.ExtraContent == nil && w.conv.profile.FillSignature {
		c.ExtraContent = json.RawMessage(signature)
	}
	return c
}

// echo is what goes back with a message that has calls, beside its text.
func (w *writer) echo(m *session.Message, own bool) (e echo) {
	p := w.conv.profile
	if p.NoEcho {
		return e
	}
	if own && len(m.Echo) > 0 {
		_ = json.Unmarshal(m.Echo, &e) // as with the extras
	}
	if p.FillReasoning && (e.ReasoningContent == nil || string(e.ReasoningContent) == `""`) {
		text := m.Reasoning
		if strings.TrimSpace(text) == "" {
			// Some servers refuse an empty text, and models repeat one that is always the same.
			text = fmt.Sprintf("Next: %s (%s).", m.Calls[0].Name, w.conv.ids[m.Calls[0].ID])
		}
		e.ReasoningContent, _ = json.Marshal(text)
	}
	return e
}

// put writes a message.
func (w *writer) put(m *message) {
	wire := &w.conv.wire
	if wire.Len() > 0 {
		wire.WriteByte(',')
	}
	enc := json.NewEncoder(wire)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		w.err = fmt.Errorf("a message cannot be written as JSON: %w", err)
		return
	}
	wire.Truncate(wire.Len() - 1) // the encoder's line end
	w.last = lastAny
}
