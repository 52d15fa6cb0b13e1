package bash

import (
	"context"
	"fmt"
	"time"

	"github.com/phero-agent/agent/tools"
)

// foreground runs a command, and once more with what it lacked when the
// application says so. Both begin with the same state.
func (t *Tool) foreground(ctx context.Context, command string, timeout time.Duration) (*Output, error) {
	call, _ := tools.ToolCallFromContext(ctx)
	at := t.moment(call)
	r, err := t.attempt(ctx, command, timeout, at, t.reachOf(ctx, command))
	if err != nil || r.moved() {
		return r.output(), err
	}
	if r.lack.Reach > r.had {
		if r, err = t.widen(ctx, r, at, timeout); err != nil || r.moved() {
			return r.output(), err
		}
	}
	if !r.timedOut {
		t.keep(r.launching)
	}
	return r.output(), nil
}

// widen runs a command that failed for want of reach once more, where somebody
// gives it more, and else says why it failed.
func (t *Tool) widen(ctx context.Context, r *ran, at moment, timeout time.Duration) (*ran, error) {
	why := r.lack.Why
	if t.rerun == nil {
		r.say("[" + why + ": go on without it, or tell the user what to run]")
		return r, nil
	}
	reach := t.rerun(ctx, r.f.command, r.lack)
	if reach <= r.had {
		r.say("[" + why + "; the user was asked to run it with more, and did not: go on without it]")
		return r, nil
	}
	again, err := t.attempt(ctx, r.f.command, timeout, at, reach)
	if err == nil && !again.moved() {
		again.say("[the first run failed: " + why + "; the user had it run again, " + with(reach) + ": this is what that run printed]")
	}
	return again, err
}

func with(r Reach) string {
	if r == Host {
		return "on the host"
	}
	return "with the network"
}

// Lack is what a command that failed seems to have lacked.
type Lack struct {
	Reach Reach
	Why   string // for a person, in a few words
}

// ran is a command that a call waited for.
type ran struct {
	*launching
	f        *foreground
	text     string
	cut      bool
	timedOut bool
	timeout  time.Duration
	lack     Lack
}

// attempt runs a command until it ends, is ended, or moves to the background.
func (t *Tool) attempt(ctx context.Context, command string, timeout time.Duration, at moment, reach Reach) (*ran, error) {
	stream := newStream(ctx, t.handler)
	out := &sink{capture: &capture{limit: t.limits.output}, stream: stream}
	l, err := t.launch(ctx, command, out, at, reach, t.persistent)
	if err != nil {
		return nil, err
	}
	f := &foreground{p: l.process, command: command, started: time.Now(), moved: make(chan struct{})}
	call, _ := tools.ToolCallFromContext(ctx)
	t.enter(call.ID, f)
	quiet := t.watchSilence(ctx, out)
	defer quiet()

	r := &ran{launching: l, f: f, timeout: timeout}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-f.p.done:
	case <-f.moved:
	case <-timer.C:
		// A shell that has ended by itself did not run out of time.
		if r.timedOut = !f.p.over(); r.timedOut {
			f.p.stop()
		} else {
			<-f.p.done
		}
	case <-ctx.Done():
		f.p.stop()
	}
	stream.close()
	if t.leave(call.ID, f) {
		return r, nil
	}
	r.text, r.cut = f.p.sink.captured()
	if ctx.Err() != nil && f.p.stopping.Load() && !r.timedOut {
		stopped := &StoppedError{Err: ctx.Err()}
		if r.text != "" || len(f.p.left)+len(f.p.notes) > 0 {
			stopped.Output = r.output().Output
		}
		return nil, stopped
	}
	if r.timedOut {
		return r, nil
	}
	r.lack = t.lack(l.had, r.text)
	if f.p.exitCode() == 0 && (r.lack.Reach != Network || !hidesFailure(f.command)) {
		r.lack = Lack{}
	}
	return r, nil
}

// StoppedError says that the call's context ended before its command did.
type StoppedError struct {
	Output string // what the command printed until then, with lines about its end; "" for nothing
	Err    error  // the context's
}

func (e *StoppedError) Error() string { return e.Err.Error() }
func (e *StoppedError) Unwrap() error { return e.Err }

func (r *ran) moved() bool { return r != nil && r.f.shell != nil }

// say adds a line for the model.
func (r *ran) say(line string) { r.text = onNewLine(r.text, line) }

// output is the call's result; nil of nothing.
func (r *ran) output() *Output {
	if r == nil {
		return nil
	}
	if r.moved() {
		return r.movedOutput()
	}
	o := &Output{ExitCode: r.f.p.exitCode(), Truncated: r.cut, TimedOut: r.timedOut, Wants: r.lack.Reach, Reach: r.given()}
	if r.timedOut {
		o.ExitCode = -1
	}
	if o.Output = r.f.p.conclude(r.text, r.timedOut, r.timeout); o.Output == "" {
		o.Output = "(no output)"
	}
	return o
}

func (r *ran) movedOutput() *Output {
	f := r.f
	note := fmt.Sprintf("[the user moved this command to the background as %s, where it runs on; read on with bash_output]", f.shell.id)
	return &Output{Output: onNewLine(f.soFar, note), BashID: f.shell.id, Running: true, Truncated: f.cut, Reach: r.given()}
}
