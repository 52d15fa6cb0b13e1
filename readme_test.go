package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/phero-agent/agent/ui"
)

// blocks are the parts of the README that are made from the code.
var blocks = map[string]func() string{
	"keys":     ui.KeysReference,
	"commands": ui.CommandsReference,
}

// TestReadmeBlocks holds the README's tables against the code; -update writes them.
func TestReadmeBlocks(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	for name, make := range blocks {
		begin, end := "<!-- "+name+": made from the code by go test -run Readme -update . -->\n", "<!-- /"+name+" -->"
		before, rest, ok := strings.Cut(readme, begin)
		block, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Errorf("the README has no block %q", name)
			continue
		}
		if updating() {
			readme = before + begin + make() + end + after
		} else if block != make() {
			t.Errorf("the README's %s are not the program's: go test -run Readme -update .", name)
		}
	}
	if updating() {
		if err := os.WriteFile("README.md", []byte(readme), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// SAFE-01: the README says that rules on commands are no boundary, with what they miss.
func TestReadmeSaysWhatRulesMiss(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "\n## Permissions\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, want := range []string{"advice against mistakes, no boundary", "`bash(rm -rf *)` does not see `rm` that a script, a Makefile", "The boundary is the sandbox"} {
		if !strings.Contains(section, want) {
			t.Errorf("the README's section on permissions does not say %q", want)
		}
	}
}

var (
	flagName = regexp.MustCompile("`(--[a-z-]+)|/(--[a-z-]+)")
	fileName = regexp.MustCompile(`\]\(([A-Za-z][^):#]*)\)`)
)

// TestReadmeNamesWhatIsThere: every flag, file and Go command that the README
// names exists.
func TestReadmeNamesWhatIsThere(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	root := newCommand()
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	for _, m := range flagName.FindAllStringSubmatch(string(data), -1) {
		name := strings.TrimLeft(m[1]+m[2], "-")
		known := func(c *cobra.Command) bool {
			return c.Flags().Lookup(name) != nil || c.PersistentFlags().Lookup(name) != nil
		}
		if !known(root) && !slices.ContainsFunc(root.Commands(), known) {
			t.Errorf("the README names --%s, which is no flag", name)
		}
	}
	for _, m := range fileName.FindAllStringSubmatch(string(data), -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("the README links to %s: %v", m[1], err)
		}
	}
	// The two commands that do all the set-up; other tests run what is behind them.
	for _, want := range []string{"\ngo run . demo\n", "\ngo test ./...\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the README has no line %q", strings.TrimSpace(want))
		}
	}
}
