//go:build unix

package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
)

// LOOP-01, LOOP-13, CORE-10: calls, results, and again until a reply has no calls.
func TestCallsAreAnsweredUntilTheModelStops(t *testing.T) {
	r := newRig(t, `
== a
Let me look.
> read {"file_path":"a.txt"}
== b
It says hello.
`, map[string]string{"a.txt": "hello\n"})
	if ended := r.turn("what is in a.txt?"); ended.Outcome != session.OutcomeDone || ended.Error != "" {
		t.Fatalf("ended %+v", ended)
	}
	if n := len(r.provider.all()); n != 2 {
		t.Fatalf("%d requests, want 2", n)
	}
	m := r.last()
	if len(m) != 3 || m[1].Text != "Let me look." || m[2].Text != "     1\thello" {
		t.Fatalf("the second request holds %+v", m)
	}
	checkValid(t, m)
}

// CORE-11, CORE-13, CORE-14: what goes wrong is a result, and the run goes on.
func TestFailuresAreResults(t *testing.T) {
	r := newRig(t, `
== a
> read {"file_path":"absent.txt"}
> nope {}
> read {"file_path":7}
== b
done
`, nil)
	r.turn("go")
	for i, want := range []string{"failed absent.txt", `failed "nope"`, "failed must be a string"} {
		status, text, _ := strings.Cut(want, " ")
		if m := r.result(i); m.Status != session.Status(status) || !strings.Contains(m.Text, text) {
			t.Errorf("result %d: %s %q, want %s", i, m.Status, m.Text, want)
		}
	}
	checkValid(t, r.last())
}

// LOOP-06: exclusive calls run one at a time, in call order, after what was before them.
func TestExclusiveCallsAreBarriers(t *testing.T) {
	r := newRig(t, `
== a
> read {"file_path":"f"}
> edit {"file_path":"f","old_string":"A","new_string":"B"}
> edit {"file_path":"f","old_string":"B","new_string":"C"}
> edit {"file_path":"f","old_string":"C","new_string":"D"}
> read {"file_path":"f"}
== b
done
`, map[string]string{"f": "A\n"})
	r.turn("go")
	if got := r.file("f"); got != "D\n" {
		t.Fatalf("the file is %q", got)
	}
	if m := r.result(4); m.Text != "     1\tD" {
		t.Fatalf("the read after the edits saw %q", m.Text)
	}
}

// LOOP-05, LOOP-07: calls run in parallel, results go back in call order. Each
// command waits for the other one, so only parallel ones end.
func TestCallsRunInParallel(t *testing.T) {
	r := newRig(t, `
== a
> bash {"command":"mkfifo p 2>/dev/null; echo a > p; echo first"}
> bash {"command":"while [ ! -p p ]; do :; done; cat p; echo second"}
== b
done
`, nil)
	r.turn("go")
	if a, b := r.result(0).Text, r.result(1).Text; !strings.Contains(a, "first") || !strings.Contains(b, `a\nsecond`) {
		t.Fatalf("results %q and %q", a, b)
	}
	checkValid(t, r.last())
}

// LOOP-08, LOOP-09, IMP-10: an interrupt ends the turn, every call has its
// result, and the next prompt works.
func TestInterrupt(t *testing.T) {
	r := newRig(t, `
== a
> read {"file_path":"f"}
> bash {"command":"echo begun; sleep 600"}
> edit {"file_path":"f","old_string":"A","new_string":"B"}
== b
Here again.
`, map[string]string{"f": "A\n"})
	r.app.Submit("go")
	await(r, 0, func(o app.ToolOutput) bool { return strings.Contains(string(o.Chunk), "begun") })
	r.app.Cancel()
	if ended, _ := await[app.TurnEnded](r, 0, nil); ended.Outcome != session.OutcomeInterrupted {
		t.Fatalf("ended %+v", ended)
	}
	if got := r.file("f"); got != "A\n" {
		t.Fatalf("the call behind the interrupt ran: %q", got)
	}
	r.turn("and now?")
	m := r.last()
	checkValid(t, m)
	if m[2].Status != session.StatusOK || m[3].Status != session.StatusInterrupted || m[4].Status != session.StatusInterrupted {
		t.Fatalf("statuses %s, %s, %s", m[2].Status, m[3].Status, m[4].Status)
	}
}

// Interrupting a stream keeps what came of the reply.
func TestInterruptOfAReply(t *testing.T) {
	r := newRig(t, "== a\nHalf an answer\n~ hang\n== b\nanother\n", nil)
	r.app.Submit("go")
	await(r, 0, func(d app.ReplyDelta) bool { return strings.Contains(d.Text, "answer") })
	r.app.Cancel()
	await[app.TurnEnded](r, 0, nil)
	r.turn("go on")
	m := r.last()
	if len(m) != 3 || m[1].Text != "Half an answer" || !m[1].Cut {
		t.Fatalf("history %+v", m)
	}
}

// A message sent during a turn waits, can be taken back, and joins at the next step.
func TestQueue(t *testing.T) {
	r := newRig(t, `
== a
> bash {"command":"echo begun; read line < gate"}
== b
done
`, nil)
	mkfifo(t, filepath.Join(r.dir, "gate"))
	r.app.Submit("first")
	await(r, 0, func(o app.ToolOutput) bool { return strings.Contains(string(o.Chunk), "begun") })
	r.app.Submit("second")
	r.app.Submit("third")
	if text, ok := r.app.Unqueue(); !ok || text != "third" {
		t.Fatalf("took back %q", text)
	}
	openGate(t, filepath.Join(r.dir, "gate"))
	await[app.TurnEnded](r, 0, nil)
	m := r.last()
	if got := m[len(m)-1]; got.Role != session.RoleUser || !strings.HasPrefix(got.Text, "second") {
		t.Fatalf("the second request ends with %+v", got)
	}
	if n := len(r.provider.all()); n != 2 {
		t.Fatalf("%d requests, want 2", n)
	}
	checkValid(t, m)
}

// LOOP-04, IMP-12: the deadline ends a turn, and stands still while a question is open.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "== a\nWell\n~ hang\n== b\n> write {\"file_path\":\"f\",\"content\":\"x\"}\n== c\nDone.\n", nil)
		r.patience = 24 * time.Hour
		r.decline = true
		start := time.Now()
		if ended := r.turn("go"); ended.Outcome != session.OutcomeTimeout || !strings.Contains(ended.Error, "turn timed out after 30m0s") {
			t.Fatalf("ended %+v", ended)
		}
		if took := time.Since(start); took != 30*time.Minute {
			t.Fatalf("the turn ended after %v", took)
		}
		r.answer = open
		from := r.seen()
		r.app.Submit("again")
		asked, _ := await[app.Asked](r, from, nil)
		time.Sleep(5 * time.Hour) // of the fake clock: only a deadline that stands still lets the turn live
		r.app.Answer(asked.ID, app.Answer{Allow: true})
		if ended, _ := await[app.TurnEnded](r, from, nil); ended.Outcome != session.OutcomeDone || r.file("f") != "x" {
			t.Fatalf("ended %+v, file %q", ended, r.file("f"))
		}
	})
}

// LOOP-11: an error of the server ends the turn in words, not the program.
func TestServerError(t *testing.T) {
	r := newRig(t, "== a\n! 500 the model fell over\n== b\nunreached\n", nil)
	ended := r.turn("go")
	if ended.Outcome != session.OutcomeFailed || !strings.Contains(ended.Error, "the model fell over") {
		t.Fatalf("ended %+v", ended)
	}
}

// A model that says nothing is asked once more, and no empty reply is kept.
func TestEmptyReply(t *testing.T) {
	for empty, want := range map[int]session.Outcome{1: session.OutcomeDone, 2: session.OutcomeFailed} {
		n := 0
		m := &thinker{think: func(app.Request, bool) (session.Message, error) {
			if n++; n <= empty {
				return text("")
			}
			return text("here")
		}}
		r := newRig(t, unused, nil, m.use)
		if ended := r.turn("go"); ended.Outcome != want || len(m.all()) != 2 {
			t.Errorf("%d empty replies: %+v after %d requests", empty, ended, len(m.all()))
		}
		await[app.Retrying](r, 0, nil)
		r.turn("on")
		all := m.all()
		checkValid(t, all[len(all)-1].Messages)
	}
}

// TestNoProvider: a provider that cannot be made is such an error as well.
func TestNoProvider(t *testing.T) {
	r := newRig(t, "== a\nx\n", nil, func(o *app.Options) {
		o.NewProvider = func(context.Context, string) (app.Provider, error) { return nil, os.ErrPermission }
	})
	if ended := r.turn("go"); ended.Outcome != session.OutcomeFailed || !strings.Contains(ended.Error, "permission") {
		t.Fatalf("ended %+v", ended)
	}
}

// The start of a request never changes over 50 turns with changes of the mode,
// edits and undos between them: what is new stands at its end (decision 26).
func TestRequestsHaveAStablePrefix(t *testing.T) {
	var play strings.Builder
	for i := range 50 {
		fmt.Fprintf(&play, "== a%d\n> read {\"file_path\":\"f\"}\n> edit {\"file_path\":\"f\",\"old_string\":\"A\",\"new_string\":\"B\"}\n== b%d\ndone\n", i, i)
	}
	r := newRig(t, play.String(), map[string]string{"f": "A\n"})
	r.decline = true // the plans
	modes := []permissions.Mode{permissions.ModeAcceptEdits, permissions.ModeAsk, permissions.ModePlan, permissions.ModeAsk}
	for i := range 50 {
		r.app.SetMode(modes[i%len(modes)])
		if ended := r.turn(fmt.Sprint("turn ", i)); ended.Outcome != session.OutcomeDone {
			t.Fatalf("turn %d: %+v", i, ended)
		}
		r.app.Undo(session.Scope{}, nil)
	}
	all := r.provider.all()
	if len(all) != 100 {
		t.Fatalf("%d requests", len(all))
	}
	for i := 1; i < len(all); i++ {
		if all[i].System != all[0].System || fmt.Sprint(all[i].Tools) != fmt.Sprint(all[0].Tools) {
			t.Fatal("the system prompt or the tools changed")
		}
		for j, m := range all[i-1].Messages {
			if all[i].Messages[j].Text != m.Text {
				t.Fatalf("request %d changed message %d: %q, was %q", i, j, all[i].Messages[j].Text, m.Text)
			}
		}
	}
	// UNDO-07
	if m := all[2].Messages; !strings.Contains(m[len(m)-1].Text, "undid") {
		t.Fatalf("the model is not told of the undo: %q", m[len(m)-1].Text)
	}
}

// What every request begins with has a budget of 4,000 tokens, of four bytes each.
func TestPromptBudget(t *testing.T) {
	r := newRig(t, "== a\nhello\n", nil)
	r.turn("hi")
	req := r.provider.all()[0]
	tools, err := json.Marshal(req.Tools)
	if err != nil {
		t.Fatal(err)
	}
	if n := (len(req.System) + len(tools)) / 4; n > 4000 {
		t.Errorf("the prompt and the tools have %d tokens", n)
	} else {
		t.Logf("%d tokens", n)
	}
}

// panicking is a provider whose second reply never comes.
type panicking struct {
	app.Provider
	replies int
}

func (p *panicking) Stream(ctx context.Context, req app.Request, emit func(app.Delta)) (app.Reply, error) {
	if p.replies++; p.replies == 2 {
		panic("second reply")
	}
	return p.Provider.Stream(ctx, req, emit)
}

// A panic in a turn ends the turn and nothing else.
func TestPanicInATurn(t *testing.T) {
	r := newRig(t, "== a\n> todo_write {\"todos\":[]}\n== b\nstill here\n", nil, func(o *app.Options) {
		make := o.NewProvider
		o.NewProvider = func(ctx context.Context, model string) (app.Provider, error) {
			p, err := make(ctx, model)
			return &panicking{Provider: p}, err
		}
	})
	if ended := r.turn("go"); ended.Outcome != session.OutcomeFailed || !strings.Contains(ended.Error, "second reply") {
		t.Fatalf("%+v", ended)
	}
	if ended := r.turn("and now?"); ended.Outcome != session.OutcomeDone {
		t.Fatalf("%+v", ended)
	}
	checkValid(t, r.last())
}

// The time of a reply's reasoning is kept with it: from its first piece to the first
// of something else, of the attempt that counts.
func TestThought(t *testing.T) {
	think, say, retry := app.Delta{Reasoning: "hm"}, app.Delta{Text: "so"}, app.Delta{Retry: &app.Retry{}}
	for _, c := range []struct {
		pieces []app.Delta
		want   time.Duration
	}{
		{nil, 0}, {[]app.Delta{say, say}, 0}, {[]app.Delta{think, think, say, say}, 2 * time.Second},
		{[]app.Delta{think, think, think}, 3 * time.Second}, {[]app.Delta{think, think, retry, think, say}, time.Second},
	} {
		if got := app.Thought(c.pieces...); got != c.want {
			t.Errorf("%v: %v, want %v", c.pieces, got, c.want)
		}
	}
}
