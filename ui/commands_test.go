package ui

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
)

func (s *stage) enter(line string) {
	s.Type(line)
	s.Key("esc", "enter") // esc closes the popup
}

func TestCommands(t *testing.T) { // IMP-06
	tests := []struct{ line, want string }{
		{"/new", "new"}, {"/clear", "new"}, {"/undo", "plan {Turn:false From:0} false"}, {"/undo turn", "plan {Turn:true From:0} false"},
		{"/redo", "plan {Turn:false From:0} true"}, {"/redo turn", "plan {Turn:true From:0} true"}, {"/compact the plan", `compact "the plan"`}, {"/effort high", "effort high"},
		{"/resume 01X", "resume 01X"}, {"/NEW", "new"},
		{"/home/me is what?", `submit "/home/me is what?"`}, {"/ what", `submit "/ what"`}, {"quit it", `submit "quit it"`},
	}
	for _, tt := range tests {
		on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
			s.enter(tt.line)
			s.wantLog(t, tt.want)
			s.wantText(t, "")
		})
	}
}

func TestUnknownCommand(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.enter("/udno")
		s.wantOn(t, "there is no command /udno; did you mean /undo?")
		s.wantText(t, "/udno")
		s.wantLog(t)
		s.Key("ctrl+c")
		s.enter("/rnme the shop's prices")
		s.wantText(t, "/rnme the shop's prices") // nothing is lost
		s.Key("ctrl+c")
		s.enter("/undo all")
		s.wantOn(t, `"all" is not known`)
		s.wantLog(t)
	})
}

// Order holds though commands run at the same time.
func TestCallsInOrder(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		for _, line := range []string{"one", "two", "/new", "three"} {
			s.Raw(line)
			s.Raw("\r")
		}
		s.wantLog(t, `submit "one"`, `submit "two"`, "new", `submit "three"`)
	})
}

func TestApplicationCommands(t *testing.T) {
	opts := Options{Commands: []Command{
		{Name: "model", Aliases: []string{"m"}, Help: "the model", Run: func(args string) (string, error) { return "model is now " + args, nil }},
		{Name: "compact", Run: func(string) (string, error) { return "", errors.New("nothing to shorten") }},
		{Name: "files", Help: "other", Run: func(string) (string, error) { return "the application's files", nil }},
	}}
	on(t, 80, 24, opts, func(t *testing.T, s *stage) {
		s.enter("/m gpt-5")
		s.wantOn(t, "model is now gpt-5")
		s.enter("/compact")
		s.wantOn(t, "✗ nothing to shorten")
		s.enter("/files")
		s.wantOn(t, "the application's files")
	})
}

func TestPopup(t *testing.T) {
	on(t, 80, 24, Options{Files: listed}, func(t *testing.T, s *stage) {
		s.Type("/red")
		s.wantOn(t, "/redo")
		s.Key("enter")
		s.wantLog(t, "plan {Turn:false From:0} true")

		s.Type("look at @loopt")
		s.wantOn(t, "@app/loop_test.go")
		s.Key("tab")
		s.wantText(t, "look at @app/loop_test.go ")
		s.wantOff(t, "@main.go")
		s.Type("and @")
		s.wantOn(t, "@README.md")
		s.Key("down", "down", "enter")
		s.wantText(t, "look at @app/loop_test.go and @main.go ")
		s.Key("ctrl+u")
		s.Type("@read")
		s.Key("esc")
		s.wantOff(t, "README")
		s.Key("tab") // asks for it again
		s.wantOn(t, "@README.md")
		s.Key("up", "enter", "enter")
		s.wantLog(t, "plan {Turn:false From:0} true", `submit "@README.md"`)
	})
	on(t, 80, 24, Options{Files: func() ([]string, error) { return nil, errors.New("the files cannot be listed") }}, func(t *testing.T, s *stage) {
		s.Type("@x")
		s.wantOn(t, "the files cannot be listed")
	})
}

// Yolo is red all the time, whatever else is said, and no key or command leads to it.
func TestYolo(t *testing.T) {
	red := regexp.MustCompile(`\x1b\[[0-9;]*31[0-9;]*m ?YOLO`)
	for _, size := range [][2]int{{120, 40}, {40, 10}} {
		on(t, size[0], size[1], Options{}, func(t *testing.T, s *stage) {
			for range 6 {
				s.Raw("\x1b[Z")
				if s.app.Mode() == permissions.ModeYolo {
					t.Fatal("shift+tab leads to yolo")
				}
			}
			s.enter("/mode yolo")
			s.wantOn(t, "yolo is a flag")
			s.app.SetMode(permissions.ModeYolo)
			s.emit(app.Opened{}, app.TurnStarted{}, app.Usage{Last: session.Usage{Input: 120000}, Window: 128000})
			s.wantOn(t, "YOLO")
			s.emit(app.Notice{Level: app.Error, Text: strings.Repeat("a long error ", 20)})
			s.wantOn(t, "YOLO", "a long")
			s.emit(askedBash("1", "make"))
			s.Wait(2 * time.Second)
			s.Key("f")
			s.wantOn(t, "YOLO", "Allow bash?")
			if !red.MatchString(s.Output()) {
				t.Errorf("YOLO is not red: %q", s.Output())
			}
		})
	}
}

func TestPermissionsCommand(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.enter("/permissions")
		s.wantOn(t, "bash(make)  always, this session", "bash(git push)  --ask")
		s.enter("/permissions forget bash(x)")
		s.wantOn(t, "✗ no answer forget bash(x)")
	})
}

func TestModes(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		for _, want := range []string{"accept edits · gpt", "auto · gpt", "plan · gpt", "ask · gpt"} {
			s.Raw("\x1b[Z") // shift+tab
			s.wantOn(t, want)
		}
		s.enter("/plan")
		s.wantOn(t, "plan · gpt")
		s.enter("/mode wild")
		s.wantOn(t, `not "wild"`)

		s.emit(app.State{Model: "gpt-5.1", Sandbox: "landlock"}) // decision 20: it does not count
		s.enter("/mode edits")
		s.Raw("\x1b[Z")
		s.wantOn(t, "plan · landlock · gpt")
		s.enter("/mode auto")
		s.wantOn(t, "auto needs the bwrap sandbox")
		s.emit(app.State{Model: "gpt-5.1", Sandbox: "bwrap", Network: true}) // decision 1
		s.enter("/mode auto")
		s.wantOn(t, "auto needs the bwrap sandbox")
		s.emit(app.State{Model: "gpt-5.1", Sandbox: "landlock"})

		s.app.SetMode(permissions.ModeYolo) // the application changes it, too
		s.emit(app.TurnEnded{})
		s.wantOn(t, "YOLO", "landlock · gpt")
	})
}

func TestSessionsPicker(t *testing.T) { // UI-15
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		states[stateAt("sessions")].show(s)
		s.Type("foo")
		s.wantOn(t, "1 of 3")
		s.Key("enter")
		s.wantLog(t, "resume 01A")
		s.wantOff(t, "Sessions")
	})
	on(t, 80, 24, Options{Ask: true}, func(t *testing.T, s *stage) {
		s.wantOn(t, "no sessions yet")
		s.Key("enter", "esc")
		s.wantOff(t, "Sessions")
		s.wantLog(t)
	})
}

func stateAt(name string) int {
	for i, st := range states {
		if st.name == name {
			return i
		}
	}
	panic(name)
}

// A question does not take the keys from what the person has open.
func TestPickerBeforeQuestion(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Key("ctrl+p")
		s.emit(askedBash("1", "make"))
		s.wantOff(t, "Allow bash?")
		s.Wait(3 * time.Second)
		s.Key("esc")
		s.wantOn(t, "Allow bash?")
		s.Key("y") // half a second after esc: it is not armed
		s.wantLog(t)
	})
}

func TestQuitAsksAboutShells(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(twoShells())
		s.enter("/quit")
		s.wantOn(t, "Quit?", "$ npm run dev")
		s.wantOff(t, "make watch")
		s.Key("n")
		if ended, _ := s.Ended(); ended {
			t.Fatal("n quit")
		}
		s.Key("ctrl+d", "y")
		if ended, _ := s.Ended(); !ended {
			t.Fatal("y did not quit")
		}
	})
}

func TestModelCommand(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.app.models = []app.ModelInfo{{ID: "big"}, {ID: "small", Window: 8000}}
		s.Type("/model")
		s.Key("esc", "enter")
		s.Type("sm")
		s.Key("enter")
		s.Type("/model any thing")
		s.Key("enter")
		if got := strings.Join(s.app.log(), ";"); got != "model small;model any thing" {
			t.Errorf("asked for %s", got)
		}
	})
}

// IMP-06: the commands that people type without reading, under their usual names.
// /init, /memory, /skills and /mcp are the application's; why there is no /agents is in
// the README.
func TestUsualCommands(t *testing.T) {
	m := New(&recorder{}, NewPump(), Options{})
	for name := range strings.FieldsSeq(`help clear new compact model resume sessions continue undo rewind redo diff permissions
		status cost usage tokens context export copy rename fork theme vim editor todos todo shells tasks ps config settings doctor
		plan quit exit q`) {
		if m.command(name) == nil {
			t.Errorf("/%s is not known", name)
		}
	}
	for word, near := range map[string]string{"/modle": "/model", "/comapct": "/compact", "/thme": "/theme", "/seting": "/settings"} {
		m.run(word[1:])
		if !strings.Contains(m.status.notice.Text, "did you mean "+near+"?") {
			t.Errorf("%s: %q", word, m.status.notice.Text)
		}
	}
}

// A name is one command's.
func TestCommandNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range builtins() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if seen[name] {
				t.Errorf("/%s is there twice", name)
			}
			seen[name] = true
		}
	}
}
