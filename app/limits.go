package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/human"
)

// What a turn may do without the person: a time, a number of requests, and the
// same call only so often (decision 28). At a limit the person is asked; where
// nobody can be asked, the turn ends.

// sameCalls is how often a model may make one call before somebody looks.
const sameCalls = 5

// limitError is the cause of a turn's end at a limit.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// repeats counts equal calls since something last changed: a call that may
// change something and was not made since counts as that.
type repeats struct{ counts map[string]int }

// add counts a call and returns how often it was made.
func (r *repeats) add(c tools.ToolCall) int {
	key := c.Name + "\x00" + c.Arguments
	switch c.Name {
	case "bash_output": // waiting for a command is no loop
		return 0
	case "read", "grep", "glob", "todo_write":
	default:
		if r.counts[key] == 0 {
			r.counts = nil
		}
	}
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[key]++
	return r.counts[key]
}

// requestAllowed counts a request of the turn, and asks at the limit.
func (a *App) requestAllowed(ctx context.Context) error {
	if !a.tally.request(a.opts.MaxTurns) {
		what := fmt.Sprintf("the limit of %d requests to the model was reached", a.opts.MaxTurns)
		if err := a.past(ctx, "Requests", what); err != nil {
			return err
		}
		a.tally.anew()
		a.tally.request(a.opts.MaxTurns)
	}
	return nil
}

// callsAllowed looks for a call that is made over and over.
func (a *App) callsAllowed(ctx context.Context, t *thread, calls []tools.ToolCall) error {
	for _, c := range calls {
		if t.repeats.add(c) >= sameCalls {
			what := fmt.Sprintf("the model made the same call %d times: %s %s", sameCalls, c.Name, middleOut(c.Arguments, 200))
			if err := a.past(ctx, "Loop", what); err != nil {
				return err
			}
			t.repeats = repeats{}
		}
	}
	return nil
}

// moreTime asks for another stretch of time when a turn's is over.
func (a *App) moreTime(ctx context.Context) bool {
	return a.past(ctx, "Time", fmt.Sprintf("this turn has worked for %v", a.opts.Timeout.Round(time.Second))) == nil
}

// The choices at a limit.
const (
	limitGoOn = "Go on"
	limitStop = "Stop"
)

// past asks whether the turn goes on past a limit. What the person writes instead
// of choosing is told to the model, which then goes on.
func (a *App) past(ctx context.Context, header, what string) error {
	stop := &limitError{text: "stopped: " + what}
	if !a.opts.Interactive {
		return stop
	}
	answers, err := a.question(ctx, "agent", human.Input{Questions: []human.Question{{
		Header:   header,
		Question: upper(what) + ". Go on?",
		Options: []human.Choice{
			{Label: limitGoOn, Description: "it is all right so far"},
			{Label: limitStop, Description: "the turn ends here; nothing is lost"},
		},
	}}})
	switch answer := answers[header]; {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !errors.Is(err, human.ErrDeclined):
		return err
	case answer.Other != "":
		a.note("The user says: " + answer.Other)
	case len(answer.Selections) == 0 || answer.Selections[0] != limitGoOn:
		return stop
	}
	return nil
}

// upper makes the first letter a capital.
func upper(s string) string { return string(s[0]-'a'+'A') + s[1:] }
