package skill_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/phero-agent/agent/tools/skill"
)

// SKILL-16, SKILL-17, file-tool-cases K1, K9
func TestFrontmatter(t *testing.T) {
	tests := []struct {
		name, text string
		want       skill.Skill
	}{
		{"all fields", "---\nname: pdf\ndescription: Works with PDF.\nlicense: MIT\ncompatibility: needs python3\nmetadata:\n  author: me\n  version: \"1.0\"\nallowed-tools: Read Bash(git:*)\nmodel: large\n---\n\nbody\n",
			skill.Skill{Name: "pdf", Description: "Works with PDF.", License: "MIT", Compatibility: "needs python3",
				Metadata: map[string]any{"author": "me", "version": "1.0"}, AllowedTools: []string{"Read", "Bash(git:*)"}, Body: "body"}},
		{"lines of --- in texts", "---\nname: x\ndescription: |\n  a---b\n  ---\n  c\n---\na\n---\nb --- c\n",
			skill.Skill{Name: "x", Description: "a---b --- c", Body: "a\n---\nb --- c"}},
		{"line ends of Windows", "---\r\nname: x\r\ndescription: d\r\n---\r\na\r\nb\r\n", skill.Skill{Name: "x", Description: "d", Body: "a\nb"}},
		{"byte order mark", "\ufeff---\nname: x\ndescription: d\n---\nb", skill.Skill{Name: "x", Description: "d", Body: "b"}},
		{"blanks after ---", "--- \nname: x\ndescription: d\n---\t\nb", skill.Skill{Name: "x", Description: "d", Body: "b"}},
		{"no body", "---\nname: x\ndescription: d\n---", skill.Skill{Name: "x", Description: "d"}},
		{"indented body", "---\nname: x\ndescription: d\n---\n\n    code\n", skill.Skill{Name: "x", Description: "d", Body: "    code"}},
		{"numbers as texts", "---\nname: 123\ndescription: 1.5\n---\n", skill.Skill{Name: "123", Description: "1.5"}},
		{"folded description", "---\nname: x\ndescription: >-\n  one\n  two\n\n  three\n---\n", skill.Skill{Name: "x", Description: "one two three"}},
		{"quoted colon", "---\nname: x\ndescription: \"Use when: asked\"\n---\n", skill.Skill{Name: "x", Description: "Use when: asked"}},
		{"characters that are not seen", "---\nname: x\ndescription: \"a\\x1b[31mb\\u202e\\u200b\\0c\"\n---\n", skill.Skill{Name: "x", Description: "a[31mbc"}},
		{"bytes that are no UTF-8", "---\nname: x\ndescription: a\xffb\n---\nc\xff", skill.Skill{Name: "x", Description: "a\ufffdb", Body: "c\ufffd"}},
		{"blanks in a name", "---\nname: \" PDF tools: v1.2_b \"\ndescription: d\n---\n", skill.Skill{Name: "PDF tools: v1.2_b", Description: "d"}},
		{"long description", "---\nname: x\ndescription: " + strings.Repeat("é", 10_000) + "\n---\n", skill.Skill{Name: "x", Description: strings.Repeat("é", 1023) + "…"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := put(t, map[string]string{"dir/SKILL.md": tt.text})
			tool := newTool(t, root)
			for _, s := range tool.Skipped() {
				t.Error(s.Err)
			}
			if len(tool.Skills()) != 1 {
				t.Fatal("no skill")
			}
			body := tt.want.Body
			tt.want.Body, tt.want.RootPath = tool.Skills()[0].Body, filepath.Join(root, "dir")
			if d := cmp.Diff(tt.want, tool.Skills()[0]); d != "" {
				t.Error(d)
			}
			got, err := load(t, tool, skill.Input{Command: tt.want.Name})
			if err != nil || !strings.HasSuffix(got, "\n\n"+body) {
				t.Errorf("%q, %v; want the body %q", got, err, body)
			}
		})
	}
}

// SKILL-16, file-tool-cases K8
func TestAllowedTools(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("read, ", 1000), ", ")
	tests := []struct {
		yaml string
		want []string
	}{
		{"read, bash(go test *)", []string{"read", "bash(go test *)"}},
		{"read bash(go test *)  glob", []string{"read", "bash(go test *)", "glob"}},
		{"bash(a, (b c) d),read", []string{"bash(a, (b c) d)", "read"}},
		{"[read, 'bash(go test *)']", []string{"read", "bash(go test *)"}},
		{"\n  - Read\n  - Bash(git:*)\n", []string{"Read", "Bash(git:*)"}},
		{"\n  - read, glob\n", []string{"read", "glob"}},
		{"\"*\"", []string{"*"}},
		{"bash(git", []string{"bash(git"}},
		{"bash) read", []string{"bash)", "read"}},
		{"\"bash(a\\x1b\\u202e *)\"", []string{"bash(a *)"}},
		{"\"\"", nil},
		{"", nil},
		{many, strings.Split(many, ", ")},
		{"[" + many + "]", strings.Split(many, ", ")},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.30q", tt.yaml), func(t *testing.T) {
			tool := newTool(t, put(t, map[string]string{"x/SKILL.md": "---\nname: x\ndescription: d\nallowed-tools: " + tt.yaml + "\n---\nb"}))
			if len(tool.Skills()) != 1 {
				t.Fatal(tool.Skipped())
			}
			if d := cmp.Diff(tt.want, tool.Skills()[0].AllowedTools, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
			got, err := load(t, tool, skill.Input{Command: "x"})
			if err != nil || strings.Contains(got, "Allowed tools:") != (tt.want != nil) ||
				!strings.Contains(got, strings.Join(tt.want, ", ")) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func bomb() string {
	b := "metadata:\n  a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		b += fmt.Sprintf("  a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	return b
}

// SKILL-06, SKILL-07, SKILL-09, file-tool-cases K1, K2
func TestSkippedSkills(t *testing.T) {
	const ok = "name: x\ndescription: d\n"
	fm := func(yaml string) string { return "---\n" + yaml + "---\nbody" }
	tests := []struct {
		name, text string
		err        error  // nil: no particular one
		says       string // what a person can read
	}{
		{name: "empty", text: "", err: skill.ErrMissingFrontmatter},
		{name: "no front matter", text: "# Title\n", err: skill.ErrMissingFrontmatter, says: "two lines of ---"},
		{name: "not closed", text: "---\n" + ok, err: skill.ErrMissingFrontmatter},
		{name: "not at the start", text: "\n" + fm(ok), err: skill.ErrMissingFrontmatter},
		{name: "longer line", text: "----\n" + ok + "----\n", err: skill.ErrMissingFrontmatter},
		{name: "no name", text: fm("description: d\n"), err: skill.ErrSkillNameRequired},
		{name: "null name", text: fm("name:\ndescription: d\n"), err: skill.ErrSkillNameRequired},
		{name: "blank name", text: fm("name: \"  \"\ndescription: d\n"), err: skill.ErrSkillNameRequired},
		{name: "no description", text: fm("name: x\n"), err: skill.ErrSkillDescriptionRequired},
		{name: "description that is not seen", text: fm("name: x\ndescription: \"\\u200b\"\n"), err: skill.ErrSkillDescriptionRequired},
		{name: "empty front matter", text: fm(""), err: skill.ErrSkillNameRequired},
		{name: "only comments", text: fm("# name: x\n"), err: skill.ErrSkillNameRequired},
		{name: "text", text: fm("hello\n"), says: "front matter"},
		{name: "list", text: fm("- name: x\n"), says: "front matter"},
		{name: "colon", text: fm("name: x\ndescription: Use when: asked\n"), says: `[3:14] mapping value is not allowed in this context; quote a value`},
		{name: "name is a list", text: fm("name: [a]\ndescription: d\n"), says: "[2:7]"},
		{name: "tab", text: fm("name: x\n\tdescription: d\n"), says: "[3:1]"},
		{name: "key twice", text: fm("name: x\nname: y\ndescription: d\n"), says: "already defined"},
		{name: "tag", text: fm("name: !!python/object x\ndescription: d\n"), says: "[2:7] anchors, aliases, merges and tags are not allowed"},
		{name: "anchor", text: fm("name: &a x\ndescription: *a\n"), says: "[2:7] anchors"},
		{name: "alias to itself", text: fm(ok + "metadata: &a {b: *a}\n"), says: "anchors"},
		{name: "merge", text: fm(ok + "metadata: {<<: {a: b}}\n"), says: "anchors"},
		{name: "text that looks like an alias", text: fm("name: x\ndescription: *bold* text\n"), says: "if it is text"},
		{name: "bomb of aliases", text: fm(ok + bomb()), says: "anchors"},
		{name: "deep lists", text: fm(ok + "metadata: " + strings.Repeat("[", 60_000) + "\n"), says: "too"},
		{name: "deep maps", text: fm(ok + "metadata: " + strings.Repeat("{a: ", 900) + "\n"), says: "nested too deeply"},
		{name: "deep items", text: fm(ok + "metadata:\n  " + strings.Repeat("- ", 30_000) + "x\n"), says: "too many values"},
		{name: "many keys", text: fm(ok + strings.Repeat("k: v\n", 10_000)), says: "too many values"},
		{name: "NUL", text: fm("name: x\x00\ndescription: d\n"), says: "line 2 holds the control character U+0000"},
		{name: "ESC", text: fm("name: x\ndescription: \x1b[31m\n"), says: "line 3 holds the control character U+001B"},
		{name: "long front matter", text: fm(ok + "metadata:\n  a: " + strings.Repeat("x", 100<<10) + "\n"), says: "longer than"},
		{name: "10 MB", text: fm(ok + "metadata:\n  a: " + strings.Repeat("x", 10<<20) + "\n"), says: "longer than 128 KiB"},
		{name: "allowed-tools is a map", text: fm(ok + "allowed-tools: {bash: true}\n"), says: "neither a text nor a list"},
		{name: "allowed-tools is a list of lists", text: fm(ok + "allowed-tools: [[bash]]\n"), says: "is not a text"},
		{name: "name is a path", text: fm("name: ../x\ndescription: d\n"), err: skill.ErrInvalidSkillName, says: `"../x"`},
		{name: "name with a slash", text: fm("name: a/b\ndescription: d\n"), err: skill.ErrInvalidSkillName},
		{name: "name with a line end", text: fm("name: \"a\\nb\"\ndescription: d\n"), err: skill.ErrInvalidSkillName},
		{name: "name with ESC", text: fm("name: \"a\\x1bb\"\ndescription: d\n"), err: skill.ErrInvalidSkillName},
		{name: "name with bidi", text: fm("name: \"a\\u202eb\"\ndescription: d\n"), err: skill.ErrInvalidSkillName},
		{name: "name that looks like another", text: fm("name: pdf\u0430\ndescription: d\n"), err: skill.ErrInvalidSkillName},
		{name: "name of 10 kB", text: fm("name: " + strings.Repeat("x", 10_000) + "\ndescription: d\n"), err: skill.ErrInvalidSkillName, says: "x…"},
		{name: "name of 65", text: fm("name: " + strings.Repeat("x", 65) + "\ndescription: d\n"), err: skill.ErrInvalidSkillName},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := put(t, map[string]string{"bad/SKILL.md": tt.text, "good/SKILL.md": md("good", "d", "b")})
			tool := newTool(t, root)
			if d := cmp.Diff([]string{"good"}, names(tool)); d != "" {
				t.Error(d)
			}
			skipped := tool.Skipped()
			if len(skipped) != 1 || skipped[0].Dir != filepath.Join(root, "bad") {
				t.Fatalf("skipped %v", skipped)
			}
			err := skipped[0].Err
			if tt.err != nil && !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("err = %v, want %v with %q", err, tt.err, tt.says)
			}
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
				t.Errorf("not one short line: %.1000q", err)
			}
		})
	}
}

// file-tool-cases K4
func TestFilesThatAreNoSkills(t *testing.T) {
	outside := put(t, map[string]string{"secret": md("secret", "d", "the key")})
	root := put(t, map[string]string{
		"directory/SKILL.md/x": "x",
		"inside/text.md":       md("inside", "d", "b"),
	})
	link := func(dir, target string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(root, dir, "SKILL.md")); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	link("absolute", filepath.Join(outside, "secret"))
	link("dangling", "missing.md")
	link("inside", "text.md")
	link("loop", "SKILL.md")
	link("passwd", "/etc/passwd")
	link("relative", "../inside/text.md")
	link("zero", "/dev/zero")
	fifo(t, filepath.Join(root, "pipe", "SKILL.md"))

	huge := filepath.Join(root, "huge", "SKILL.md")
	write(t, huge, "---\n")
	if err := os.Truncate(huge, 1<<30); err != nil {
		t.Fatal(err)
	}

	tool := newTool(t, root)
	if d := cmp.Diff([]string{"inside"}, names(tool)); d != "" {
		t.Error(d)
	}
	var skipped []string
	for _, s := range tool.Skipped() {
		skipped = append(skipped, filepath.Base(s.Dir))
		if strings.Contains(s.Err.Error(), "the key") {
			t.Errorf("the error holds what is outside: %v", s.Err)
		}
	}
	want := []string{"absolute", "dangling", "directory", "huge", "loop", "passwd", "pipe", "relative", "zero"}
	if d := cmp.Diff(want, skipped); d != "" {
		t.Error(d)
	}
}

// file-tool-cases K2, K6: no path is built from a name.
func TestParserTakesOnlyNamesOfDirectories(t *testing.T) {
	root := put(t, map[string]string{"a/SKILL.md": md("x", "d", "b"), "SKILL.md": md("root", "d", "b"), "a/b/SKILL.md": md("y", "d", "b")})
	p := skill.NewParser(filepath.Join(root, "a"))
	for _, dir := range []string{"", ".", "..", "../a", "b/../b", "/", root} {
		if s, err := p.Parse(dir); err == nil {
			t.Errorf("Parse(%q) = %v", dir, s)
		}
	}
	if s, err := p.Parse("b"); err != nil || s.Name != "y" {
		t.Errorf("Parse(b) = %v, %v", s, err)
	}
}
