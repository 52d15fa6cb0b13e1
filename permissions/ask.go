package permissions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/phero-agent/agent/tools"
)

// Apply puts the policy before the handlers of the tools (PERM-10). A tool that
// has it already is left alone.
func (p *Policy) Apply(ts ...*tools.Tool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range ts {
		if !p.applied[t] {
			p.applied[t] = true
			t.Use(p.guard)
		}
	}
}

func (p *Policy) guard(t *tools.Tool, next tools.Handler) tools.Handler {
	return func(ctx context.Context, arguments string) (any, error) {
		if err := p.Authorize(ctx, t.Name(), arguments); err != nil {
			return nil, err
		}
		return next(ctx, arguments)
	}
}

// Authorize decides a call and asks where that is needed. It returns nil when
// the call may run, else a [*DeniedError]. [Policy.Apply] does this before each
// call; a tool that passes calls on to others does it for those.
func (p *Policy) Authorize(ctx context.Context, tool, arguments string) error {
	c, t := p.look(ctx, tool, arguments)
	if t.Decision == Ask {
		return p.question(ctx, c)
	}
	return t.denial()
}

// look decides a call from the present state.
func (p *Policy) look(ctx context.Context, tool, arguments string) (*call, Trace) {
	s := p.current()
	c := s.newCall(tool, arguments)
	return c, s.judge(ctx, p, c)
}

// denial is the error of a denied call, nil when the call is not denied.
func (t Trace) denial() error {
	if t.Decision != Deny {
		return nil
	}
	e := &DeniedError{Tool: t.Tool, Subject: t.Subject}
	switch t.By {
	case ByDenyRule:
		e.Rule = t.Rule.Text
	case ByPlan:
		e.Err = errPlan
	case ByArguments:
		e.Err = argumentsError(t.Why)
	case ByPath:
		e.Err = errors.New(t.Why)
	default:
		e.Err = errNoRule
	}
	return e
}

// questionKey marks the context of a question of the policy.
type questionKey struct{ *Policy }

// question waits for the one slot, decides again, and asks.
//
//	wait ──► decide again: an answer given meanwhile may settle it (PERM-64)
//	     ──► ask, unlocked (PERM-62)
//	     ──► decide once more: what was approved must be what runs
func (p *Policy) question(ctx context.Context, c *call) error {
	denied := func(err error) error { return &DeniedError{Tool: c.tool, Subject: c.subject, Err: err} }
	if p.asker == nil {
		return denied(errNobody)
	}
	if ctx.Value(questionKey{p}) != nil {
		return denied(errNested) // it would wait for its own question
	}
	select {
	case p.slot <- struct{}{}:
		defer func() { <-p.slot }()
	case <-ctx.Done():
		return denied(context.Cause(ctx))
	}
	if ctx.Err() != nil {
		return denied(context.Cause(ctx))
	}
	c, t := p.look(ctx, c.tool, c.arguments)
	if t.Decision != Ask {
		return t.denial()
	}
	req := newRequest(ctx, c, t)
	answer, err := p.callAsker(ctx, req)
	var feedback Feedback
	switch {
	case errors.As(err, &feedback):
		return &DeniedError{Tool: c.tool, Subject: c.subject, Feedback: string(feedback)}
	case err != nil:
		return denied(err)
	case answer != AllowOnce && answer != AllowAlways:
		return denied(nil)
	}
	after, t := p.look(ctx, c.tool, c.arguments)
	if t.Decision == Deny {
		return t.denial()
	}
	if after.subject != c.subject {
		return denied(errChanged)
	}
	if answer == AllowAlways {
		p.remember(c.tool, req.Subjects)
	}
	return nil
}

// callAsker asks; an Asker that panics fails this call only.
func (p *Policy) callAsker(ctx context.Context, req Request) (answer Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			answer, err = Reject, fmt.Errorf("the question failed: %v", r)
		}
	}()
	return p.asker(context.WithValue(ctx, questionKey{p}, true), req)
}

func (p *Policy) remember(tool string, subjects []string) {
	grants := make([]Grant, len(subjects))
	for i, subject := range subjects {
		grants[i] = Grant{Tool: tool, Subject: subject}
	}
	p.Grant(grants...)
}

// newRequest is the question about a call that is asked.
func newRequest(ctx context.Context, c *call, t Trace) Request {
	id, _ := tools.ToolCallFromContext(ctx)
	req := Request{
		Tool: c.tool, CallID: id.ID, Arguments: c.arguments,
		Subject: c.subject, Raw: c.raw,
		Subjects: grantable(c, t),
		Reason:   *t.Reason, Opaque: c.line.opaque,
	}
	if t.By == ByAskRule {
		req.Rule = t.Rule.Text
	}
	return req
}

// grantable lists what an always answer would store: each subject once, without
// those answered already and those that an ask rule would ask again (PERM-78 to
// PERM-80). An opaque line is stored whole or not at all.
func grantable(c *call, t Trace) []string {
	if c.unresolved != nil {
		return nil
	}
	if c.line.opaque != "" {
		if t.By == ByAskRule {
			return nil
		}
		return []string{c.raw}
	}
	var list []string
	for _, step := range t.Steps {
		if step.By == ByAskRule || step.By == ByAlways || step.By == ByReadOnly || slices.Contains(list, step.Subject) {
			continue // an answer would change nothing
		}
		if step.Subject == "" && c.known {
			continue // nothing that could be recognised again
		}
		list = append(list, step.Subject)
	}
	return list
}
