//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletions types into the shells that are here, with what agent completion
// prints for them (IMP-01).
func TestCompletions(t *testing.T) {
	const bashCompletion = "/usr/share/bash-completion/bash_completion"
	shells := []struct {
		name, needs, load string
		args              []string
	}{
		{"bash", bashCompletion, ". " + bashCompletion + "; . <(agent completion bash)", []string{"--norc", "--noprofile", "-i"}},
		{"zsh", "", "autoload -U compinit; compinit -u -D; . <(agent completion zsh); compdef _agent agent", []string{"-f", "-i"}},
		{"fish", "", "agent completion fish | source", []string{"--no-config", "-i"}},
	}
	typed := []struct{ text, want string }{
		{"agent sessi", "agent sessions "},
		{"agent --no-s", "agent --no-session "},
		{"agent --sandbox land", "agent --sandbox landlock "},
		{"agent -o str", "agent -o stream-json "},
		{"agent config sch", "agent config schema "},
	}
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(sh.name)
			if err == nil && sh.needs != "" {
				_, err = os.Stat(sh.needs)
			}
			if err != nil {
				if os.Getenv("CI") != "" && os.Getenv("RUNNER_OS") != "macOS" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			ws, home := t.TempDir(), t.TempDir()
			env := program(t, ws, home)
			agent := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", env.Path)
			if err := os.WriteFile(filepath.Join(home, "agent"), []byte(agent), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := gently(exec.CommandContext(t.Context(), path, sh.args...))
			cmd.Dir, cmd.Env = ws, append(env.Env, "PATH="+home+":"+os.Getenv("PATH"), "PS1=$ ")
			term := onTerminal(t, cmd, 160, 40)
			term.send(sh.load + "; echo load''ed\r")
			term.waitFor("loaded")
			for _, c := range typed {
				// The word stands alone on the last line, so that what the shell puts behind it is seen.
				term.send(c.text + "\t")
				term.until("completed "+c.text, func(screen string) bool {
					return strings.HasSuffix(screen, strings.TrimRight(c.want, " "))
				})
				term.send("\x15\x0c") // the line away, and a new screen
				term.until("was cleared", func(screen string) bool { return !strings.Contains(screen, "agent ") })
			}
		})
	}
}
