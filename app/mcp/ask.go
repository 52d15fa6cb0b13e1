package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/tools/human"
)

const (
	maxQuestion = 4000 // bytes that a server can say in a question
	maxWaiting  = 8    // questions of a server that wait for the person
)

// errNotAsked is what a server is told of a question that nobody saw.
var errNotAsked = errors.New("the user was not asked: a server can ask only while a call of it runs, not too much at once, and not again once the user declined")

// begin lets a server ask something: only while a call of it runs, one thing after
// the other, and nothing more in a call in which the person declined. Which call it
// is for is not known: the context ends with the last of those that run now, whose
// clocks stand still until done.
func (v *server) begin(ctx context.Context) (asking context.Context, done func(declined bool), err error) {
	if v.waiting.Add(1) > maxWaiting {
		v.waiting.Add(-1)
		return nil, nil, errNotAsked
	}
	defer v.waiting.Add(-1)
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	var held []*running
	for _, c := range v.calls {
		if c.declined || c.ctx.Err() != nil {
			continue
		}
		held = append(held, c)
	}
	if held == nil {
		<-v.turn
		return nil, nil, errNotAsked
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var live atomic.Int64
	live.Store(int64(len(held)))
	var stops []func() bool
	for _, c := range held {
		c.watch.hold(true)
		stops = append(stops, context.AfterFunc(c.ctx, func() {
			if live.Add(-1) == 0 {
				cancel(context.Cause(c.ctx))
			}
		}))
	}
	return ctx, func(declined bool) {
		v.mu.Lock()
		for i, c := range held {
			stops[i]()
			c.watch.hold(false)
			c.declined = c.declined || declined
		}
		v.mu.Unlock()
		cancel(nil)
		<-v.turn
	}, nil
}

// Source says whose a server's question is.
func Source(server string) string { return "The MCP server " + server + " asks" }

func limited(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxQuestion {
		text = strings.ToValidUTF8(text[:maxQuestion], "") + " …"
	}
	return text
}

// The answers to a question.
const (
	accepted  = "accept"
	declined  = "decline"
	cancelled = "cancel"
)

// elicit puts a server's question to the person (decision 25).
func (v *server) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	p := req.Params
	fields, err := fieldsOf(p.RequestedSchema)
	if err != nil {
		return nil, err
	}
	ctx, done, err := v.begin(ctx)
	if err != nil {
		v.said.add("a question was declined: " + err.Error())
		return &sdk.ElicitResult{Action: declined}, nil
	}
	r := &sdk.ElicitResult{}
	switch {
	case p.Mode == "url":
		r.Action, err = v.open(ctx, p)
	case len(fields) == 0:
		r.Action = v.choose(ctx, limited(p.Message), answerYes, "the server is told so")
	default:
		r.Action, r.Content = v.fill(ctx, limited(p.Message), fields)
	}
	done(r.Action == declined)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// fill asks for the fields of a form, four at a time, and again for what does not fit.
func (v *server) fill(ctx context.Context, message string, fields []field) (action string, content map[string]any) {
	content = map[string]any{}
	wrong := ""
	for at := 0; at < len(fields); {
		part := fields[at:min(len(fields), at+4)]
		in := human.Input{}
		for _, f := range part {
			in.Questions = append(in.Questions, f.question(message+wrong))
		}
		answers, err := v.all.opts.Ask(ctx, Source(v.def.Name), in)
		if err != nil {
			return unanswered(err), nil
		}
		wrong = ""
		for _, f := range part {
			value, given, err := f.value(answers[f.name])
			switch {
			case err != nil:
				wrong = "\n" + err.Error() + "."
			case given:
				content[f.name] = value
			default:
				delete(content, f.name)
			}
		}
		if wrong == "" {
			at += len(part)
		}
	}
	return accepted, content
}

// unanswered is what a server is told when the person gave no answer.
func unanswered(err error) string {
	if errors.Is(err, human.ErrDeclined) {
		return declined
	}
	return cancelled
}

const (
	answerYes = "Yes"
	answerNo  = "No"
	leaveOut  = "Leave it out"
	declineIt = "Decline"
)

// open shows an address that the server wants the person to open. Nothing opens it
// unasked.
func (v *server) open(ctx context.Context, p *sdk.ElicitParams) (action string, err error) {
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(p.URL) > maxQuestion {
		return declined, errors.New("only an address of http or https is shown to the user")
	}
	message := fmt.Sprintf("%s\nIt wants you to open this address of %s in a browser:\n%s", limited(p.Message), u.Host, p.URL)
	return v.choose(ctx, strings.TrimSpace(message), "I opened it", "look well at whose address it is"), nil
}

// openFirst is for a server that takes a call only after the person opened an
// address.
func (v *server) openFirst(ctx context.Context, refused *jsonrpc.Error) error {
	var data struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	if json.Unmarshal(refused.Data, &data) != nil || len(data.Elicitations) == 0 || v.all.opts.Ask == nil {
		return fmt.Errorf("the MCP server %s refuses until the user opened an address: %s", v.def.Name, capped(refused.Message))
	}
	for _, p := range data.Elicitations[:min(len(data.Elicitations), maxWaiting)] {
		if p == nil {
			continue
		}
		p.Mode = "url"
		r, err := v.elicit(ctx, &sdk.ElicitRequest{Params: p})
		if err != nil {
			return fmt.Errorf("the MCP server %s wants the user to open an address: %w", v.def.Name, err)
		}
		if r.Action != accepted {
			return fmt.Errorf("the MCP server %s wants the user to open an address first, and the user declined", v.def.Name)
		}
	}
	return fmt.Errorf("the MCP server %s wanted the user to open an address first; that is done: call the tool again", v.def.Name)
}

func (v *server) choose(ctx context.Context, message, yes, means string) (action string) {
	const header = "Server"
	answers, err := v.all.opts.Ask(ctx, Source(v.def.Name), human.Input{Questions: []human.Question{{
		Header: header, Question: message,
		Options: []human.Choice{{Label: declineIt, Description: "the server is told that you do not want to"}, {Label: yes, Description: means}},
	}}})
	switch {
	case err != nil:
		return unanswered(err)
	case slices.Contains(answers[header].Selections, yes):
		return accepted
	}
	return declined
}
