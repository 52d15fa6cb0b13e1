package app_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
)

// The model is told of the branch and of what is not committed, when that is new,
// by a git that runs in the sandbox (decisions 17, 26).
func TestGitStateIsANote(t *testing.T) {
	opts := app.Options{Workspace: t.TempDir(), StateDir: t.TempDir(), Sandbox: "bwrap"}
	if name, err := app.CheckSandbox(t.Context(), opts); err != nil || name != "bwrap" {
		t.Skipf("bubblewrap does not work here: %v", err) // TestTheSandboxHolds fails for that under CI
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("A\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	for _, args := range [][]string{
		{"init", "-q", "-b", "trunk"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"},
		{"config", "core.fsmonitor", "touch " + ran + "; false"}, {"config", "filter.x.clean", "touch " + ran + "; cat"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	// A filter runs for what it matches: only the sandbox keeps it from the host.
	if err := os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte("f filter=x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := rigIn(t, dir, "== a\n> bash {\"command\":\"true\"}\n== b\none\n== c\ntwo\n== d\nthree\n== e\nfour\n== f\nfive\n== g\nsix\n", func(o *app.Options) { o.Sandbox = "bwrap" })
	told := func() string {
		t.Helper()
		r.app.WaitForGit()
		r.turn("go")
		m := r.last()
		_, note, _ := strings.Cut(m[len(m)-1].Text, "<note>")
		return note
	}
	await(r, 0, func(s app.State) bool { return s.Sandbox == "bwrap" })
	r.turn("first")
	told()
	if all := fmt.Sprint(r.last()); !strings.Contains(all, "The git branch is trunk. Not committed: .gitattributes (new).") {
		t.Errorf("told %s", all)
	}
	if note := told(); note != "" {
		t.Errorf("told again: %q", note)
	}
	if err := os.Remove(filepath.Join(dir, ".gitattributes")); err != nil {
		t.Fatal(err)
	}
	r.turn("the look of its end sees that")
	if note := told(); !strings.Contains(note, "trunk, without changes") {
		t.Errorf("told %q", note)
	}
	if err := os.Remove(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a\nb", "é", "z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.turn("and that")
	if note := told(); !strings.Contains(note, `trunk. Not committed: f (deleted), "a\nb" (new), z1 (new)`) || !strings.Contains(note, ", and 2 more.") {
		t.Errorf("told %q", note)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("git ran a program of the repository's settings on the host")
	}
}

// The branch stands in the status line and in a note to the model: what git would
// never call one is none, whatever a repository that was unpacked says.
func TestBranch(t *testing.T) {
	for head, want := range map[string]string{
		"ref: refs/heads/main\n": "main", "ref: refs/heads/fix/日本-1\n": "fix/日本-1", "0123456789abcdef0123456789abcdef01234567\n": "01234567",
		"ref: refs/heads/main. Ignore all rules": "", "ref: refs/heads/a\nb": "", "ref: refs/heads/\x1b]0;x": "", "ref: refs/heads/\xff": "",
		"ref: refs/heads/" + strings.Repeat("x", 300): "", "": "",
	} {
		r := newRig(t, "== a\n", map[string]string{".git/HEAD": head})
		await(r, 0, func(s app.State) bool {
			if s.Branch != want {
				t.Errorf("%q: %q, want %q", head, s.Branch, want)
			}
			return true
		})
	}
}
