package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
)

// work runs turns until no message waits. It is the one goroutine that touches
// the conversation while App.running is true.
func (a *App) work() {
	if !a.trusting.wait() {
		return
	}
	for more := true; more; {
		ended := a.runTurn()
		if a.planned(ended.Outcome) {
			a.emit(ended)
			a.aside(a.approvePlan)
			more = a.goOn(ended.Outcome, nil)
			continue
		}
		more = a.goOn(ended.Outcome, func() { a.emit(ended) })
	}
}

// goOn tells whether another turn follows. After an interrupt nothing is sent
// that the person did not send again (decision 29). Who hears of the turn's end
// from tell finds the App idle.
func (a *App) goOn(outcome session.Outcome, tell func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	more := !a.closed && len(a.queue) > 0 && outcome == session.OutcomeDone
	if !more {
		a.running, a.stop = false, false
	}
	if tell != nil {
		tell()
	}
	return more
}

// aside runs fn outside of a turn; Cancel and Close stop it.
func (a *App) aside(fn func(context.Context)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	a.begin(cancel, nil)
	fn(ctx)
	a.end()
}

// runTurn runs one turn: from the queued messages until the model stops. The
// screen is told of its end by work.
func (a *App) runTurn() TurnEnded {
	more := a.moreTime
	if !a.opts.Interactive {
		more = nil
	}
	ctx, cancel, clock := withDeadline(context.Background(), a.opts.Timeout, more)
	defer cancel(nil)
	a.begin(cancel, clock)

	start := time.Now()
	a.turn++
	a.tally.anew()
	a.own.repeats = repeats{}
	a.emit(TurnStarted{Turn: a.turn})
	a.opened()
	a.lookAtGit()
	a.lookAtLayout()
	err := a.guarded(permissions.WithRun(ctx))

	ended := session.Turn{Outcome: session.OutcomeDone, Elapsed: time.Since(start)}
	if err != nil {
		ended.Outcome, ended.Error = outcome(ctx, err), err.Error()
	}
	a.end()
	a.rest()
	a.settleFound()
	a.commit(session.Entry{Kind: session.KindTurn, Turn: &ended})
	a.sync()
	if a.opts.Interactive {
		a.lookAtGit() // for the next turn
	}
	return TurnEnded{Turn: a.turn, Outcome: ended.Outcome, Error: ended.Error}
}

// guarded is steps. A panic there is the end of the turn, not of the program: it
// would leave the terminal and the commands that run to themselves.
func (a *App) guarded(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			slog.Error("a turn panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("agent itself failed: %v; its log says where", p)
		}
	}()
	return a.steps(ctx)
}

// begin makes what runs now stop at Cancel and Close.
func (a *App) begin(cancel context.CancelCauseFunc, clock *deadline) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancel, a.clock = cancel, clock
	if a.closed || a.stop {
		cancel(errInterrupted)
	}
	a.stop = false
}

func (a *App) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cancel, a.clock = nil, nil
}

func outcome(ctx context.Context, err error) session.Outcome {
	var timeout *timeoutError
	var limit *limitError
	switch {
	case errors.As(err, &limit):
		return session.OutcomeLimit
	case errors.Is(err, errInterrupted):
		return session.OutcomeInterrupted
	case errors.As(err, &timeout):
		return session.OutcomeTimeout
	case ctx.Err() != nil:
		return session.OutcomeInterrupted
	}
	return session.OutcomeFailed
}

// steps asks the model and runs its calls until a reply has none and no message
// waits (LOOP-01). Messages that were queued meanwhile join before each request.
func (a *App) steps(ctx context.Context) error {
	for {
		a.join(ctx)
		if err := a.equip(ctx); err != nil {
			return err
		}
		if err := a.clock.wait(ctx); err != nil {
			return err
		}
		if err := a.requestAllowed(ctx); err != nil {
			return err
		}
		a.anticipate()
		calls, err := a.fittingReply(ctx)
		if err != nil {
			return err
		}
		if len(calls.Calls) > 0 {
			if err := a.callsAllowed(ctx, a.own, calls.Calls); err != nil {
				return err
			}
			a.runCalls(ctx, a.own, calls.Calls)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			continue
		}
		if a.waiting() == 0 {
			return nil
		}
	}
}

// join makes the queued messages part of the conversation.
func (a *App) join(ctx context.Context) {
	a.mu.Lock()
	waiting := a.queue
	a.queue = nil
	a.emit(Queued{})
	a.mu.Unlock()
	for _, q := range waiting {
		text := q.shown
		if q.expand != nil {
			expanded, err := q.expand(ctx)
			if err != nil {
				a.emit(Notice{Level: Error, Text: fmt.Sprintf("%s is sent as it stands: %v", q.shown, err)})
			} else {
				text = expanded
			}
		}
		a.commit(session.Entry{Kind: session.KindMessage, Message: a.prompt(ctx, text)})
	}
}

// fittingReply gets a reply to a request that fits the context window. Where the
// server finds that it does not, the conversation is compacted and the request
// made once more.
func (a *App) fittingReply(ctx context.Context) (session.Message, error) {
	if _, err := a.provider(ctx); err != nil {
		return session.Message{}, err
	}
	messages, err := a.fitting(ctx)
	if err != nil {
		return session.Message{}, err
	}
	m, err := a.reply(ctx, a.own, messages)
	var problem *ProviderError
	if !errors.As(err, &problem) || problem.Kind != ErrContextOverflow {
		return m, err
	}
	c := a.newCompaction("")
	a.gauge.overflowed(problem.Window, c.before)
	a.gauge.model = a.modelInfo().ID
	c.window = a.gauge.window
	if cerr := a.compact(ctx, c, false); cerr != nil {
		if ctx.Err() != nil {
			return m, cerr
		}
		return m, fmt.Errorf("%w (%v: /new begins anew, /undo takes back)", err, cerr)
	}
	return a.reply(ctx, a.own, a.messages())
}

// fitting is what the model is told now, made smaller first when that comes near
// the window. It never stops the work: where no summary can be had, what can be
// kept without a model stands alone.
func (a *App) fitting(ctx context.Context) ([]session.Message, error) {
	messages, window := a.messages(), a.window()
	if window == 0 || a.gauge.tokens(a.gauge.fixed+weight(messages)) < window*fullAt/100 {
		return messages, nil
	}
	switch err := a.compact(ctx, a.newCompaction(""), false); {
	case errors.Is(err, ErrNothingToCompact):
		return messages, nil
	case err != nil:
		return nil, err
	}
	return a.messages(), nil
}

// messages is what the model is told now. Pending notes join the newest message
// and stay there, so that the start of a request never changes (decision 26).
func (a *App) messages() []session.Message {
	if note := a.takeNotes(); note != "" {
		a.commit(session.Entry{Kind: session.KindNote, Note: note})
	}
	return uncut(a.history())
}

// errEmptyReply ends a turn in which the model said nothing, twice.
var errEmptyReply = errors.New("the model sent an empty reply")

// reply gets one reply of the model into a conversation. A reply that broke
// off is kept as far as it came, its calls are not, and it is asked for once
// more; so is one that is empty.
func (a *App) reply(ctx context.Context, t *thread, messages []session.Message) (session.Message, error) {
	for attempt := 1; ; attempt++ {
		provider, err := a.provider(ctx)
		if err != nil {
			return session.Message{}, err
		}
		if t.own() {
			a.logModel()
			a.syncLater()
		}
		req := Request{System: t.system, Messages: messages, Tools: t.specs, Images: a.blobs.Get, Effort: a.Effort()}
		var thinking thinking
		commands := coming{}
		reply, err := provider.Stream(ctx, req, func(d Delta) {
			thinking.heard(d, time.Now())
			commands.hear(d, a.box)
			a.delta(t, d)
		})
		if t.own() && len(commands) > 0 {
			a.commanded = a.turn
		}
		m := reply.Message
		m.Thought = thinking.took(time.Now())
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			m.Calls, m.Cut = nil, true
		}
		empty := m.Text == "" && len(m.Calls) == 0
		if !empty {
			a.tally.identify(m.Calls)
			a.say(t, m)
		}
		var broken *ProviderError
		switch {
		case err == nil && !empty:
			a.count(t, &m, req)
			return m, nil
		case err == nil:
			err = errEmptyReply
		case !errors.As(err, &broken) || broken.Kind != ErrTruncated:
			return m, err
		}
		if attempt == 2 {
			return m, err
		}
		a.emit(Retrying{Parent: t.call.ID, Reason: err.Error(), Attempt: attempt + 1, Until: time.Now()})
	}
}

// thinking is the time of a reply's reasoning: from its first piece to the first of
// something else.
type thinking struct{ begun, ended time.Time }

func (t *thinking) heard(d Delta, now time.Time) {
	switch {
	case d.Retry != nil:
		*t = thinking{}
	case d.Reasoning != "" && t.begun.IsZero():
		t.begun = now
	case d.Reasoning == "" && !t.begun.IsZero() && t.ended.IsZero():
		t.ended = now
	}
}

// took is how long it was, 0 where nothing was thought.
func (t *thinking) took(now time.Time) time.Duration {
	switch {
	case t.begun.IsZero():
		return 0
	case t.ended.IsZero():
		return now.Sub(t.begun)
	}
	return t.ended.Sub(t.begun)
}

// delta passes on what arrives of a reply.
func (a *App) delta(t *thread, d Delta) {
	switch {
	case d.Call != nil:
		a.emit(CallDelta{Parent: t.call.ID, Index: d.Call.Index, Tool: d.Call.Name, Bytes: d.Call.Bytes})
	case d.Retry != nil:
		a.emit(Retrying{Parent: t.call.ID, Reason: d.Retry.Reason, Attempt: d.Retry.Attempt, Until: time.Now().Add(d.Retry.Wait)})
	default:
		a.emit(ReplyDelta{Parent: t.call.ID, Text: d.Text, Reasoning: d.Reasoning})
	}
}
