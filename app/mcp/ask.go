//lint:file-ignore SA1019 sampling, roots and logging are what the servers of today know

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/tools/human"
)

// maxQuestion is how much a server can say in a question, in bytes.
const maxQuestion = 4000

// begin lets a server ask something: only while a call of it runs, one thing at a
// time. Which call it is for is not known: the context ends with the last of those
// that run now, whose clocks stand still until done.
func (v *server) begin(ctx context.Context) (asking context.Context, done func(), ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.asking || len(v.calls) == 0 {
		return nil, nil, false
	}
	v.asking = true
	ctx, cancel := context.WithCancelCause(ctx)
	var held []*running
	var stops []func() bool
	var live atomic.Int64
	live.Store(int64(len(v.calls)))
	for _, c := range v.calls {
		c.watch.hold(true)
		held = append(held, c)
		stops = append(stops, context.AfterFunc(c.ctx, func() {
			if live.Add(-1) == 0 {
				cancel(context.Cause(c.ctx))
			}
		}))
	}
	return ctx, func() {
		v.mu.Lock()
		v.asking = false
		v.mu.Unlock()
		for i, c := range held {
			stops[i]()
			c.watch.hold(false)
		}
		cancel(nil)
	}, true
}

func (v *server) source() string { return "The MCP server " + v.def.Name + " asks" }

func limited(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxQuestion {
		text = strings.ToValidUTF8(text[:maxQuestion], "") + " …"
	}
	return text
}

var declined = &sdk.ElicitResult{Action: "decline"}

// elicit puts a server's question to the person (decision 25).
func (v *server) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	ctx, done, ok := v.begin(ctx)
	if !ok {
		v.said.add("a question was declined: none is asked without a call, or beside another")
		return declined, nil
	}
	defer done()
	p := req.Params
	if p.Mode == "url" {
		return v.elicitURL(ctx, p)
	}
	fields, err := fieldsOf(p.RequestedSchema)
	if err != nil {
		return nil, err
	}
	message := limited(p.Message)
	if len(fields) == 0 {
		return v.confirm(ctx, message)
	}
	content := map[string]any{}
	for at := 0; at < len(fields); {
		part := fields[at:min(len(fields), at+4)]
		in := human.Input{}
		for _, f := range part {
			in.Questions = append(in.Questions, f.question(message))
		}
		answers, err := v.all.opts.Ask(ctx, v.source(), in)
		if errors.Is(err, human.ErrDeclined) {
			return declined, nil
		}
		if err != nil {
			return &sdk.ElicitResult{Action: "cancel"}, nil
		}
		wrong := ""
		for _, f := range part {
			value, given, err := f.value(answers[f.header])
			switch {
			case err != nil:
				wrong = err.Error()
			case given:
				content[f.name] = value
			}
		}
		if message = limited(p.Message); wrong != "" {
			message += "\n" + wrong + "."
			continue
		}
		at += len(part)
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}

const (
	answerYes = "Yes"
	answerNo  = "No"
	leaveOut  = "Leave it out"
	declineIt = "Decline"
)

// confirm is a question without fields.
func (v *server) confirm(ctx context.Context, message string) (*sdk.ElicitResult, error) {
	return v.choose(ctx, message, answerYes, "the server is told so")
}

// elicitURL shows an address that the server wants the person to open. Nothing
// opens it unasked.
func (v *server) elicitURL(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	message := limited(p.Message) + "\nIt wants you to open this address in a browser:\n" + limited(p.URL)
	return v.choose(ctx, message, "I opened it", "look well at whose address it is")
}

func (v *server) choose(ctx context.Context, message, yes, means string) (*sdk.ElicitResult, error) {
	const header = "Server"
	answers, err := v.all.opts.Ask(ctx, v.source(), human.Input{Questions: []human.Question{{
		Header: header, Question: message,
		Options: []human.Choice{{Label: declineIt, Description: "the server is told that you do not want to"}, {Label: yes, Description: means}},
	}}})
	switch {
	case errors.Is(err, human.ErrDeclined):
		return declined, nil
	case err != nil:
		return &sdk.ElicitResult{Action: "cancel"}, nil
	case slices.Contains(answers[header].Selections, yes):
		return &sdk.ElicitResult{Action: "accept"}, nil
	}
	return declined, nil
}

// field is one thing that a form asks for.
type field struct {
	name, header string
	kind         string // "string", "number", "integer", "boolean" or "array"
	words        string
	required     bool
	options      []option
	preset       any
}

type option struct{ value, label string }

// fieldsOf reads the schema of a form: one level of simple values.
func fieldsOf(schema any) ([]field, error) {
	if schema == nil {
		return nil, nil
	}
	var form struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	data, err := json.Marshal(schema)
	if err == nil {
		err = json.Unmarshal(data, &form)
	}
	if err != nil {
		return nil, fmt.Errorf("the form cannot be read: %w", err)
	}
	var fields []field
	for name, raw := range form.Properties {
		f, err := fieldOf(name, raw)
		if err != nil {
			return nil, err
		}
		f.required = slices.Contains(form.Required, name)
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b field) int { // required ones first
		if a.required != b.required {
			if a.required {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return fields, nil
}

func fieldOf(name string, raw json.RawMessage) (field, error) {
	type choice struct {
		Const string `json:"const"`
		Title string `json:"title"`
	}
	type choices struct {
		Enum      []string `json:"enum"`
		EnumNames []string `json:"enumNames"`
		OneOf     []choice `json:"oneOf"`
		AnyOf     []choice `json:"anyOf"`
	}
	var p struct {
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Default     any    `json:"default"`
		Items       choices
		choices
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return field{}, fmt.Errorf("the field %q of the form cannot be read: %w", name, err)
	}
	f := field{name: name, header: name, kind: p.Type, words: p.Title, preset: p.Default}
	if p.Description != "" {
		f.words = strings.TrimSpace(f.words + "\n" + p.Description)
	}
	list := p.choices
	if p.Type == "array" {
		list = p.Items
	}
	for i, value := range list.Enum {
		o := option{value, value}
		if i < len(list.EnumNames) {
			o.label = list.EnumNames[i]
		}
		f.options = append(f.options, o)
	}
	for _, c := range append(list.OneOf, list.AnyOf...) {
		o := option{c.Const, c.Title}
		if o.label == "" {
			o.label = o.value
		}
		f.options = append(f.options, o)
	}
	if p.Type == "boolean" {
		f.options = []option{{"true", answerYes}, {"false", answerNo}}
	}
	return f, nil
}

// question is the field as the person sees it. The server's words come behind a
// line that says whose they are.
func (f field) question(message string) human.Question {
	text := message + "\n\n" + f.name
	if words := limited(f.words); words != "" {
		text += ": " + words
	}
	switch {
	case f.kind == "number" || f.kind == "integer":
		text += " (a number)"
	case f.kind == "array":
		text += " (any of these)"
	}
	if f.preset != nil {
		text += fmt.Sprintf(" (default: %v)", f.preset)
	}
	q := human.Question{Header: f.header, Question: text, MultiSelect: f.kind == "array"}
	for _, o := range f.options {
		q.Options = append(q.Options, human.Choice{Label: o.label, Description: o.value})
	}
	if !f.required {
		q.Options = append(q.Options, human.Choice{Label: leaveOut, Description: "it is not needed"})
	}
	return q
}

// value is what the person's answer is for the server; given is false where it is
// left out.
func (f field) value(a human.Answer) (value any, given bool, err error) {
	if !f.required && slices.Contains(a.Selections, leaveOut) {
		return nil, false, nil
	}
	var chosen []string
	for _, label := range a.Selections {
		if i := slices.IndexFunc(f.options, func(o option) bool { return o.label == label }); i >= 0 {
			chosen = append(chosen, f.options[i].value)
		}
	}
	text := a.Other
	if len(chosen) > 0 {
		text = chosen[0]
	} else if i := slices.IndexFunc(f.options, func(o option) bool { return strings.EqualFold(o.label, text) || o.value == text }); i >= 0 {
		chosen, text = []string{f.options[i].value}, f.options[i].value
	} else if len(f.options) > 0 {
		return nil, false, fmt.Errorf("%s must be one of the choices", f.name)
	}
	switch f.kind {
	case "array":
		return chosen, true, nil
	case "boolean":
		return text == "true", true, nil
	case "integer":
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, false, fmt.Errorf("%s must be a whole number", f.name)
		}
		return float64(n), true, nil
	case "number":
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, false, fmt.Errorf("%s must be a number", f.name)
		}
		return n, true, nil
	}
	return text, true, nil
}

// sample lets the model answer a server, where the person agrees.
func (v *server) sample(ctx context.Context, req *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	ctx, done, ok := v.begin(ctx)
	if !ok {
		return nil, errors.New("the user was not asked: a server can ask the model only while a call of it runs, and once at a time")
	}
	defer done()
	s := Sample{System: limited(req.Params.SystemPrompt)}
	for _, m := range req.Params.Messages {
		text, ok := m.Content.(*sdk.TextContent)
		if !ok {
			return nil, errors.New("only text can be put to the model here")
		}
		s.Messages = append(s.Messages, SampleMessage{Assistant: m.Role == "assistant", Text: capped(text.Text)})
	}
	if len(s.Messages) == 0 {
		return nil, errors.New("there is nothing to put to the model")
	}
	out, err := v.all.opts.Sample(ctx, v.def.Name, s)
	if err != nil {
		return nil, err
	}
	return &sdk.CreateMessageResult{Role: "assistant", Model: out.Model, StopReason: "endTurn", Content: &sdk.TextContent{Text: out.Text}}, nil
}
