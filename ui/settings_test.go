package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// Keys can be rebound; a key that is bound already, edits the text or is none is
// an error at the start.
func TestRebind(t *testing.T) {
	for setting, fault := range map[string]string{
		"ctrl+s = alt+s":          "",
		"composer ctrl+r = alt+r": "",
		"lists pgup = ctrl+u":     "",
		"transcript d = x":        "",
		"ctrl+o =":                "",
		"ctrl+s":                  "write it as",
		"a b c = d":               "write it as",
		"nowhere ctrl+s = x":      "keys can be changed in everywhere, composer",
		"permission y = space":    "keys can be changed in",
		"ctrl+q = alt+s":          "is no key of everywhere",
		"ctrl+c = ctrl+q":         "keep what they do",
		"ctrl+s = ctrl+t":         "ctrl+t is bound already, in everywhere",
		"ctrl+s = ctrl+r":         "ctrl+r is bound already, in composer",
		"composer ctrl+r = f1":    "f1 is bound already, in everywhere",
		"ctrl+s = ctrl+a":         "ctrl+a edits the text",
		"ctrl+s = x":              "x is for typing",
		"ctrl+s = strg+s":         `"strg+s" is no key`,
		"ctrl+s = ctrl+foo":       `"ctrl+foo" is no key`,
		"ctrl+s = +":              "+ is for typing",
	} {
		err := Options{Keys: []string{setting}}.Check()
		if fault == "" && err != nil || fault != "" && (err == nil || !strings.Contains(err.Error(), fault)) {
			t.Errorf("%q: %v, want %q", setting, err, fault)
		}
	}
	if err := (Options{Keys: []string{"ctrl+s = alt+s", "ctrl+o = alt+s"}}).Check(); err == nil || !strings.Contains(err.Error(), "bound already") {
		t.Errorf("two for one key: %v", err)
	}
	on(t, 80, 24, Options{Keys: []string{"ctrl+p = alt+q", "ctrl+g ="}}, func(t *testing.T, s *stage) {
		s.Key("ctrl+p")
		s.wantOff(t, "Commands")
		s.Key("alt+q")
		s.Wait(time.Second)
		s.wantOn(t, "Commands")
		s.Key("esc", "f1")
		s.wantOn(t, "alt+q", "the commands")
		s.wantOff(t, "ctrl+p", "ctrl+g")
	})
}

// What the screen says of keys is true after they were rebound.
func TestHintsOfReboundKeys(t *testing.T) {
	on(t, 80, 24, Options{Keys: []string{"ctrl+t = ctrl+q", "composer alt+up = alt+q"}}, func(t *testing.T, s *stage) {
		working(s)
		s.wantOn(t, "ctrl+q", "alt+q to edit")
		s.wantOff(t, "ctrl+t", "alt+↑")
		s.Key("ctrl+q")
		s.wantOn(t, "ctrl+q next")
	})
}

func TestOwnColors(t *testing.T) {
	for setting, style := range map[string]string{
		"accent = #ff8800": "38;2;255;136;0", "ok=34": "38;5;34", "dim = bold": "1", "user = bright-blue": "94",
		"add = #001100": "48;2;0;17;0", "del = red": "41",
		"accent": "", "accent = #ff880": "", "accent = 256": "", "shadow = red": "", "add = bold": "", "ok = pink": "",
	} {
		_, got, err := ownColor(setting)
		if string(got) != style || (err == nil) != (style != "") {
			t.Errorf("%q: %q, %v; want %q", setting, got, err, style)
		}
	}
	if err := (Options{Colors: []string{"ok = pink"}}).Check(); err == nil || !strings.Contains(err.Error(), "ui.colors") {
		t.Errorf("no error of the setting: %v", err)
	}
	on(t, 80, 24, Options{Colors: []string{"accent = #123456"}}, func(t *testing.T, s *stage) {
		if !strings.Contains(s.Output(), "\x1b[38;2;18;52;86m") {
			t.Error("the colour is not on the screen")
		}
	})
}

// The theme follows the terminal, until one is chosen; contrast has nothing faint.
func TestThemes(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		light := func() bool { return s.model.look.theme.user == "34" }
		if light() {
			t.Error("it begins light")
		}
		s.Send(tea.BackgroundColorMsg{Color: white{}})
		if !light() {
			t.Error("it does not follow the terminal")
		}
		s.enter("/theme dark")
		if light() {
			t.Error("it is not dark")
		}
		s.enter("/theme pink")
		s.wantOn(t, `the themes are auto, dark, light, contrast, not "pink"`)
		s.enter("/theme")
		s.wantOn(t, "Themes", "contrast")
		s.Type("contr")
		s.Key("enter")
		before := len(s.Output())
		s.Key("ctrl+l")
		s.wantOn(t, "? keys")
		if out := s.Output()[before:]; strings.Contains(out, "\x1b[2m") {
			t.Errorf("something is faint: %q", out)
		}
	})
	if New(&recorder{}, NewPump(), Options{Light: true}).look.theme.user != "34" {
		t.Error("what the environment says of the terminal does not count")
	}
}

type white struct{}

func (white) RGBA() (r, g, b, a uint32) { return 0xffff, 0xffff, 0xffff, 0xffff }

// The person is told of a question and of a turn's end only while they are
// elsewhere, and nothing of the words can drive the terminal.
func TestNotify(t *testing.T) {
	for how, want := range map[string]string{
		"bell": "\a", "osc9": "\x1b]9;agent: Allow bash?\x1b\\", "osc777": "\x1b]777;notify;agent;Allow bash?\x1b\\",
	} {
		on(t, 80, 24, Options{Notify: how}, func(t *testing.T, s *stage) {
			sent := func(do func()) bool {
				before, bells := len(s.Output()), s.bells()
				do()
				return how == "bell" && s.bells() > bells || how != "bell" && strings.Contains(s.Output()[before:], want)
			}
			if sent(func() { s.emit(askedBash("1", "make")) }) {
				t.Errorf("%s: told while the window has the focus", how)
			}
			s.emit(app.Closed{ID: "1"})
			s.Send(tea.BlurMsg{})
			if !sent(func() { s.emit(askedBash("2", "make")) }) {
				t.Errorf("%s: not told of a question", how)
			}
			s.emit(app.Closed{ID: "2"}, app.TurnStarted{})
			want = strings.Replace(want, "Allow bash?", "the turn ended: done", 1)
			if !sent(func() { s.emit(app.TurnEnded{Outcome: session.OutcomeDone}) }) {
				t.Errorf("%s: not told of the end", how)
			}
		})
	}
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Send(tea.BlurMsg{})
		s.emit(askedBash("2", "make"))
		if s.bells() > 0 {
			t.Error("told though it is off")
		}
	})
}

func TestProgress(t *testing.T) {
	on(t, 80, 24, Options{Progress: true}, func(t *testing.T, s *stage) {
		s.emit(app.TurnStarted{})
		s.emit(app.TurnEnded{})
		out := s.Output()
		at, end := strings.Index(out, "\x1b]9;4;3"), strings.LastIndex(out, "\x1b]9;4;0")
		if at < 0 || end < at {
			t.Errorf("begun at %d, ended at %d", at, end)
		}
	})
}
