// Package uitest runs a program on an emulated terminal.
//
//	keys ──► emulator ──► program ──► bytes ──► emulator ──► Text, Cell, Cursor, Golden
//
// Use it inside of synctest.Test: time is fake there, so a test takes
// milliseconds and never flakes. Nothing in the program may wait for a real
// process or the network: there fake time stands still.
package uitest

import (
	"bytes"
	"image/color"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"
)

// Screen is a terminal with a program on it.
type Screen struct {
	t    testing.TB
	term *vt.SafeEmulator
	prog *tea.Program
	done chan struct{}
	err  error // of the program, after done

	mu     sync.Mutex
	output bytes.Buffer
	title  string
}

// Run starts m on a terminal of w by h cells, and stops it when the test ends.
// The terminal has all colours; options change that.
func Run(t testing.TB, m tea.Model, w, h int, opts ...tea.ProgramOption) *Screen {
	t.Helper()
	s := &Screen{t: t, term: vt.NewSafeEmulator(w, h), done: make(chan struct{})}
	s.term.SetCallbacks(vt.Callbacks{Title: func(title string) {
		s.mu.Lock()
		s.title = title
		s.mu.Unlock()
	}})
	io.WriteString(s.term, "\x1b[20h") // a line feed also returns the carriage, as on a tty
	s.prog = tea.NewProgram(m, append([]tea.ProgramOption{
		tea.WithInput(s.term), tea.WithOutput(writer{s}), tea.WithWindowSize(w, h),
		tea.WithColorProfile(colorprofile.TrueColor),
		tea.WithoutSignalHandler(), // signals do not work in a bubble
		tea.WithEnvironment([]string{"TERM=xterm-256color"}),
	}, opts...)...)
	go func() {
		defer close(s.done)
		_, s.err = s.prog.Run()
	}()
	t.Cleanup(func() {
		s.prog.Quit()
		<-s.done
		if s.err != nil {
			t.Error(s.err)
		}
		s.term.Close()
	})
	s.settle()
	return s
}

// writer is the program's side of the terminal.
type writer struct{ s *Screen }

func (w writer) Write(p []byte) (int, error) {
	w.s.mu.Lock()
	w.s.output.Write(p)
	w.s.mu.Unlock()
	return w.s.term.Write(p)
}

// Type sends text as the keyboard would, one character after the other.
func (s *Screen) Type(text string) {
	for _, r := range text {
		s.send(string(r))
	}
	s.settle()
}

// Key sends keys by their names, as "ctrl+c", "shift+enter", "esc", "pgdown", "a".
func (s *Screen) Key(names ...string) {
	s.t.Helper()
	for _, name := range names {
		raw, ok := KeyBytes(name)
		if !ok {
			s.t.Fatalf("uitest: no key is named %q", name)
		}
		s.send(raw)
		s.settle()
	}
}

// Raw sends bytes as they are.
func (s *Screen) Raw(raw string) { s.send(raw); s.settle() }

// Paste sends text as a bracketed paste.
func (s *Screen) Paste(text string) { s.Raw("\x1b[200~" + text + "\x1b[201~") }

// Send sends a message to the program, as the application would.
func (s *Screen) Send(msgs ...tea.Msg) {
	for _, msg := range msgs {
		s.prog.Send(msg)
	}
	s.settle()
}

// Resize changes the terminal's size.
func (s *Screen) Resize(w, h int) {
	s.term.Resize(w, h)
	s.Send(tea.WindowSizeMsg{Width: w, Height: h})
}

// Wait lets fake time pass, and then the program draw.
func (s *Screen) Wait(d time.Duration) { time.Sleep(d); s.settle() }

// send gives bytes to the program, unless it has ended and reads no more.
func (s *Screen) send(raw string) {
	select {
	case <-s.done:
		s.t.Helper()
		s.t.Fatalf("uitest: the program has ended before %q was sent", raw)
	default:
		io.WriteString(s.term.InputPipe(), raw)
	}
}

// settle lets the program read (a lone esc waits 50 ms) and draw.
func (s *Screen) settle() { time.Sleep(100 * time.Millisecond); synctest.Wait() }

// Ended reports whether the program has ended, and with which error.
func (s *Screen) Ended() (bool, error) {
	select {
	case <-s.done:
		return true, s.err
	default:
		return false, nil
	}
}

// Output returns all bytes that the program wrote to the terminal.
func (s *Screen) Output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// Title returns the window's title.
func (s *Screen) Title() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.title
}

// Text returns the screen without trailing blanks, its lines ended by "\n".
func (s *Screen) Text() string {
	var b strings.Builder
	for y := range s.term.Height() {
		b.WriteString(s.Line(y))
		b.WriteByte('\n')
	}
	return b.String()
}

// Line returns row y without trailing blanks.
func (s *Screen) Line(y int) string {
	var b strings.Builder
	for x := 0; x < s.term.Width(); {
		c := s.term.CellAt(x, y)
		if c == nil || c.Content == "" {
			b.WriteByte(' ')
			x++
			continue
		}
		b.WriteString(c.Content)
		x += max(c.Width, 1)
	}
	return strings.TrimRight(b.String(), " ")
}

// Find returns the cell where text begins for the first time on the screen.
func (s *Screen) Find(text string) (x, y int, ok bool) {
	for y := range s.term.Height() {
		for x := range s.term.Width() {
			if strings.HasPrefix(s.from(x, y), text) {
				return x, y, true
			}
		}
	}
	return 0, 0, false
}

// from returns the rest of row y from cell x on.
func (s *Screen) from(x, y int) string {
	var b strings.Builder
	for ; x < s.term.Width(); x++ {
		if c := s.term.CellAt(x, y); c != nil && c.Width > 0 {
			b.WriteString(c.Content)
		}
	}
	return b.String()
}

// Cell is what one cell of the screen shows. Colours are nil where the terminal
// chooses them.
type Cell struct {
	Content                                         string
	Fg, Bg                                          color.Color
	Bold, Faint, Italic, Underline, Reverse, Strike bool
}

// Cell returns the cell in column x of row y, both from 0.
func (s *Screen) Cell(x, y int) Cell {
	c := s.term.CellAt(x, y)
	if c == nil {
		return Cell{}
	}
	const ( // the bits of ultraviolet's Style.Attrs
		bold = 1 << iota
		faint
		italic
		blink
		rapid
		reverse
		conceal
		strike
	)
	st := c.Style
	return Cell{
		Content: c.Content, Fg: st.Fg, Bg: st.Bg,
		Bold: st.Attrs&bold != 0, Faint: st.Attrs&faint != 0, Italic: st.Attrs&italic != 0,
		Reverse: st.Attrs&reverse != 0, Strike: st.Attrs&strike != 0, Underline: st.Underline != 0,
	}
}

// Cursor returns where the cursor is, and whether it is shown.
func (s *Screen) Cursor() (x, y int, shown bool) {
	p := s.term.CursorPosition()
	return p.X, p.Y, !s.term.CursorHidden()
}

// AltScreen reports whether the program is on the alternate screen.
func (s *Screen) AltScreen() bool { return s.term.IsAltScreen() }
