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

	"github.com/phero-agent/agent/app/config"
)

var fence = regexp.MustCompile("(?ms)^```(sh|toml)( \\w+)?\n(.*?)^```$")

// TestDocsCommands runs every command of the documents that stands in a block of
// shell lines, as the README's are run, and reads every settings file.
func TestDocsCommands(t *testing.T) {
	for _, path := range documents(t) {
		for _, block := range fence.FindAllStringSubmatch(document(t, path), -1) {
			if block[1] == "toml" {
				file := filepath.Join(t.TempDir(), "config.toml")
				writeFile(t, file, []byte(block[3]))
				if err := config.Check(file); err != nil {
					t.Errorf("%s: %v", path, err)
				}
				continue
			}
			if block[2] != "" {
				continue // TestTutorial
			}
			for _, line := range strings.Split(strings.TrimSpace(block[3]), "\n") {
				if strings.HasPrefix(line, "agent ") || strings.HasPrefix(line, "git diff ") {
					t.Run(line, func(t *testing.T) {
						t.Parallel()
						runReadmeCommand(t, line)
					})
				}
			}
		}
	}
}

// TestTutorial does what docs/tutorial.md tells, with a scripted model.
func TestTutorial(t *testing.T) {
	m := serveModel(t, `
== look
> read {"file_path":"total.sh"}
> read {"file_path":"test.sh"}
== fix
> edit {"file_path":"total.sh","old_string":"/ 10)","new_string":"/ 100)"}
> bash {"command":"bash test.sh"}
== done
It divided by 10 for percent. The test passes.
`)
	ws, home, bin := t.TempDir(), t.TempDir(), t.TempDir()
	shell := func(script string) *exec.Cmd {
		self := program(t, ws, home)
		agent := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\" %s\n", self.Path, strings.Join(self.Args[1:], " "))
		writeFile(t, filepath.Join(bin, "agent"), []byte(agent))
		if err := os.Chmod(filepath.Join(bin, "agent"), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
		cmd.Dir = ws
		cmd.Env = append(self.Env, "OPENAI_BASE_URL="+m.URL+"/v1", "AGENT_MODEL=scripted", "PATH="+bin+":"+os.Getenv("PATH"))
		return cmd
	}
	kinds := map[string]int{}
	for _, block := range fence.FindAllStringSubmatch(document(t, "docs/tutorial.md"), -1) {
		kind := strings.TrimSpace(block[2])
		kinds[kind]++
		if kind == "screen" {
			term := onTerminal(t, shell(block[3]), 120, 40)
			for _, ask := range []string{"Allow edit?", "Allow bash?"} {
				term.waitFor(ask)
				term.until("took answers", func(string) bool { return term.bright("[n]") })
				term.key("y")
				term.waitGone(ask)
			}
			term.waitFor("The test passes.")
			term.waitFor("? keys")
			term.key("ctrl+d")
			if code := term.exit(); code != 0 {
				t.Fatalf("exit code %d", code)
			}
			continue
		}
		out, err := shell(block[3]).CombinedOutput()
		if (err != nil) != (kind == "fails") {
			t.Fatalf("%s: %v: %s", block[3], err, out)
		}
	}
	if kinds["tutorial"] < 3 || kinds["fails"] != 1 || kinds["screen"] != 1 {
		t.Errorf("the tutorial has %v", kinds)
	}
}
