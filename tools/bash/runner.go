package bash

import (
	"context"
	"fmt"
	"os/exec"
)

// Runner builds the process of a command and nothing else: timeouts, process
// groups, background shells and output stay with the tool (BASH-19).
//
// The tool sets Stdin, Stdout, Stderr and the process attributes, and adds
// inherited descriptors. ctx is not cancelled with the call, because a command
// can outlive it. With [WithPersistentShell] the command is a line that reads
// the model's text from a descriptor, so the process must run on this host.
type Runner interface {
	Command(ctx context.Context, command string, opts RunOptions) (*exec.Cmd, error)
}

// RunOptions is what a [Runner] needs to know of one command.
type RunOptions struct {
	Dir      string   // where it runs; "" is the process's own directory
	Env      []string // the allowlisted variables; nil is the runner's default
	ExtraEnv []string // WithEnv entries, to be applied on top
	Reach    Reach

	// attended says that the tool's own descriptors are open in the process,
	// see descriptors.go.
	attended bool
	// ahead says that the sandbox is made before its command is known, see ready.go.
	ahead bool
}

// Reach is how far a command may reach. The model cannot choose it.
type Reach int

// The reaches.
const (
	Sandboxed Reach = iota // what the runner gives by default
	Network                // the same, with the host's network
	Host                   // no sandbox
)

func (r Reach) String() string {
	switch r {
	case Sandboxed:
		return "sandboxed"
	case Network:
		return "network"
	case Host:
		return "host"
	}
	return fmt.Sprintf("Reach(%d)", int(r))
}

// walled is a runner that keeps commands from reaching the host.
type walled interface {
	Runner
	// reached is how far a command of these options can reach.
	reached(opts RunOptions) Reach
	// hides tells whether commands are kept from a path that is there on the
	// host, and that the host's user may use.
	hides(path string) bool
}

// LocalRunner runs commands on the host, without any isolation.
//
// By default a command gets the process's whole environment, so set
// [WithEnvAllowlist]. A program that leaves its process group and closes its
// output is not noticed until [Tool.Close].
type LocalRunner struct{}

// Command runs bash without startup files.
func (LocalRunner) Command(_ context.Context, command string, opts RunOptions) (*exec.Cmd, error) {
	path, err := bashPath()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, bashArgs(command)...)
	cmd.Args[0] = "bash" // it begins bash's own messages
	cmd.Dir = opts.Dir
	cmd.Env = runnerEnv(opts, nil)
	return cmd, nil
}

func bashPath() (string, error) {
	path, err := exec.LookPath("bash")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBashNotFound, err)
	}
	return path, nil
}

// bashArgs run a command without startup files; -- because a command may begin with a dash.
func bashArgs(command string) []string {
	return []string{"--noprofile", "--norc", "-c", "--", command}
}
