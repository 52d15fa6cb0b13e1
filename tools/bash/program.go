package bash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// Program is a program that runs beside the agent and talks with it by its
// standard input and output, such as a server of tools.
type Program struct {
	In  *os.File // its standard input
	Out *os.File // its standard output
	Err *os.File // its standard error; somebody must read it

	cmd  *exec.Cmd
	stop sync.Once
	over chan struct{}
}

// StartProgram starts a program as a runner's command, in a session of its own.
// Its environment is that of [DefaultEnvAllowlist] where opts say nothing. It ends
// with this program, and with [Program.Stop].
func StartProgram(ctx context.Context, r Runner, argv []string, opts RunOptions) (*Program, error) {
	line, err := quotedLine(argv)
	if err != nil {
		return nil, err
	}
	if opts.Env == nil {
		opts.Env = inherit(DefaultEnvAllowlist())
	}
	cmd, err := r.Command(ctx, "exec "+line, opts)
	if err != nil {
		return nil, err
	}
	separate(cmd)
	if _, ok := r.(*BubblewrapRunner); !ok { // the sandbox does that by itself, once it is safe
		dieWithParent(cmd.SysProcAttr)
	}
	p := &Program{cmd: cmd, over: make(chan struct{})}
	theirs, err := p.open()
	if err == nil {
		if err = cmd.Start(); err != nil {
			err = startError(err, cmd)
		}
	}
	for _, f := range append(theirs, cmd.ExtraFiles...) {
		f.Close()
	}
	if err != nil {
		p.closePipes()
		return nil, err
	}
	go func() {
		defer close(p.over)
		awaitExit(cmd)
		kill(cmd.Process) // what it left in its group
		_ = cmd.Wait()    // its findings are in ProcessState
	}()
	return p, nil
}

func quotedLine(argv []string) (string, error) {
	words := make([]string, len(argv))
	for i, arg := range argv {
		word, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			return "", fmt.Errorf("the argument %q cannot be given to a program: %w", arg, err)
		}
		words[i] = word
	}
	return strings.Join(words, " "), nil
}

// open makes the pipes, and returns the program's ends.
func (p *Program) open() (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	in, ours := pipe()
	p.In = ours
	outR, outW := pipe()
	p.Out = outR
	errR, errW := pipe()
	p.Err = errR
	for _, f := range []*os.File{in, outW, errW} {
		if f != nil {
			theirs = append(theirs, f)
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, outW, errW
	return theirs, err
}

func (p *Program) closePipes() {
	for _, f := range []*os.File{p.In, p.Out, p.Err} {
		if f != nil {
			f.Close()
		}
	}
}

// Over is closed once the program has ended.
func (p *Program) Over() <-chan struct{} { return p.over }

// Ending says how the program ended; "" while it runs.
func (p *Program) Ending() string {
	select {
	case <-p.over:
		return p.cmd.ProcessState.String()
	default:
		return ""
	}
}

// ErrProgramLives says that a program could not be ended.
var ErrProgramLives = errors.New("the program could not be ended")

// Stop ends the program: by the end of its input, after grace by SIGTERM, and then
// by SIGKILL, its whole process group. It closes the pipes.
func (p *Program) Stop(grace time.Duration) error {
	p.stop.Do(func() {
		p.In.Close()
		if !p.overWithin(grace) {
			terminate(p.cmd.Process)
			if !p.overWithin(grace) {
				kill(p.cmd.Process)
				p.overWithin(stopGrace)
			}
		}
		p.closePipes()
	})
	if p.Ending() == "" {
		return ErrProgramLives
	}
	return nil
}

func (p *Program) overWithin(d time.Duration) bool {
	select {
	case <-p.over:
		return true
	case <-time.After(d):
		return false
	}
}
