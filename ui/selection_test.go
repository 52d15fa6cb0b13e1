package ui

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
)

// copiedTo is whether the text went to the terminal's clipboard.
func copiedTo(s *stage, text string) bool {
	return strings.Contains(s.Output(), "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\a")
}

// Lines are selected by keys, from where v was pressed, up or down, over items.
func TestSelectLines(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(userSays("question"), modelSays("first\n\nsecond\n\nthird"))
		s.Key("tab", "j", "j", "v", "k", "k")
		x, y, _ := s.Find("second")
		if !s.Cell(x, y).Reverse || !s.Cell(x, y-2).Reverse || s.Cell(x, y+2).Reverse {
			t.Error("the selection is not shown")
		}
		s.Key("c")
		if !copiedTo(s, "first\n\nsecond") {
			t.Error("upwards: not copied")
		}
		if s.Cell(x, y).Reverse {
			t.Error("the selection stays")
		}
		s.Key("[", "v", "j", "c")
		if !copiedTo(s, "question\n\nfirst") {
			t.Error("over two items: not copied")
		}
		s.Key("v", "esc")
		s.Type("?") // still in the transcript, without a selection
		s.wantOff(t, "› ?")
		s.Key("esc")
		s.Type("x")
		s.wantText(t, "x")
	})
}

// A search goes to the row, unfolds what hides it, shows every place, and goes on.
func TestFindUnfolds(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		call := aCall("c", "bash", `{"command":"make"}`)
		s.emit(userSays("look"), modelSays("", call), result("c", "ok", `{"output":"a\nthe Needle\nb\nc\nd\ne\nf\n","exit_code":0}`), modelSays("Here: a needle and a needle.\n\nNo more."))
		s.wantOff(t, "Needle")
		find := func(text string) {
			s.Key("/")
			s.Type(text)
			s.Key("enter")
		}
		s.Key("tab", "G")
		find("needle")
		s.wantOn(t, "▸Here: a needle and")
		x, y, _ := s.Find("needle and")
		if !s.Cell(x, y).Reverse || !s.Cell(x+len("needle and a "), y).Reverse || s.Cell(x+7, y).Reverse {
			t.Error("the places are not shown")
		}
		s.Key("N")
		s.wantOn(t, "▸    the Needle")
		s.Key("n")
		s.wantOn(t, "▸Here: a needle and")
		s.Key("n")
		s.wantOn(t, "▸    the Needle") // around the end
	})
}

// A copy goes through tmux and screen to the terminal behind them, and to a program
// where the person sits at this machine; what is not known to have arrived is said.
func TestCopyReachesTheTerminal(t *testing.T) {
	env := func(set ...string) func(string) string {
		return func(name string) string {
			for _, s := range set {
				if v, ok := strings.CutPrefix(s, name+"="); ok {
					return v
				}
			}
			return ""
		}
	}
	if got, want := wrappedClipboard("hi", env("TMUX=1")), "\x1bPtmux;\x1b\x1b]52;c;aGk=\a\x1b\\"; got != want {
		t.Errorf("tmux: %q, want %q", got, want)
	}
	if got, want := wrappedClipboard("hi", env("STY=1")), "\x1bP\x1b]52;c;aGk=\a\x1b\\"; got != want {
		t.Errorf("screen: %q, want %q", got, want)
	}
	if got := wrappedClipboard("hi", env()); got != "" {
		t.Errorf("a terminal: %q", got)
	}
	if list := clipboardPrograms(env("SSH_CONNECTION=x", "DISPLAY=:0", "WAYLAND_DISPLAY=w")); len(list) != 0 {
		t.Errorf("over ssh: %v", list)
	}

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "xsel"), []byte("#!/bin/sh\ncat >"+dir+"/got\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for name, value := range map[string]string{"TMUX": "1", "SSH_CONNECTION": "", "WSL_DISTRO_NAME": "", "WAYLAND_DISPLAY": "", "DISPLAY": ":0"} {
		t.Setenv(name, value)
	}
	for _, argv := range clipboardPrograms(os.Getenv) {
		if argv[0] == "pbcopy" || argv[0] == "clip.exe" {
			t.Skip("the clipboard of this machine is not ours to change")
		}
	}
	if by := clipboardProgram("some\ntext"); by != "xsel" && by != "xclip" {
		t.Errorf("taken by %q", by)
	} else if got, _ := os.ReadFile(dir + "/got"); by == "xsel" && string(got) != "some\ntext" {
		t.Errorf("xsel got %q", got)
	}

	for by, want := range map[string]string{"": "it does not say if it took them", "tmux": "in tmux's buffer", "pbcopy": "2 lines copied with pbcopy"} {
		on(t, 120, 24, Options{}, func(t *testing.T, s *stage) {
			s.emit(app.Opened{}, modelSays("a\n\nb"))
			s.Send(copiedMsg{2, by})
			s.Wait(0)
			s.Type("x")
			s.Wait(0)
			if got := s.model.status.notice.Text; !strings.Contains(got, want) {
				t.Errorf("%q: %q", by, got)
			}
		})
	}
}
