package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
)

// A note tells what is so now, and nothing that came and went before the model
// could be told (decision 26, UNDO-07).
func TestNotesTellWhatIsNew(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(a *app.App)
		want []string
		not  []string
	}{
		"nothing":       {func(*app.App) {}, nil, []string{"<note>"}},
		"undo":          {func(a *app.App) { a.Undo(session.Scope{}, nil) }, []string{"The user undid changes", " f. Read"}, []string{"redid", "Today"}},
		"undo and redo": {func(a *app.App) { a.Undo(session.Scope{}, nil); a.Redo(session.Scope{}, nil) }, nil, []string{"<note>"}},
		"a file undone and made again, one undone": {func(a *app.App) {
			a.Undo(session.Scope{}, nil) // of f
			a.Undo(session.Scope{}, nil) // of g
			a.Redo(session.Scope{}, nil)
			a.Redo(session.Scope{}, nil)
			a.Undo(session.Scope{}, nil)
		}, []string{"The user undid and redid changes", ": f. Read"}, []string{" g"}},
		"a file that is gone": {func(a *app.App) { a.Undo(session.Scope{Turn: true}, nil) }, []string{"g (removed)", "f"}, nil},
		"plan and back":       {func(a *app.App) { a.SetMode(permissions.ModePlan); a.SetMode(permissions.ModeAsk) }, nil, []string{"<note>"}},
		"plan":                {func(a *app.App) { a.SetMode(permissions.ModePlan) }, []string{"Plan mode: change nothing"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, `
== a
> read {"file_path":"f"}
> write {"file_path":"g","content":"new\n"}
> edit {"file_path":"f","old_string":"A","new_string":"B"}
== b
done
== c
seen
`, map[string]string{"f": "A\n"})
			r.decline = true // of the plan
			r.turn("go")
			c.act(r.app)
			r.turn("on")
			m := r.last()
			_, note, _ := strings.Cut(m[len(m)-1].Text, "on\n\n")
			for _, want := range c.want {
				if !strings.Contains(note, want) {
					t.Errorf("%q does not say %q", note, want)
				}
			}
			for _, not := range c.not {
				if strings.Contains(note, not) {
					t.Errorf("%q says %q", note, not)
				}
			}
			if strings.Count(note, "Read one again") > 1 {
				t.Errorf("said twice: %q", note)
			}
		})
	}
}

// IMP-14: who refuses a call and says why is not asked about the later calls of
// the same reply, and they do not run; without words they are asked.
func TestWordsOfARefusalComeFirst(t *testing.T) {
	const calls = `
== a
> write {"file_path":"first","content":"x"}
> bash {"command":"touch ran"}
> write {"file_path":"second","content":"x"}
> read {"file_path":"f"}
== b
done
`
	for _, c := range []struct {
		answer app.Answer
		asked  int
		want   [4]string
	}{
		{app.Answer{Feedback: "write it to docs/"}, 1, [4]string{"write it to docs/", "refused an earlier call", "refused an earlier call", "refused an earlier call"}},
		{app.Answer{}, 3, [4]string{"rejected it", "rejected it", "rejected it", "A"}},
	} {
		r := newRig(t, calls, map[string]string{"f": "A\n"})
		asked := 0
		r.answer = func(app.Asked) (app.Answer, bool) { asked++; return c.answer, true }
		r.turn("go")
		if asked != c.asked {
			t.Errorf("asked %d times, want %d", asked, c.asked)
		}
		checkValid(t, r.last())
		for i, want := range c.want {
			if m := r.result(i); !strings.Contains(m.Text, want) {
				t.Errorf("result %d is %q, want %q", i, m.Text, want)
			}
		}
		if got := r.file("ran") + r.file("second"); strings.Count(got, "no such file") != 2 {
			t.Errorf("it ran: %q", got)
		}
	}
}

// The same holds for calls whose questions wait for their turn: of three commands
// that stand before the person at once, one question is asked.
func TestWordsOfARefusalCloseTheWaitingQuestions(t *testing.T) {
	r := newRig(t, `
== a
> bash {"command":"touch one"}
> bash {"command":"touch two"}
> bash {"command":"touch three"}
== b
done
`, nil)
	var ids []string
	r.answer = func(q app.Asked) (app.Answer, bool) {
		ids = append(ids, q.Call.ID)
		return app.Answer{Feedback: "not now"}, true
	}
	r.turn("go")
	// Which of them is asked first is open; those behind it are not asked.
	for i := 1; i < len(ids); i++ {
		if ids[i] > ids[i-1] {
			t.Errorf("asked %v", ids)
		}
	}
	for i := range 3 {
		if m := r.result(i); m.Status != session.StatusDenied {
			t.Errorf("result %d: %+v", i, m)
		}
	}
}

// Both searches give paths in one way, and say nothing that is not so.
func TestPathsOfSearches(t *testing.T) {
	r := newRig(t, `
== a
> glob {"pattern":"**/*.go"}
> grep {"pattern":"needle"}
> bash {"command":"echo hi"}
== b
done
`, map[string]string{"sub/a.go": "needle\n"})
	r.turn("go")
	for i, want := range []string{`{"paths":["sub/a.go"]}`, `{"output":["sub/a.go"]}`, `{"output":"hi\n","exit_code":0}`} {
		if m := r.result(i); m.Text != want {
			t.Errorf("result %d is %s, want %s", i, m.Text, want)
		}
	}
}

// The record for a summary names files instead of holding them, and no result
// twice; the task list is told once, behind it.
func TestRecordOfACompaction(t *testing.T) {
	m := &thinker{info: app.ModelInfo{Window: 100_000}}
	n := 0
	m.think = func(_ app.Request, summary bool) (session.Message, error) {
		if summary {
			return text("S")
		}
		switch n++; n {
		case 1:
			return calling("todo_write", `{"todos":[{"content":"the item","status":"pending"}]}`)
		case 2, 3:
			return calling("read", `{"file_path":"big"}`)
		case 4, 5:
			return calling("grep", fmt.Sprintf(`{"pattern":"line","output_mode":"content","head_limit":%d}`, 50))
		}
		return text("ok")
	}
	r := newRig(t, unused, map[string]string{"big": strings.Repeat("a line of the file\n", 60)}, m.use)
	for range 8 {
		r.turn("next")
	}
	from := r.seen()
	r.app.Compact("")
	await(r, from, func(c app.Committed) bool { return c.Entry.Compact != nil })
	r.turn("last")
	all := m.all()
	record := all[len(all)-2].Messages[0].Text
	if !strings.Contains(record, "RESULT read (ok): 60 lines") || strings.Count(record, "a line of the file") > 50 || !strings.Contains(record, "RESULT grep (ok): (the same as an earlier result)") {
		t.Errorf("the record:\n%s", record)
	}
	told := ""
	for _, m := range all[len(all)-1].Messages {
		told += m.Text + "\n"
	}
	if strings.Count(told, "the item") != 1 || !strings.Contains(told, "The task list as it is now") {
		t.Errorf("told:\n%s", told)
	}
}

// What was undone and not yet told when the program ended is told by the session that goes on.
func TestUndoIsToldAfterAResume(t *testing.T) {
	const text = "== a\n> write {\"file_path\":\"f\",\"content\":\"x\"}\n== b\nWritten.\n== c\nI see.\n== d\nYes.\n"
	r := newRig(t, text, nil)
	r.turn("go")
	steps, err := r.app.PlanUndo(session.Scope{}, false)
	if err != nil || len(steps) != 1 {
		t.Fatalf("%+v, %v", steps, err)
	}
	r.app.Undo(session.Scope{}, []session.Pick{steps[0].Pick()})
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}
	const told = "The user undid changes of yours. These files are different now: f (removed)."
	for i, want := range []int{1, 1} { // the second session after it was told
		again := rigIn(t, r.dir, text)
		if err := again.app.Open(""); err != nil {
			t.Fatal(err)
		}
		again.turn("and now")
		all := ""
		for _, m := range again.last() {
			all += m.Text
		}
		if n := strings.Count(all, told); n != want {
			t.Errorf("session %d: told %d times in %q", i, n, all)
		}
		if err := again.app.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
