//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ours are the shell lines that a test runs, others those that it checks another way.
var (
	ours   = regexp.MustCompile(`^(agent|git diff)\b`)
	others = []struct {
		line  *regexp.Regexp
		check func(t *testing.T, m []string) error
	}{
		{regexp.MustCompile(`^cd [\w/]+$`), func(*testing.T, []string) error { return nil }},
		{regexp.MustCompile(`^go install (\S+)@latest$`), func(_ *testing.T, m []string) error { return same(m[1], module) }},
		{regexp.MustCompile(`^export (\w+)=…$`), func(t *testing.T, m []string) error { return knownVariable(t, m[1]) }},
		{regexp.MustCompile(`^go run \.(.*)$`), func(_ *testing.T, m []string) error { return parses("agent" + m[1]) }},
		{regexp.MustCompile(`^go test (\./\.\.\.)$`), func(*testing.T, []string) error { return nil }}, // this is it
		{regexp.MustCompile(`^bash (\S+)$`), func(t *testing.T, m []string) error {
			return exec.CommandContext(t.Context(), "bash", "-n", m[1]).Run()
		}},
	}
)

func same(got, want string) error {
	if got != want {
		return fmt.Errorf("it says %s, not %s", got, want)
	}
	return nil
}

// checkShell runs the lines of a block that are the program's, each by itself, and
// checks the others.
func checkShell(t *testing.T, b block) {
	for line := range strings.Lines(b.text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if ours.MatchString(line) {
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				runDocumented(t, line)
			})
			continue
		}
		line, _, _ = strings.Cut(line, " #")
		if err := checkOther(t, strings.TrimSpace(line)); err != nil {
			t.Errorf("%s: %s: %v", b.doc, line, err)
		}
	}
}

func checkOther(t *testing.T, line string) error {
	for _, o := range others {
		if m := o.line.FindStringSubmatch(line); m != nil {
			return o.check(t, m)
		}
	}
	return fmt.Errorf("no check knows this line")
}

var commandRow = regexp.MustCompile("(?m)^\\| `((?:agent|git diff)[^`]*)` \\|")

// TestReadmeCommands runs every command of the README's table.
func TestReadmeCommands(t *testing.T) {
	rows := commandRow.FindAllStringSubmatch(document(t, "README.md"), -1)
	if len(rows) < 7 {
		t.Fatalf("the README has %d commands", len(rows))
	}
	for _, row := range rows {
		line := strings.NewReplacer(`\|`, "|", " [id]", "").Replace(row[1])
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			runDocumented(t, line)
		})
	}
}

// endings are the exit codes of commands that may end with another one than 0, in
// the repository in which documented lines run.
var endings = []struct {
	begin string
	codes []int
}{
	{"agent permissions check", []int{0, exitAsk, exitDeny}},
	{"agent permissions forget", []int{1}}, // there is no such answer
	{"agent doctor", []int{0, 1}},          // this machine may lack something
	{"agent mcp test", []int{0, 1}},
	{"agent undo", []int{1}}, // nobody changed anything
	{"agent", []int{0}},
	{"git", []int{0}},
}

// runDocumented runs a line of a document on a terminal, by a shell, in a repository
// with a change and a session: it opens the screen, or ends as it should.
func runDocumented(t *testing.T, line string) {
	m := serveModel(t, "== answer\nAn answer.\n== again\nAn answer.\n")
	shell := withAgent(t, t.TempDir(), t.TempDir(), "OPENAI_BASE_URL="+m.URL+"/v1", "AGENT_MODEL=scripted", "TMPDIR="+t.TempDir())
	setup := shell(`git init -q . && mkdir ../lib && echo one >f && git add f && echo two >f && agent -p hello`)
	if out, err := setup.CombinedOutput(); err != nil || !strings.Contains(string(out), "An answer.") {
		t.Fatalf("%v: %s", err, out)
	}
	term := onTerminal(t, shell(line), 120, 40)
	if strings.Contains(line, "agent -p") {
		// The terminal breaks long lines.
		if code := term.exit(); code != 0 || !strings.Contains(strings.ReplaceAll(term.text(), "\n", ""), "An answer.") {
			t.Errorf("exit %d: %s", code, term.text())
		}
		return
	}
	term.until("opened", func(screen string) bool {
		return term.ended() || strings.Contains(screen, "? keys") || strings.Contains(screen, "─ Sessions") || strings.Contains(screen, "─ Allow")
	})
	if !term.ended() {
		return
	}
	for _, e := range endings {
		if strings.HasPrefix(line, e.begin) {
			if code := term.exit(); !slices.Contains(e.codes, code) {
				t.Errorf("exit %d: %s", code, term.text())
			}
			return
		}
	}
}

// withAgent makes shells in a workspace below which the command agent is the program.
func withAgent(t *testing.T, base, home string, env ...string) func(script string) *exec.Cmd {
	t.Helper()
	ws, bin := filepath.Join(base, "ws"), filepath.Join(base, "bin")
	if err := os.MkdirAll(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	self := program(t, ws, home)
	agent := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\" %s\n", self.Path, strings.Join(self.Args[1:], " "))
	writeFile(t, filepath.Join(bin, "agent"), []byte(agent))
	if err := os.Chmod(filepath.Join(bin, "agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	return func(script string) *exec.Cmd {
		cmd := gently(exec.CommandContext(t.Context(), "bash", "-ec", script))
		cmd.Dir = ws
		cmd.Env = append(append(self.Env, "PATH="+bin+":"+os.Getenv("PATH")), env...)
		return cmd
	}
}
