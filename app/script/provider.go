package script

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// Provider plays a script as an app.Provider.
type Provider struct {
	script *Script
	pause  time.Duration // before each piece of text
	after  string        // said when the script is over
}

// New makes a provider of a script. A pause above 0 lets the text stream as a
// model's does, word by word.
func New(s *Script, pause time.Duration, after string) *Provider {
	return &Provider{script: s, pause: pause, after: after}
}

// Info implements app.Provider.
func (p *Provider) Info() app.ModelInfo { return app.ModelInfo{ID: "script"} }

// Stream implements app.Provider.
func (p *Provider) Stream(ctx context.Context, req app.Request, emit func(app.Delta)) (app.Reply, error) {
	r := reply{text: p.after}
	at := p.script.place(req.Messages)
	if at >= 0 {
		r = p.script.replies[at]
	}
	if r.status != 0 {
		return app.Reply{}, &app.ProviderError{Kind: app.ErrServer, Status: r.status, Host: "script", Text: r.problem}
	}
	m := session.Message{Role: session.RoleAssistant, Model: "script", Usage: p.usage(req, r)}
	for word := range words(r.text) {
		if !p.wait(ctx) {
			m.Cut = true
			return app.Reply{Message: m}, context.Cause(ctx)
		}
		m.Text += word
		emit(app.Delta{Text: word})
	}
	if r.hang {
		<-ctx.Done()
		m.Cut = true
		return app.Reply{Message: m}, context.Cause(ctx)
	}
	for i, c := range r.calls {
		c.ID = fmt.Sprintf("s%d_%d", len(req.Messages), i+1)
		m.Calls = append(m.Calls, c)
		emit(app.Delta{Call: &app.CallProgress{Index: i, Name: c.Name, Bytes: len(c.Arguments)}})
		if !p.wait(ctx) {
			m.Cut, m.Calls = true, nil
			return app.Reply{Message: m}, context.Cause(ctx)
		}
	}
	finish := "stop"
	if len(m.Calls) > 0 {
		finish = "tool_calls"
	}
	return app.Reply{Message: m, Finish: finish}, nil
}

func (p *Provider) wait(ctx context.Context) bool {
	if p.pause <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(p.pause):
		return true
	case <-ctx.Done():
		return false
	}
}

// usage estimates tokens as four bytes each, since a script counts none.
func (p *Provider) usage(req app.Request, r reply) *session.Usage {
	in := len(req.System)
	for _, m := range req.Messages {
		in += len(m.Text)
		for _, c := range m.Calls {
			in += len(c.Arguments)
		}
	}
	return &session.Usage{Input: in / 4, Output: utf8.RuneCountInString(r.text) / 4}
}

// words gives a text in pieces that end behind blanks.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for text != "" {
			n := strings.IndexAny(text, " \n") + 1
			if n == 0 {
				n = len(text)
			}
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}
