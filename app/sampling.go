package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/app/mcp"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

// sampleFor lets the model answer a server. The person sees before what it is asked,
// and after what it said, and agrees to each (decision 25).
func (a *App) sampleFor(ctx context.Context, server string, s mcp.Sample) (mcp.Sampled, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "The MCP server %s wants the model to be asked this, at your cost:", server)
	if s.System != "" {
		fmt.Fprintf(&b, "\n\nsystem: %s", s.System)
	}
	req := Request{System: s.System, Images: a.blobs.Get, Effort: a.Effort()}
	for _, m := range s.Messages {
		role := session.RoleUser
		if m.Assistant {
			role = session.RoleAssistant
		}
		fmt.Fprintf(&b, "\n\n%s: %s", role, m.Text)
		req.Messages = append(req.Messages, session.Message{Role: role, Text: m.Text})
	}
	if !a.letServer(ctx, server, b.String(), "Ask the model") {
		return mcp.Sampled{}, mcp.ErrSampleDeclined
	}
	if err := a.requestAllowed(ctx); err != nil {
		return mcp.Sampled{}, err
	}
	provider, err := a.provider(ctx)
	if err != nil {
		return mcp.Sampled{}, err
	}
	reply, err := provider.Stream(ctx, req, func(Delta) {})
	if err != nil {
		return mcp.Sampled{}, err
	}
	info := provider.Info()
	if reply.Message.Usage != nil {
		a.tally.spend(*reply.Message.Usage, &info)
	}
	text := reply.Message.Text
	if !a.letServer(ctx, server, fmt.Sprintf("The model says this. Give it to the MCP server %s?\n\n%s", server, text), "Give it") {
		return mcp.Sampled{}, mcp.ErrSampleDeclined
	}
	return mcp.Sampled{Model: info.ID, Text: text}, nil
}

// letServer asks whether a server gets what it wants.
func (a *App) letServer(ctx context.Context, server, question, yes string) bool {
	const header = "Server"
	answers, err := a.question(ctx, mcp.Source(server), human.Input{Questions: []human.Question{{
		Header: header, Question: question,
		Options: []human.Choice{{Label: "No", Description: "the server is told that you declined"}, {Label: yes, Description: "this once"}},
	}}})
	return err == nil && slices.Contains(answers[header].Selections, yes)
}

// waitForBrowser shows the address of signing in until ctx ends. It is true when the
// person gives up.
func (a *App) waitForBrowser(ctx context.Context, name, address string) bool {
	_, err := a.question(ctx, "MCP", human.Input{Questions: []human.Question{{
		Header:   "Sign in",
		Question: fmt.Sprintf("Open this address in a browser to sign in at the MCP server %s. This closes by itself.\n\n%s", name, address),
		Options:  []human.Choice{{Label: "Give up", Description: "nobody is signed in"}},
	}}})
	return err == nil || errors.Is(err, human.ErrDeclined)
}
