package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/human"
)

// sandbox is the runner of the commands. Which one it is shows in the
// background, so that the screen does not wait for it; a command does.
type sandbox struct {
	opts   Options
	ask    func(ctx context.Context, source string, in human.Input) (map[string]human.Answer, error)
	bwrap  *bash.BubblewrapRunner
	ctx    context.Context
	cancel context.CancelFunc

	ready  chan struct{} // closed when the fields below are set
	runner bash.Runner
	label  string
	err    error // why no command can run
}

// openSandbox prepares what --sandbox says. It fails when the person asked for
// a sandbox that cannot be here, or the workspace is too broad for one (IMP-36).
func openSandbox(opts Options, ask func(context.Context, string, human.Input) (map[string]human.Answer, error)) (*sandbox, error) {
	s := &sandbox{opts: opts, ask: ask, ready: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if opts.Sandbox == "none" {
		s.settle(bash.LocalRunner{}, "none", nil)
		return s, nil
	}
	settings := []bash.BubblewrapOption{bash.WithHidden(filepath.Join(opts.Workspace, ".phero"))}
	if opts.ShareCaches {
		settings = append(settings, bash.WithSharedCaches())
	}
	var err error
	s.bwrap, err = bash.NewWorkspaceRunner(opts.Workspace, settings...)
	switch {
	case errors.Is(err, bash.ErrPathTooBroad):
		return nil, fmt.Errorf("%s is too broad a workspace for the sandbox: start agent in a project's directory, or with --sandbox=none", opts.Workspace)
	case err != nil && opts.Sandbox == "bwrap":
		return nil, err
	case err != nil:
		s.err = err
	}
	return s, nil
}

// start finds out whether the sandbox works here, and then calls found.
func (s *sandbox) start(found func()) {
	if s.settled() {
		return
	}
	go func() {
		err := s.err
		if err == nil {
			err = s.bwrap.Probe(s.ctx)
		}
		switch {
		case err == nil:
			s.settle(s.bwrap, "bwrap", nil)
		case s.opts.Sandbox == "auto" && s.onHost(err):
			s.settle(bash.LocalRunner{}, "none", nil)
		default:
			s.settle(nil, "", fmt.Errorf("commands cannot run: no sandbox works here (%w); start agent with --sandbox=none to run them on this machine itself", err))
		}
		found()
	}()
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

// wait returns once it is known what commands run in, with why they cannot.
func (s *sandbox) wait(ctx context.Context) error {
	select {
	case <-s.ready:
		return s.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// name is what the status line says; "" while it is not known.
func (s *sandbox) name() string {
	if !s.settled() {
		return ""
	}
	if s.err != nil {
		return "no commands"
	}
	return s.label
}

// Command implements bash.Runner.
func (s *sandbox) Command(ctx context.Context, command string, opts bash.RunOptions) (*exec.Cmd, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.runner.Command(ctx, command, opts)
}

// readOnlyRoots are the toolchains outside the workspace whose sources the file
// tools may read (decision 18).
func (s *sandbox) readOnlyRoots() []string {
	if s.bwrap == nil {
		return nil
	}
	return s.bwrap.ReadOnlyRoots()
}

func (s *sandbox) close() { s.cancel() }
