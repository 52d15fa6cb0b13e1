package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/session/tree"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
)

// watch finds what commands change in the workspace (UNDO-09). It compares whenever
// a command begins or ends: what changed between two looks is of those that ran
// then, and of the person where none did.
type watch struct {
	ctx  context.Context // of the first look, which nobody waits for
	stop context.CancelFunc

	journaling sync.Mutex // held before mu

	mu      sync.Mutex
	blobs   *session.Blobs
	tree    *tree.Tree
	running []*command // by their starts
	found   []finding  // not in the journal yet
	failed  error      // why nothing is found any more
	told    bool
}

// command is one that runs.
type command struct {
	call, line string
	shell      string // its id, once it is in the background
}

// finding is what changed between two looks.
type finding struct {
	by session.Found
	tree.Found
}

func newWatch() *watch {
	w := &watch{}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w
}

// use sets where contents are kept. Other blobs know nothing of what was kept before.
func (w *watch) use(workspace string, blobs *session.Blobs) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blobs != blobs {
		w.blobs, w.tree = blobs, tree.New(workspace, blobs.PutSoon)
		w.failed, w.told = nil, false
	}
}

// begin looks for the first time, which takes longest.
func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.running) == 0 {
		w.look(w.ctx)
	}
}

// enter is called right before a command runs.
func (w *watch) enter(c *command) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look(context.Background())
	w.running = append(w.running, c)
}

// leave is called when the call of a command is over; with a shell it runs on in
// the background.
func (w *watch) leave(c *command, shell string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.shell = shell
	w.look(context.Background())
	if shell == "" {
		w.remove(c)
	}
}

func (w *watch) remove(c *command) {
	w.running = slices.DeleteFunc(w.running, func(other *command) bool { return other == c })
}

// shells looks when a background shell has ended.
func (w *watch) shells(list []bash.ShellInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ended []*command
	for _, c := range w.running {
		if c.shell != "" && !slices.ContainsFunc(list, func(s bash.ShellInfo) bool { return s.ID == c.shell && s.Running }) {
			ended = append(ended, c)
		}
	}
	if len(ended) == 0 {
		return
	}
	w.look(context.Background())
	for _, c := range ended {
		w.remove(c)
	}
}

// rebase takes what is on the disk for nobody's doing who runs.
func (w *watch) rebase() {
	w.mu.Lock()
	defer w.mu.Unlock()
	running := w.running
	if len(running) == 0 {
		return
	}
	w.running = nil
	w.look(context.Background())
	w.running = running
}

// look compares, with mu held. After a failure it compares no more: what a look has
// missed would be taken for the next command's doing.
func (w *watch) look(ctx context.Context) {
	if w.failed != nil {
		return
	}
	got, err := w.tree.Scan(ctx, len(w.running) > 0)
	if errors.Is(err, context.Canceled) {
		return
	}
	if err != nil {
		w.failed = err
		return
	}
	if len(got.Changes) > 0 || len(got.Lost) > 0 {
		w.found = append(w.found, finding{w.by(got.Moved), got})
	}
}

// by names who ran, and what speaks against its being their doing, or all of it.
func (w *watch) by(moved bool) session.Found {
	var f session.Found
	for _, c := range w.running {
		f.CallIDs, f.Commands = append(f.CallIDs, c.call), append(f.Commands, c.line)
		if c.shell != "" {
			f.Doubt = "a command was in the background, and may not be the only one that wrote"
		}
	}
	switch {
	case f.Doubt != "":
	case len(w.running) > 1:
		f.Doubt = "several commands ran at the same time"
	case moved:
		f.Doubt = "git has another commit checked out since, and that stays"
	}
	return f
}

// take gives what was found since the last time. An error is given once.
func (w *watch) take() ([]finding, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.found
	w.found = nil
	if w.failed == nil || w.told {
		return found, nil
	}
	w.told = true
	return found, w.failed
}

// settle looks if anything runs: what it changed so far belongs to what is told next.
func (w *watch) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.running) > 0 {
		w.look(context.Background())
	}
}

// journalFound puts what commands changed into the journal, and says at once what of
// it cannot be taken back (decision 32).
func (a *App) journalFound() {
	a.watch.journaling.Lock() // what was found first is journaled first
	defer a.watch.journaling.Unlock()
	found, err := a.watch.take()
	if err != nil {
		a.emit(Notice{Level: Warning, Text: fmt.Sprintf("what commands change cannot be undone here: %v", err)})
	}
	for _, f := range found {
		if err := a.journal.Found(f.by, a.turn, f.Found); err != nil {
			a.emit(Notice{Level: Error, Text: fmt.Sprintf("what a command changed is not recorded: %v", err)})
		}
	}
}

// settleFound does the same for what runs in the background, where nothing else
// that writes to the log does.
func (a *App) settleFound() {
	a.watch.settle()
	a.journalFound()
}

// foresee begins the first look while the policy decides and the person reads.
func (a *App) foresee(_ *tools.Tool, next tools.Handler) tools.Handler {
	var once sync.Once
	return func(ctx context.Context, arguments string) (any, error) {
		once.Do(func() { a.working.Go(a.watch.begin) })
		return next(ctx, arguments)
	}
}

// watched compares the workspace before and after a command.
func (a *App) watched(_ *tools.Tool, next tools.Handler) tools.Handler {
	return func(ctx context.Context, arguments string) (result any, err error) {
		call, _ := tools.ToolCallFromContext(ctx)
		var in bash.Input
		_ = json.Unmarshal([]byte(arguments), &in) // what cannot be read does not run
		c := &command{call: call.ID, line: in.Command}
		a.watch.enter(c)
		shell := ""
		defer func() {
			a.watch.leave(c, shell)
			a.journalFound()
		}()
		result, err = next(ctx, arguments)
		if out, ok := result.(*bash.Output); ok && out != nil && out.Running {
			shell = out.BashID
		}
		return result, err
	}
}
