package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/phero-agent/agent/session"
)

// The exit codes of the program (decision 31).
const (
	ExitOK          = 0
	ExitError       = 1
	ExitUsage       = 2
	ExitDenied      = 3 // ended without an answer because something was denied, or any denial with --fail-on-denied
	ExitLimit       = 4 // the deadline came
	ExitProvider    = 5 // the model's server or its key
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// The formats of what a run without a screen prints on stdout.
const (
	FormatText   = "text"        // the answer
	FormatJSON   = "json"        // a [Result]
	FormatStream = "stream-json" // the events as they come, a line each, and then the Result
)

// HeadlessOptions say how a run without a screen tells what it does.
type HeadlessOptions struct {
	Out, Err     io.Writer
	Format       string // [FormatText], [FormatJSON] or [FormatStream]; "" is text
	FailOnDenied bool   // any denial ends with [ExitDenied], also beside an answer
}

// Headless runs one prompt without a screen. Its Emit is the App's.
type Headless struct {
	opts HeadlessOptions

	mu      sync.Mutex
	stream  *stream // nil but for stream-json
	account account
	broken  error         // of the first write to Out that failed
	gone    chan struct{} // closed with it
	done    chan TurnEnded
}

// NewHeadless makes a run. Out gets what the format says, Err everything else.
func NewHeadless(opts HeadlessOptions) *Headless {
	h := &Headless{opts: opts, gone: make(chan struct{}), done: make(chan TurnEnded, 1)}
	if opts.Format == FormatStream {
		h.stream = newStream(opts.Out)
		h.wrote(h.stream.line("start", map[string]int{"version": StreamVersion}))
	}
	return h
}

// wrote takes the error of a write to Out: who reads there is gone. It is called
// with h.mu held, or before there is anybody else.
func (h *Headless) wrote(err error) {
	if err != nil && h.broken == nil {
		h.broken = err
		close(h.gone)
	}
}

// Emit takes the events of the App.
func (h *Headless) Emit(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stream != nil && h.broken == nil {
		h.wrote(h.stream.event(e))
	}
	switch e := e.(type) {
	case State:
		h.account.workspace = e.Workspace
	case Usage:
		h.account.result.Cost = e.Cost
	case Opened:
		h.account.result.SessionID = e.ID
		for _, n := range e.Notices {
			h.tell(n)
		}
	case Committed:
		if d := h.account.entry(e.Entry); d != nil {
			h.tell(fmt.Sprintf("denied %s: %s", d.Tool, d.Reason))
		}
		if f := e.Entry.Found; f != nil && len(f.Lost) > 0 {
			h.tell(lost(f.Lost))
		}
	case ToolSilent:
		h.tell(fmt.Sprintf("a command has printed nothing for %v", silentAfter))
	case Retrying:
		h.tell(fmt.Sprintf("%s; attempt %d", e.Reason, e.Attempt))
	case Notice:
		h.tell(e.Text)
	case TurnEnded:
		select {
		case h.done <- e:
		default:
		}
	}
}

// tell writes a line for the person.
func (h *Headless) tell(text string) { fmt.Fprintf(h.opts.Err, "agent: %s\n", text) }

// lost says what a command changed that cannot be undone.
func lost(list []session.Lost) string {
	s := fmt.Sprintf("a command changed what cannot be undone: %q %s", list[0].Path, list[0].Why)
	if more := len(list) - 1; more > 0 {
		s += fmt.Sprintf(", and %d more", more)
	}
	return s
}

// Run runs one prompt to its end and returns the exit code. A cancelled context
// stops the turn; its cause may carry the code as an ExitCause. So does a stdout
// that takes no more.
func (h *Headless) Run(ctx context.Context, a *App, prompt string) int {
	start := time.Now()
	a.Submit(prompt)
	var ended TurnEnded
	select {
	case ended = <-h.done:
	case <-ctx.Done():
		a.Cancel()
		ended = <-h.done
	case <-h.gone:
		a.Cancel()
		ended = <-h.done
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &h.account.result
	r.Type, r.Version, r.Files, r.Elapsed = "result", StreamVersion, h.account.files(), time.Since(start).Milliseconds()
	r.Outcome, r.Error, r.ExitCode = ended.Outcome, ended.Error, h.code(ctx, a, ended)
	if r.Denials == nil {
		r.Denials = []Denial{}
	}
	if a.saved() != nil {
		r.SessionID = ""
	}
	h.print(*r)
	h.stream = nil // what ends from now on is not of the run: its result is the last line
	return h.end(r.ExitCode)
}

// print writes what the run came to, in the format of the run.
func (h *Headless) print(r Result) {
	if r.Error != "" {
		h.tell(r.Error)
	}
	if h.broken != nil {
		return
	}
	if h.opts.Format == FormatText || h.opts.Format == "" {
		if r.Answer != "" {
			_, err := fmt.Fprintln(h.opts.Out, r.Answer)
			h.wrote(err)
		}
		h.tell(r.line())
		return
	}
	data, err := json.Marshal(r)
	if err == nil {
		_, err = h.opts.Out.Write(append(data, '\n'))
	}
	h.wrote(err)
}

// end is the exit code of a run that has printed.
func (h *Headless) end(code int) int {
	if h.broken == nil {
		return code
	}
	h.tell(fmt.Sprintf("stdout: %v", h.broken))
	if code == ExitOK || code == ExitInterrupted {
		return ExitError
	}
	return code
}

// ExitCause is a context's cause that says with what code to exit.
type ExitCause int

func (c ExitCause) Error() string { return fmt.Sprintf("ended by a signal (exit code %d)", int(c)) }

// code is the exit code of a turn.
func (h *Headless) code(ctx context.Context, a *App, ended TurnEnded) int {
	var exit ExitCause
	r := &h.account.result
	unanswered := ended.Outcome == session.OutcomeDone || ended.Error == errEmptyReply.Error()
	denied := len(r.Denials) > 0
	switch {
	case a.sandbox.settled() && a.sandbox.err != nil:
		return ExitUsage
	case errors.As(context.Cause(ctx), &exit):
		return int(exit)
	case r.Answer == "" && unanswered && denied:
		return ExitDenied
	case ended.Outcome == session.OutcomeFailed:
		return ExitProvider
	case ended.Outcome == session.OutcomeTimeout || ended.Outcome == session.OutcomeLimit:
		return ExitLimit
	case denied && h.opts.FailOnDenied:
		return ExitDenied
	case ended.Outcome == session.OutcomeInterrupted:
		return ExitInterrupted
	}
	return ExitOK
}
