package uitest

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// echo shows what it gets.
type echo struct {
	w, h int
	got  []string
}

func (m *echo) Init() tea.Cmd { return nil }

func (m *echo) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+d" {
			return m, tea.Quit
		}
		m.got = append(m.got, msg.String())
	case tea.PasteMsg:
		m.got = append(m.got, fmt.Sprintf("paste(%q)", msg.Content))
	case tea.MouseMsg:
		m.got = append(m.got, fmt.Sprintf("%T(%d,%d)", msg, msg.Mouse().X, msg.Mouse().Y))
	case string:
		m.got = append(m.got, msg)
	case time.Duration:
		return m, tea.Tick(msg, func(time.Time) tea.Msg { return "ticked" })
	}
	return m, nil
}

func (m *echo) View() tea.View {
	style := lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Color("1"))
	v := tea.NewView(fmt.Sprintf("%s %dx%d\n%s", style.Render("日本"), m.w, m.h, strings.Join(m.got, " ")))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "echo"
	v.Cursor = tea.NewCursor(3, 1)
	return v
}

func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Run(t, &echo{}, 60, 6)
		s.Type("hé")
		s.Paste("a\r\nb")
		s.Golden("echo")
		if c := s.Cell(0, 0); c.Content != "日" || !c.Bold || c.Fg == nil || c.Reverse {
			t.Errorf("first cell: %+v", c)
		}
		if x, y, ok := s.Find("60x6"); x != 5 || y != 0 || !ok {
			t.Errorf("found at %d,%d %v", x, y, ok)
		}
		if s.Title() != "echo" || !s.AltScreen() {
			t.Errorf("title %q, alternate screen %v", s.Title(), s.AltScreen())
		}
		s.Resize(20, 4)
		if got := s.Line(0); got != "日本 20x4" {
			t.Errorf("after resize: %q", got)
		}
	})
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Run(t, &echo{}, 40, 4)
		s.Send(time.Hour)
		if strings.Contains(s.Text(), "ticked") {
			t.Error("an hour has passed already")
		}
		s.Wait(time.Hour)
		if !strings.Contains(s.Text(), "ticked") {
			t.Errorf("no tick after an hour\n%s", s.Text())
		}
		if ended, _ := s.Ended(); ended {
			t.Error("ended early")
		}
		s.Key("ctrl+d")
		if ended, err := s.Ended(); !ended || err != nil {
			t.Errorf("ended %v, %v", ended, err)
		}
		if !strings.Contains(s.Output(), "\x1b[?1049l") {
			t.Error("the alternate screen was not left")
		}
	})
}

func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &echo{}
		s := Run(t, m, 40, 4)
		keys := []string{
			"a", "A", "é", "enter", "shift+enter", "alt+enter", "ctrl+enter", "ctrl+j", "tab", "shift+tab", "esc",
			"backspace", "alt+backspace", "space", "ctrl+c", "ctrl+o", "ctrl+h", "ctrl+i", "ctrl+m", "alt+b", "ctrl+alt+a",
			"up", "shift+up", "ctrl+left", "alt+up", "home", "end", "pgup", "pgdown", "ctrl+pgdown", "insert", "delete",
			"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "shift+f5", "?", "ctrl+shift+a",
		}
		s.Key(keys...)
		if got, want := strings.Join(m.got, " "), strings.Join(keys, " "); got != want {
			t.Errorf("keys\n got %s\nwant %s", got, want)
		}
	})
}

func TestMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &echo{}
		s := Run(t, m, 40, 4)
		s.Click(3, 2)
		s.Wheel(1, 1, -1)
		s.Drag(0, 0, 5, 1)
		want := "tea.MouseClickMsg(3,2) tea.MouseReleaseMsg(3,2) tea.MouseWheelMsg(1,1) tea.MouseClickMsg(0,0) tea.MouseMotionMsg(5,1) tea.MouseReleaseMsg(5,1)"
		if got := strings.Join(m.got, " "); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	})
}
