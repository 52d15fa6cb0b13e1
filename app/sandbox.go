package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/human"
)

// sandbox is what commands run in. Which one it is shows in the background, so
// that the screen does not wait for it; the first turn does.
type sandbox struct {
	opts   Options
	reads  []string // directories outside of the workspace that commands can read: of skills
	ask    func(ctx context.Context, source string, in human.Input) (map[string]human.Answer, error)
	ctx    context.Context
	cancel context.CancelFunc

	ready  chan struct{} // closed when the fields below are set
	runner bash.Runner   // never nil: without a sandbox it says why
	label  string        // "bwrap", "landlock", "seatbelt", "none", or "no commands"
	notice string        // for the person: what does not hold, why, and what helps
	roots  []string      // outside the workspace, of toolchains whose sources the file tools may read (decision 18)
	err    error         // why no command can run

	mu      sync.Mutex
	servers []io.Closer // runners of MCP servers
}

// openSandbox prepares what --sandbox says. It fails when the workspace is too
// broad for a sandbox (IMP-36).
func openSandbox(opts Options, reads []string, ask func(context.Context, string, human.Input) (map[string]human.Answer, error)) (*sandbox, error) {
	s := &sandbox{opts: opts, reads: reads, ask: ask, ready: make(chan struct{})}
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
	s, err := findSandbox(ctx, opts)
	if err != nil {
		return "", err
	}
	return s.label, errors.Join(s.err, s.close())
}

// findSandbox is what commands run in where nobody is asked.
func findSandbox(ctx context.Context, opts Options) (*sandbox, error) {
	opts.Interactive = false
	skills, err := openSkills(opts, nil)
	if err != nil {
		return nil, err
	}
	s, err := openSandbox(opts, skills.roots(), nil)
	if err != nil {
		return nil, err
	}
	s.start(func() {})
	return s, s.wait(ctx)
}

// roots are the directories that commands and the file tools may write in.
func (o Options) roots() []string { return append([]string{o.Workspace}, o.Roots...) }

// walls are the settings of every sandbox: git may read what a project shares in
// .phero, no command may write there or see sessions.
func (s *sandbox) walls() []bash.BubblewrapOption {
	walls := []bash.BubblewrapOption{bash.WithNetwork(s.opts.Network), bash.WithWritablePaths(s.opts.Roots...), bash.WithReadOnlyPaths(s.reads...)}
	for _, root := range s.opts.roots() {
		phero := filepath.Join(root, ".phero")
		walls = append(walls,
			bash.WithReadOnlyPaths(phero),
			bash.WithHidden(filepath.Join(phero, "sessions"), filepath.Join(phero, "blobs")),
		)
	}
	if s.opts.ShareCaches {
		walls = append(walls, bash.WithSharedCaches())
	}
	return walls
}

// newShell makes the shell tool with what every command of the application gets.
func (s *sandbox) newShell(opts ...bash.Option) (*bash.Tool, error) {
	all := []bash.Option{
		bash.WithWorkingDirectory(s.opts.Workspace),
		bash.WithRunner(s.runner),
		bash.WithEnvAllowlist(bash.DefaultEnvAllowlist()...),
		bash.WithEnv("GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat", "GIT_EDITOR=true", "TERM=dumb", "PYTHONDONTWRITEBYTECODE=1", "PHERO_AGENT=1"),
	}
	if s.holds() {
		all = append(all, bash.WithHostRunner(bash.LocalRunner{}))
	}
	return bash.New(append(all, opts...)...)
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
		r, label, err := s.standIn()
		if err == nil {
			s.notice = standInNotice(label, cause)
			s.settle(r, label, nil)
			return
		}
		cause = errors.Join(cause, err)
	}
	if s.opts.Sandbox == "auto" && s.onHost(cause) {
		s.notice = fmt.Sprintf("no sandbox: approved commands run on this machine itself, with your rights. %v", cause)
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

// standInNotice says what a weaker sandbox leaves open, and why it is there.
func standInNotice(label string, cause error) string {
	text := "commands run in Landlock, which covers less than bubblewrap: UDP, Unix sockets and other processes stay in reach, and the auto mode is off."
	if label == "seatbelt" {
		text = "commands run in a Seatbelt profile, which has not been proven by use yet; the auto mode is off."
	}
	if cause != nil {
		text += " " + cause.Error()
	}
	return text
}

// standIn is the sandbox that the system has where bubblewrap cannot work.
func (s *sandbox) standIn() (bash.Runner, string, error) {
	if runtime.GOOS == "darwin" {
		r, err := s.seatbelt()
		return r, "seatbelt", err
	}
	r, err := s.landlock()
	return r, "landlock", err
}

func (s *sandbox) seatbelt() (*bash.SeatbeltRunner, error) {
	r, err := bash.NewSeatbeltRunner(s.opts.Workspace, append(s.walls(), bash.WithGitProtection(), bash.WithToolchains())...)
	if err != nil {
		return nil, err
	}
	if err := r.Probe(s.ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
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
	if walls, ok := r.(interface{ ReadOnlyRoots() []string }); ok {
		s.roots = walls.ReadOnlyRoots()
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

// holds tells whether commands run in a sandbox of any kind.
func (s *sandbox) holds() bool {
	switch s.name() {
	case "bwrap", "landlock", "seatbelt":
		return true
	}
	return false
}

// close ends a probe, and removes what a sandbox keeps outside of commands.
func (s *sandbox) close() error {
	s.cancel()
	if !s.settled() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, c := range s.servers {
		err = errors.Join(err, c.Close())
	}
	if c, ok := s.runner.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}

// refusing is the runner of a machine on which no command can run.
type refusing struct{ err error }

// Command implements bash.Runner.
func (r refusing) Command(context.Context, string, bash.RunOptions) (*exec.Cmd, error) {
	return nil, r.err
}
