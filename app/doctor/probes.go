package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// system is the system prompt of all probes: whether the role is taken is found out with it.
const system = "This is a test of the connection. Do what the user says and nothing else, in as few words as possible."

// ask sends one request.
func (p *probe) ask(req app.Request) (app.Reply, error) {
	ctx, cancel := context.WithTimeout(p.ctx, probeTimeout)
	defer cancel()
	req.System = system
	return p.client.Stream(ctx, req, func(app.Delta) {})
}

func user(text string) session.Message { return session.Message{Role: session.RoleUser, Text: text} }

// failed says why a request went wrong.
func (p *probe) failed(s State, topic string, err error) {
	var pe *app.ProviderError
	if errors.As(err, &pe) {
		p.say(s, topic, withoutNext(pe), pe.Next)
		return
	}
	p.say(s, topic, err.Error(), "")
}

// ability is yes or no.
func ability(yes bool) app.Ability {
	if yes {
		return app.Yes
	}
	return app.No
}

// speaks asks for a word: is there a reply, does it stream, is its usage told, does the model reason?
func (p *probe) speaks() bool {
	reply, err := p.ask(app.Request{Messages: []session.Message{user("Say ok.")}, Effort: "low"})
	if err != nil {
		p.failed(Bad, "reply", err)
		return false
	}
	m := reply.Message
	if strings.TrimSpace(m.Text) == "" && m.Reasoning == "" {
		p.say(Bad, "reply", "the model's reply is empty", "choose another model (-m)")
		return false
	}
	p.say(OK, "reply", "the model answers", "")
	p.traits.Streams = ability(p.seen.streamed())
	if p.traits.Streams == app.Yes {
		p.say(OK, "streaming", "replies come as they are written", "")
	} else {
		p.say(Note, "streaming", "replies come in one piece", "a proxy in between may hold them back")
	}
	p.traits.Usage = ability(m.Usage != nil && m.Usage.Input > 0)
	if p.traits.Usage == app.Yes {
		p.say(OK, "usage", "the server counts tokens", "")
	} else {
		p.say(Note, "usage", "the server does not count tokens", "they are estimated")
	}
	if m.Reasoning != "" || m.Usage != nil && m.Usage.Reasoning > 0 {
		p.traits.Reasoning = app.Yes
		p.say(OK, "reasoning", "the model thinks before it answers", "")
	} else {
		p.say(OK, "reasoning", "none is seen in a short reply", "")
	}
	return true
}

// adder is the tool of the probe of calls.
var adder = app.ToolSpec{Name: "add", Description: "Adds two numbers.", Schema: map[string]any{
	"type":       "object",
	"properties": map[string]any{"a": map[string]any{"type": "number"}, "b": map[string]any{"type": "number"}},
	"required":   []string{"a", "b"},
}}

// calls asks for two calls in one reply, and sends their results back.
func (p *probe) calls() {
	question := user("Call the tool add for 1 and 2 and, in the same reply, once more for 30 and 40. After that write both results.")
	req := app.Request{Tools: []app.ToolSpec{adder}, Messages: []session.Message{question}}
	reply, err := p.ask(req)
	if err != nil {
		p.traits.Tools = app.No
		p.failed(Bad, "tools", err)
		return
	}
	m := reply.Message
	p.traits.Tools = ability(len(m.Calls) > 0)
	if len(m.Calls) == 0 {
		p.say(Bad, "tools", fmt.Sprintf("the model called no tool and wrote %q", clip(m.Text)), "an agent needs a model that calls tools: choose another (-m)")
		return
	}
	for i := range m.Calls {
		if m.Calls[i].ID == "" {
			m.Calls[i].ID = fmt.Sprintf("call_%d", i+1)
		}
	}
	req.Messages = append(req.Messages, m)
	for _, c := range m.Calls {
		req.Messages = append(req.Messages, session.Message{Role: session.RoleTool, CallID: c.ID, Text: "3 or 70", Status: session.StatusOK})
	}
	if _, err := p.ask(req); err != nil {
		p.failed(Bad, "tools", fmt.Errorf("the results of calls are refused: %w", err))
		return
	}
	p.say(OK, "tools", "the model calls tools and takes their results", "")
	if p.traits.Parallel = ability(len(m.Calls) > 1); p.traits.Parallel == app.Yes {
		p.say(OK, "parallel", "several calls come in one reply", "")
	} else {
		p.say(Note, "parallel", "one call came where two were asked for", "work takes more requests")
	}
}

// sees shows the model a red square.
func (p *probe) sees() {
	if p.client.Info().Vision == app.No {
		p.traits.Vision = app.No
		p.say(OK, "vision", "this model sees no images; they are described in words", "")
		return
	}
	square := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		square.Set(i%64, i/64, color.RGBA{R: 255, A: 255})
	}
	var data bytes.Buffer
	if err := png.Encode(&data, square); err != nil {
		p.say(Bad, "vision", err.Error(), "")
		return
	}
	m := user("Which colour is this square?")
	m.Images = []session.Image{{MediaType: "image/png", Blob: "square"}}
	reply, err := p.ask(app.Request{Messages: []session.Message{m}, Images: func(string) ([]byte, error) { return data.Bytes(), nil }})
	sees := err == nil && !p.client.Profile().NoImages
	p.traits.Vision = ability(sees)
	switch {
	case err != nil:
		p.failed(Note, "vision", err)
	case !sees:
		p.say(OK, "vision", "images are refused; they are described in words from now on", "")
	case !strings.Contains(strings.ToLower(reply.Message.Text), "red"):
		p.say(Note, "vision", fmt.Sprintf("images are taken, but of a red square the model says %q", clip(reply.Message.Text)), "")
	default:
		p.say(OK, "vision", "the model sees images", "")
	}
}

// learned says what the server refused on the way.
func (p *probe) learned() {
	profile := p.client.Profile()
	role, field := "system", "max_tokens"
	if profile.SystemRole != "" {
		role = profile.SystemRole
	}
	switch {
	case profile.NoMaxTokens && profile.NoMaxCompletionTokens:
		field = "none"
	case profile.NoMaxTokens:
		field = "max_completion_tokens"
	}
	p.say(OK, "fields", fmt.Sprintf("system prompt as %s, cap of tokens as %s%s", role, field, left(profile.Refused())), "")
}

func left(out []string) string {
	if len(out) == 0 {
		return ""
	}
	return "; left out: " + strings.Join(out, ", ")
}

// clip makes a model's words short and safe for a line.
func clip(s string) string {
	const most = 80
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}
