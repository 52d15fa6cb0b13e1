//go:build linux

package app

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/permissions"
)

// TestReadOnlyChangesNothing runs random commands that the list of read-only
// commands allows, with the real programs: whatever their options, no file comes,
// goes or changes.
func TestReadOnlyChangesNothing(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is missing")
	}
	dir := fatigueWorkspace(t)
	for name, text := range map[string]string{"a": "b\na\n", "b": "a,b c\n", "d/e": "x\n", "s": "w f\n"} {
		appendTo(t, dir, name, text)
	}
	p := testPermissions(t, "bwrap", Options{Workspace: dir}, nil)
	r := rand.New(rand.NewPCG(3, 4))
	before, ran := snapshot(t, dir), 0
	for range 1500 {
		line := randomCommand(r)
		if decide(p, line) != permissions.Allow {
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		cmd := exec.CommandContext(ctx, bash, "-c", line)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GIT_PAGER=cat"}
		_ = cmd.Run() // most options make no sense together
		cancel()
		if after := snapshot(t, dir); after != before {
			t.Fatalf("%q changed files:\n%s\nbefore:\n%s", line, after, before)
		}
	}
	if ran < 150 {
		t.Errorf("only %d commands ran", ran)
	}
}

// randomCommand is a program of the list with options and operands that it may take.
func randomCommand(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	program := pick("ls", "cat", "head", "wc", "grep", "rg", "find", "sort", "uniq", "cut", "tr", "sed", "awk", "diff", "stat", "file", "du", "tree", "jq", "ps", "env", "date", "echo", "test", "which",
		"nl", "tac", "paste", "join", "comm", "cmp", "md5sum", "od", "strings", "base64", "column", "hostname", "gofmt", "command", "printenv", "git status", "git diff", "git log", "git grep", "git branch",
		"git tag", "git remote", "git stash", "git ls-files", "git rev-parse", "git blame", "git add", "git show", "git reflog", "git worktree", "git shortlog", "git for-each-ref", "git cat-file", "git describe")
	words := []string{program}
	for range r.IntN(5) {
		letter := string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123"[r.IntN(56)])
		words = append(words, pick("a", "b", "d", "f", "s", ".", "*", "d/*", "x=y", "-", "--", "HEAD", "-"+letter, "-"+letter, "-"+letter, "-"+letter+pick("n", "o", "i", "f", "5"), "--"+pick(
			"output", "output=f", "outp=f", "files0-from=a", "compress-program=touch", "pre=touch", "in-place", "expression=p", "expression='w f'", "expression='1e touch f'", "file=s", "dry-run", "list", "all",
			"ext-diff", "no-index", "textconv", "open-files-in-pager=touch", "exec=touch", "recursive", "numeric-sort", "count", "stat", "oneline", "sort=x", "set-upstream", "delete", "move", "contains", "format=x"),
			"-exec touch f ';'", "-delete", "-fprint f", "-fls f", "-name a", "-print", "-ok touch f ';'", "p", "1p", "'w f'", "'s/a/b/w f'", "'s/a/b/e'", "'1e touch f'", "'$p;w f'", "'/a/,/b/p'", "'{p;w f}'", "'y/a/b/'", "'r a'", "s/a/b/g",
			"'{print}'", "'{print > \"f\"}'", "'BEGIN{system(\"touch f\")}'", "'{print | \"touch f\"}'", "'\"touch f\" | getline'", "'{print $1}'", "'@load \"x\"'", "add", "pop", "drop", "prune", "expire", "get-url", "set-url", "+%F", "0101"))
	}
	return strings.Join(words, " ")
}

// snapshot is every file with its mode and content, but for git's own.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				refs, err := exec.Command("git", "-C", dir, "for-each-ref").Output()
				fmt.Fprintf(&b, "refs %s%v\n", refs, err)
				config, err := os.ReadFile(filepath.Join(path, "config"))
				fmt.Fprintf(&b, "config %s%v\n", config, err)
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %v %q %v\n", path, info.Mode(), data, err)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
