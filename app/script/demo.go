package script

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/tools/txtar"
)

//go:embed demo/go.txtar
var goDemo []byte

//go:embed demo/shell.txtar
var shellDemo []byte

// DemoPrompt is what the person of the demo asks for.
const DemoPrompt = "The tests fail. Find out why and fix it."

// DemoOver is what the demo's model says when its script is over.
const DemoOver = "My script is over. Start `agent` with a model in a repository of your own."

// Demo makes the demo's repository in dir, an empty directory, and returns its
// script: a Go module, or a shell project where there is no Go. It is a git
// repository where there is git.
func Demo(ctx context.Context, dir string) (*Script, error) {
	archive := shellDemo
	if _, err := exec.LookPath("go"); err == nil {
		archive = goDemo
	}
	var text string
	for _, f := range txtar.Parse(archive).Files {
		if f.Name == "script" {
			text = string(f.Data)
			continue
		}
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return nil, err
		}
	}
	if err := commitAll(ctx, dir); err != nil {
		return nil, err
	}
	return Parse(text)
}

// commitAll makes dir a git repository with one commit.
func commitAll(ctx context.Context, dir string) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=agent demo", "-c", "user.email=demo@example.com", "-c", "commit.gpgsign=false", "commit", "-qm", "A shop with a failing test"},
	} {
		cmd := exec.CommandContext(ctx, git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}
