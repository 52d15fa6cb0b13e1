package app_test

import (
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

// Decision 1: in plan mode nothing is written, the model is told, and its plan is
// approved before it is carried out.
func TestPlan(t *testing.T) {
	r := newRig(t, `
== try
> write {"file_path":"f","content":"x"}
== plan
I would write f.
== work
> write {"file_path":"f","content":"x"}
== done
Written.
`, nil)
	r.app.SetMode(permissions.ModePlan)
	r.turn("write f")
	if m := r.result(0); m.Status != session.StatusDenied || r.file("f") == "x" {
		t.Fatalf("plan mode let a write pass: %+v", m)
	}
	if m := r.last()[0]; !strings.Contains(m.Text, "Plan mode") {
		t.Fatalf("the model is told %q", m.Text)
	}
	q, from := await[app.Questioned](r, 0, nil)
	r.app.Reply(q.ID, map[string]human.Answer{"Plan": {Selections: []string{"Yes, ask me each time"}}})
	if m, _ := await[app.ModeChanged](r, from, nil); m.Mode != permissions.ModeAsk {
		t.Fatalf("the mode is %v", m.Mode)
	}
	if ended, _ := await[app.TurnEnded](r, from, nil); ended.Outcome != session.OutcomeDone || r.file("f") != "x" {
		t.Fatalf("ended %+v, file %q", ended, r.file("f"))
	}
	checkValid(t, r.last())
}

// A plan that is not approved stays a plan, and the next prompt works.
func TestPlanNotYet(t *testing.T) {
	r := newRig(t, "== plan\nI would write f.\n== better\nI would write g.\n", nil)
	r.app.SetMode(permissions.ModePlan)
	r.turn("write f")
	q, from := await[app.Questioned](r, 0, nil)
	r.app.Reply(q.ID, nil)
	await[app.Closed](r, from, nil)
	r.turn("write g instead")
	if r.app.Mode() != permissions.ModePlan {
		t.Fatalf("the mode is %v", r.app.Mode())
	}
}

// Decision 1: accept edits writes unasked, and what runs is still asked.
func TestAcceptEdits(t *testing.T) {
	r := newRig(t, "== a\n> write {\"file_path\":\"f\",\"content\":\"x\"}\n> bash {\"command\":\"touch ran\"}\n== b\ndone\n", nil)
	r.answer = no
	r.app.SetMode(permissions.ModeAcceptEdits)
	r.turn("go")
	if r.file("f") != "x" || r.result(1).Status != session.StatusDenied {
		t.Fatalf("file %q, result %+v", r.file("f"), r.result(1))
	}
}
