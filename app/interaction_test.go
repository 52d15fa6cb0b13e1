package app_test

import (
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

const askModel = `== one
> user_interaction {"questions":[{"header":"Auth","question":"Which way?","multiSelect":false,"options":[{"label":"OAuth","description":"a"},{"label":"Passwords","description":"b"}]}]}
== two
Done.
`

// HUMAN-01, HUMAN-12, HUMAN-13: the model waits for the answer, and gets it.
func TestModelAsks(t *testing.T) {
	r := newRig(t, askModel, nil)
	r.app.Submit("go")
	q, from := await[app.Questioned](r, 0, nil)
	if q.Source != "" || q.Input.Questions[0].Question != "Which way?" || len(r.provider.all()) != 1 {
		t.Fatalf("%+v after %d requests", q, len(r.provider.all()))
	}
	r.app.Reply(q.ID, map[string]human.Answer{"Auth": {Selections: []string{"OAuth"}, Other: "with PKCE"}})
	await[app.TurnEnded](r, from, nil)
	if m := r.result(0); m.Status != session.StatusOK || m.Text != `{"answers":{"Auth":{"selections":["OAuth"],"other":"with PKCE"}}}` {
		t.Errorf("%+v", m)
	}
}

// HUMAN-16: who declines fails the call, and the run goes on.
func TestModelAsksInVain(t *testing.T) {
	r := newRig(t, askModel, nil)
	r.decline = true
	if ended := r.turn("go"); ended.Outcome != session.OutcomeDone {
		t.Fatalf("%+v", ended)
	}
	if m := r.result(0); m.Status != session.StatusFailed || !strings.Contains(m.Text, "declined to answer") {
		t.Errorf("%+v", m)
	}
	checkValid(t, r.last())
}

// IMP-24: where nobody answers, the model cannot ask.
func TestModelCannotAskHeadless(t *testing.T) {
	r := newRig(t, askModel, nil, func(o *app.Options) { o.Interactive = false })
	r.turn("go")
	if m := r.result(0); m.Status != session.StatusFailed || !strings.Contains(m.Text, "there is no tool named") {
		t.Errorf("%+v", m)
	}
	for _, s := range r.provider.all()[0].Tools {
		if s.Name == "user_interaction" {
			t.Error("the tool is offered")
		}
	}
}
