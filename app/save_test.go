package app_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// UNDO-02, UNDO-03: /undo restores bytes and mode, /redo makes the change again.
func TestUndoAndRedo(t *testing.T) {
	r := newRig(t, `
== a
> read {"file_path":"f"}
== b
> edit {"file_path":"f","old_string":"A","new_string":"B"}
> write {"file_path":"deep/er/new","content":"new\n"}
== c
done
`, map[string]string{"f": "A\r\nx"})
	if err := os.Chmod(filepath.Join(r.dir, "f"), 0o750); err != nil {
		t.Fatal(err)
	}
	r.turn("go")
	if r.file("f") != "B\r\nx" || r.file("deep/er/new") != "new\n" {
		t.Fatalf("files %q, %q", r.file("f"), r.file("deep/er/new"))
	}
	r.app.Undo(session.Scope{}, nil)
	r.app.Undo(session.Scope{}, nil)
	if got := r.file("f"); got != "A\r\nx" {
		t.Fatalf("after undo %q", got)
	}
	if info, err := os.Stat(filepath.Join(r.dir, "f")); err != nil || info.Mode().Perm() != 0o750 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "deep")); !os.IsNotExist(err) {
		t.Fatalf("the made directories are still there: %v", err)
	}
	r.app.Redo(session.Scope{}, nil)
	r.app.Redo(session.Scope{}, nil)
	if r.file("f") != "B\r\nx" || r.file("deep/er/new") != "new\n" {
		t.Fatalf("after redo %q, %q", r.file("f"), r.file("deep/er/new"))
	}
	from := r.seen()
	r.app.Redo(session.Scope{}, nil)
	if n, _ := await[app.Notice](r, from, nil); n.Level != app.Error {
		t.Fatalf("a redo too many says %+v", n)
	}
	// UNDO-10: the whole turn at once.
	r.app.Undo(session.Scope{Turn: true}, nil)
	if _, err := os.Stat(filepath.Join(r.dir, "deep")); r.file("f") != "A\r\nx" || !os.IsNotExist(err) {
		t.Fatalf("after undo of the turn: %q, %v", r.file("f"), err)
	}
}

// UNDO-04: a file that somebody else changed since is kept.
func TestUndoKeepsWhatOthersChanged(t *testing.T) {
	r := newRig(t, editF, map[string]string{"f": "A\n"})
	r.turn("go")
	if err := os.WriteFile(filepath.Join(r.dir, "f"), []byte("B, and mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	from := r.seen()
	r.app.Undo(session.Scope{}, nil)
	if n, _ := await[app.Notice](r, from, nil); n.Level != app.Error || !strings.Contains(n.Text, "f") {
		t.Fatalf("notice %+v", n)
	}
	if got := r.file("f"); got != "B, and mine\n" {
		t.Fatalf("the person's line is lost: %q", got)
	}
	plan, err := r.app.PlanUndo(session.Scope{}, false)
	if err != nil || len(plan) != 1 || plan[0].Conflict == "" || string(plan[0].Recorded) != "B\n" {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	r.app.Undo(session.Scope{}, []session.Pick{plan[0].Pick()})
	if got := r.file("f"); got != "A\n" {
		t.Fatalf("an undo that goes over it left %q", got)
	}
	if changed, err := r.app.Diff(); err != nil || len(changed) != 0 {
		t.Errorf("changed: %v, %v", changed, err)
	}
}

// SESS-01, SESS-02, SESS-06, TODO-15: a resumed session goes on where it was.
func TestResume(t *testing.T) {
	text := `
== a
> todo_write {"todos":[{"content":"step one","status":"in_progress"}]}
> read {"file_path":"f"}
== b
> edit {"file_path":"f","old_string":"A","new_string":"B"}
== c
done
== d
more
`
	r := newRig(t, text, map[string]string{"f": "A\n"})
	r.turn("first prompt")
	before := append(r.last(), session.Message{})
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}

	again := rigIn(t, r.dir, text)
	if err := again.app.Open(""); err != nil {
		t.Fatal(err)
	}
	opened, _ := await(again, 0, func(o app.Opened) bool { return o.Resumed })
	if opened.ID == "" || len(opened.Notices) > 0 || len(opened.Entries) == 0 {
		t.Fatalf("opened %+v", opened)
	}
	again.turn("second prompt")
	m := again.last()
	checkValid(t, m)
	for i := range before[:len(before)-1] {
		if !reflect.DeepEqual(m[i].Calls, before[i].Calls) || m[i].Text != before[i].Text || m[i].Role != before[i].Role {
			t.Errorf("message %d is %+v, was %+v", i, m[i], before[i])
		}
	}
	if last := m[len(m)-1]; !strings.HasPrefix(last.Text, "second prompt") || !strings.Contains(last.Text, "step one") {
		t.Errorf("the last message is %q", last.Text)
	}
	// UNDO-05: the journal is resumed too.
	again.app.Undo(session.Scope{}, nil)
	if got := again.file("f"); got != "A\n" {
		t.Errorf("undo after resume left %q", got)
	}
}

// SESS-07, IMP-32: a new session has read nothing, and a resumed one neither; a
// compaction changes nothing of that. SESS-08: what the model is told of the
// project is read anew.
func TestReadsAreForgotten(t *testing.T) {
	const read, edit = `{"file_path":"f"}`, `{"file_path":"f","old_string":"A","new_string":"A"}`
	m := &thinker{}
	next := []string{}
	m.think = func(_ app.Request, summary bool) (session.Message, error) {
		if summary || len(next) == 0 {
			return text("done")
		}
		name := next[0]
		next = next[1:]
		if name == "read" {
			return calling("read", read)
		}
		return calling("edit", edit)
	}
	var r *rig
	edited := func(want bool) {
		t.Helper()
		next = []string{"edit"}
		r.turn("edit it")
		all := m.all()
		last := all[len(all)-1].Messages
		result := last[len(last)-1].Text
		if got := !strings.Contains(result, "read it first") && !strings.Contains(result, "has not been read"); got != want {
			t.Errorf("edited: %v, want %v: %q", got, want, result)
		}
	}
	r = newRig(t, unused, map[string]string{"f": "A\n"}, m.use)
	next = []string{"read"}
	r.turn("read it")
	edited(true)
	for range 6 {
		r.turn("more")
	}
	from := r.seen()
	r.app.Compact("")
	await(r, from, func(c app.Committed) bool { return c.Entry.Compact != nil })
	await(r, from, func(c app.Compacting) bool { return c.Of == 0 })
	edited(true)
	if err := os.WriteFile(filepath.Join(r.dir, "AGENTS.md"), []byte("Use tabs."), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}
	r = rigIn(t, r.dir, unused, m.use)
	if err := r.app.Open(""); err != nil {
		t.Fatal(err)
	}
	edited(false)
	if all := m.all(); !strings.Contains(all[len(all)-1].System, "Use tabs.") {
		t.Error("the project's instructions are not read anew")
	}
	next = []string{"read"}
	r.turn("read it")
	edited(true)
	r.app.New()
	edited(false)
}

// SESS-04, SESS-13: what is kept is private.
func TestWhatIsKeptIsPrivate(t *testing.T) {
	r := newRig(t, editF, map[string]string{"f": "A\n"})
	r.turn("go")
	err := filepath.Walk(filepath.Join(r.dir, ".phero"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// SESS-11: where nothing can be saved the work goes on, and the person is told.
func TestUnwritableWorkspace(t *testing.T) {
	r := newRig(t, "== a\n> read {\"file_path\":\"f\"}\n== b\nIt is A.\n", map[string]string{"f": "A\n"})
	// A file where the directory should be stops even root.
	if err := os.WriteFile(filepath.Join(r.dir, ".phero"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if ended := r.turn("go"); ended.Outcome != session.OutcomeDone {
		t.Fatalf("ended %+v", ended)
	}
	if n, _ := await(r, 0, func(n app.Notice) bool { return n.Level == app.Error }); !strings.Contains(n.Text, "not saved") {
		t.Fatalf("notice %+v", n)
	}
}
