package main

import (
	"os"
	"strings"
	"testing"
)

// SAFE-01: the README says that rules on commands are no boundary, with what they miss,
// and that a link can be swapped between the decision and the call (IMP-25).
func TestReadmeSaysWhatRulesMiss(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "\n## Permissions\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, want := range []string{"advice against mistakes, no boundary", "`bash(rm -rf *)` does not see `rm` that a script, a Makefile", "The boundary is the sandbox", "Between the decision and the call a link can be swapped; then the file tools' own check of the workspace holds"} {
		if !strings.Contains(section, want) {
			t.Errorf("the README's section on permissions does not say %q", want)
		}
	}
}

// IMP-44: what the README tells of itself, the rest being in docs/.
func TestReadmeIsWhole(t *testing.T) {
	text := document(t, "README.md")
	for _, want := range []string{
		"go install github.com/phero-agent/agent@latest", "export OPENAI_API_KEY", "<!-- keys:", "advice against mistakes, no boundary",
		"It bounds neither memory nor processors nor the disk", ".phero/sessions/<id>/log.jsonl", ".phero/blobs/", "**Not covered**", "Without a screen", "## What is sent where",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
}

// TestReadmeSaysHowToBegin: the two commands that do all the set-up are there; other
// tests run what is behind them.
func TestReadmeSaysHowToBegin(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\ngo run . demo\n", "\ngo test ./...\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the README has no line %q", strings.TrimSpace(want))
		}
	}
}
