package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/file"
	mcptools "github.com/phero-agent/agent/tools/mcp"
)

// toolbox holds every tool of the application, behind the policy.
type toolbox struct {
	tools.Set
	write   *file.WriteTool
	edit    *file.EditTool
	multi   *file.MultiEditTool
	bash    *bash.Tool
	remotes *remotes

	mu    sync.Mutex              // of what follows
	shown map[string]*file.Change // by call: what the person approved
	mine  map[string]*version     // by call: what the person wrote instead
	begun map[string]time.Time    // by call: when it began to run
	later map[string][]string     // by call: the calls after it in its reply
	skip  map[string]bool         // calls that the person does not want to be asked about
}

// equip builds what a turn works with, once it is known what commands run in.
// Both stay as they are for the whole session (decision 26).
func (a *App) equip(ctx context.Context) error {
	if a.box != nil {
		return nil
	}
	if err := a.sandbox.wait(ctx); err != nil {
		return err
	}
	if !a.opts.Interactive && a.sandbox.err != nil {
		return a.sandbox.err // nobody can say whether to go on without commands (decision 20)
	}
	a.awaitServers(ctx)
	box, err := a.newToolbox()
	if err != nil {
		return err
	}
	instructions, left := readInstructions(a.opts)
	for _, text := range left {
		a.emit(Notice{Level: Warning, Text: text})
	}
	a.own.system = systemPrompt(a.opts, instructions)
	a.own.specs, a.own.tools = Specs(box.Tools()), box.Set
	a.gauge.weigh(a.own.system, a.own.specs)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.box = box
	return nil
}

// shells is the tool that commands run with, nil before the first turn.
func (a *App) shells() *bash.Tool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.box == nil {
		return nil
	}
	return a.box.bash
}

// newToolbox builds the tools: file tools and commands confined to one and the
// same workspace (IMP-33), their changes journaled, every call before the policy (LOOP-14).
func (a *App) newToolbox() (*toolbox, error) {
	b := &toolbox{shown: map[string]*file.Change{}, mine: map[string]*version{}, begun: map[string]time.Time{}, later: map[string][]string{}, skip: map[string]bool{}}
	opts := []file.Option{
		file.WithWorkingDirectory(a.opts.Workspace),
		file.WithRoots(a.opts.Roots...),
		file.WithReadOnlyRoots(append(a.skills.roots(), a.sandbox.roots...)...),
		file.WithReadTracker(a.tracker),
		file.WithBeforeWrite(a.beforeWrite),
		file.WithOnWrite(a.onWrite),
	}
	read, err := file.NewReadTool(opts...)
	if err != nil {
		return nil, err
	}
	if b.write, err = file.NewWriteTool(opts...); err != nil {
		return nil, err
	}
	if b.edit, err = file.NewEditTool(opts...); err != nil {
		return nil, err
	}
	if b.multi, err = file.NewMultiEditTool(opts...); err != nil {
		return nil, err
	}
	glob, err := file.NewGlobTool(opts...)
	if err != nil {
		return nil, err
	}
	grep, err := file.NewGrepTool(opts...)
	if err != nil {
		return nil, err
	}
	shell := []bash.Option{
		bash.WithReach(a.reachOf),
		bash.WithPersistentShell(),
		bash.WithOutputHandler(func(ctx context.Context, chunk []byte) {
			call, _ := tools.ToolCallFromContext(ctx)
			a.emit(ToolOutput{CallID: call.ID, Chunk: chunk})
		}),
		bash.WithSilenceHandler(silentAfter, a.silent),
		bash.WithShellsHandler(a.shellsChanged),
	}
	if a.opts.Interactive {
		shell = append(shell, bash.WithRerun(a.rerun))
	}
	if b.bash, err = a.sandbox.newShell(shell...); err != nil {
		return nil, err
	}
	todos, err := a.todoTool()
	if err != nil {
		return nil, err
	}
	fetch, err := a.webTool()
	if err != nil {
		return nil, err
	}
	all := []*tools.Tool{
		read.Tool(), b.write.Tool(), b.edit.Tool(), b.multi.Tool(), glob.Tool(), grep.Tool(),
		b.bash.Tool(), b.bash.OutputTool(), b.bash.KillTool(), fetch, todos,
	}
	if len(a.skills.tool.Skills()) > 0 { // a tool without any use costs its description
		all = append(all, a.skills.tool.Tool())
	}
	if a.opts.Interactive { // nobody else answers (IMP-24)
		ask, err := a.interaction()
		if err != nil {
			return nil, err
		}
		all = append(all, ask)
	}
	if err := a.fill(b, all); err != nil {
		return nil, err
	}
	b.bash.Tool().Use(a.foresee)
	a.perms.policy.Apply(b.decided()...) // outermost: what follows happens only to calls that may run
	b.bash.Tool().Use(a.durable, a.watched)
	glob.Tool().Use(a.shownPaths)
	for _, t := range b.decided() {
		t.Use(a.started)
	}
	for _, t := range []*tools.Tool{b.write.Tool(), b.edit.Tool(), b.multi.Tool()} {
		t.Use(a.theirVersion)
	}
	return b, nil
}

// fill puts our own tools into the box, those of the MCP servers, and the one that
// starts sub-agents, which has them all.
func (a *App) fill(b *toolbox, ours []*tools.Tool) error {
	lone, err := a.agentTool(nil) // for its weight
	if err != nil {
		return err
	}
	var listed, stand []*tools.Tool
	if b.remotes, listed, stand, err = a.newRemotes(append(ours[:len(ours):len(ours)], lone)); err != nil {
		return err
	}
	all := slices.Concat(ours, listed, stand)
	delegate, err := a.agentTool(all)
	if err != nil {
		return err
	}
	for _, t := range append(all, delegate) {
		if err := b.AddTool(t); err != nil {
			return err
		}
	}
	return nil
}

// decided are the tools whose calls the policy decides under their own names.
func (b *toolbox) decided() (list []*tools.Tool) {
	for _, t := range b.Tools() {
		if t.Name() != mcptools.CallName {
			list = append(list, t)
		}
	}
	return list
}

// shownPaths gives the paths that glob found as grep gives them.
func (a *App) shownPaths(_ *tools.Tool, next tools.Handler) tools.Handler {
	return func(ctx context.Context, arguments string) (any, error) {
		result, err := next(ctx, arguments)
		if found, ok := result.(*file.GlobOutput); ok {
			for i, p := range found.Paths {
				found.Paths[i] = a.relative(p)
			}
		}
		return result, err
	}
}

// durable makes the log durable before a command runs: what the command does to
// the disk must not outlive the record of who asked for it (decision 33).
func (a *App) durable(_ *tools.Tool, next tools.Handler) tools.Handler {
	return func(ctx context.Context, arguments string) (any, error) {
		a.sync()
		return next(ctx, arguments)
	}
}

// preview is what a call would write; nil for a tool that writes no files.
func (b *toolbox) preview(tool, arguments string) (*file.Change, error) {
	switch tool {
	case "write":
		return previewOf(arguments, b.write.Preview)
	case "edit":
		return previewOf(arguments, b.edit.Preview)
	case "multi_edit":
		return previewOf(arguments, b.multi.Preview)
	}
	return nil, nil
}

func previewOf[In any](arguments string, preview func(*In) (*file.Change, error)) (*file.Change, error) {
	var in In
	if err := json.Unmarshal([]byte(arguments), &in); err != nil {
		return nil, &tools.ArgumentParseError{Err: err}
	}
	return preview(&in)
}

func (b *toolbox) begin(call string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun[call] = at
}

// ran is how long a call has run until now.
func (b *toolbox) ran(call string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.begun[call])
}

// began gives when a call began to run, once; zero for one that never did.
func (b *toolbox) began(call string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.begun[call]
	delete(b.begun, call)
	return at
}

// take gives what the person saw of a call, once.
func (b *toolbox) take(call string) *file.Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.shown[call]
	delete(b.shown, call)
	return c
}

// enter makes the order of a reply's calls known until leave.
func (b *toolbox) enter(calls []tools.ToolCall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var later []string
	for _, c := range slices.Backward(calls) {
		b.later[c.ID] = later
		later = append([]string{c.ID}, later...)
	}
}

func (b *toolbox) leave(calls []tools.ToolCall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range calls {
		delete(b.later, c.ID)
		delete(b.skip, c.ID)
	}
}

// skipLater keeps the calls behind one in its reply from running, those that have
// not begun: the person refused it and said what to do instead, and the model must
// hear that first.
func (b *toolbox) skipLater(call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.later[call] {
		b.skip[id] = true
	}
}

func (b *toolbox) skipped(call string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.skip[call]
}

// beforeWrite lets a write pass that is what the person saw, once its intent is
// in the journal (decision 11).
func (a *App) beforeWrite(ctx context.Context, c file.Change) error {
	if rel, err := filepath.Rel(a.opts.Workspace, c.Path); err == nil && reserved(rel) {
		return fmt.Errorf("%s is reserved for git or the agent", c.Path)
	}
	call, _ := tools.ToolCallFromContext(ctx)
	if shown := a.box.take(call.ID); shown != nil && !sameChange(shown, &c) {
		return &file.ChangedError{Path: c.Path, Since: "the change was shown", Hunks: file.Hunks(shown.Before, c.Before, 1)}
	}
	if a.box.versionOf(call.ID) != nil {
		call.Name = session.ByEditor
	}
	return a.journal.Intent(call, a.turn, c)
}

// onWrite marks a write done.
func (a *App) onWrite(ctx context.Context, c file.Change) {
	call, _ := tools.ToolCallFromContext(ctx)
	if err := a.journal.Done(call, c); err != nil {
		a.emit(Notice{Level: Error, Text: err.Error()})
	}
}

func sameChange(a, b *file.Change) bool {
	return a.Path == b.Path && a.Existed == b.Existed && a.Perm == b.Perm &&
		bytes.Equal(a.Before, b.Before) && bytes.Equal(a.After, b.After)
}
