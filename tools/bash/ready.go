package bash

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the sandboxes that wait for a command.
const (
	maxReady   = 8           // at a time
	keptReady  = 2           // after others were taken: commands often come in pairs
	readyLife  = time.Minute // unused
	madeWithin = time.Second // or a command does not wait for it
	maxMisses  = 5           // in a row
)

// Prepare makes sandboxes for the next n commands, at most eight, beside what
// goes on: to make one takes several times as long as to begin a command in it.
// From then on two are kept ready. They end when they are not used for a minute,
// with [Tool.Rest], and with the program.
//
// A sandbox that waits runs nothing but the shell that reads its command, serves
// one command, and is taken only if it is exactly what would be made at that
// moment; else it ends, and one is made as without Prepare. It is no command: it
// is not listed, and nothing of it is known to a command.
//
// It works with [WithPersistentShell] and [BubblewrapRunner], and for commands
// with the sandbox's own reach; else it does nothing.
func (t *Tool) Prepare(n int) {
	runner, ok := t.runner.(supervised)
	if !ok || !t.persistent {
		return
	}
	for _, s := range t.ready.want(min(n, maxReady)) {
		go t.makeReady(s, runner)
	}
}

// Rest ends the sandboxes that wait, and makes no more until [Tool.Prepare].
func (t *Tool) Rest() {
	t.ready.rest()
}

// makeReady makes a sandbox that waits.
func (t *Tool) makeReady(s *standby, runner supervised) {
	defer close(s.made)
	outside := runner.outside()
	opts := RunOptions{Dir: t.dir, ExtraEnv: t.env, attended: true, ahead: true}
	if t.envLimited {
		opts.Env = inherit(append([]string{}, t.envAllowlist...))
	}
	cmd, err := runner.Command(context.Background(), scriptLine, opts)
	if err != nil {
		return // the next command fails for the same reason, and says so
	}
	t.mark(cmd)
	p, err := create(cmd, launched{scripted: true, state: true, supervised: true})
	if err != nil {
		runner.finish(opts)
		return
	}
	p.finish = func() []string { return runner.finish(opts) }
	go p.wait()
	select {
	case <-p.made:
	case <-s.unwanted:
		p.stop()
		return
	}
	s.runner, s.process, s.ahead, s.outside = runner, p, p.finish, outside
}

// ready are the sandboxes of a tool that wait for a command.
type ready struct {
	mu      sync.Mutex
	list    []*standby        // the oldest first, some still being made
	ending  map[*standby]bool // taken out, and not over yet
	waiters int               // commands whose sandbox is being made
	on      bool              // since Prepare, until Rest
	off     bool              // for good: closed, or of no use here
	life    time.Duration     // unused
	expires *time.Timer
	misses  atomic.Int32
}

// standby is one of them.
type standby struct {
	unwanted chan struct{}
	drops    sync.Once
	made     chan struct{} // closed when what follows is set, or will not be

	runner  supervised
	process *process
	ahead   func() []string // the runner's last word, unless it is given a command
	outside int             // as the runner saw it before it was made
}

// want returns those that are to be made so that there are n.
func (r *ready) want(n int) (added []*standby) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off {
		return nil
	}
	r.on = true
	return r.add(n)
}

// add is called with mu held.
func (r *ready) add(n int) (added []*standby) {
	for len(r.list) < n {
		s := &standby{unwanted: make(chan struct{}), made: make(chan struct{})}
		added, r.list = append(added, s), append(r.list, s)
	}
	r.stopTimer()
	r.expires = time.AfterFunc(r.life, r.empty)
	return added
}

// claim takes one out, a made one where there is any; nil when there is none.
func (r *ready) claim() *standby {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) == 0 {
		return nil
	}
	i := max(0, slices.IndexFunc(r.list, (*standby).isMade))
	s := r.list[i]
	r.list = slices.Delete(r.list, i, i+1)
	r.waiters++
	return s
}

// served returns those that are to be made, now that a command has what it waited
// for: none while others wait, whom that would delay.
func (r *ready) served() (added []*standby) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiters--
	if !r.on || r.off || r.waiters > 0 {
		return nil
	}
	return r.add(keptReady)
}

func (s *standby) isMade() bool {
	select {
	case <-s.made:
		return true
	default:
		return false
	}
}

// empty ends all that wait.
func (r *ready) empty() {
	r.mu.Lock()
	list := r.list
	r.list = nil
	for _, s := range list {
		r.ending[s] = true
	}
	r.mu.Unlock()
	r.drop(list...)
}

func (r *ready) rest() {
	r.mu.Lock()
	r.on = false
	r.stopTimer()
	r.mu.Unlock()
	r.empty()
}

// close returns those that end now.
func (r *ready) close() []*standby {
	r.end()
	r.rest()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.ending))
}

// drop ends sandboxes beside what goes on.
func (r *ready) drop(list ...*standby) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range list {
		r.ending[s] = true
		go func() {
			s.stop()
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.ending, s)
		}()
	}
}

// missed counts those that were made in vain, one after the other: where it is
// never known that they fit, as without /proc, no more are made.
func (r *ready) missed() {
	if r.misses.Add(1) == maxMisses {
		r.end()
	}
}

// end makes that no more are made.
func (r *ready) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.off = true
}

// stopTimer is called with mu held.
func (r *ready) stopTimer() {
	if r.expires != nil {
		r.expires.Stop()
	}
}

// errNotReady says that a sandbox was not made, or is over.
var errNotReady = errors.New("there is none")

// startReady runs the command in a sandbox that waited and is what cmd would make;
// nil where there is none.
func (t *Tool) startReady(ctx context.Context, runner supervised, cmd *exec.Cmd, l launched) *process {
	s := t.ready.claim()
	if s == nil {
		return nil
	}
	err := s.await(ctx)
	for _, next := range t.ready.served() {
		go t.makeReady(next, runner)
	}
	if err == nil {
		err = s.fits(cmd)
	}
	if err == nil && !s.process.give(l) {
		err = errNotReady
	}
	if err != nil {
		slog.Debug("a sandbox that was made ahead is not used", "why", err)
		if ctx.Err() == nil {
			t.ready.missed()
		}
		t.ready.drop(s)
		return nil
	}
	t.ready.misses.Store(0)
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	s.ahead() // what it reserved, the command does now
	return s.process
}

// await waits until s is made.
func (s *standby) await(ctx context.Context) error {
	select {
	case <-s.made:
	case <-time.After(madeWithin):
	case <-ctx.Done():
	}
	if !s.isMade() || s.process == nil {
		return errNotReady
	}
	return nil
}

// fits tells why s is not what cmd would make now.
func (s *standby) fits(cmd *exec.Cmd) error {
	was := s.process.cmd
	if was.Path != cmd.Path || !slices.Equal(was.Args, cmd.Args) || !slices.Equal(was.Env, cmd.Env) {
		return errors.New("the sandbox has other settings now")
	}
	if s.runner.outside() != s.outside {
		return errors.New("what is mounted on the host has changed")
	}
	return s.runner.matches(was, was.Process.Pid)
}

// stop ends s, and waits for that.
func (s *standby) stop() {
	s.drops.Do(func() { close(s.unwanted) })
	if <-s.made; s.process != nil {
		s.process.stop()
	}
}
