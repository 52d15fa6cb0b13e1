//go:build linux

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/human"
)

const runTrue = "== a\n> bash {\"command\":\"echo ran\"}\n== b\ndone\n"

// brokenSandbox puts a bwrap into PATH that cannot make namespaces, as in many containers.
func brokenSandbox(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "bwrap"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// noSandbox breaks Landlock's sandbox as well: it has no place for its private directory.
func noSandbox(t *testing.T) {
	t.Helper()
	brokenSandbox(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
}

func auto(state string) func(*app.Options) {
	return func(o *app.Options) { o.Sandbox, o.StateDir = "auto", state }
}

// SBX-21, decision 20: nothing falls back silently. The person is asked once in
// a workspace, and told why.
func TestNoSandboxIsAskedOnce(t *testing.T) {
	noSandbox(t)
	state := t.TempDir()
	r := newRig(t, runTrue, nil, auto(state))
	q, _ := await[app.Questioned](r, 0, nil)
	if text := q.Input.Questions[0].Question; !strings.Contains(text, "No permissions to create new namespace") || !strings.Contains(text, "kernel.unprivileged_userns_clone=1") {
		t.Fatalf("the question is %q", text)
	}
	r.app.Reply(q.ID, map[string]human.Answer{"Sandbox": {Selections: []string{"Run on the host"}}})
	r.turn("go")
	if m := r.result(0); m.Status != session.StatusOK || !strings.Contains(m.Text, "ran") {
		t.Fatalf("result %+v", m)
	}
	if s, _ := await(r, 0, func(s app.State) bool { return s.Sandbox != "" }); s.Sandbox != "none" { // SAFE-04
		t.Fatalf("the status line says %q", s.Sandbox)
	}
	await(r, 0, func(n app.Notice) bool { return strings.HasPrefix(n.Text, "no sandbox: ") }) // SAFE-04

	again := rigIn(t, r.dir, runTrue, auto(state))
	await(again, 0, func(s app.State) bool { return s.Sandbox == "none" })
	again.mu.Lock()
	defer again.mu.Unlock()
	for _, e := range again.events {
		if _, ok := e.(app.Questioned); ok {
			t.Fatal("asked again")
		}
	}
}

// A no is kept too: everything works but commands, which say why.
func TestNoSandboxDeclined(t *testing.T) {
	noSandbox(t)
	r := newRig(t, runTrue, nil, auto(t.TempDir()))
	q, _ := await[app.Questioned](r, 0, nil)
	r.app.Reply(q.ID, nil)
	r.turn("go")
	if m := r.result(0); m.Status != session.StatusFailed || !strings.Contains(m.Text, "--sandbox=none") {
		t.Fatalf("result %+v", m)
	}
}

// Decision 20: Landlock stands in for bubblewrap, says so, and does not count as
// the sandbox for the auto mode.
func TestLandlockStandsIn(t *testing.T) {
	if r, err := bash.NewLandlockRunner(t.TempDir()); err != nil {
		t.Skip(err)
	} else if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	brokenSandbox(t)
	r := newRig(t, runTrue, nil, auto(t.TempDir()))
	await(r, 0, func(s app.State) bool { return s.Sandbox == "landlock" })
	await(r, 0, func(n app.Notice) bool {
		return strings.Contains(n.Text, "UDP, Unix sockets") && strings.Contains(n.Text, "kernel.unprivileged_userns_clone=1")
	})
	r.turn("go")
	if m := r.result(0); m.Status != session.StatusOK || !strings.Contains(m.Text, "ran") {
		t.Fatalf("result %+v", m)
	}
	r.app.SetMode(permissions.ModeAuto)
	if m := r.app.Mode(); m != permissions.ModeAsk {
		t.Fatalf("the mode is %v", m)
	}
}

// IMP-36: a home directory is no workspace for the sandbox.
func TestTooBroadAWorkspace(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	_, err = app.New(app.Options{Workspace: home, Dir: home, StateDir: t.TempDir(), Sandbox: "auto", Emit: func(app.Event) {}})
	if err == nil || !strings.Contains(err.Error(), "--sandbox=none") {
		t.Fatalf("error %v", err)
	}
}

// SAFE-03, SAFE-05, SAFE-10: by default a command has no network, no keys, no
// way into .phero, and the person's home is empty.
func TestTheSandboxHolds(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, `
== a
> bash {"command":"env; ls -A ~; grep -c : /proc/net/dev; echo x > .phero/a; touch inside; echo end"}
== b
done
`, nil, auto(t.TempDir()))
	if s, _ := await(r, 0, func(s app.State) bool { return s.Sandbox != "" }); s.Sandbox != "bwrap" {
		if os.Getenv("CI") != "" {
			t.Fatalf("bubblewrap does not work here: %s", s.Sandbox)
		}
		t.Skipf("bubblewrap does not work here: %s", s.Sandbox)
	}
	r.turn("go")
	m := r.result(0)
	for _, not := range []string{"sk-secret", "secret\\n"} {
		if strings.Contains(m.Text, not) {
			t.Errorf("a command sees %q: %s", not, m.Text)
		}
	}
	if !strings.Contains(m.Text, "\\n1\\n") { // only the loopback interface
		t.Errorf("a command sees a network: %s", m.Text)
	}
	if _, err := os.Stat(filepath.Join(r.dir, ".phero", "a")); !os.IsNotExist(err) {
		t.Error("a command wrote into .phero")
	}
	if _, err := os.Stat(filepath.Join(r.dir, "inside")); err != nil {
		t.Error(err)
	}
}
