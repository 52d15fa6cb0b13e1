package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	oai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

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
		w.put(oai.DeveloperMessage(text))
	default:
		w.put(oai.SystemMessage(text))
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
			w.conv.marks = append(w.conv.marks, mark{messages: i, bytes: len(w.conv.wire)})
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
	w.put(oai.ToolMessage(text, id))
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
		w.put(oai.AssistantMessage(textAfterTool))
	}
	var texts []string
	var content []oai.ChatCompletionContentPartUnionParam
	for _, p := range parts {
		url, text := p.load(w)
		if url != "" {
			content = w.appendText(content, texts)
			texts = nil
			content = append(content, oai.ImageContentPart(oai.ChatCompletionContentPartImageImageURLParam{URL: url}))
		} else {
			texts = append(texts, text)
		}
	}
	if len(content) == 0 {
		w.put(oai.UserMessage(strings.Join(texts, "\n\n")))
		return
	}
	w.put(oai.UserMessage(w.appendText(content, texts)))
}

func (w *writer) appendText(content []oai.ChatCompletionContentPartUnionParam, texts []string) []oai.ChatCompletionContentPartUnionParam {
	if len(texts) == 0 {
		return content
	}
	return append(content, oai.TextContentPart(strings.Join(texts, "\n\n")))
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
	msg := &oai.ChatCompletionAssistantMessageParam{}
	if len(texts) > 0 {
		msg.Content.OfString = param.NewOpt(strings.Join(texts, "\n\n"))
	}
	if len(m.Calls) > 0 {
		own := m.Model == "" || m.Model == w.conv.model
		for i := range m.Calls {
			msg.ToolCalls = append(msg.ToolCalls, w.call(&m.Calls[i], own, i == 0))
		}
		if echo := w.echo(m, own); len(echo) > 0 {
			msg.SetExtraFields(echo)
		}
	}
	w.put(oai.ChatCompletionMessageParamUnion{OfAssistant: msg})
}

// call writes one call. own says that the model of this request made it.
func (w *writer) call(call *tools.ToolCall, own, first bool) oai.ChatCompletionMessageToolCallUnionParam {
	id := wireID(call, own, w.conv.profile.CallIDs)
	w.conv.ids[call.ID] = id
	arguments := call.Arguments
	if !isObject(strings.TrimSpace(arguments)) {
		arguments = "{}" // servers refuse what is no object; the result tells the model what was wrong
	}
	f := &oai.ChatCompletionMessageFunctionToolCallParam{
		ID: id,
		Function: oai.ChatCompletionMessageFunctionToolCallFunctionParam{
			Name: portableName(call.Name), Arguments: arguments,
		},
	}
	extra := map[string]any{}
	if own && len(call.Extra) > 0 {
		rawFields(call.Extra, extra)
	}
	if first && len(extra) == 0 && w.conv.profile.FillSignature {
		// What Google documents for calls that another model made.
		extra["extra_content"] = map[string]any{"google": map[string]any{"thought_signature": "skip_thought_signature_validator"}}
	}
	if len(extra) > 0 {
		f.SetExtraFields(extra)
	}
	return oai.ChatCompletionMessageToolCallUnionParam{OfFunction: f}
}

// echo is what goes back with a message that has calls, beside its text.
func (w *writer) echo(m *session.Message, own bool) map[string]any {
	p := w.conv.profile
	fields := map[string]any{}
	if p.NoEcho {
		return fields
	}
	if own && len(m.Echo) > 0 {
		rawFields(m.Echo, fields)
	}
	raw, _ := fields["reasoning_content"].(json.RawMessage)
	if p.FillReasoning && (raw == nil || string(raw) == `""`) {
		text := m.Reasoning
		if strings.TrimSpace(text) == "" {
			// Some servers refuse an empty text, and models repeat one that is always the same.
			text = fmt.Sprintf("Next: %s (%s).", m.Calls[0].Name, w.conv.ids[m.Calls[0].ID])
		}
		fields["reasoning_content"] = text
	}
	return fields
}

// rawFields adds the fields of a JSON object as they are.
func rawFields(object json.RawMessage, to map[string]any) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return
	}
	for key, value := range fields {
		to[key] = value
	}
}

// put writes a message.
func (w *writer) put(m oai.ChatCompletionMessageParamUnion) {
	b, err := m.MarshalJSON()
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("a message cannot be written as JSON: %w", err)
	}
	if len(w.conv.wire) > 0 {
		w.conv.wire = append(w.conv.wire, ',')
	}
	w.conv.wire = append(w.conv.wire, b...)
	w.last = lastAny
}
