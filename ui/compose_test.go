package ui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/ui/uitest"
)

// wantLog checks what the screen asked of the application.
func (s *stage) wantLog(t *testing.T, want ...string) {
	t.Helper()
	if got := s.app.log(); !slices.Equal(got, want) {
		t.Errorf("asked of the application:\n got %q\nwant %q", got, want)
	}
}

func (s *stage) wantText(t *testing.T, want string) {
	t.Helper()
	if got := s.model.composer.text(); got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
}

func (s *stage) wantOn(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(s.Text(), w) {
			t.Errorf("%q is not on the screen:\n%s", w, s.Text())
		}
	}
}

func (s *stage) wantOff(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(s.Text(), w) {
			t.Errorf("%q is on the screen:\n%s", w, s.Text())
		}
	}
}

func TestNewlines(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Type("a")
		s.Raw("\x1b[13;2u") // shift+enter, kitty
		s.Type("b")
		s.Raw("\x1b[27;2;13~") // shift+enter, modifyOtherKeys
		s.Type("c")
		s.Raw("\x0a") // ctrl+j
		s.Type("d")
		s.Raw("\x1b\r") // alt+enter
		s.Type(`e\`)
		s.Key("enter")
		s.Type("f")
		s.wantText(t, "a\nb\nc\nd\ne\nf")
		s.wantLog(t)
		s.Key("enter")
		s.wantLog(t, `submit "a\nb\nc\nd\ne\nf"`)
		s.wantText(t, "")
	})
}

// The composer grows to eight rows, then scrolls; the cursor is the terminal's own.
func TestComposerGrows(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		for range 12 {
			s.Type("line")
			s.Key("ctrl+j")
		}
		s.Type("end")
		if got := s.model.lay.composer; got != 8 {
			t.Errorf("%d rows, want 8", got)
		}
		x, y, shown := s.Cursor()
		if !shown || x != 1+promptCols+3 || y != 24-3 {
			t.Errorf("the cursor is at %d,%d, shown %v\n%s", x, y, shown, s.Text())
		}
	})
}

func TestCursorOnWideText(t *testing.T) { // UI-21
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Type("日本語é")
		if x, _, _ := s.Cursor(); x != 1+promptCols+7 {
			t.Errorf("the cursor is in column %d\n%s", x, s.Text())
		}
	})
}

func TestPasteChip(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("a line\n", 120), "\n")
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Type("look: ")
		s.Paste(strings.ReplaceAll(long, "\n", "\r\n"))
		s.wantOn(t, "look: [pasted 120 lines]")
		s.Type(" thanks")
		s.wantText(t, "look: "+long+" thanks")

		s.Key("ctrl+a", "right", "right", "right", "right", "right", "right", "right", "right", "X") // inside of the label
		s.wantText(t, "look: "+long+"X thanks")
		s.Key("ctrl+_")
		s.Key("ctrl+e")
		for range " thanks" {
			s.Key("backspace")
		}
		s.Key("backspace")
		s.wantText(t, "look: ")
		s.wantOff(t, "pasted")
		s.Key("ctrl+_") // and back, whole
		s.wantText(t, "look: "+long)
		s.Paste(long)
		s.wantOn(t, "[pasted 120 lines #2]")
		s.Key("ctrl+w")
		s.wantText(t, "look: "+long)
		s.Key("enter")
		if log := s.app.log(); len(log) != 1 || !strings.Contains(log[0], strings.Repeat(`a line\n`, 119)+"a line") {
			t.Errorf("the paste was not sent whole: %.80q", log)
		}
	})
}

func TestPasteKeepsTabsAndDropsControls(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Paste("short\x07 \x01text\rnext")
		s.wantText(t, "short text\nnext")
		s.Key("ctrl+c")
		s.Paste("all:\n\tgo test")
		s.wantText(t, "all:\n\tgo test")
		s.wantLog(t)
	})
}

// What is typed before the terminal is ours comes with line feeds for enter.
func TestTypedBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{})
		s.Screen = uitest.Run(t, early{s.model}, 80, 24)
		s.Wait(time.Second)
		s.wantLog(t, `submit "fix it"`)
		s.Key("ctrl+j")
		s.wantText(t, "\n")
	})
}

// early is a program to which keys come with its first message.
type early struct{ tea.Model }

func (e early) Init() tea.Cmd {
	var keys []tea.Cmd
	for _, r := range "fix it" {
		keys = append(keys, func() tea.Msg { return tea.KeyPressMsg{Code: r, Text: string(r)} })
	}
	keys = append(keys, func() tea.Msg { return tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl} })
	return tea.Batch(e.Model.Init(), tea.Sequence(keys...))
}

// A paste that the terminal does not mark is not sent at its first line end.
func TestUnmarkedPaste(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Raw("one\rtwo\rthree")
		s.wantText(t, "one\ntwo\nthree")
		s.wantLog(t)
		s.Raw("!\r")
		s.wantLog(t, `submit "one\ntwo\nthree!"`)
		s.Raw("next\r") // as one who types ahead over a slow line
		s.wantLog(t, `submit "one\ntwo\nthree!"`, `submit "next"`)
	})
}

func TestReadline(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Type("one two three")
		s.Key("ctrl+w")
		s.wantText(t, "one two ")
		s.Key("ctrl+a", "ctrl+y")
		s.wantText(t, "threeone two ")
		s.Key("ctrl+k")
		s.wantText(t, "three")
		s.Key("ctrl+u")
		s.wantText(t, "")
		s.Key("ctrl+_")
		s.wantText(t, "three")
		s.Key("alt+b", "ctrl+d")
		s.wantText(t, "hree")
		s.Key("ctrl+f", "ctrl+b", "X") // ctrl+b moves the cursor while no command runs
		s.wantText(t, "Xhree")
	})
}

func TestHistory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	on(t, 80, 24, Options{StateDir: dir}, func(t *testing.T, s *stage) {
		for _, p := range []string{"first", "second\nline", "/undo"} {
			s.Type(p) // a line feed is ctrl+j
			s.Key("esc", "enter")
		}
		s.Type("draft")
		s.Key("up")
		s.wantText(t, "/undo")
		s.Key("up")
		s.wantText(t, "second\nline")
		s.Key("up") // moves within the text
		s.wantText(t, "second\nline")
		s.Key("up")
		s.wantText(t, "first")
		s.Key("up")
		s.wantText(t, "first")
		s.Key("down", "down", "down", "down")
		s.wantText(t, "draft")
		s.Key("ctrl+r")
		s.Type("fir")
		s.Key("enter")
		s.wantText(t, "first")
	})
	on(t, 80, 24, Options{StateDir: dir}, func(t *testing.T, s *stage) {
		s.Key("up", "up")
		s.wantText(t, "second\nline")
	})
	info, err := os.Stat(filepath.Join(dir, "history.jsonl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history file: %v, %v", info, err)
	}
}

func TestHistoryThatCannotBeSaved(t *testing.T) {
	on(t, 80, 24, Options{StateDir: "/dev/null"}, func(t *testing.T, s *stage) {
		s.Type("a prompt")
		s.Key("enter")
		s.wantOn(t, "history is not saved")
		s.wantLog(t, `submit "a prompt"`)
	})
}

func TestQueue(t *testing.T) { // IMP-11
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(app.TurnStarted{}, app.Queued{Texts: []string{"one", "two"}})
		s.app.queue = []string{"one", "two"}
		s.wantOn(t, "queued  one", "queued  two", "alt+↑ to edit")
		s.Key("alt+up")
		s.wantText(t, "two")
		s.emit(app.Queued{Texts: []string{"one"}})
		s.wantOff(t, "queued  two")
		s.Type(" more")
		s.Key("esc")
		s.wantText(t, "one\ntwo more")
		s.wantLog(t, "unqueue", "unqueue", "cancel")
	})
}

func TestStop(t *testing.T) { // IMP-09
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(app.TurnStarted{})
		s.Type("draft")
		s.Key("ctrl+c")
		s.wantLog(t, "cancel")
		s.wantText(t, "draft")
		s.emit(app.TurnEnded{Outcome: "interrupted"})
		s.Key("ctrl+c")
		s.wantText(t, "")
		s.Key("ctrl+c")
		s.wantOn(t, "ctrl+c again to quit")
		s.Wait(3 * time.Second)
		s.wantOff(t, "again to quit")
		s.Key("ctrl+c")
		if ended, _ := s.Ended(); ended {
			t.Fatal("one ctrl+c quit")
		}
		s.Key("ctrl+c")
		if ended, _ := s.Ended(); !ended {
			t.Fatal("two did not")
		}
	})
}

func TestCtrlD(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Type("ab")
		s.Key("ctrl+a", "ctrl+d")
		s.wantText(t, "b")
		s.Key("ctrl+d", "ctrl+d")
		if ended, _ := s.Ended(); !ended {
			t.Fatal("ctrl+d did not quit on an empty text")
		}
	})
}

func TestWordsThatQuit(t *testing.T) {
	for _, word := range []string{"exit", "quit", "/q", "/exit", "/quit"} {
		on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
			s.Type(word)
			s.Key("enter")
			if ended, _ := s.Ended(); !ended {
				t.Errorf("%q did not quit", word)
			}
		})
	}
}

func TestFirstPrompt(t *testing.T) {
	on(t, 80, 24, Options{Prompt: "fix it"}, func(t *testing.T, s *stage) {
		s.wantLog(t, `submit "fix it"`)
	})
}

func TestKillRing(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Type("one two three four")
		s.Key("ctrl+w", "ctrl+w") // in a row: one piece
		s.wantText(t, "one two ")
		s.Key("left", "right", "ctrl+w")
		s.wantText(t, "one ")
		s.Key("ctrl+y")
		s.wantText(t, "one two ")
		s.Key("alt+y")
		s.wantText(t, "one three four")
		s.Key("alt+y")
		s.wantText(t, "one two ")
		s.Key("ctrl+a", "alt+y") // only after ctrl+y
		s.wantText(t, "one two ")
		s.Key("alt+d", "alt+d", "ctrl+y")
		s.wantText(t, "one two ")
		s.Key("ctrl+e", "ctrl+backspace", "ctrl+y", "ctrl+y")
		s.wantText(t, "one two two ")
	})
}

// Undo of what was typed goes by the word, and stops where something else was done.
func TestUndoByTheWord(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Type("one two")
		s.Key("alt+b")
		s.Type("and ")
		s.wantText(t, "one and two")
		for _, want := range []string{"one andtwo", "one two", "one ", "one", ""} {
			s.Key("ctrl+_")
			s.wantText(t, want)
		}
		s.Key("ctrl+_")
		s.wantText(t, "")
	})
}

// A megabyte, with every control character and CRLF, is a chip at once and is sent whole.
func TestPasteOfAMegabyte(t *testing.T) {
	line := "some text \x00\x07\x1b\x7f\u009b日本 that is pasted\r\n"
	pasted := strings.Repeat(line, 1<<20/len(line))
	clean := strings.Repeat("some text 日本 that is pasted\n", 1<<20/len(line))
	r := &recorder{}
	m := New(r, NewPump(), Options{})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(tea.PasteMsg{Content: pasted})
	if got := m.composer.shown(); !strings.HasPrefix(got, "[pasted ") || len(got) > 40 {
		t.Errorf("shown: %.80q", got)
	}
	m.Update(tea.KeyPressMsg{Code: '!', Text: "!"})
	if got := m.composer.text(); got != clean+"!" {
		t.Errorf("%d bytes of %d, ends in %q", len(got), len(clean)+1, got[max(0, len(got)-40):])
	}
}

func BenchmarkPasteOfAMegabyte(b *testing.B) {
	pasted := tea.PasteMsg{Content: strings.Repeat("some text that is pasted\r\n", 1<<20/26)}
	m := New(&recorder{}, NewPump(), Options{})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	for b.Loop() {
		m.Update(pasted)
		m.View()
		m.composer.clear()
	}
}
