package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/phero-agent/agent/tools/bash"
)

// gitLook counts the changed files of the workspace's repository, for the model's
// notes. Git runs in the sandbox only, because a repository's settings can make it
// run programs (decision 17), and beside the turn, so that no request waits for it:
// what a look finds is told with the next one.
type gitLook struct {
	mu      sync.Mutex
	busy    bool
	off     bool // git is slow here, or fails
	known   bool
	changed int // files that are changed or new, at the last look
}

// gitPatience is how long a look may take, in milliseconds; after one that takes
// longer there is no other.
const gitPatience = 5000

// gitCount prints how many files git calls changed or new.
const gitCount = `set -o pipefail; git --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null status --porcelain -z --no-renames --ignore-submodules=all 2>/dev/null | tr -dc '\0' | wc -c`

// lookAtGit begins a look where there is a repository and a sandbox, and sessions:
// before the first one nothing is written into a workspace, and the sandbox would.
func (a *App) lookAtGit() {
	if _, err := os.Stat(filepath.Join(a.sessions.store.Dir(), "sessions")); err != nil || !a.sandbox.holds() || branch(a.opts.Workspace) == "" {
		return
	}
	g := &a.git
	a.mu.Lock()
	defer a.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if a.closed || g.busy || g.off {
		return
	}
	g.busy = true
	a.working.Go(func() {
		changed, err := a.countChanged(a.life)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.busy, g.off, g.known = false, err != nil, err == nil
		g.changed = changed
	})
}

func (a *App) countChanged(ctx context.Context) (int, error) {
	shell, err := a.sandbox.newShell()
	if err != nil {
		return 0, err
	}
	defer shell.Close()
	arguments, err := json.Marshal(bash.Input{Command: gitCount, Timeout: gitPatience})
	if err != nil {
		return 0, err
	}
	result, err := shell.Tool().Handle(ctx, string(arguments))
	if err != nil {
		return 0, err
	}
	out, _ := result.(*bash.Output)
	if out == nil || out.ExitCode != 0 || out.TimedOut {
		return 0, fmt.Errorf("git status failed: %+v", out)
	}
	return strconv.Atoi(strings.TrimSpace(out.Output))
}

// gitState is what the model is told of the repository, "" where there is none.
func (a *App) gitState() string {
	b := branch(a.opts.Workspace)
	if b == "" {
		return ""
	}
	a.git.mu.Lock()
	defer a.git.mu.Unlock()
	switch {
	case !a.git.known:
		return fmt.Sprintf("The git branch is %s.", b)
	case a.git.changed == 0:
		return fmt.Sprintf("The git branch is %s, without changes that are not committed.", b)
	}
	return fmt.Sprintf("The git branch is %s; files that are changed or new and not committed: %d.", b, a.git.changed)
}

// branch is the branch that is checked out, read without git: a repository's
// settings can make git run programs (decision 17). "" outside of a repository.
func branch(workspace string) string {
	dir := filepath.Join(workspace, ".git")
	if data, err := os.ReadFile(dir); err == nil { // a worktree or submodule
		target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
		if !ok {
			return ""
		}
		if dir = target; !filepath.IsAbs(dir) {
			dir = filepath.Join(workspace, dir)
		}
	}
	head, err := os.ReadFile(filepath.Join(dir, "HEAD"))
	if err != nil {
		return ""
	}
	text := strings.TrimSpace(string(head))
	if ref, ok := strings.CutPrefix(text, "ref: refs/heads/"); ok {
		return ref
	}
	return text[:min(len(text), 8)]
}
