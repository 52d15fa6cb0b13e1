//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var commandRow = regexp.MustCompile("(?m)^\\| `((?:agent|git diff)[^`]*)` \\|")

// TestReadmeCommands runs every command of the README's table on a terminal, by a
// shell: it opens the screen, or ends and was no wrong usage.
func TestReadmeCommands(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := commandRow.FindAllStringSubmatch(string(data), -1)
	if len(rows) < 7 {
		t.Fatalf("the README has %d commands", len(rows))
	}
	for _, row := range rows {
		line := strings.NewReplacer(`\|`, "|", " [id]", "").Replace(row[1])
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			runReadmeCommand(t, line)
		})
	}
}

func runReadmeCommand(t *testing.T, line string) {
	const script = "== answer\nAn answer.\n== again\nAn answer.\n"
	m := serveModel(t, script)
	ws, home, bin := t.TempDir(), t.TempDir(), t.TempDir()
	inRepository := func(name string, args ...string) *exec.Cmd {
		cmd := program(t, ws, home)
		env := append(cmd.Env, "OPENAI_BASE_URL="+m.URL+"/v1", "AGENT_MODEL=scripted", "TMPDIR="+t.TempDir(),
			"PATH="+bin+":"+os.Getenv("PATH"))
		agent := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\" %s\n", cmd.Path, strings.Join(cmd.Args[1:], " "))
		if err := os.WriteFile(filepath.Join(bin, "agent"), []byte(agent), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd = exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = ws, env
		return cmd
	}
	// A repository with a change and a session, for the commands that need one.
	setup := `git init -q . && echo one >f && git add f && echo two >f && agent -p hello`
	if out, err := inRepository("bash", "-c", setup).CombinedOutput(); err != nil || !strings.Contains(string(out), "An answer.") {
		t.Fatalf("%v: %s", err, out)
	}
	term := onTerminal(t, inRepository("bash", "-c", line), 120, 40)
	if strings.Contains(line, "agent -p") {
		// The terminal breaks long lines.
		if code := term.exit(); code != 0 || !strings.Contains(strings.ReplaceAll(term.text(), "\n", ""), "An answer.") {
			t.Errorf("exit %d: %s", code, term.text())
		}
		return
	}
	term.until("opened", func(screen string) bool {
		select {
		case <-term.done:
			return true
		default:
		}
		return strings.Contains(screen, "? keys") || strings.Contains(screen, "─ Sessions") || strings.Contains(screen, "─ Allow")
	})
	select {
	case <-term.done:
		if code := term.exit(); code == 2 {
			t.Errorf("a wrong usage: %s", term.text())
		}
	default:
	}
}
