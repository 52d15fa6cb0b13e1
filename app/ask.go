package app

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/human"
)

// Answer is what the person said to an [Asked]. The zero value refuses.
type Answer struct {
	Allow    bool
	Always   []Always   // what is allowed from now on, of the question's offers
	Scope    Scope      // for how long
	Feedback string     // why not; it is told to the model, and the later calls of its reply do not run
	Reach    bash.Reach // for a command: one of [Asked].Wider, for this call alone
	Version  *string    // for a change: the person's own content of the file, written instead; nil: as proposed
}

// questions are the questions that wait for the person. Whoever asks waits in
// ask until the answer comes or its context ends; an answer to a question that
// is not open is ignored.
type questions struct {
	emit   func(Event)
	paused func(bool) // told when the first opens and when the last closes

	mu   sync.Mutex
	last int
	open map[string]chan any
}

func newQuestions(emit func(Event), paused func(bool)) *questions {
	return &questions{emit: emit, paused: paused, open: map[string]chan any{}}
}

// ask shows the event that show makes of the question's id, and waits.
func (q *questions) ask(ctx context.Context, show func(id string) Event) (any, error) {
	q.mu.Lock()
	q.last++
	id := fmt.Sprintf("q%d", q.last)
	answer := make(chan any, 1)
	q.open[id] = answer
	if len(q.open) == 1 {
		q.paused(true)
	}
	q.mu.Unlock()
	defer func() {
		q.close(id)
		q.emit(Closed{ID: id})
	}()
	q.emit(show(id))
	select {
	case a := <-answer:
		return a, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answer gives the answer to whoever waits for it; a second one is ignored.
func (q *questions) answer(id string, a any) {
	if answer := q.close(id); answer != nil {
		answer <- a
	}
}

// close takes the question from the open ones, nil when it is not among them.
func (q *questions) close(id string) chan<- any {
	q.mu.Lock()
	defer q.mu.Unlock()
	answer, ok := q.open[id]
	if !ok {
		return nil
	}
	delete(q.open, id)
	if len(q.open) == 0 {
		q.paused(false)
	}
	return answer
}

// previewError says that a call would fail as its preview did: nobody is asked (UI-08).
type previewError struct{ err error }

func (e *previewError) Error() string { return e.err.Error() }
func (e *previewError) Unwrap() error { return e.err }

// asker is the policy's Asker: it shows what the call would do and waits for the answer.
func (a *App) asker(ctx context.Context, req permissions.Request) (permissions.Answer, error) {
	call, _ := tools.ToolCallFromContext(ctx)
	if a.box.skipped(call.ID) {
		return permissions.Reject, errSkipped
	}
	change, err := a.box.preview(req.Tool, req.Arguments)
	if err != nil {
		return permissions.Reject, &previewError{err}
	}
	trace := a.perms.policy.ExplainIn(ctx, req.Tool, req.Arguments)
	reach, wider := bash.Sandboxed, []bash.Reach(nil)
	if req.Tool == "bash" {
		reach = a.reach.usual(req.Raw)
		wider = a.wider(reach)
	}
	got, err := a.questions.ask(ctx, func(id string) Event {
		return Asked{ID: id, Call: call, Request: req, Change: change, Trace: trace, Offers: a.perms.offers(req, trace), Remote: a.box.remotes.words(req.Tool), Reach: reach, Wider: wider}
	})
	if err != nil {
		return permissions.Reject, err
	}
	answer, _ := got.(Answer)
	if !answer.Allow {
		if answer.Feedback != "" {
			a.box.skipLater(call.ID)
			return permissions.Reject, permissions.Feedback(answer.Feedback)
		}
		return permissions.Reject, nil
	}
	if err := a.perms.remember(answer.Scope, answer.Always); err != nil {
		a.emit(Notice{Level: Error, Text: fmt.Sprintf("the answer holds until the program ends: %v", err)})
	}
	if slices.Contains(wider, answer.Reach) {
		a.reach.give(call.ID, answer.Reach)
	}
	if change != nil {
		a.box.approved(call.ID, change, answer.Version)
	}
	return permissions.AllowOnce, nil
}

// Answer answers an [Asked]. A second answer to the same id is ignored.
func (a *App) Answer(id string, answer Answer) { a.questions.answer(id, answer) }

// Reply answers a [Questioned]; nil declines.
func (a *App) Reply(id string, answers map[string]human.Answer) { a.questions.answer(id, answers) }

// question puts a question of the application itself to the person.
func (a *App) question(ctx context.Context, source string, in human.Input) (map[string]human.Answer, error) {
	got, err := a.questions.ask(ctx, func(id string) Event {
		return Questioned{ID: id, Source: source, Input: in}
	})
	if err != nil {
		return nil, err
	}
	answers, _ := got.(map[string]human.Answer)
	if answers == nil {
		return nil, human.ErrDeclined
	}
	return answers, nil
}
