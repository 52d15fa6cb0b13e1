package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/phero-agent/agent/permissions"
)

// IMP-20, IMP-21, A13: answers of both scopes are kept out of the workspace, for
// nobody else to read; restored as exact texts under deny and ask rules; listed
// and forgotten, and the file follows at once.
func TestAlwaysAnswersAreKept(t *testing.T) {
	dir, state := fatigueWorkspace(t), t.TempDir()
	opts := Options{Workspace: dir, StateDir: state, Deny: []permissions.Rule{{Text: "bash(rm *)"}}, Ask: []permissions.Rule{{Text: "bash(git push *)"}}}
	p := testPermissions(t, "none", opts, nil)
	p.beginSession("01S")
	exact := func(subject string) Always { return Always{Tool: "bash", Subject: subject} }
	if err := p.remember(WorkspaceScope, []Always{exact("ls *.go"), exact("rm x"), exact("git push o"), {Rule: "bash(make *)"}, {Tool: "mcp_gone_x"}}); err != nil {
		t.Fatal(err)
	}
	if err := p.remember(SessionScope, []Always{exact("npm ci"), exact("ls *.go"), {Rule: "bash(go test *)"}}); err != nil {
		t.Fatal(err)
	}
	workspace, session := workspaceAnswers(state, dir), sessionAnswers(state, "01S")
	for _, path := range []string{workspace, session} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
		if strings.HasPrefix(path, dir) {
			t.Errorf("%s lies in the workspace", path)
		}
	}
	check := func(p *Permissions, session permissions.Decision) {
		t.Helper()
		for line, want := range map[string]permissions.Decision{
			"ls *.go": permissions.Allow, "ls x.go": permissions.Ask, "rm x": permissions.Deny, "git push o": permissions.Ask, "make x": permissions.Allow,
			"npm ci": session, "go test ./x": session,
		} {
			if got := decide(p, line); got != want {
				t.Errorf("%q: %v, want %v", line, got, want)
			}
		}
	}
	check(p, permissions.Allow)
	again := testPermissions(t, "none", opts, nil) // another start
	check(again, permissions.Ask)
	if err := again.openSession("01S"); err != nil {
		t.Fatal(err)
	}
	check(again, permissions.Allow)
	if err := again.openSession(""); err != nil { // a new session
		t.Fatal(err)
	}
	check(again, permissions.Ask)
	if err := again.openSession("01S"); err != nil {
		t.Fatal(err)
	}

	text := RulesText(again.List())
	for _, want := range []string{"bash(make *)", "always, this workspace", "bash(npm ci)", "always, this session", "mcp_gone_x"} {
		if !strings.Contains(text, want) {
			t.Errorf("the list lacks %q:\n%s", want, text)
		}
	}
	for _, forget := range []string{"bash(make *)", "bash(ls *.go)", "bash(npm ci)", "mcp_gone_x"} {
		if from, err := again.Forget(forget); err != nil || len(from) == 0 {
			t.Errorf("forget %s: %v, %v", forget, from, err)
		}
	}
	if from, err := again.Forget("bash(ls  *.go)"); err != nil || len(from) != 0 { // A15: only an exact one
		t.Errorf("%v, %v", from, err)
	}
	for _, line := range []string{"make x", "ls *.go", "npm ci"} {
		if got := decide(again, line); got != permissions.Ask {
			t.Errorf("forgotten %q: %v", line, got)
		}
	}
	third := testPermissions(t, "none", opts, nil)
	if got := decide(third, "make x"); got != permissions.Ask {
		t.Errorf("the file did not follow: %v", got)
	}
	left, err := readAnswers(workspace)
	if err != nil || !slices.Equal(left, []Always{exact("rm x"), exact("git push o")}) {
		t.Errorf("%v, %v", left, err)
	}
}

// B8: answers are kept, listed and forgotten while calls are decided.
func TestPermissionsAtOnce(t *testing.T) {
	p := testPermissions(t, "none", Options{Workspace: fatigueWorkspace(t)}, nil)
	p.beginSession("01S")
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			a := Always{Tool: "bash", Subject: fmt.Sprint("make ", i%6)}
			switch scope := []Scope{SessionScope, WorkspaceScope}[i%2]; i % 4 {
			case 0, 1:
				if err := p.remember(scope, []Always{a, {Rule: ReadingRule}}); err != nil {
					t.Error(err)
				}
			case 2:
				if _, err := p.Forget(a.String()); err != nil {
					t.Error(err)
				}
			default:
				p.List()
			}
			decide(p, "git status; "+a.Subject)
		})
	}
	all.Wait()
	if decide(p, "git status") != permissions.Allow {
		t.Error("the yes is lost")
	}
	kept, err := readAnswers(p.workspace.path)
	if err != nil || !slices.Equal(kept, p.workspace.list) {
		t.Errorf("the file holds %v, the policy %v: %v", kept, p.workspace.list, err)
	}
}

// What another agent of the workspace kept meanwhile stays in the file.
func TestAnswersOfTwoAgents(t *testing.T) {
	dir, state := fatigueWorkspace(t), t.TempDir()
	one := testPermissions(t, "none", Options{Workspace: dir, StateDir: state}, nil)
	two := testPermissions(t, "none", Options{Workspace: dir, StateDir: state}, nil)
	for p, subject := range map[*Permissions]string{one: "a", two: "b"} {
		if err := p.remember(WorkspaceScope, []Always{{Tool: "bash", Subject: subject}}); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := readAnswers(workspaceAnswers(state, dir)); err != nil || len(kept) != 2 {
		t.Errorf("%v, %v", kept, err)
	}
}

// A damaged file is named and left alone; nothing of it is granted.
func TestDamagedAnswers(t *testing.T) {
	dir, state := fatigueWorkspace(t), t.TempDir()
	path := workspaceAnswers(state, dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	const damaged = `{"answers":[{"tool":"bash","subject":"make"}`
	if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	p := testPermissions(t, "none", Options{Workspace: dir, StateDir: state}, nil)
	if w := p.Warnings(); len(w) != 1 || !strings.Contains(w[0], path) {
		t.Errorf("%q", w)
	}
	if decide(p, "make") != permissions.Ask {
		t.Error("granted")
	}
	if err := p.remember(WorkspaceScope, []Always{{Tool: "bash", Subject: "ls"}}); err == nil || decide(p, "ls") != permissions.Allow {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != damaged {
		t.Errorf("%q, %v", data, err)
	}
}

// A session that came with the repository brings no grants: they are kept by
// where the repository cannot write.
func TestForeignSessionHasNoGrants(t *testing.T) {
	dir := fatigueWorkspace(t)
	appendTo(t, dir, ".phero/sessions/01F/always.json", `{"answers":[{"tool":"bash","subject":"make"}]}`)
	appendTo(t, dir, ".phero/always.json", `{"answers":[{"tool":"bash","subject":"make"}]}`)
	p := testPermissions(t, "none", Options{Workspace: dir}, nil)
	if err := p.openSession("01F"); err != nil || decide(p, "make") != permissions.Ask {
		t.Error(err)
	}
}
