package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
)

const editF = `
== a
> read {"file_path":"f"}
== b
> edit {"file_path":"f","old_string":"A","new_string":"B"}
== c
done
`

// UI-06, UI-09: the question shows the change; yes writes exactly it.
func TestApproveWrites(t *testing.T) {
	r := newRig(t, editF, map[string]string{"f": "A\n"})
	r.turn("go")
	asked, _ := await[app.Asked](r, 0, nil)
	if c := asked.Change; c == nil || string(c.Before) != "A\n" || string(c.After) != "B\n" || c.Path != filepath.Join(r.dir, "f") {
		t.Fatalf("the question shows %+v", asked.Change)
	}
	if asked.Request.Tool != "edit" || asked.Request.CallID != asked.Call.ID || asked.Request.Reason != permissions.ReasonNoRule {
		t.Fatalf("the question is %+v", asked.Request)
	}
	if r.file("f") != "B\n" {
		t.Fatalf("the file is %q", r.file("f"))
	}
	if closed, _ := await[app.Closed](r, 0, nil); closed.ID != asked.ID {
		t.Fatalf("closed %q, asked %q", closed.ID, asked.ID)
	}
}

// UI-09, IMP-14: no leaves the file, and the model is told, with the person's words.
func TestDenyTellsTheModelWhy(t *testing.T) {
	r := newRig(t, editF, map[string]string{"f": "A\n"})
	r.answer = func(app.Asked) (app.Answer, bool) { return app.Answer{Feedback: "use the other file"}, true }
	r.turn("go")
	if m := r.result(1); m.Status != session.StatusDenied || !strings.Contains(m.Text, "use the other file") {
		t.Fatalf("result %+v", m)
	}
	if r.file("f") != "A\n" {
		t.Fatalf("the file is %q", r.file("f"))
	}
}

// UI-08: a call that would fail anyway fails at once; nobody is asked.
func TestFailingPreviewAsksNobody(t *testing.T) {
	r := newRig(t, `
== a
> read {"file_path":"f"}
== b
> edit {"file_path":"f","old_string":"absent","new_string":"B"}
== c
done
`, map[string]string{"f": "A\n"})
	r.answer = func(q app.Asked) (app.Answer, bool) { t.Errorf("asked %+v", q); return app.Answer{}, true }
	r.turn("go")
	if m := r.result(1); m.Status != session.StatusFailed || !strings.Contains(m.Text, "old_string") {
		t.Fatalf("result %+v", m)
	}
}

// FILE-69, IMP-26, decision 11: what was approved is what is written, or nothing is.
func TestFileThatChangesWhileAskedIsKept(t *testing.T) {
	r := newRig(t, editF, map[string]string{"f": "A\n"})
	r.answer = func(app.Asked) (app.Answer, bool) {
		if err := os.WriteFile(filepath.Join(r.dir, "f"), []byte("A, and the person's line\n"), 0o644); err != nil {
			t.Error(err)
		}
		return app.Answer{Allow: true}, true
	}
	r.turn("go")
	want := (&file.ChangedError{Path: filepath.Join(r.dir, "f")}).Error()
	if m := r.result(1); m.Status != session.StatusFailed || !strings.Contains(m.Text, strings.SplitN(want, "\n", 2)[0]) {
		t.Fatalf("result %+v, want %q", m, want)
	}
	if got := r.file("f"); got != "A, and the person's line\n" {
		t.Fatalf("the person's line is lost: %q", got)
	}
}

// Decision 11: the mode is a part of what was approved.
func TestModeThatChangesWhileAskedIsKept(t *testing.T) {
	r := newRig(t, editF, map[string]string{"f": "A\n"})
	r.answer = func(app.Asked) (app.Answer, bool) {
		if err := os.Chmod(filepath.Join(r.dir, "f"), 0o700); err != nil {
			t.Error(err)
		}
		return app.Answer{Allow: true}, true
	}
	r.turn("go")
	if m := r.result(1); m.Status != session.StatusFailed || !strings.Contains(m.Text, "changed on disk after the change was shown") {
		t.Fatalf("result %+v", m)
	}
	if got := r.file("f"); got != "A\n" {
		t.Fatalf("the file is %q", got)
	}
}

// PERM-65: always counts for the same subject, and for nothing else.
func TestAlways(t *testing.T) {
	r := newRig(t, `
== a
> bash {"command":"echo one"}
== b
> bash {"command":"echo  one"}
> bash {"command":"echo two"}
== c
done
`, nil)
	var asked []string
	r.answer = func(q app.Asked) (app.Answer, bool) {
		asked = append(asked, q.Request.Raw)
		return app.Answer{Allow: true, Always: []app.Always{q.Offers[0].Always}, Scope: app.SessionScope}, true
	}
	r.turn("go")
	if got := strings.Join(asked, "|"); got != "echo one|echo two" {
		t.Fatalf("asked %q", got)
	}
}

// A question that is open when the turn is stopped closes, and its call is interrupted.
func TestInterruptDuringAQuestion(t *testing.T) {
	r := newRig(t, editF, map[string]string{"f": "A\n"})
	r.answer = open
	r.app.Submit("go")
	asked, from := await[app.Asked](r, 0, nil)
	r.app.Cancel()
	await(r, from, func(c app.Closed) bool { return c.ID == asked.ID })
	await[app.TurnEnded](r, from, nil)
	r.app.Answer(asked.ID, app.Answer{Allow: true}) // too late
	r.turn("and now?")
	if m := r.result(1); m.Status != session.StatusInterrupted || r.file("f") != "A\n" {
		t.Fatalf("result %+v, file %q", m, r.file("f"))
	}
	checkValid(t, r.last())
}

// LOOP-14, SAFE-08: without a yes nothing is written and nothing runs.
func TestNothingHappensUnasked(t *testing.T) {
	r := newRig(t, `
== a
> write {"file_path":"new","content":"x"}
> bash {"command":"touch ran"}
> bash {"command":"touch ran","run_in_background":true}
> write {"file_path":".phero/config.toml","content":"x"}
> write {"file_path":".git/hooks/pre-commit","content":"x"}
> read {"file_path":"../outside"}
> write {"file_path":"../outside","content":"x"}
== b
done
`, nil)
	r.answer = no
	r.turn("go")
	for i := range 7 {
		if m := r.result(i); m.Status == session.StatusOK {
			t.Errorf("call %d passed: %+v", i, m)
		}
	}
	left, err := os.ReadDir(r.dir)
	if err != nil || len(left) != 1 || left[0].Name() != ".phero" {
		t.Fatalf("the workspace holds %v, %v", left, err)
	}
}

// SAFE-10, IMP-18: what git and the agent trust is out of reach, whatever is answered.
func TestReservedPlacesAreNotAsked(t *testing.T) {
	r := newRig(t, `
== a
> write {"file_path":".phero/config.toml","content":"x"}
> write {"file_path":".git/hooks/pre-commit","content":"x"}
== b
done
`, map[string]string{".git/HEAD": "ref: refs/heads/main\n"})
	r.answer = func(q app.Asked) (app.Answer, bool) {
		t.Errorf("asked %+v", q.Request)
		return app.Answer{Allow: true}, true
	}
	r.turn("go")
	for i := range 2 {
		if m := r.result(i); m.Status != session.StatusDenied {
			t.Errorf("call %d: %+v", i, m)
		}
	}
}

// A call runs from the answer on: the time of the question is not its own.
func TestACallBeginsWithTheAnswer(t *testing.T) {
	r := newRig(t, editF, map[string]string{"f": "A\n"})
	r.answer = open
	r.app.Submit("go")
	asked, _ := await[app.Asked](r, 0, nil)
	r.mu.Lock()
	for _, e := range r.events {
		if s, ok := e.(app.ToolStarted); ok && s.Call.ID == asked.Call.ID {
			t.Error("the call began before the answer")
		}
	}
	r.mu.Unlock()
	r.app.Answer(asked.ID, app.Answer{Allow: true})
	await(r, 0, func(s app.ToolStarted) bool { return s.Call.ID == asked.Call.ID })
	await[app.TurnEnded](r, 0, nil)
}
