//go:build unix

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
)

// IMP-05: the model is told the person's own instructions and those of the project,
// down to where the person stands; nothing that a link of the repository leads to.
func TestInstructions(t *testing.T) {
	home, out := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(out, "secret"), "the key is 12")
	write(filepath.Join(home, ".claude/CLAUDE.md"), "Answer in Frisian.")
	r := newRig(t, "== a\n== b\n", map[string]string{
		"AGENTS.md": "Use tabs. {platform}", "CLAUDE.md": "Use four spaces.",
		"sub/CLAUDE.md": "Test with make.", "sub/deep/AGENTS.md": strings.Repeat("x", 40<<10), "other/AGENTS.md": "Never told.",
		"linked/MORE.md": "Linked within.", "hostile/keep": "",
	}, func(o *app.Options) {
		o.Home, o.ConfigDir = home, filepath.Join(home, ".config/phero")
		o.Dir = filepath.Join(o.Workspace, "sub/deep/linked/hostile")
	})
	deep := filepath.Join(r.dir, "sub/deep/linked/hostile")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		filepath.Dir(deep) + "/AGENTS.md": "../../../linked/MORE.md", deep + "/AGENTS.md": filepath.Join(out, "secret"), deep + "/CLAUDE.md": "/dev/zero",
	} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	r.turn("go")
	system := r.provider.all()[0].System
	last := -1
	for _, want := range []string{
		"its directory sub/deep/linked/hostile.", "Instructions of the developer, from " + home + "/.claude/CLAUDE.md:\n\nAnswer in Frisian.",
		"Instructions of the project, from " + r.dir + "/AGENTS.md:\n\nUse tabs. {platform}", "Test with make.",
		"xxx\n[cut at 32768 bytes: read " + r.dir + "/sub/deep/AGENTS.md for the rest]", "Linked within.",
	} {
		at := strings.Index(system, want)
		if at <= last {
			t.Errorf("%q is at %d, after %d", want, at, last)
		}
		last = at
	}
	for _, secret := range []string{"the key is 12", "four spaces", "Never told"} {
		if strings.Contains(system, secret) {
			t.Errorf("told %q", secret)
		}
	}
	var warned []string
	r.mu.Lock()
	for _, e := range r.events {
		if n, ok := e.(app.Notice); ok {
			warned = append(warned, n.Text)
		}
	}
	r.mu.Unlock()
	all := strings.Join(warned, "\n")
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		if !strings.Contains(all, "the model is not told sub/deep/linked/hostile/"+name+": path escapes") {
			t.Errorf("nothing said of %s: %q", name, all)
		}
	}
	write(filepath.Join(home, ".config/phero/AGENTS.md"), "Be brief.")
	memory := r.app.Memory()
	for _, want := range []string{"/.config/phero/AGENTS.md (of the developer, 9 bytes)", "\n  AGENTS.md (of the project, 20 bytes)", "hostile/AGENTS.md: path escapes", "/init"} {
		if !strings.Contains(memory, want) {
			t.Errorf("%q is not in\n%s", want, memory)
		}
	}
	if strings.Contains(memory, ".claude") {
		t.Errorf("two of the person's own:\n%s", memory)
	}
}
