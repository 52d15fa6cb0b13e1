package ui

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/human"
	"github.com/phero-agent/agent/tools/todo"
	"github.com/phero-agent/agent/ui/text"
)

// UI-04: a call shows with name, subject and state, at each step.
func TestStatesOfACall(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		call := aCall("c", "bash", `{"command":"make"}`)
		s.emit(app.TurnStarted{}, userSays("go"), modelSays("", call))
		s.wantOn(t, "· bash  make")
		s.emit(app.ToolStarted{Call: call, Time: time.Now()})
		s.wantOn(t, "● bash  make", "Running bash")
		a := askedBash("1", "make")
		a.Call = call
		s.emit(a)
		s.wantOn(t, "? bash  make", "asks you")
		s.Wait(2 * time.Second)
		s.Key("y")
		s.wantOn(t, "● bash  make")
		s.emit(app.Closed{ID: "1"}, result("c", session.StatusOK, `{"output":"done\n","exit_code":0}`))
		s.wantOn(t, "✓ bash  make", "    done", "Thinking")
	})
	for status, sign := range map[session.Status]string{session.StatusFailed: "✗ bash  make", session.StatusDenied: "⊘ bash  make", session.StatusInterrupted: "⊘ bash  make"} {
		on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
			s.emit(modelSays("", aCall("c", "bash", `{"command":"make"}`)), result("c", status, "why it is so"))
			s.wantOn(t, sign)
		})
	}
}

// UI-12, UI-13: output shows as it is printed, and parallel commands do not mix.
func TestParallelOutput(t *testing.T) {
	on(t, 120, 40, Options{}, func(t *testing.T, s *stage) {
		a, b := aCall("a", "bash", `{"command":"make a"}`), aCall("b", "bash", `{"command":"make b"}`)
		s.emit(app.TurnStarted{}, modelSays("", a, b), app.ToolStarted{Call: a, Time: time.Now()}, app.ToolStarted{Call: b, Time: time.Now()})
		for n := range 5 {
			s.emit(app.ToolOutput{CallID: "a", Chunk: fmt.Appendf(nil, "A%d\n", n)}, app.ToolOutput{CallID: "b", Chunk: fmt.Appendf(nil, "B%d\n", n)})
			s.wantOn(t, fmt.Sprintf("    A%d", n), fmt.Sprintf("    B%d", n))
		}
		lines := strings.Split(s.Text(), "\n")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "bash  make b") })
		for i, l := range lines {
			if left, _, _ := strings.Cut(l, "│"); strings.Contains(left, "    A") && i > at || strings.Contains(left, "    B") && i < at {
				t.Errorf("row %d has the other command's output: %q", i, l)
			}
		}
		pane := func() string {
			var out []string
			for _, l := range strings.Split(s.Text(), "\n") {
				if _, right, ok := strings.Cut(l, "│"); ok {
					out = append(out, strings.TrimSpace(right))
				}
			}
			return strings.Join(out, " ")
		}
		if !strings.Contains(pane(), "$ make a A0 A1 A2 A3 A4") || strings.Contains(pane(), "B") {
			t.Errorf("the pane: %s", pane())
		}
		s.Key("ctrl+t", "tab")
		if !strings.Contains(pane(), "2/2") || !strings.Contains(pane(), "$ make b B0 B1 B2 B3 B4") {
			t.Errorf("the pane: %s", pane())
		}
		s.Type("hello") // typing goes back to the text
		s.wantText(t, "hello")
	})
}

// UI-11: the list shows at once, and goes when it is empty.
func TestTodoPane(t *testing.T) {
	list := func(items ...todo.Item) app.Event {
		return app.Committed{Entry: session.Entry{Kind: session.KindTodo, Todo: items}}
	}
	on(t, 120, 40, Options{}, func(t *testing.T, s *stage) {
		s.wantOff(t, "TODO")
		s.emit(list(todo.Item{Content: "One", Status: todo.Completed}, todo.Item{Content: "Two", Status: todo.Pending}))
		s.wantOn(t, "TODO", "1/2", "✓ One", "· Two")
		s.emit(list())
		s.wantOff(t, "TODO")
	})
}

// A session that is resumed looks as it did when it was seen live.
func TestResumedLooksAsLive(t *testing.T) {
	var live, resumed string
	var entries []session.Entry
	on(t, 80, 60, Options{}, func(t *testing.T, s *stage) {
		s.tap = func(e app.Event) {
			if c, ok := e.(app.Committed); ok {
				entries = append(entries, c.Entry)
			}
		}
		working(s)
		calls4(s)
		s.emit(result("c4", session.StatusOK, `{"output":"ok  \tacme/app\t0.412s\nok  \tacme/tools\t1.031s\n--- FAIL: TestRename (0.00s)\n","exit_code":0}`),
			app.Committed{Entry: session.Entry{Kind: session.KindUndo, Undo: &session.Undo{Changes: []string{"ch1"}}}},
			app.TurnEnded{}, app.Queued{})
		live = s.Text()
	})
	on(t, 80, 60, Options{}, func(t *testing.T, s *stage) {
		s.emit(app.Opened{ID: "old", Resumed: true, Entries: entries}, app.Usage{Last: session.Usage{Input: 43520}, Window: 128000})
		resumed = s.Text()
	})
	if live != resumed {
		t.Errorf("live:\n%s\nresumed:\n%s", live, resumed)
	}
}

// What a broken stream sent is taken back when the reply comes again.
func TestRetryStartsOver(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(app.TurnStarted{}, userSays("hi"), app.ReplyDelta{Text: "The ans"}, app.Retrying{Reason: "the stream broke", Attempt: 2, Until: time.Now().Add(time.Second)})
		s.wantOff(t, "The ans")
		s.emit(app.ReplyDelta{Text: "The answer"}, modelSays("The answer"))
		s.wantOn(t, "The answer")
		if n := strings.Count(s.Text(), "The ans"); n != 1 {
			t.Errorf("the answer is there %d times", n)
		}
	})
}

// What is said while a reply comes in stands before it, and the reply is there once.
func TestNoticeDuringAReply(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(app.TurnStarted{}, userSays("hi"), app.ReplyDelta{Text: "The ans"}, app.Notice{Level: app.Error, Text: "busy just now"}, app.ReplyDelta{Text: "wer is 42"}, modelSays("The answer is 42"))
		screen := s.Text()
		if n := strings.Count(screen, "The ans"); n != 1 || !strings.Contains(screen, "The answer is 42") {
			t.Errorf("the answer is there %d times:\n%s", n, screen)
		}
		if strings.Index(screen, "busy just now") > strings.Index(screen, "The ans") {
			t.Errorf("the notice stands behind the reply:\n%s", screen)
		}
	})
}

// nasty is text that must not reach the terminal as it is.
const nasty = "a\x1b[2Jb\x1b]0;owned\x07c\x1b]52;c;eHg=\x1b\\d\u009b31me\x9bf\u202eg\u200bh\u2066i\x07j\bk\x7fl\x1bPq#0\x1b\\m\x1b[6nn"

// UI-20: D1 to D5. Model, tools, files, repository and server drive nothing.
func TestNothingDrivesTheTerminal(t *testing.T) {
	args := jsonText(map[string]string{"command": nasty, "file_path": nasty, "pattern": nasty, "url": nasty, "description": nasty})
	on(t, 100, 40, Options{Version: nasty, Mouse: true}, func(t *testing.T, s *stage) {
		s.emit(app.State{Workspace: "/w/" + nasty, Branch: nasty, Model: nasty, Provider: nasty, Sandbox: nasty})
		var names []tools.ToolCall
		for i, name := range []string{"bash", "read", "edit", "grep", "web_fetch", "agent", "skill", nasty} {
			names = append(names, aCall(fmt.Sprint("c", i), name, args))
		}
		s.emit(app.TurnStarted{}, app.Queued{Texts: []string{nasty}}, userSays(nasty), app.ReplyDelta{Reasoning: nasty}, app.ReplyDelta{Text: nasty + "\n\n```" + nasty + "\n" + nasty + "\n```\n[x](" + nasty + ")"},
			modelSays(nasty, names...),
			app.ToolStarted{Call: names[0], Time: time.Now()}, app.ToolOutput{CallID: "c0", Chunk: []byte(nasty)}, app.ToolOutput{CallID: "c0", Chunk: []byte("\x1b")}, app.ToolOutput{CallID: "c0", Chunk: []byte("]0;split\x07\n")},
			app.Committed{Entry: session.Entry{Kind: session.KindChange, Change: &session.Change{ID: "1", CallID: "c2", Path: "/w/" + nasty, Hunks: []file.Hunk{{Old: 1, New: 1, Lines: []string{"-" + nasty, "+" + nasty}}}}}},
			app.Committed{Entry: session.Entry{Kind: session.KindTitle, Title: nasty}},
			app.Committed{Entry: session.Entry{Kind: session.KindTodo, Todo: []todo.Item{{Content: nasty, Status: todo.InProgress}}}},
			app.Shells{List: []bash.ShellInfo{{ID: nasty, Command: nasty, Running: true, Tail: nasty}}},
			app.CallDelta{Tool: nasty}, app.Notice{Level: app.Error, Text: nasty}, app.Retrying{Reason: nasty, Until: time.Now()},
			result("c1", session.StatusFailed, nasty), result("c3", session.StatusOK, jsonText(map[string]any{"output": []string{nasty}})), result("c4", session.StatusOK, nasty))
		s.Key("ctrl+o", "ctrl+t", "ctrl+t", "ctrl+t", "ctrl+t", "ctrl+t")
		s.emit(app.Asked{ID: "1", Call: aCall("c0", nasty, args), Trace: noRule(nasty), Offers: offered("x", nasty), Change: &file.Change{Path: "/w/" + nasty, Before: []byte(nasty), After: []byte("x" + nasty)},
			Request: permissions.Request{Tool: nasty, Raw: nasty, Subject: nasty, Subjects: []string{nasty}, Rule: nasty, Reason: permissions.ReasonAskRule}})
		s.Wait(2 * time.Second)
		s.Key("a", "n", "n")
		s.emit(app.Questioned{ID: "2", Source: nasty, Input: human.Input{Questions: []human.Question{{Header: nasty, Question: nasty, Options: []human.Choice{{Label: nasty, Description: nasty}}}}}})
		s.Wait(2 * time.Second)
		s.Key("esc")
		s.app.sessions = []app.SessionInfo{{Info: session.Info{ID: "1", Title: nasty}}}
		s.app.previews = map[string]app.Preview{"1": {Said: []session.Message{{Role: session.RoleUser, Text: nasty}}, Changed: []string{nasty}, Damage: []string{nasty}}}
		s.app.hits = []session.Hit{{ID: "1", Line: nasty}}
		s.Key("ctrl+s")
		s.Type("x")
		s.Wait(time.Second)
		s.Key("esc")
		s.app.prompts = []app.Prompt{{Prompt: session.Prompt{Seq: 1, Text: nasty}}}
		s.enter("/rewind")
		out := s.Output()
		for _, bad := range []string{"\x1b[2Jb", "\x1b]0;owned", "split\x07", "\x1b]52;", "\u009b", "\x9bf", "\u202e", "\u200b", "\u2066", "\x7f", "\x1bPq", "\x1b[6n", "\x07j"} {
			if i := strings.Index(out, bad); i >= 0 {
				t.Errorf("%q reached the terminal: %q", bad, out[max(0, i-80):min(len(out), i+40)])
			}
		}
	})
}

// UI-18, UI-21: at every size no row is wider than the window and there are never more rows.
func TestEverySize(t *testing.T) {
	wide := strings.Repeat("日本語 👩‍💻 🇨🇭 é العربية word ", 8)
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			t.Parallel()
			everySize(t, state.opts, wide, state.show)
		})
	}
}

func everySize(t *testing.T, opts Options, wide string, show func(*stage)) {
	on(t, 120, 40, opts, func(t *testing.T, s *stage) {
		s.emit(userSays(wide), modelSays("# "+wide+"\n\n- "+wide+"\n\n| "+wide+" | b |\n|---|---|\n| 1 | "+wide+" |\n\n```\n"+wide+"\n```"))
		show(s)
		for _, size := range [][2]int{{120, 40}, {111, 25}, {109, 24}, {60, 16}, {59, 15}, {40, 10}, {33, 9}, {25, 7}, {20, 6}, {19, 5}, {1, 1}, {200, 60}} {
			s.model.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			rows := strings.Split(s.model.View().Content, "\n")
			if len(rows) > size[1] {
				t.Fatalf("at %v: %d rows", size, len(rows))
			}
			for y, r := range rows {
				if w := text.Width(r); w > size[0] {
					t.Fatalf("at %v: row %d has %d cells: %q", size, y, w, r)
				}
			}
		}
		s.model.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	})
}

// With NO_COLOR nothing is coloured, and signs say all of it (UI-07).
func TestNoColor(t *testing.T) {
	on(t, 120, 40, Options{}, func(t *testing.T, s *stage) {
		working(s)
		calls4(s)
		askEdit(s)
		s.Wait(2 * time.Second)
		for y := range 40 {
			for x := range 120 {
				if c := s.Cell(x, y); c.Fg != nil || c.Bg != nil {
					t.Fatalf("the cell at %d,%d has a colour: %+v", x, y, c)
				}
			}
		}
		s.wantOn(t, "4 −     x := Foo{}", "4 +     x := Bar{}", "+1 −2")
	}, tea.WithColorProfile(colorprofile.ASCII))
}

// The tints of a diff vanish with 16 colours; the signs carry it.
func TestSixteenColors(t *testing.T) {
	for profile, tinted := range map[colorprofile.Profile]bool{colorprofile.ANSI: false, colorprofile.TrueColor: true} {
		on(t, 100, 40, Options{}, func(t *testing.T, s *stage) {
			askEdit(s)
			x, y, ok := s.Find("x := Bar{}")
			if c := s.Cell(x, y); !ok || (c.Bg != nil) != tinted {
				t.Errorf("%v: the added line is %+v", profile, c)
			}
		}, tea.WithColorProfile(profile))
	}
}

func TestLightTheme(t *testing.T) {
	on(t, 100, 40, Options{Theme: "light"}, func(t *testing.T, s *stage) {
		askEdit(s)
		x, y, _ := s.Find("x := Bar{}")
		if r, g, b, _ := s.Cell(x+9, y).Bg.RGBA(); r+g+b < 3*0x9000 {
			t.Errorf("the added line's background is dark: %+v", s.Cell(x+9, y).Bg)
		}
	})
}

// The title says what goes on; a bell rings once when nobody looks.
func TestTitleAndBell(t *testing.T) {
	on(t, 80, 24, Options{Notify: "bell"}, func(t *testing.T, s *stage) {
		if got := s.Title(); got != "agent — acme" {
			t.Errorf("the title is %q", got)
		}
		s.emit(askedBash("1", "make"))
		if got := s.Title(); got != "● agent — waiting" {
			t.Errorf("the title is %q", got)
		}
		if s.bells() != 0 {
			t.Error("a bell rang though the terminal has the focus")
		}
		s.emit(app.Closed{ID: "1"})
		s.Raw("\x1b[O") // the focus goes
		s.emit(askedBash("2", "make"), askedBash("3", "make"))
		if got := s.bells(); got != 1 {
			t.Errorf("%d bells rang", got)
		}
	})
}

// bells counts the bells that do not end a control string.
func (s *stage) bells() int {
	strings := regexp.MustCompile(`\x1b\][^\x07\x1b]*\x07`)
	return bytes.Count(strings.ReplaceAll([]byte(s.Output()), nil), []byte{7})
}

// Nothing ticks while nothing goes on.
func TestRestsWhenIdle(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(app.TurnStarted{}, app.TurnEnded{}, app.Notice{Text: "done"})
		s.Key("ctrl+c") // which waits for another one
		s.Wait(10 * time.Second)
		if s.model.ticking {
			t.Error("a timer runs")
		}
		s.wantOff(t, "done")
	})
}

// The transcript does not jump while it is read, and tells what is new.
func TestNoJump(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(userSays("talk"), modelSays(strings.Repeat("A paragraph.\n\n", 60)))
		s.Key("pgup", "pgup")
		before := strings.Split(s.Text(), "\n")[:18]
		s.emit(app.TurnStarted{}, app.ReplyDelta{Text: strings.Repeat("more\n\n", 50)})
		if after := strings.Split(s.Text(), "\n")[:18]; !slices.Equal(before, after) {
			t.Errorf("it moved:\n%s", strings.Join(after, "\n"))
		}
		s.wantOn(t, "↓ 1 new")
		s.Key("end")
		s.wantOff(t, "↓")
		s.wantOn(t, "more")
	})
}

func TestBrowse(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		calls4(s)
		s.Key("tab")
		if _, _, shown := s.Cursor(); shown {
			t.Error("there are two places with the keys")
		}
		s.Key("g")
		s.wantOn(t, "▸▌ do everything")
		s.Key("j")
		s.wantOn(t, "▸▸ Thought")
		s.Key("enter")
		s.wantOn(t, "First this.")
		s.Key("j", "j")
		s.Key("j")
		s.wantOn(t, "▸Looking.")
		s.Key("]")
		s.wantOn(t, "▸Now the rest.")
		s.Key("[", "[")
		s.wantOn(t, "▸▌ do everything")
		s.Key("/")
		s.Type("red")
		s.Key("enter")
		s.wantOn(t, "▸    Color: a warm red")
		s.Key("n")
		s.wantOn(t, "▸    Color: a warm red") // the only one
		s.Key("/")
		s.Type("nowhere")
		s.Key("enter")
		s.wantOn(t, "not found: nowhere")
		s.Key("c")
		s.wantOn(t, "sent to the terminal's clipboard")
		if !strings.Contains(s.Output(), "\x1b]52;c;") {
			t.Error("nothing was copied")
		}
		s.Type("x")
		s.wantText(t, "x")
	})
}

func TestMouse(t *testing.T) {
	on(t, 80, 24, Options{Mouse: true}, func(t *testing.T, s *stage) {
		calls4(s)
		s.wantOff(t, "do everything")
		for range 20 {
			s.Raw("\x1b[<64;10;5M") // the wheel, up
		}
		s.wantOn(t, "do everything", "▸ Thought")
		_, y, _ := s.Find("Thought")
		s.Raw(fmt.Sprintf("\x1b[<0;5;%dM\x1b[<0;5;%dm", y+1, y+1))
		s.wantOn(t, "First this.")
		s.Raw("\x1b[<0;80;20M") // the scrollbar's end
		s.wantOn(t, "Done.")
		s.Raw("\x1b[<0;80;1M\x1b[<32;80;10M")
		s.wantOff(t, "do everything", "Done.")
		s.Raw("\x1b[<0;80;20M\x1b[<0;80;20m")

		x, y, _ := s.Find("a warm red") // a selection by the mouse is copied
		s.Raw(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<32;%d;%dM", x+1, y+1, x+10, y+1))
		if c := s.Cell(x+3, y); !c.Reverse {
			t.Errorf("what is selected is not shown: %+v", c)
		}
		s.Raw(fmt.Sprintf("\x1b[<0;%d;%dm", x+10, y+1))
		if want := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("a warm red")); !strings.Contains(s.Output(), want) {
			t.Error("the selection was not copied")
		}
		if c := s.Cell(x+3, y); c.Reverse {
			t.Error("the selection stays")
		}
		s.enter("/mouse")
		if !strings.HasSuffix(strings.Join(regexp.MustCompile(`\x1b\[\?1002[hl]`).FindAllString(s.Output(), -1), ""), "l") {
			t.Error("the mouse was not given back")
		}
	})
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		if strings.Contains(s.Output(), "\x1b[?1002h") {
			t.Error("the mouse is taken though it is off")
		}
	})
}

// What was said last and how to resume stay on the normal screen.
func TestGoodbye(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		var b bytes.Buffer
		s.model.goodbye(&b)
		s.model.howToResume(&b)
		if b.Len() != 0 {
			t.Errorf("nothing was said: %q", b.String())
		}
		s.emit(app.Committed{Entry: session.Entry{Kind: session.KindHead, Head: &session.Head{ID: "01ABC"}}}, userSays("hello"), modelSays(strings.Repeat("word\n\n", 60)+"The end."))
		s.model.goodbye(&b)
		s.model.howToResume(&b)
		if got := text.Clean(b.String()); !strings.HasSuffix(got, "word\n\nThe end.\n\nresume with: agent --resume 01ABC\n") || strings.Count(got, "\n") > tailLines+2 {
			t.Errorf("got\n%s", got)
		}
	})
}

// A log that somebody edited, or a newer one, is no reason to fall over.
func TestEntriesWithoutTheirField(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		for _, kind := range []session.Kind{session.KindHead, session.KindMessage, session.KindNote, session.KindTodo, session.KindChange, session.KindDone, session.KindUndo, session.KindTurn, session.KindTitle, "new"} {
			s.emit(app.Committed{Entry: session.Entry{Kind: kind}})
		}
		s.emit(result("nobody", session.StatusOK, ""), app.ToolOutput{CallID: "nobody"}, app.ToolStarted{Call: aCall("nobody", "bash", "")}, app.Closed{ID: "nobody"},
			app.ReplyDelta{Parent: "nobody", Text: "x"}, app.Questioned{ID: "empty"}, modelSays("", aCall("odd", "bash", `[1]`), aCall("odd2", "todo_write", `{`)),
			result("odd", session.StatusOK, "no json"), result("odd2", session.StatusOK, ""))
		s.wantOn(t, "✓ bash")
		s.Wait(2 * time.Second)
		s.Key("down", "space", "enter", "tab", "enter", "esc")
		s.wantOff(t, "The model asks")
	})
}

func TestBackground(t *testing.T) { // IMP-31
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		call := aCall("c", "bash", `{"command":"sleep 60"}`)
		s.emit(app.TurnStarted{}, modelSays("", call), app.ToolStarted{Call: call, Time: time.Now()})
		s.Key("ctrl+b")
		s.wantLog(t, "background c")
	})
}

func TestKillShell(t *testing.T) { // IMP-28
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(twoShells())
		s.enter("/shells")
		s.Key("x", "n")
		s.wantLog(t)
		s.Key("j", "x") // it is over
		s.wantOff(t, "Kill")
		s.Key("k", "x", "y")
		s.wantLog(t, "kill bash_1")
	})
}

// The first frame needs nothing but the size, and keys typed before it are kept.
func TestKeysBeforeTheFirstFrame(t *testing.T) {
	m := New(&recorder{}, NewPump(), Options{})
	if v := m.View(); v.Content != "" || !v.AltScreen {
		t.Errorf("before the size is known: %+v", v)
	}
	for _, r := range "early" {
		m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if got := m.View().Content; !strings.Contains(got, "early") {
		t.Errorf("the first frame:\n%s", got)
	}
}

// With AGENT_ASCII nothing of ours needs more than ASCII.
func TestASCII(t *testing.T) {
	for _, state := range states {
		for _, w := range []int{120, 60} {
			opts := state.opts
			opts.ASCII, opts.Still = true, true
			on(t, w, 40, opts, func(t *testing.T, s *stage) {
				state.show(s)
				for _, r := range s.Text() + s.Title() {
					if r > 0x7e && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) { // what people write
						t.Errorf("%s, %d columns: %q is on the screen:\n%s", state.name, w, r, s.Text())
						break
					}
				}
			})
		}
	}
}
