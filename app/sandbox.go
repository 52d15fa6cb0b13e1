package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/human"
)

// sandbox is what commands run in. Which one it is shows in the background, so
// that the screen does not wait for it; the first turn does.
type sandbox struct {
	opts   Options
	ask    func(ctx context.Context, source string, in human.Input) (map[string]human.Answer, error)
	ctx    context.Context
	cancel context.CancelFunc

	ready  chan struct{} // closed when the fields below are set
	runner bash.Runner   // never nil: without a sandbox it says why
	label  string        // "bwrap", "landlock", "none", or "no commands"
	roots  []string      // outside the workspace, of toolchains whose sources the file tools may read (decision 18)
	err    error         // why no command can run
}

// openSandbox prepares what --sandbox says. It fails when the workspace is too
// broad for a sandbox (IMP-36).
func openSandbox(opts Options, ask func(context.Context, string, human.Input) (map[string]human.Answer, error)) (*sandbox, error) {
	s := &sandbox{opts: opts, ask: ask, ready: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if opts.Sandbox == "none" {
		s.settle(bash.LocalRunner{}, "none", nil)
	} else if err := bash.CheckWorkspace(opts.Workspace); errors.Is(err, bash.ErrPathTooBroad) {
		return nil, fmt.Errorf("%s is too broad a workspace for the sandbox: start agent in a project's directory, or with --sandbox=none", opts.Workspace)
	}
	return s, nil
}

// CheckSandbox finds out what commands would run in: "bwrap", "landlock" or
// "none"; and why in nothing, where no sandbox works.
func CheckSandbox(ctx context.Context, opts Options) (string, error) {
	opts.Interactive = false // nobody is asked
	s, err := openSandbox(opts, nil)
	if err != nil {
		return "", err
	}
	s.start(func() {})
	if err := s.wait(ctx); err != nil {
		return "", err
	}
	return s.label, errors.Join(s.err, s.close())
}

// walls are the settings of every sandbox: git may read what a project shares in
// .phero, no command may write there or see sessions.
func (s *sandbox) walls() []bash.BubblewrapOption {
	phero := filepath.Join(s.opts.Workspace, ".phero")
	walls := []bash.BubblewrapOption{
		bash.WithReadOnlyPaths(phero),
		bash.WithHidden(filepath.Join(phero, "sessions"), filepath.Join(phero, "blobs")),
	}
	if s.opts.ShareCaches {
		walls = append(walls, bash.WithSharedCaches())
	}
	return walls
}

// start finds out what works here, and then calls found.
func (s *sandbox) start(found func()) {
	if s.settled() {
		return
	}
	go func() {
		s.decide()
		found()
	}()
}

// decide takes the strongest sandbox that works, and without one what the person says.
func (s *sandbox) decide() {
	var cause error
	if s.opts.Sandbox != "landlock" {
		if cause = s.bubblewrap(); cause == nil {
			return
		}
	}
	if s.opts.Sandbox != "bwrap" {
		r, err := s.landlock()
		if err == nil {
			s.settle(r, "landlock", nil)
			return
		}
		cause = errors.Join(cause, err)
	}
	if s.opts.Sandbox == "auto" && s.onHost(cause) {
		s.settle(bash.LocalRunner{}, "none", nil)
		return
	}
	s.settle(nil, "no commands", fmt.Errorf("commands cannot run: no sandbox works here (%w); start agent with --sandbox=none to run them on this machine itself", cause))
}

// bubblewrap takes bubblewrap's sandbox where it works.
func (s *sandbox) bubblewrap() error {
	r, err := bash.NewWorkspaceRunner(s.opts.Workspace, s.walls()...)
	if err == nil {
		err = r.Probe(s.ctx)
	}
	if err != nil {
		return err
	}
	s.roots = r.ReadOnlyRoots()
	s.settle(r, sandboxHolds, nil)
	return nil
}

// require takes bubblewrap's sandbox, before start, or says why it cannot be had.
func (s *sandbox) require() error {
	if s.opts.Sandbox == "landlock" || s.opts.Sandbox == "none" {
		return fmt.Errorf("--sandbox=%s was given", s.opts.Sandbox)
	}
	return s.bubblewrap()
}

func (s *sandbox) landlock() (*bash.LandlockRunner, error) {
	r, err := bash.NewLandlockRunner(s.opts.Workspace, append(s.walls(), bash.WithGitProtection(), bash.WithToolchains())...)
	if err != nil {
		return nil, err
	}
	if err := r.Probe(s.ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// onHost asks once in a workspace whether commands may run without a sandbox (decision 20).
func (s *sandbox) onHost(cause error) bool {
	if !s.opts.Interactive {
		return false
	}
	remembered := filepath.Join(config.WorkspaceState(s.opts.StateDir, s.opts.Workspace), "sandbox")
	if data, err := os.ReadFile(remembered); err == nil {
		return string(data) == "none\n"
	}
	const header, host, never = "Sandbox", "Run on the host", "Run no commands"
	answers, err := s.ask(s.ctx, "agent", human.Input{Questions: []human.Question{{
		Header:   header,
		Question: fmt.Sprintf("No sandbox works here: %v. May approved commands run without one?", cause),
		Options: []human.Choice{
			{Label: host, Description: "with your rights and the network; each is still asked"},
			{Label: never, Description: "everything else works"},
		},
	}}})
	if err != nil || len(answers[header].Selections) == 0 {
		return false
	}
	yes := answers[header].Selections[0] == host
	choice := "never\n"
	if yes {
		choice = "none\n"
	}
	if os.MkdirAll(filepath.Dir(remembered), 0o700) == nil {
		_ = os.WriteFile(remembered, []byte(choice), 0o600) // else it is asked again
	}
	return yes
}

func (s *sandbox) settle(r bash.Runner, label string, err error) {
	if err != nil {
		r = refusing{err}
	}
	s.runner, s.label, s.err = r, label, err
	close(s.ready)
}

func (s *sandbox) settled() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// wait returns once it is known what commands run in, or with the context's cause.
func (s *sandbox) wait(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// name is what the status line says; "" while it is not known.
func (s *sandbox) name() string {
	if !s.settled() {
		return ""
	}
	return s.label
}

// close ends a probe, and removes what a sandbox keeps outside of commands.
func (s *sandbox) close() error {
	s.cancel()
	if !s.settled() {
		return nil
	}
	if c, ok := s.runner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// refusing is the runner of a machine on which no command can run.
type refusing struct{ err error }

// Command implements bash.Runner.
func (r refusing) Command(context.Context, string, bash.RunOptions) (*exec.Cmd, error) {
	return nil, r.err
}
