package skill_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools/skill"
)

func TestCommands(t *testing.T) {
	project := put(t, map[string]string{
		"fix.md":           "---\ndescription: Fixes an  issue.\nargument-hint: [number] [branch]\nallowed-tools: Bash(git:*), read\n---\n\nFix $1.\n",
		"front/new.md":     "# New part\n\nMake a part.\r\n",
		"hint.md":          "---\nargument-hint: \"<file>\"\n---\nx",
		"notes.txt":        "no command",
		"readme":           "no command",
		"rule.md":          "a\n---\nb\n---\n",
		"seen.md":          "a \x1b[31m\u202eb\nrest",
		"bad/yaml.md":      "---\ndescription: a: b\n---\nx",
		"bad/open.md":      "---\ndescription: a\n",
		"bad/empty.md":     "---\ndescription: a\n---\n \n",
		"bad/a b.md":       "x",
		"bad/lookаlike.md": "x",
		"bad/tools.md":     "---\nallowed-tools: {a: b}\n---\nx",
		"bad/long.md":      strings.Repeat("x", 200<<10),
	})
	user := put(t, map[string]string{"FIX.md": "the user's"})
	outside := filepath.Join(put(t, map[string]string{"secret.md": "the key"}), "secret.md")
	if err := os.Symlink(outside, filepath.Join(project, "bad", "link.md")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	fifo(t, filepath.Join(project, "bad", "pipe.md"))

	found, skipped := skill.Commands(project, filepath.Join(project, "missing"), "", user)
	at := func(name string) string { return filepath.Join(project, filepath.FromSlash(name)) }
	want := []skill.Command{
		{Name: "fix", Description: "Fixes an issue.", ArgumentHint: "[number] [branch]", AllowedTools: []string{"Bash(git:*)", "read"}, Path: at("fix.md"), Body: "Fix $1."},
		{Name: "front:new", Description: "New part", Path: at("front/new.md"), Body: "# New part\n\nMake a part."},
		{Name: "hint", Description: "x", ArgumentHint: "<file>", Path: at("hint.md"), Body: "x"},
		{Name: "rule", Description: "a", Path: at("rule.md"), Body: "a\n---\nb\n---"},
		{Name: "seen", Description: "a [31mb", Path: at("seen.md"), Body: "a \x1b[31m\u202eb\nrest"},
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Error(d)
	}
	says := map[string]string{
		"yaml.md": "mapping value", "open.md": "front matter", "empty.md": "is empty", "a b.md": "no blanks", "lookаlike.md": "of ASCII",
		"tools.md": "allowed-tools", "long.md": "longer than 128 KiB", "link.md": "escapes", "pipe.md": "not a regular file", "FIX.md": "is taken by",
	}
	for _, s := range skipped {
		name := filepath.Base(s.Dir)
		if want, ok := says[name]; !ok || !strings.Contains(s.Err.Error(), want) || strings.Contains(s.Err.Error(), "the key") {
			t.Errorf("%s: %v", s.Dir, s.Err)
		}
		delete(says, name)
	}
	if len(says) != 0 {
		t.Errorf("not skipped: %v", says)
	}
}

func TestRootsOfCommandsThatCannotBeRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	many := t.TempDir()
	for i := range 2100 {
		write(t, filepath.Join(many, fmt.Sprintf("c%04d.md", i)), "x")
	}
	found, skipped := skill.Commands(file, many)
	if len(found) != 1999 || len(skipped) != 2 || skipped[0].Dir != file || skipped[1].Dir != many || !strings.Contains(skipped[1].Err.Error(), "more than 2000") {
		t.Errorf("%d commands, skipped %v", len(found), skipped)
	}
}

func TestExpandCommand(t *testing.T) {
	tests := []struct{ body, arguments, want string }{
		{"Fix $1 on $2, not $3.", "12 main", "Fix 12 on main, not ."},
		{"Fix $1 ($ARGUMENTS).", `"a b" 'c d' e`, `Fix a b ("a b" 'c d' e).`},
		{"$1|$2|$3", `it's "" x"y z`, `it's||x"y`},
		{"$1 $ARGUMENTS", "$ARGUMENTS $1", "$ARGUMENTS $ARGUMENTS $1"},
		{"costs $10 and $0, $x, $", "a", "costs $10 and $0, $x, $\n\nARGUMENTS: a"},
		{"do é", "", "do é"},
		{"do it", " a  b ", "do it\n\nARGUMENTS: a  b"},
		{"$1", "", ""},
	}
	for _, tt := range tests {
		if got, err := (skill.Command{Body: tt.body}).Expand(tt.arguments); err != nil || got != tt.want {
			t.Errorf("%q with %q: %q, %v; want %q", tt.body, tt.arguments, got, err, tt.want)
		}
	}
	if _, err := (skill.Command{Body: strings.Repeat("$1", 10_000)}).Expand(strings.Repeat("x", 1<<20)); !errors.Is(err, skill.ErrArgumentsTooLong) {
		t.Errorf("err = %v", err)
	}
}

func ExampleCommands() {
	root, err := os.MkdirTemp("", "commands")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	_ = os.WriteFile(filepath.Join(root, "fix.md"), []byte("---\ndescription: Fixes an issue.\n---\nFix issue $1."), 0o600)

	commands, _ := skill.Commands(root)
	fmt.Printf("/%s — %s\n", commands[0].Name, commands[0].Description)
	fmt.Println(commands[0].Expand("12"))
	// Output:
	// /fix — Fixes an issue.
	// Fix issue 12. <nil>
}
