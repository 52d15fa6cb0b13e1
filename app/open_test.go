package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

// foreign makes a session with a change in a workspace, as another machine would.
func foreign(t *testing.T) (dir, id string) {
	r := newRig(t, editF, map[string]string{"f": "A\n"}, func(o *app.Options) { o.StateDir = t.TempDir() })
	r.turn("go")
	list, err := r.app.Sessions()
	if err != nil || len(list) != 1 || list[0].Foreign {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}
	return r.dir, list[0].ID
}

// reply answers the application's own question by the label of a choice.
func (r *rig) reply(from int, label string) human.Question {
	r.t.Helper()
	q, _ := await[app.Questioned](r, from, nil)
	in := q.Input.Questions[0]
	r.app.Reply(q.ID, map[string]human.Answer{in.Header: {Selections: []string{label}}})
	return in
}

// A session that came with the repository opens only after a yes, without grants,
// and what it changed is not undone (SESS-09, decision 6).
func TestForeignSession(t *testing.T) {
	dir, id := foreign(t)
	r := rigIn(t, dir, editF+"== d\n> read {\"file_path\":\"f\"}\n== e\n> edit {\"file_path\":\"f\",\"old_string\":\"B\",\"new_string\":\"C\"}\n== f\ndone\n")
	if list, err := r.app.Sessions(); err != nil || !list[0].Foreign {
		t.Errorf("listed as %+v, %v", list, err)
	}
	var unknown *app.ForeignError
	if err := r.app.Open(""); !errors.As(err, &unknown) || unknown.ID != id || !strings.Contains(err.Error(), "--foreign") {
		t.Fatalf("opened: %v", err)
	}
	from := r.seen()
	done := make(chan struct{})
	go func() { defer close(done); r.app.Resume(id) }()
	r.reply(from, "No")
	<-done
	if n, _ := await[app.Notice](r, from, nil); !strings.Contains(n.Text, "was not opened") {
		t.Errorf("notice %+v", n)
	}
	from = r.seen()
	done = make(chan struct{})
	go func() { defer close(done); r.app.Resume(id) }()
	if q := r.reply(from, "Open it"); !strings.Contains(q.Question, "came with the repository") {
		t.Errorf("asked: %s", q.Question)
	}
	<-done
	opened, _ := await[app.Opened](r, from, nil)
	if opened.ID != id || !strings.Contains(strings.Join(opened.Notices, " "), "cannot be undone here") {
		t.Errorf("opened: %s %q", opened.ID, opened.Notices)
	}
	if _, err := r.app.PlanUndo(session.Scope{}, false); !errors.Is(err, session.ErrNothingToUndo) {
		t.Errorf("undo: %v", err)
	}
	r.turn("go on")
	if r.file("f") != "C\n" {
		t.Fatalf("f holds %q", r.file("f"))
	}
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}
	// The yes holds, and only what was changed since is undone.
	again := rigIn(t, dir, editF)
	if err := again.app.Open(""); err != nil {
		t.Fatal(err)
	}
	again.app.Undo(session.Scope{}, nil)
	if got := again.file("f"); got != "B\n" {
		t.Errorf("f holds %q", got)
	}
	if _, err := again.app.PlanUndo(session.Scope{}, false); !errors.Is(err, session.ErrNothingToUndo) {
		t.Errorf("undo: %v", err)
	}
}

// The newest session is one that was made here, where there is one; the flag
// opens another one unasked.
func TestForeignSessionIsNotTheNewest(t *testing.T) {
	dir, id := foreign(t)
	r := rigIn(t, dir, "== a\nMine.\n")
	r.turn("mine")
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}
	list := must(os.ReadDir(filepath.Join(dir, ".phero", "sessions")))
	if len(list) != 2 {
		t.Fatalf("%d sessions", len(list))
	}
	log := filepath.Join(dir, ".phero", "sessions", id, "log.jsonl")
	data := must(os.ReadFile(log))
	if err := os.WriteFile(log, data, 0o600); err != nil { // as a checkout: it is the newest now
		t.Fatal(err)
	}
	again := rigIn(t, dir, "== a\nMine.\n== b\nMore.\n")
	if err := again.app.Open(""); err != nil {
		t.Fatal(err)
	}
	again.turn("more")
	if got := said(again.last()); got != "mine|Mine.|more" {
		t.Errorf("the model sees %s", got)
	}
	unasked := rigIn(t, dir, editF, func(o *app.Options) { o.Foreign, o.Interactive = true, false })
	if err := unasked.app.Open(id); err != nil {
		t.Error(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A session that is open elsewhere is not opened twice: its owner is named, and
// the person can go on in a copy (SESS-10).
func TestOpenElsewhere(t *testing.T) {
	r := newRig(t, "== a\nOne.\n== b\nTwo.\n", nil)
	r.turn("first")
	list, _ := r.app.Sessions()
	other := rigIn(t, r.dir, "== a\nOne.\n== b\nOther.\n")
	var locked *session.LockedError
	if err := other.app.Open(""); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Fatalf("opened: %v", err)
	}
	from := other.seen()
	done := make(chan struct{})
	go func() { defer close(done); other.app.Resume(list[0].ID) }()
	if q := other.reply(from, "Fork it"); !strings.Contains(q.Question, "process ") {
		t.Errorf("asked: %s", q.Question)
	}
	<-done
	opened, _ := await[app.Opened](other, from, nil)
	if opened.ID == "" || opened.ID == list[0].ID {
		t.Fatalf("opened: %+v", opened.ID)
	}
	// Both go on.
	other.turn("in the copy")
	r.turn("second")
	if got := said(other.last()); got != "first|One.|in the copy" {
		t.Errorf("the copy sees %s", got)
	}
	if got := said(r.last()); got != "first|One.|second" {
		t.Errorf("the other sees %s", got)
	}
}
