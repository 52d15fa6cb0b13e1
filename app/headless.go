package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/phero-agent/agent/session"
)

// The exit codes of the program (decision 31).
const (
	ExitOK          = 0
	ExitError       = 1
	ExitUsage       = 2
	ExitDenied      = 3 // ended without an answer because something was denied
	ExitLimit       = 4 // the deadline came
	ExitProvider    = 5 // the model's server or its key
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// Headless runs one prompt without a screen. Its Emit is the App's.
type Headless struct {
	out, err io.Writer

	mu     sync.Mutex
	names  map[string]string // the tool of each call
	answer string
	denied int
	done   chan TurnEnded
}

// NewHeadless makes a run that prints the answer to out and everything else to err.
func NewHeadless(out, err io.Writer) *Headless {
	return &Headless{out: out, err: err, names: map[string]string{}, done: make(chan TurnEnded, 1)}
}

// Emit takes the events of the App.
func (h *Headless) Emit(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e := e.(type) {
	case Committed:
		if m := e.Entry.Message; m != nil && m.Parent == "" {
			h.message(*m)
		}
		if f := e.Entry.Found; f != nil && len(f.Lost) > 0 {
			fmt.Fprintf(h.err, "agent: a command changed what cannot be undone: %q %s", f.Lost[0].Path, f.Lost[0].Why)
			if more := len(f.Lost) - 1; more > 0 {
				fmt.Fprintf(h.err, ", and %d more", more)
			}
			fmt.Fprintln(h.err)
		}
	case ToolSilent:
		fmt.Fprintf(h.err, "agent: a command has printed nothing for %v\n", silentAfter)
	case Retrying:
		fmt.Fprintf(h.err, "agent: %s; attempt %d\n", e.Reason, e.Attempt)
	case Notice:
		fmt.Fprintf(h.err, "agent: %s\n", e.Text)
	case Opened:
		for _, n := range e.Notices {
			fmt.Fprintf(h.err, "agent: %s\n", n)
		}
	case TurnEnded:
		select {
		case h.done <- e:
		default:
		}
	}
}

func (h *Headless) message(m session.Message) {
	switch m.Role {
	case session.RoleAssistant:
		for _, c := range m.Calls {
			h.names[c.ID] = c.Name
		}
		if len(m.Calls) == 0 && !m.Cut {
			h.answer = m.Text
		}
	case session.RoleTool:
		if m.Status == session.StatusDenied {
			h.denied++
			fmt.Fprintf(h.err, "agent: denied %s: %s\n", h.names[m.CallID], m.Text)
		}
	}
}

// Run runs one prompt to its end and returns the exit code. A cancelled context
// stops the turn; its cause may carry the code as an ExitCause.
func (h *Headless) Run(ctx context.Context, a *App, prompt string) int {
	a.Submit(prompt)
	var ended TurnEnded
	select {
	case ended = <-h.done:
	case <-ctx.Done():
		a.Cancel()
		ended = <-h.done
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answer != "" {
		fmt.Fprintln(h.out, h.answer)
	}
	if ended.Error != "" {
		fmt.Fprintf(h.err, "agent: %s\n", ended.Error)
	}
	if a.sandbox.settled() && a.sandbox.err != nil {
		return ExitUsage
	}
	return h.code(ctx, ended)
}

// ExitCause is a context's cause that says with what code to exit.
type ExitCause int

func (c ExitCause) Error() string { return fmt.Sprintf("ended by a signal (exit code %d)", int(c)) }

// code is the exit code of a turn.
func (h *Headless) code(ctx context.Context, ended TurnEnded) int {
	var exit ExitCause
	unanswered := ended.Outcome == session.OutcomeDone || ended.Error == errEmptyReply.Error()
	switch {
	case errors.As(context.Cause(ctx), &exit):
		return int(exit)
	case h.answer == "" && unanswered && h.denied > 0:
		return ExitDenied
	case ended.Outcome == session.OutcomeFailed:
		return ExitProvider
	case ended.Outcome == session.OutcomeTimeout || ended.Outcome == session.OutcomeLimit:
		return ExitLimit
	case ended.Outcome == session.OutcomeInterrupted:
		return ExitInterrupted
	}
	return ExitOK
}
