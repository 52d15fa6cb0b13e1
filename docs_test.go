package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/ui"
)

// blocks are the parts of the documents that are made from the code.
var blocks = []struct {
	file, name string
	make       func() string
}{
	{"README.md", "keys", ui.KeysReference},
	{"README.md", "commands", commandsReference},
	{"docs/headless.md", "events", app.StreamReference},
	{"docs/flags.md", "flags", flagsReference},
	{"docs/flags.md", "elsewhere", elsewhereReference},
}

// documents are all that a person reads.
func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	return append(docs, "README.md", "CONTRIBUTING.md", "SECURITY.md")
}

func document(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDocsBlocks holds the made parts of the documents against the code; -update
// writes them.
func TestDocsBlocks(t *testing.T) {
	for _, b := range blocks {
		text := document(t, b.file)
		begin, end := "<!-- "+b.name+": made from the code by go test -run Docs -update . -->\n", "<!-- /"+b.name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		block, after, closed := strings.Cut(rest, end)
		switch {
		case !ok || !closed:
			t.Errorf("%s has no block %q", b.file, b.name)
		case updating():
			if err := os.WriteFile(b.file, []byte(before+begin+b.make()+end+after), 0o644); err != nil {
				t.Fatal(err)
			}
		case block != b.make():
			t.Errorf("the block %s of %s is not what the program says: go test -run Docs -update .", b.name, b.file)
		}
	}
}

// flagsReference is the table of the flags of all commands (IMP-01).
func flagsReference() string {
	var b strings.Builder
	root := newCommand()
	root.InitDefaultVersionFlag()
	flagTable(&b, root)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Hidden { // agent completion, which the README names
				continue
			}
			if sub.LocalNonPersistentFlags().HasAvailableFlags() {
				fmt.Fprintf(&b, "\n`%s`: %s\n\n", sub.CommandPath(), strings.ToLower(sub.Short[:1])+sub.Short[1:])
				flagTable(&b, sub)
			}
			walk(sub)
		}
	}
	walk(root)
	return b.String()
}

func flagTable(b *strings.Builder, c *cobra.Command) {
	b.WriteString("| flag | does |\n|---|---|\n")
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		name, use := flagWords(f)
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.ReplaceAll(use, "|", `\|`))
	})
}

// flagWords are how a flag is written, and what it does.
func flagWords(f *pflag.Flag) (name, use string) {
	value, use := pflag.UnquoteUsage(f)
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if value != "" && f.NoOptDefVal == "" {
		name += " " + value
	}
	return name, use
}

func elsewhereReference() string {
	var b strings.Builder
	b.WriteString("| there | here |\n|---|---|\n")
	for _, e := range elsewhere() {
		fmt.Fprintf(&b, "| --%s | %s |\n", e[0], e[1])
	}
	return b.String()
}

// commandsReference is the table of slash commands: the screen's and those that come
// with the application.
func commandsReference() string {
	dir, err := os.MkdirTemp("", "agent-docs-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	a, err := app.New(app.Options{Workspace: dir, Dir: dir, StateDir: filepath.Join(dir, "state"), Sandbox: "none", Emit: func(app.Event) {}, SetUp: setUpFor(config.Settings{}, nil)})
	if err != nil {
		panic(err)
	}
	defer a.Close()
	return ui.CommandsReference(commands(a)...)
}

var (
	flagName = regexp.MustCompile("`(--[a-z-]+)|/(--[a-z-]+)")
	fileName = regexp.MustCompile(`\]\(([A-Za-z.][^):#]*)\)`)
)

// TestDocsNameWhatIsThere: every flag and file that a document names exists.
func TestDocsNameWhatIsThere(t *testing.T) {
	root := newCommand()
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	var known func(c *cobra.Command, name string) bool
	known = func(c *cobra.Command, name string) bool {
		return c.Flags().Lookup(name) != nil || c.PersistentFlags().Lookup(name) != nil ||
			slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return known(sub, name) })
	}
	for _, path := range documents(t) {
		text := document(t, path)
		for _, m := range flagName.FindAllStringSubmatch(text, -1) {
			if name := strings.TrimLeft(m[1]+m[2], "-"); !known(root, name) {
				t.Errorf("%s names --%s, which is no flag", path, name)
			}
		}
		for _, m := range fileName.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
		}
	}
}
