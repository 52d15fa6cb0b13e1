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
	"unicode/utf8"

	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/regular"
)

// gitLook finds the changed files of the workspace's repository, for the model's
// notes. Git runs in the sandbox only, because a repository's settings can make it
// run programs (decision 17), and beside the turn, so that no request waits for it:
// what a look finds is told with the next one.
type gitLook struct {
	mu      sync.Mutex
	busy    bool
	off     bool // git is slow here, or fails
	known   bool
	changed changedFiles // at the last look
}

// gitPatience is how long a look may take, in milliseconds; after one that takes
// longer there is no other.
const gitPatience = 5000

// statusLine prints how many files git calls changed or new, and the first of them, one
// in a line, with names quoted where they have to be.
const statusLine = `all=$(git --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false ` +
	`status --porcelain --no-renames --ignore-submodules=all 2>/dev/null) || exit
mapfile -t files < <(printf %s "$all")
printf '%s\n' ${#files[@]} "${files[@]:0:10}"`

// mayLookAtGit tells whether there is a repository and a sandbox, and sessions:
// before the first one nothing is written into a workspace, and the sandbox would.
func (a *App) mayLookAtGit() bool {
	_, err := os.Stat(filepath.Join(a.sessions.store.Dir(), "sessions"))
	return err == nil && a.sandbox.holds() && branch(a.opts.Workspace) != ""
}

// lookAtGit begins a look where it may.
func (a *App) lookAtGit() {
	if !a.mayLookAtGit() {
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
		changed, err := a.gitStatus(a.life)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.busy, g.off, g.known = false, err != nil, err == nil
		g.changed = changed
	})
}

func (a *App) gitStatus(ctx context.Context) (changedFiles, error) {
	shell, err := a.sandbox.newShell()
	if err != nil {
		return changedFiles{}, err
	}
	defer shell.Close()
	arguments, err := json.Marshal(bash.Input{Command: statusLine, Timeout: gitPatience})
	if err != nil {
		return changedFiles{}, err
	}
	result, err := shell.Tool().Handle(ctx, string(arguments))
	if err != nil {
		return changedFiles{}, err
	}
	out, _ := result.(*bash.Output)
	if out == nil || out.ExitCode != 0 || out.TimedOut {
		return changedFiles{}, fmt.Errorf("git status failed: %+v", out)
	}
	return parseStatus(out.Output)
}

// changedFiles are those that are changed or new and not committed.
type changedFiles struct {
	count int
	first []string // with a word on those that are not just changed
}

// parseStatus reads what [statusLine] printed.
func parseStatus(text string) (changedFiles, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	count, err := strconv.Atoi(lines[0])
	if err != nil {
		return changedFiles{}, err
	}
	c := changedFiles{count: count}
	for _, line := range lines[1:] {
		if len(line) < 4 {
			continue
		}
		name := line[3:]
		switch state := line[:2]; {
		case state == "??" || state[0] == 'A' && state[1] != 'A':
			name += " (new)"
		case strings.Contains(state, "U") || state == "AA" || state == "DD":
			name += " (in conflict)"
		case strings.Contains(state, "D"):
			name += " (deleted)"
		}
		c.first = append(c.first, name)
	}
	return c, nil
}

// gitState is what the model is told of the repository, "" where there is none.
func (a *App) gitState() string {
	b := branch(a.opts.Workspace)
	if b == "" {
		return ""
	}
	a.git.mu.Lock()
	defer a.git.mu.Unlock()
	switch c := a.git.changed; {
	case !a.git.known:
		return fmt.Sprintf("The git branch is %s.", b)
	case c.count == 0:
		return fmt.Sprintf("The git branch is %s, without changes that are not committed.", b)
	case c.count > len(c.first):
		return fmt.Sprintf("The git branch is %s. Not committed: %s, and %d more.", b, strings.Join(c.first, ", "), c.count-len(c.first))
	default:
		return fmt.Sprintf("The git branch is %s. Not committed: %s.", b, strings.Join(c.first, ", "))
	}
}

const (
	maxGitFile = 1 << 20 // of a file of git, in bytes
	maxBranch  = 255     // of a branch's name, in bytes
)

// branch is the branch that is checked out, read without git: a repository's
// settings can make git run programs (decision 17). "" outside of a repository.
func branch(workspace string) string {
	dir := filepath.Join(workspace, ".git")
	if data, err := regular.Read(dir, maxGitFile); err == nil { // a worktree or submodule
		target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
		if !ok {
			return ""
		}
		if dir = target; !filepath.IsAbs(dir) {
			dir = filepath.Join(workspace, dir)
		}
	}
	head, err := regular.Read(filepath.Join(dir, "HEAD"), maxGitFile)
	if err != nil {
		return ""
	}
	text := strings.TrimSpace(string(head))
	ref, ok := strings.CutPrefix(text, "ref: refs/heads/")
	if !ok {
		ref = text[:min(len(text), 8)]
	}
	if len(ref) > maxBranch || strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }) {
		return "" // no name that git would give
	}
	return ref
}
