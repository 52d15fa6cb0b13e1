package app_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

// looping makes the calls of a list, one a request, over and over.
func looping(calls ...string) *thinker {
	n := 0
	return &thinker{think: func(app.Request, bool) (session.Message, error) {
		n++
		name, arguments, _ := strings.Cut(calls[(n-1)%len(calls)], " ")
		return calling(name, arguments)
	}}
}

func replying(r *rig, label, other string) func(app.Questioned) {
	return func(q app.Questioned) {
		a := human.Answer{Other: other}
		if label != "" {
			a.Selections = []string{label}
		}
		r.app.Reply(q.ID, map[string]human.Answer{q.Input.Questions[0].Header: a})
	}
}

// The same call over and over: the person is asked (decision 28, IMP-13).
func TestLoops(t *testing.T) {
	files := map[string]string{"f": "x\n", "g": "y\n"}
	for _, c := range []struct {
		name  string
		calls []string
		after int // calls, when the question comes
	}{
		{"one call", []string{`read {"file_path":"f"}`}, 5},
		{"a failing edit", []string{`edit {"file_path":"f","old_string":"no","new_string":"n"}`}, 5},
		{"two calls in turn", []string{`read {"file_path":"f"}`, `grep {"pattern":"x"}`}, 9},
		{"a command and a read", []string{`bash {"command":"false"}`, `read {"file_path":"f"}`}, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := looping(c.calls...)
			r := newRig(t, unused, files, m.use)
			from := r.seen()
			r.app.Submit("go")
			q, from := await[app.Questioned](r, from, nil)
			if n := len(m.all()); n != c.after || q.Source != "agent" || !strings.Contains(q.Input.Questions[0].Question, "same call 5 times") {
				t.Fatalf("after %d requests: %+v", n, q)
			}
			replying(r, "", "try the other file")(q)
			q, from = await[app.Questioned](r, from, nil) // it went on, and loops again
			requests := m.all()
			told := requests[c.after].Messages
			if !strings.Contains(told[len(told)-1].Text, "try the other file") {
				t.Errorf("the model was not told: %q", told[len(told)-1].Text)
			}
			replying(r, "Stop", "")(q)
			ended, _ := await[app.TurnEnded](r, from, nil)
			if ended.Outcome != session.OutcomeLimit || !strings.Contains(ended.Error, "same call 5 times") {
				t.Errorf("%+v", ended)
			}
			r.decline = true
			r.turn("and now")
			requests = m.all()
			checkValid(t, requests[len(requests)-1].Messages)
		})
	}
}

// What makes progress, or waits, is no loop.
func TestNoLoops(t *testing.T) {
	for _, c := range []struct{ name, calls string }{
		{"edits between the tests", `bash {"command":"true"}|write {"file_path":"f","content":"%d"}`},
		{"other commands between the reads", `read {"file_path":"g"}|bash {"command":"echo %d"}`},
		{"waiting for a command", `bash_output {"bash_id":"bash_1"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			calls := strings.Split(c.calls, "|")
			m := &thinker{}
			m.think = func(app.Request, bool) (session.Message, error) {
				if n++; n > 24 {
					return text("done")
				}
				call := calls[n%len(calls)]
				if strings.Contains(call, "%d") {
					call = fmt.Sprintf(call, n)
				}
				name, arguments, _ := strings.Cut(call, " ")
				return calling(name, arguments)
			}
			r := newRig(t, unused, map[string]string{"g": "y\n"}, m.use)
			if ended := r.turn("go"); ended.Outcome != session.OutcomeDone {
				t.Errorf("%+v", ended)
			}
		})
	}
}

// LOOP-02, LOOP-03: no limit of requests but the person's.
func TestMaxTurns(t *testing.T) {
	n := 0
	m := &thinker{think: func(app.Request, bool) (session.Message, error) {
		if n++; n == 41 {
			return text("done")
		}
		return calling("write", fmt.Sprintf(`{"file_path":"f","content":"%d"}`, n))
	}}
	r := newRig(t, unused, nil, m.use)
	if ended := r.turn("go"); ended.Outcome != session.OutcomeDone || len(m.all()) != 41 {
		t.Fatalf("%d requests, %+v", len(m.all()), ended)
	}
	m = looping(`read {"file_path":"a"}`, `read {"file_path":"b"}`, `read {"file_path":"c"}`)
	r = newRig(t, unused, nil, m.use, func(o *app.Options) { o.MaxTurns, o.Interactive = 3, false })
	ended := r.turn("go")
	if ended.Outcome != session.OutcomeLimit || len(m.all()) != 3 || !strings.Contains(ended.Error, "3 requests") {
		t.Errorf("%d requests, %+v", len(m.all()), ended)
	}
}

// When the time is up the person is asked for more; meanwhile nothing new begins
// (LOOP-04, SAFE-07, decision 28).
func TestMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := &thinker{}
		m.think = func(app.Request, bool) (session.Message, error) {
			if n++; n == 100 {
				return text("done")
			}
			time.Sleep(time.Minute) // of the fake clock
			return calling("write", fmt.Sprintf(`{"file_path":"f","content":"%d"}`, n))
		}
		r := newRig(t, unused, nil, m.use, func(o *app.Options) { o.Timeout = 10*time.Minute + time.Second })
		r.patience = 24 * time.Hour
		from := r.seen()
		r.app.Submit("go")
		q, from := await[app.Questioned](r, from, nil)
		if !strings.Contains(q.Input.Questions[0].Question, "10m1s") {
			t.Errorf("%+v", q)
		}
		time.Sleep(5 * time.Hour)
		if len(m.all()) > 11 {
			t.Errorf("%d requests while the person was asked", len(m.all()))
		}
		replying(r, "Go on", "")(q)
		q, from = await[app.Questioned](r, from, nil)
		if got := len(m.all()); got < 20 {
			t.Errorf("asked again after %d requests", got)
		}
		replying(r, "Stop", "")(q)
		if ended, _ := await[app.TurnEnded](r, from, nil); ended.Outcome != session.OutcomeTimeout {
			t.Errorf("%+v", ended)
		}
	})
}

// UNDO-08: while a turn runs nothing is undone.
func TestUndoWhileATurnRuns(t *testing.T) {
	r := newRig(t, "== a\n> write {\"file_path\":\"f\",\"content\":\"x\"}\n== b\nWell\n~ hang\n", nil)
	from := r.seen()
	r.app.Submit("go")
	await(r, from, func(d app.ReplyDelta) bool { return d.Text != "" })
	if _, err := r.app.PlanUndo(session.Scope{}, false); err != app.ErrBusy {
		t.Errorf("plan: %v", err)
	}
	r.app.Undo(session.Scope{}, nil)
	n, _ := await(r, from, func(n app.Notice) bool { return n.Level == app.Error })
	if n.Text != app.ErrBusy.Error() || r.file("f") != "x" {
		t.Errorf("%+v, %q", n, r.file("f"))
	}
	r.app.Cancel()
	await[app.TurnEnded](r, from, nil)
}

// IMP-15: a call that waits for an answer does not hold back one that asks nothing.
func TestQuestionHoldsNobodyBack(t *testing.T) {
	r := newRig(t, "== a\n> bash {\"command\":\"touch x\"}\n> read {\"file_path\":\"f\"}\n== b\ndone\n", map[string]string{"f": "text\n"})
	r.answer = open
	from := r.seen()
	r.app.Submit("go")
	asked, _ := await[app.Asked](r, from, nil)
	await(r, from, func(c app.Committed) bool {
		m := c.Entry.Message
		return m != nil && m.Role == session.RoleTool && strings.Contains(m.Text, "text")
	})
	r.app.Answer(asked.ID, app.Answer{})
	await[app.TurnEnded](r, from, nil)
}

// SAFE-06: file tools stay in the workspace, whatever is answered.
func TestFileToolsAreConfined(t *testing.T) {
	r := newRig(t, `
== a
> read {"file_path":"/etc/passwd"}
> write {"file_path":"../outside","content":"x"}
> edit {"file_path":"/etc/passwd","old_string":"root","new_string":"toor"}
> grep {"pattern":"root","path":"/etc"}
== b
done
`, nil)
	r.turn("go")
	for i := range 4 {
		if m := r.result(i); m.Status != session.StatusFailed || strings.Contains(m.Text, "root:") {
			t.Errorf("result %d: %+v", i, m)
		}
	}
	if got := r.file("../outside"); !strings.Contains(got, "no such file") {
		t.Errorf("written outside: %q", got)
	}
}

// The effort goes to the model from the next request on, and a wrong one is named.
func TestEffort(t *testing.T) {
	m := &thinker{info: app.ModelInfo{Efforts: []string{"low", "high"}}}
	m.think = func(app.Request, bool) (session.Message, error) { return text("ok") }
	r := newRig(t, unused, nil, m.use)
	r.turn("one")
	if err := r.app.SetEffort("much"); err == nil || !strings.Contains(err.Error(), "default, low, high") {
		t.Errorf("%v", err)
	}
	for i, level := range []string{"high", "default"} {
		if err := r.app.SetEffort(level); err != nil {
			t.Error(err)
		}
		r.turn("next")
		if got := m.all()[i+1].Effort; got != []string{"high", ""}[i] {
			t.Errorf("%s: %q", level, got)
		}
	}
}
