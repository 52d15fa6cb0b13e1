package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/todo"
	"github.com/phero-agent/agent/ui/text"
)

// Whatever keys, sizes and events come in whatever order, nothing falls over and
// the screen keeps its measures.
func TestMonkey(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			monkey(t, seed, 80, 24, 400, true)
		})
	}
}

// FuzzScreen holds the same at any size, from the start on.
func FuzzScreen(f *testing.F) {
	for _, size := range [][2]uint16{{1, 1}, {20, 6}, {40, 10}, {80, 24}, {109, 23}, {110, 24}, {500, 200}} {
		f.Add(uint64(1), size[0], size[1])
	}
	f.Fuzz(func(t *testing.T, seed uint64, w, h uint16) {
		monkey(t, seed, 1+int(w)%500, 1+int(h)%200, 60, false)
	})
}

// monkey plays some steps at a size, which may change.
func monkey(t *testing.T, seed uint64, w, h, steps int, resizes bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	m := New(&recorder{}, NewPump(), Options{Mouse: true, Files: listed, Vim: seed%3 == 0, ASCII: seed%5 == 0})
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	keys := allKeys()
	for step := range steps {
		msg := someMessage(r, m, keys, step)
		if _, resize := msg.(tea.WindowSizeMsg); resize && !resizes {
			continue
		}
		m.Update(msg)
		if d := m.asking(); d != nil { // line mode reads the same dialogs
			d.spoken(m.look.theme, m.keys)
		}
		v := m.View()
		if c := v.Cursor; c != nil && (c.Position.X < 0 || c.Position.X >= m.w || c.Position.Y < 0 || c.Position.Y >= m.h) {
			t.Fatalf("step %d: the cursor is at %v of %dx%d", step, c.Position, m.w, m.h)
		}
		rows := strings.Split(v.Content, "\n")
		if len(rows) > m.h {
			t.Fatalf("step %d: %d rows at %dx%d", step, len(rows), m.w, m.h)
		}
		for _, row := range rows {
			if text.Width(row) > m.w {
				t.Fatalf("step %d: a row of %d cells at %dx%d: %q", step, text.Width(row), m.w, m.h, row)
			}
		}
	}
}

// allKeys are the keys of the table, and some that write and edit.
func allKeys() (keys []tea.KeyPressMsg) {
	for _, b := range bindings() {
		for _, name := range b.keys {
			keys = append(keys, keyNamed(name))
		}
	}
	for _, name := range []string{"a", "Z", "/", "@", "!", "1", " ", "\\", "d", "w", "p", "backspace", "delete", "left", "ctrl+w", "ctrl+k", "日", "é"} {
		keys = append(keys, keyNamed(name))
	}
	return keys
}

// someMessage is a key, mostly; else an event, a size, a paste or the mouse.
func someMessage(r *rand.Rand, m *Model, keys []tea.KeyPressMsg, step int) tea.Msg {
	at := tea.Mouse{X: r.IntN(130), Y: r.IntN(45), Button: tea.MouseLeft}
	switch r.IntN(20) {
	case 0:
		return tea.WindowSizeMsg{Width: 1 + r.IntN(140), Height: 1 + r.IntN(50)}
	case 1:
		return tea.PasteMsg{Content: strings.Repeat("line\twith 日本\n", r.IntN(30))}
	case 2:
		return tea.MouseClickMsg(at)
	case 3:
		return tea.MouseMotionMsg(at)
	case 4:
		return tea.MouseReleaseMsg(at)
	case 5:
		at.Button = tea.MouseWheelUp + tea.MouseButton(r.IntN(2))
		return tea.MouseWheelMsg(at)
	case 6, 7, 8, 9:
		return batch{events: []app.Event{someEvent(r, step)}}
	case 10:
		if q := m.question(); q != nil { // time passes
			q.since = time.Time{}.Add(1)
			return armMsg{q.id}
		}
	case 11:
		return matchesMsg{word: m.complete.word, items: []suggestion{{insert: "@main.go"}, {insert: "@日本"}}}
	case 12:
		if q := m.question(); q != nil {
			return heldMsg{q.id, q.holds}
		}
	}
	return keys[r.IntN(len(keys))]
}

func someEvent(r *rand.Rand, step int) app.Event {
	id := fmt.Sprint("c", r.IntN(step+1))
	switch r.IntN(18) {
	case 0:
		return app.TurnStarted{}
	case 1:
		return app.TurnEnded{}
	case 2:
		return userSays("words 日本 " + nasty)
	case 3, 4:
		return app.ReplyDelta{Text: "some *words*\n\n", Reasoning: strings.Repeat("thought\n", r.IntN(2))}
	case 5, 6:
		name := []string{"bash", "read", "edit", "agent", "todo_write", "grep"}[r.IntN(6)]
		return modelSays(strings.Repeat("text ", r.IntN(30)), aCall(fmt.Sprint("c", step), name, `{"command":"make","file_path":"/w/a.go"}`))
	case 7:
		return result(id, []session.Status{"ok", "failed", "denied", "interrupted"}[r.IntN(4)], `{"output":"x\ny\n","exit_code":1}`)
	case 8:
		return app.ToolStarted{Call: aCall(id, "bash", "")}
	case 9:
		return app.ToolOutput{CallID: id, Chunk: []byte(strings.Repeat("out\n", r.IntN(50)))}
	case 10:
		return askedBash(fmt.Sprint("q", step), strings.Repeat("go test ./... && ", 1+r.IntN(40))+"true")
	case 11:
		return moreQuestions
	case 12:
		return app.Closed{ID: fmt.Sprint("q", r.IntN(step+1))}
	case 13:
		return app.Retrying{Reason: "busy"}
	case 14:
		return twoShells()
	case 15:
		return app.Committed{Entry: session.Entry{Kind: session.KindTodo, Todo: make([]todo.Item, r.IntN(40))}}
	case 16:
		if step%7 == 0 {
			return app.Opened{ID: "x"}
		}
		return app.Queued{Texts: make([]string, r.IntN(6))}
	}
	return app.Notice{Level: app.Level(r.IntN(3)), Text: strings.Repeat("notice ", r.IntN(40))}
}

// keyNamed is the message of a key.
func keyNamed(name string) tea.KeyPressMsg {
	var k tea.Key
	rest := name
	for prefix, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if strings.Contains(rest, prefix) {
			k.Mod |= mod
			rest = strings.Replace(rest, prefix, "", 1)
		}
	}
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"space": tea.KeySpace, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "f1": tea.KeyF1}
	if code, ok := special[rest]; ok {
		k.Code = code
		return tea.KeyPressMsg(k)
	}
	k.Code = []rune(rest)[0]
	if k.Mod == 0 {
		k.Text = rest
	}
	return tea.KeyPressMsg(k)
}
