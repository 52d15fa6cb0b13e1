package bash

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/phero-agent/agent/tools"
)

// OutputInput is a call of `bash_output`.
type OutputInput struct {
	BashID string `json:"bash_id" description:"The id that bash returned."`
	Filter string `json:"filter,omitempty" description:"A regular expression: only lines that match are returned, the others are skipped for good."`
}

// OutputOutput is the result of a call of `bash_output`.
type OutputOutput struct {
	Output    string `json:"output"` // what is new since the last call
	ExitCode  int    `json:"exit_code"`
	Running   bool   `json:"running,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	Dropped   bool   `json:"dropped,omitempty"` // unread output was dropped before this
	TimedOut  bool   `json:"timed_out,omitempty"`
}

// KillShellInput is a call of `kill_shell`.
type KillShellInput struct {
	ShellID string `json:"shell_id" description:"The id that bash returned."`
}

// KillShellOutput is the result of a call of `kill_shell`.
type KillShellOutput struct {
	Killed bool `json:"killed"` // false when it had ended by itself
}

// shell is a background shell.
type shell struct {
	id, command string
	started     time.Time
	p           *process
	timeout     time.Duration // 0: none
	timedOut    atomic.Bool
}

// peekBytes is how much of its output [ShellInfo.Tail] shows.
const peekBytes = 2 << 10

func (s *shell) info() ShellInfo {
	return ShellInfo{
		ID: s.id, Command: s.command, Started: s.started,
		Running: !s.p.finished(), ExitCode: s.p.exitCode(), Tail: s.p.sink.peek(peekBytes),
	}
}

// startShell starts a background command. It has its own lifetime: neither the
// call's context nor the foreground limits end it (BASH-41).
func (t *Tool) startShell(ctx context.Context, in *Input) (*Output, error) {
	timeout, err := t.limits.inBackground(in.Timeout)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	err = t.roomForShell()
	if err == nil {
		t.pending++
	}
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	call, _ := tools.ToolCallFromContext(ctx)
	out := &sink{tail: &tail{capacity: t.limits.kept}}
	l, err := t.launch(ctx, in.Command, out, t.moment(call), t.reachOf(ctx, in.Command), false)

	t.mu.Lock()
	t.pending--
	if err != nil {
		t.mu.Unlock()
		return nil, err
	}
	if t.closed {
		t.mu.Unlock()
		l.stop()
		return nil, ErrClosed
	}
	s := t.addShell(in.Command, l.process, time.Now(), timeout)
	t.mu.Unlock()

	t.follow(s)
	return &Output{
		Output: fmt.Sprintf("started in the background as %s; read its output with bash_output", s.id),
		BashID: s.id, Running: true, Reach: l.given(),
	}, nil
}

// roomForShell tells what stands against one more shell. t.mu is held.
func (t *Tool) roomForShell() error {
	if t.closed {
		return ErrClosed
	}
	if len(t.shells)+t.pending >= MaxShells {
		return ErrTooManyShells
	}
	return nil
}

// addShell registers a shell under a new id. t.mu is held.
func (t *Tool) addShell(command string, p *process, started time.Time, timeout time.Duration) *shell {
	t.lastID++
	s := &shell{id: fmt.Sprintf("bash_%d", t.lastID), command: command, started: started, p: p, timeout: timeout}
	t.shells[s.id] = s
	return s
}

// follow watches a registered shell to its end.
func (t *Tool) follow(s *shell) {
	t.tell()
	go func() {
		var expired <-chan time.Time
		if s.timeout > 0 {
			timer := time.NewTimer(s.timeout)
			defer timer.Stop()
			expired = timer.C
		}
		select {
		case <-s.p.done:
		case <-expired:
			if !s.p.over() {
				s.timedOut.Store(true)
				s.p.stop()
			}
			<-s.p.done
		}
		t.tell()
	}()
}

// tell calls the shells' handler with the present list.
func (t *Tool) tell() {
	if t.shellsHandler == nil {
		return
	}
	t.notify.Lock()
	defer t.notify.Unlock()
	t.shellsHandler(t.Shells())
}

// Background moves the foreground command of a call to the background: the
// call returns at once with the shell's id and the output so far, and its
// context and timeout no longer end the command. It returns false when the
// call runs no command, or no shell can be added.
func (t *Tool) Background(callID string) bool {
	t.mu.Lock()
	f := t.calls[callID]
	if f == nil || f.over || f.shell != nil || f.p.over() || f.p.stopping.Load() || t.roomForShell() != nil {
		t.mu.Unlock()
		return false
	}
	s := t.addShell(f.command, f.p, f.started, t.limits.background)
	f.soFar, f.cut = f.p.sink.moveTo(&tail{capacity: t.limits.kept})
	f.shell = s
	close(f.moved)
	t.mu.Unlock()
	t.follow(s)
	return true
}

// handleOutput is `bash_output`.
func (t *Tool) handleOutput(_ context.Context, in *OutputInput) (*OutputOutput, error) {
	if in == nil {
		return nil, ErrNilInput
	}
	if in.BashID == "" {
		return nil, ErrBashIDRequired
	}
	var filter *regexp.Regexp
	if in.Filter != "" {
		var err error
		if filter, err = regexp.Compile(in.Filter); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInvalidOutputFilter, err)
		}
	}
	s, unread, dropped, finished := t.take(in.BashID, filter != nil)
	if s == nil {
		return nil, fmt.Errorf("%w: %q", ErrShellNotFound, in.BashID)
	}
	if finished {
		t.tell()
	}
	return t.report(s, unread, dropped, filter, finished), nil
}

// take reads what is new, and forgets a shell that was read to its end.
func (t *Tool) take(id string, wholeLines bool) (s *shell, unread []byte, dropped int64, finished bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s = t.shells[id]
	if s == nil {
		return nil, nil, 0, false
	}
	// Asked before the reading: output that comes after it is not the last.
	finished = s.p.finished()
	unread, dropped = s.p.sink.next(finished, wholeLines)
	if finished {
		delete(t.shells, id)
	}
	return s, unread, dropped, finished
}

func (t *Tool) report(s *shell, unread []byte, dropped int64, filter *regexp.Regexp, finished bool) *OutputOutput {
	c := &capture{limit: t.limits.output}
	if filter == nil {
		c.Write(unread)
	} else {
		for line := range strings.Lines(string(unread)) {
			if filter.MatchString(strings.TrimSuffix(line, "\n")) {
				c.Write([]byte(line))
			}
		}
	}
	o := &OutputOutput{Running: !finished, Dropped: dropped > 0}
	o.Output, o.Truncated = c.String()
	if o.Dropped {
		o.Output = fmt.Sprintf("[... %d bytes dropped ...]\n", dropped) + o.Output
	}
	if finished {
		o.TimedOut = s.timedOut.Load()
		o.ExitCode = s.p.exitCode()
		o.Output = s.p.conclude(o.Output, o.TimedOut, s.timeout)
	}
	return o
}

// handleKill is `kill_shell`.
func (t *Tool) handleKill(_ context.Context, in *KillShellInput) (*KillShellOutput, error) {
	if in == nil {
		return nil, ErrNilInput
	}
	if in.ShellID == "" {
		return nil, ErrShellIDRequired
	}
	killed, err := t.killShell(in.ShellID)
	if err != nil {
		return nil, err
	}
	return &KillShellOutput{Killed: killed}, nil
}

func (t *Tool) killShell(id string) (killed bool, err error) {
	t.mu.Lock()
	s := t.shells[id]
	t.mu.Unlock()
	if s == nil {
		return false, fmt.Errorf("%w: %q", ErrShellNotFound, id)
	}
	if s.p.over() {
		return false, nil
	}
	s.p.stop()
	return true, nil
}

// Kill ends a background shell. Its output can still be read once.
func (t *Tool) Kill(id string) error {
	_, err := t.killShell(id)
	return err
}

// Shells lists the background shells that run or have output nobody read, in
// the order of their start. Looking consumes nothing.
func (t *Tool) Shells() []ShellInfo {
	t.mu.Lock()
	all := slices.Collect(maps.Values(t.shells))
	t.mu.Unlock()
	slices.SortFunc(all, func(a, b *shell) int { return a.started.Compare(b.started) })
	list := make([]ShellInfo, 0, len(all))
	for _, s := range all {
		list = append(list, s.info())
	}
	return list
}

// Close ends every background shell and every sandbox that waits, see
// [Tool.Prepare], and waits for them, at most three seconds.
// On Linux it also kills what commands of this tool left running on the host
// after it had left their process group. Foreground commands still run
// afterwards.
func (t *Tool) Close() error {
	t.mu.Lock()
	t.closed = true
	all := slices.Collect(maps.Values(t.shells))
	t.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(s.p.stop)
	}
	for _, s := range t.ready.close() {
		wg.Go(s.stop)
	}
	wg.Wait()

	t.mu.Lock()
	spare := map[int]bool{}
	for f := range t.running {
		spare[f.p.cmd.Process.Pid] = true
	}
	t.mu.Unlock()
	killMarked(t.marker, spare)
	return nil
}
