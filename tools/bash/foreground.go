package bash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/phero-agent/agent/tools"
)

// Input is a call of `bash`.
type Input struct {
	Command         string `json:"command" description:"The command line, run by bash."`
	Description     string `json:"description,omitempty" description:"What it does, in five to ten words."`
	Timeout         int    `json:"timeout,omitempty" description:"Milliseconds after which the command is killed."`
	RunInBackground bool   `json:"run_in_background,omitempty" description:"Return at once with a bash_id, for servers, watchers and long jobs. Read on with bash_output, end it with kill_shell."`
}

// Output is the result of a call of `bash`.
type Output struct {
	Output    string `json:"output"` // both streams as they were written, then lines about the end
	BashID    string `json:"bash_id,omitempty"`
	ExitCode  int    `json:"exit_code"` // -1 when a signal ended it
	Running   bool   `json:"running,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	Reach     string `json:"reach,omitempty"` // "network" or "host" where [WithReach] or [WithRerun] gave it more than the sandbox

	// Wants is the reach that the command seems to have lacked; [Sandboxed] is none.
	Wants Reach `json:"-"`
}

// foreground is a command that a call waits for.
type foreground struct {
	p       *process
	command string
	started time.Time
	moved   chan struct{} // closed when it became a background shell
	shell   *shell        // then it is this one
	soFar   string        // and this is its output until then
	cut     bool
	over    bool
}

// errorOfInput is what the tool itself has against a call.
func (t *Tool) errorOfInput(in *Input) error {
	switch {
	case in == nil:
		return ErrNilInput
	case strings.TrimSpace(in.Command) == "":
		return ErrCommandRequired
	case strings.ContainsRune(in.Command, 0):
		return ErrCommandInvalid
	}
	return t.guard(in.Command)
}

func (t *Tool) handle(ctx context.Context, in *Input) (*Output, error) {
	if err := t.errorOfInput(in); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if in.RunInBackground {
		return t.startShell(ctx, in)
	}
	timeout, err := t.limits.foreground(in.Timeout)
	if err != nil {
		return nil, err
	}
	return t.foreground(ctx, in.Command, timeout)
}

// enter makes the command known for [Tool.Background].
func (t *Tool) enter(callID string, f *foreground) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running[f] = true
	if callID != "" {
		t.calls[callID] = f
	}
}

// leave ends that, and tells whether the command moved before.
func (t *Tool) leave(callID string, f *foreground) (moved bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.over = true
	delete(t.running, f)
	if t.calls[callID] == f {
		delete(t.calls, callID)
	}
	return f.shell != nil
}

// launching is a command that was started, with what is needed to keep its state.
type launching struct {
	*process
	moment
	asked Reach  // what it was given
	had   Reach  // what it could reach in fact
	nonce string // "" when its state is not kept
	env   []string
}

// given names a reach that was given to the command beyond the sandbox's; "" is none.
func (l *launching) given() string {
	if l.asked == Sandboxed {
		return ""
	}
	return l.asked.String()
}

// moment is the place of a call in the order of calls, and the state it begins with.
type moment struct {
	seq   int64
	begin state
}

// moment is that of a call that begins now. Where the caller does not say in
// which order the model made its calls, the order of their starts stands in.
func (t *Tool) moment(call tools.ToolCall) moment {
	t.mu.Lock()
	defer t.mu.Unlock()
	seq := call.Order
	if seq == 0 {
		seq = t.lastSeq + 1
	}
	t.lastSeq = max(t.lastSeq, seq)
	return moment{seq: seq, begin: t.state}
}

// maxArgument is the longest command that is given as an argument; Linux takes 128 KiB.
const maxArgument = 100 << 10

// scriptLine makes bash run what it can read from [fdScript].
const scriptLine = `eval "$(</dev/fd/8)"`

// launch starts a command. With keep, the state after it can be read.
func (t *Tool) launch(ctx context.Context, command string, out *sink, at moment, reach Reach, keep bool) (*launching, error) {
	if t.dir != "" {
		if err := t.checkDir(); err != nil {
			return nil, err
		}
	}
	l := &launching{moment: at, asked: reach}
	runner, opts, err := t.runnerFor(reach)
	if err != nil {
		return nil, err
	}
	l.had = Host
	if w, ok := runner.(walled); ok {
		l.had = w.reached(opts)
	}
	if opts.Reach == Host && t.hostRunner != nil {
		// What a sandboxed command exported must not reach the host, nor the
		// host's variables the sandbox.
		l.begin, keep = state{dir: l.begin.dir}, false
	}
	if keep {
		l.nonce = nonce()
	}
	with := launched{sink: out, state: keep}
	line := command
	if t.persistent || len(command) > maxArgument {
		line, with.scripted = scriptLine, true
		with.script = l.begin.text(command, t.workdir(), l.nonce)
	}
	if l.process, l.env, err = t.start(ctx, runner, line, opts, with); err != nil {
		return nil, err
	}
	return l, nil
}

// reachOf asks how far the command may reach.
func (t *Tool) reachOf(ctx context.Context, command string) Reach {
	if t.reach == nil {
		return Sandboxed
	}
	return t.reach(ctx, command)
}

// runnerFor is who runs a command that may reach that far.
func (t *Tool) runnerFor(reach Reach) (Runner, RunOptions, error) {
	opts := RunOptions{Dir: t.dir, ExtraEnv: t.env, Reach: reach}
	if t.envLimited {
		opts.Env = inherit(append([]string{}, t.envAllowlist...))
	}
	if opts.Reach != Host {
		return t.runner, opts, nil
	}
	if t.hostRunner == nil {
		if _, ok := t.runner.(LocalRunner); ok {
			return t.runner, opts, nil // it has no other reach
		}
		return nil, opts, fmt.Errorf("%w: there is no runner for the host", ErrReachUnsupported)
	}
	opts.Env = inherit(append(hostEnvAllowlist(), t.envAllowlist...))
	return t.hostRunner, opts, nil
}

// start builds the process and starts it; env is what it starts with.
func (t *Tool) start(ctx context.Context, r Runner, line string, opts RunOptions, l launched) (*process, []string, error) {
	opts.attended = true
	_, l.supervised = r.(supervised)
	if f, ok := r.(finisher); ok {
		l.finish = func() []string { return f.finish(opts) }
	}
	// A command can outlive its call, so the call's end must not kill it.
	cmd, err := r.Command(context.WithoutCancel(ctx), line, opts)
	if err != nil {
		return nil, nil, err
	}
	if cmd == nil {
		return nil, nil, errors.New("the runner returned no command")
	}
	env := t.mark(cmd)
	if runner, ok := r.(supervised); ok && l.scripted && opts.Reach == Sandboxed {
		if p := t.startReady(ctx, runner, cmd, l); p != nil {
			return p, env, nil
		}
	}
	p, err := start(cmd, l)
	if err != nil && l.finish != nil {
		l.finish()
	}
	return p, env, err
}

// mark adds the tool's marker to the environment of a command, and returns what
// that was before.
func (t *Tool) mark(cmd *exec.Cmd) (env []string) {
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	env = cmd.Env
	cmd.Env = append(env[:len(env):len(env)], t.marker)
	return env
}

// Directory is where the next command starts: the working directory, or with
// [WithPersistentShell] what the commands before made of it.
func (t *Tool) Directory() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.dir != "" {
		return t.state.dir
	}
	return t.workdir()
}

func (t *Tool) workdir() string {
	if t.dir != "" {
		return t.dir
	}
	dir, _ := os.Getwd()
	return dir
}

// keep takes over the state that a command left, unless a later command has
// already left one (decision 15).
func (t *Tool) keep(l *launching) {
	if l.nonce == "" || !l.finished() {
		return
	}
	dir, env, ok := parseState(l.saved, l.nonce)
	if !ok {
		return
	}
	next, changed := l.begin.after(l.env, place(t.workdir(), dir), env)
	if !changed {
		return
	}
	next.seq = l.seq
	t.mu.Lock()
	defer t.mu.Unlock()
	if next.seq > t.state.seq {
		t.state = next
	}
}
