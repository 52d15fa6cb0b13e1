package bash

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// How long the parts of an ending may take. A call returns when its shell
// exits, whoever still holds the pipe (BASH-50).
const (
	termGrace    = 300 * time.Millisecond // between SIGTERM and SIGKILL
	leftGrace    = 100 * time.Millisecond // for what is about to end by itself when the shell exits
	killedGrace  = 500 * time.Millisecond // for what was killed to be gone
	drainGrace   = 250 * time.Millisecond // for the output of a process that nothing can reach
	handlerGrace = time.Second            // for an output handler that is slow
	sandboxGrace = 2 * time.Second        // for the processes of a sandbox to be gone
	stopGrace    = 3 * time.Second        // for all of it, after a stop
)

// process is a command that was started.
//
//	read ──chunks──► sink            wait: exit ► leftovers ► reap ► drain ► done
//
// Its command begins with [process.give]; a sandbox can be made and wait for
// that, see ready.go.
type process struct {
	cmd       *exec.Cmd
	started   time.Time
	out       *os.File
	readDone  chan struct{}
	alive     *inlet   // nil without a sandbox that tells
	goOn      *os.File // the other end of its [fdGo]
	leftovers *inlet
	state     *inlet
	script    *os.File // the other end of [fdScript]; nil is none

	stopping atomic.Bool
	made     chan struct{} // its sandbox waits for the script, or is over
	exited   chan struct{} // the shell ended
	done     chan struct{} // and everything below is known

	mu     sync.Mutex
	sink   *sink           // nil until the command begins
	finish func() []string // the runner's last word; nil is none
	reaped bool

	left  []string // what was left running, as command lines
	notes []string
	saved []byte // what came through the state descriptor
}

// finisher is a runner with a last word on each command.
type finisher interface {
	Runner
	// finish is called once a command is over, also when it could not be
	// started. It returns lines for the model.
	finish(opts RunOptions) []string
}

// supervised is a runner whose commands have a process namespace: it uses the
// descriptors [fdGo], [fdAlive] and [fdLeftovers].
type supervised interface {
	finisher
	// outside is what a sandbox depends on beside its command line. It has to be
	// the same as before the sandbox was made.
	outside() int
	// matches compares a sandbox, of which the process pid is the part outside, with
	// what cmd, which made it, would make now.
	matches(cmd *exec.Cmd, pid int) error
}

// launched is what start needs beside the command.
type launched struct {
	sink       *sink
	scripted   bool            // open [fdScript]
	script     string          // what can be read there
	state      bool            // open [fdState]
	supervised bool            // open [fdGo], [fdAlive] and [fdLeftovers]
	finish     func() []string // nil is none
}

// start starts the command in a session of its own.
func start(cmd *exec.Cmd, l launched) (*process, error) {
	p, err := create(cmd, l)
	if err != nil {
		return nil, err
	}
	p.give(l)
	go p.wait()
	return p, nil
}

// create starts a process whose command has not begun, and that nobody waits for.
func create(cmd *exec.Cmd, l launched) (*process, error) {
	p := &process{
		cmd: cmd, started: time.Now(), readDone: make(chan struct{}),
		made: make(chan struct{}), exited: make(chan struct{}), done: make(chan struct{}),
	}
	var ends []*os.File
	if l.supervised {
		ends = slices.Clone(cmd.ExtraFiles) // our own runner's, for this command alone
	}
	pipes, err := p.open(l)
	ends = append(ends, pipes...)
	if err == nil {
		cmd.Stdin = nil
		separate(cmd)
		if !l.supervised { // the sandbox does that by itself, once it is safe
			dieWithParent(cmd.SysProcAttr)
		}
		err = cmd.Start()
	}
	for _, f := range ends {
		f.Close()
	}
	if err != nil {
		p.closeAll()
		return nil, startError(err, cmd)
	}
	for _, in := range p.inlets() {
		if in == p.leftovers {
			go in.readReady(p.goOn, p.over, p.made)
			continue
		}
		go in.read(maxSideBytes)
	}
	return p, nil
}

// give lets the process run its command, unless it is over.
func (p *process) give(l launched) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over() {
		return false
	}
	p.sink, p.finish = l.sink, l.finish
	go p.read(l.sink)
	if p.script != nil {
		go func() {
			defer p.script.Close()
			io.WriteString(p.script, l.script)
		}()
	}
	return true
}

// maxSideBytes bounds what a command can make the program hold beside its output.
const maxSideBytes = 4 << 20

// open makes the pipes, and returns the child's ends of them.
func (p *process) open(l launched) (ends []*os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.out, ends = r, []*os.File{w}
	p.cmd.Stdout, p.cmd.Stderr = w, w

	inlet := func(in **inlet, fd int, want bool) {
		if err != nil || !want {
			return
		}
		var w *os.File
		if *in, w, err = openInlet(p.cmd, fd); err == nil {
			ends = append(ends, w)
		}
	}
	inlet(&p.alive, fdAlive, l.supervised)
	inlet(&p.leftovers, fdLeftovers, l.supervised)
	inlet(&p.state, fdState, l.state)
	if err == nil && l.scripted {
		var r *os.File
		if r, p.script, err = openOutlet(p.cmd, fdScript); err == nil {
			ends = append(ends, r)
		}
	}
	if err == nil && l.supervised {
		var r *os.File
		if r, p.goOn, err = os.Pipe(); err == nil {
			ends = append(ends, r)
			err = attach(p.cmd, fdGo, r)
		}
	}
	return ends, err
}

func (p *process) inlets() []*inlet {
	var ins []*inlet
	for _, in := range []*inlet{p.alive, p.leftovers, p.state} {
		if in != nil {
			ins = append(ins, in)
		}
	}
	return ins
}

func (p *process) closeAll() {
	if p.out != nil {
		p.out.Close()
	}
	for _, in := range p.inlets() {
		in.r.Close()
	}
	for _, f := range []*os.File{p.goOn, p.script} {
		if f != nil {
			f.Close()
		}
	}
}

// startError says in plain words why a command could not be started.
func startError(err error, cmd *exec.Cmd) error {
	if isTooLong(err) {
		return fmt.Errorf("the command or its environment is too long for the system: write it to a file and run that: %w", err)
	}
	if cmd.Dir != "" {
		if _, statErr := os.Stat(cmd.Dir); statErr != nil {
			return fmt.Errorf("the directory %s cannot be entered: %w", cmd.Dir, errors.Unwrap(statErr))
		}
	}
	return fmt.Errorf("the command could not be started: %w", err)
}

func (p *process) read(to *sink) {
	defer close(p.readDone)
	defer to.flush()
	buf := make([]byte, 64<<10)
	for {
		n, err := p.out.Read(buf)
		if n > 0 {
			to.write(buf[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			readRest(p.out, buf, to.write)
		}
		if err != nil {
			return
		}
	}
}

func (p *process) wait() {
	pid := p.cmd.Process.Pid
	awaitExit(p.cmd)
	p.mu.Lock()
	close(p.exited)
	begun, finish := p.sink != nil, p.finish
	p.mu.Unlock()
	if p.alive == nil {
		p.left = p.clear(pid)
	} else {
		kill(p.cmd.Process) // a sandbox that was still being made does not end with what made it
	}
	p.mu.Lock()
	_ = p.cmd.Wait() // its findings are in ProcessState
	p.reaped = true
	p.mu.Unlock()

	p.alive.end(sandboxGrace)
	if p.leftovers != nil {
		p.left = leftLines(p.leftovers.end(drainGrace))
	}
	p.saved = p.state.end(drainGrace)
	if begun {
		p.drain()
	} else {
		p.out.Close()
		p.script.Close()
	}
	if finish != nil {
		p.notes = finish()
	}
	close(p.done)
}

// clear kills what the shell left in its session, after a moment for what ends
// by itself, and says what it was. The shell is not reaped yet, so its
// process group cannot be somebody else's.
func (p *process) clear(pid int) []string {
	deadline := time.Now().Add(leftGrace)
	left := survivors(pid, p.started)
	for ; len(left) > 0 && time.Now().Before(deadline); left = survivors(pid, p.started) {
		time.Sleep(5 * time.Millisecond)
	}
	if len(left) == 0 {
		return nil
	}
	var lines []string
	for _, s := range left {
		lines = append(lines, s.line)
	}
	deadline = time.Now().Add(killedGrace)
	for ; len(left) > 0 && time.Now().Before(deadline); left = survivors(pid, p.started) {
		killSurvivors(pid, left)
		time.Sleep(2 * time.Millisecond)
	}
	if p.stopping.Load() {
		return nil
	}
	return lines
}

// drain ends the reading: at the end of the output, or soon when somebody out
// of reach still holds the pipe.
func (p *process) drain() {
	if p.out.SetReadDeadline(time.Now().Add(drainGrace)) != nil {
		expire := time.AfterFunc(drainGrace, func() { p.out.Close() })
		defer expire.Stop()
	}
	select {
	case <-p.readDone:
	case <-time.After(drainGrace + handlerGrace):
	}
	p.out.Close()
}

// stop ends the command and everything in its session, and waits until it is
// over, or for a while.
func (p *process) stop() {
	p.stopping.Store(true)
	if p.alive != nil {
		// Everything in a sandbox ends at once. While it is being made, its parts
		// end with each other only when they are killed together.
		p.signal(killWithChildren)
	} else {
		p.signal(terminate)
		select {
		case <-p.exited:
		case <-time.After(termGrace):
			p.signal(kill)
		}
	}
	select {
	case <-p.done:
	case <-time.After(stopGrace):
	}
}

func (p *process) signal(send func(*os.Process)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		send(p.cmd.Process)
	}
}

// over tells whether the shell has ended.
func (p *process) over() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// finished tells whether everything about the command is known.
func (p *process) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// exitCode is the shell's, or -1 when a signal ended it or it is not known.
func (p *process) exitCode() int {
	if !p.finished() || p.cmd.ProcessState == nil {
		return -1
	}
	return p.cmd.ProcessState.ExitCode()
}

// conclude appends to the output what there is to say about the end.
func (p *process) conclude(output string, timedOut bool, timeout time.Duration) string {
	if !p.finished() {
		return onNewLine(output, fmt.Sprintf("command timed out after %s, and could not be killed yet", timeout))
	}
	if len(p.left) > 0 {
		output = onNewLine(output, leftNote(p.left))
	}
	for _, n := range p.notes {
		output = onNewLine(output, n)
	}
	switch code := p.exitCode(); {
	case timedOut:
		return onNewLine(output, fmt.Sprintf("command timed out after %s", timeout))
	case code < 0:
		return onNewLine(output, fmt.Sprintf("exit code: -1 (%s)", p.cmd.ProcessState))
	case code > 0:
		return onNewLine(output, fmt.Sprintf("exit code: %d", code))
	}
	return output
}

// leftNote names what was left running, in one line (decision 16).
func leftNote(left []string) string {
	const most = 5
	named := left[:min(len(left), most)]
	text := strings.Join(named, "; ")
	if n := len(left) - len(named); n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return fmt.Sprintf("[killed what the command left running: %s. Use run_in_background for what must run on]", text)
}

// leftLines reads what the supervisor wrote: one command line each.
func leftLines(data []byte) []string {
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = clipLine(line); line != "" && len(lines) < 100 {
			lines = append(lines, line)
		}
	}
	return lines
}

// clipLine makes a command line fit to be shown.
func clipLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	return s
}
