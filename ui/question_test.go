package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/human"
)

// UI-16, HUMAN-12, HUMAN-13.
func TestForm(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		typ  string // after the keys
		then []string
		want string
	}{
		{"the first", []string{"enter"}, "", nil, "reply h1 map[Auth:{[OAuth] }]"},
		{"the second", []string{"down", "enter"}, "", nil, "reply h1 map[Auth:{[Passwords] }]"},
		{"by its number", []string{"2", "enter"}, "", nil, "reply h1 map[Auth:{[Passwords] }]"},
		{"other", []string{"down", "down", "enter"}, "keys, y and n", []string{"enter"}, "reply h1 map[Auth:{[] keys, y and n}]"},
		{"other, and back", []string{"3", "x", "esc", "up", "enter"}, "", nil, "reply h1 map[Auth:{[Passwords] }]"},
		{"declined", []string{"esc"}, "", nil, "reply h1 map[]"}, // HUMAN-16
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
				s.emit(oneQuestion)
				s.Wait(2 * time.Second)
				s.Key(tt.keys...)
				s.Type(tt.typ)
				s.Key(tt.then...)
				s.wantLog(t, tt.want)
			})
		})
	}
}

func TestFormOfMore(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(moreQuestions)
		s.Wait(2 * time.Second)
		s.Key("tab", "tab") // to the review, with nothing answered
		s.wantOn(t, "no answer yet")
		s.Key("enter")
		s.wantLog(t)
		s.Key("shift+tab", "shift+tab", "2", "enter") // Own
		s.Key("1", "3", "1", "4")                     // Linux on and off, Windows, other
		s.Paste("Plan 9")
		s.Key("enter")
		s.wantOn(t, "Windows, Plan 9", "enter sends")
		s.Key("enter")
		s.wantLog(t, "reply h2 map[Auth:{[Own] } Targets:{[Windows] Plan 9}]")
	})
}

func TestFormAtOnceDeclines(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(oneQuestion)
		s.Key("enter", "1") // not armed
		s.wantLog(t)
		s.Key("esc")
		s.wantLog(t, "reply h1 map[]")
		s.wantText(t, "1")
	})
}

// Every row of a form with the longest allowed questions can be reached at the smallest size.
func TestFormScrolls(t *testing.T) {
	q := oneQuestion
	q.Input = human.Input{Questions: []human.Question{{Header: "H", Question: "Why is this question so very long that it needs four lines?",
		Options: []human.Choice{{Label: "A", Description: "long long long long long long long long long"}, {Label: "B", Description: "long long long long long long long long"}, {Label: "C", Description: "c"}, {Label: "D", Description: "last one"}}}}}
	on(t, 30, 9, Options{}, func(t *testing.T, s *stage) {
		s.emit(q)
		s.Wait(2 * time.Second)
		s.Key("down", "down", "down")
		s.wantOn(t, "4 D — last one")
		s.Key("down")
		s.wantOn(t, "Other…")
		s.Key("up", "enter")
		s.wantLog(t, "reply h1 map[H:{[D] }]")
	})
}

// A question that is longer than the dialog is seen from its beginning, and can be
// scrolled: a repository that wants to be trusted hides nothing above the choices.
func TestLongQuestion(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		q := oneQuestion
		asked := q.Input.Questions[0]
		asked.Question = "the first line\n" + strings.Repeat("  in between\n", 50) + "the last line?"
		q.Input.Questions = []human.Question{asked}
		s.emit(q)
		s.Wait(2 * time.Second)
		s.wantOn(t, "the first line", "0 lines above")
		s.wantOff(t, "the last line")
		s.Key("pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown")
		s.wantOn(t, "the last line?", "Passwords", "0 below")
		s.Key("pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup", "pgup")
		s.wantOn(t, "the first line")
		s.Key("down")
		s.wantOn(t, "Passwords")
		s.Key("enter")
		s.wantLog(t, "reply h1 map[Auth:{[Passwords] }]")
	})
}

// The call by which the model asks is shown as one that waits for the person.
func TestAskingCallWaits(t *testing.T) {
	on(t, 100, 30, Options{}, func(t *testing.T, s *stage) {
		s.emit(app.TurnStarted{}, modelSays("", aCall("u", "user_interaction", `{"questions":[{"header":"Port"}]}`)), app.ToolStarted{Call: tools.ToolCall{ID: "u", Name: "user_interaction"}})
		s.wantOn(t, "● user_interaction")
		s.emit(app.Questioned{ID: "1", Input: human.Input{Questions: []human.Question{{Header: "Port", Question: "Which port?", Options: []human.Choice{{Label: "80"}, {Label: "8080"}}}}}})
		s.wantOn(t, "? user_interaction", "asks you")
		s.emit(app.Closed{ID: "1"})
		s.wantOn(t, "● user_interaction")
	})
}
