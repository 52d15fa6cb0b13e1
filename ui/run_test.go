//go:build unix

package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// TestChild is the program of the other tests: a screen on a real terminal.
func TestChild(t *testing.T) {
	how := os.Getenv("UI_CHILD")
	if how == "" {
		t.Skip("it is started by the tests of Run")
	}
	r, p := &recorder{}, NewPump()
	m := New(r, p, Options{Mouse: true})
	p.Emit(app.Opened{})
	p.Emit(app.Committed{Entry: session.Entry{Kind: session.KindHead, Head: &session.Head{ID: "01ABC"}}})
	p.Emit(userSays("hello from before"))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if how == "context" {
		time.AfterFunc(500*time.Millisecond, cancel)
	}
	var opts []tea.ProgramOption
	if how == "panic" {
		opts = append(opts, tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "x" {
				panic("a fault of ours")
			}
			return msg
		}))
	}
	err := Run(ctx, m, opts...)
	var caught *SignalError
	if errors.As(err, &caught) {
		fmt.Printf("signal: %v\n", caught.Signal)
	}
	fmt.Printf("ended: %v\nasked: %q\n", err, r.log())
}

// child is a running TestChild and its terminal.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	pty    *os.File
	before *term.State // of the terminal
	done   chan struct{}

	mu     sync.Mutex
	screen *vt.Emulator
	out    strings.Builder
}

func startChild(t *testing.T, how string, env ...string) *child {
	t.Helper()
	c := &child{t: t, done: make(chan struct{}), screen: vt.NewEmulator(80, 24)}
	c.cmd = exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	c.cmd.Env = append(os.Environ(), append(env, "UI_CHILD="+how, "TERM=xterm-256color")...)
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	c.pty = ptmx
	if c.before, err = term.GetState(int(ptmx.Fd())); err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(ptmx, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	go c.read()
	go func() { _, _ = io.Copy(ptmx, c.screen) }() // what the terminal answers
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.done
		_ = ptmx.Close()
	})
	return c
}

func (c *child) read() {
	defer close(c.done)
	b := make([]byte, 4096)
	for {
		n, err := c.pty.Read(b)
		c.mu.Lock()
		_, _ = c.screen.Write(b[:n])
		c.out.Write(b[:n])
		c.mu.Unlock()
		if err != nil {
			_ = c.cmd.Wait()
			return
		}
	}
}

func (c *child) output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

func (c *child) shown() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.String()
}

// wait waits until the screen shows what is wanted, or it was printed.
func (c *child) wait(want string) {
	c.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if strings.Contains(c.shown(), want) || strings.Contains(c.output(), want) {
			return
		}
		if time.Now().After(deadline) {
			_ = c.cmd.Process.Signal(syscall.SIGQUIT) // tells where it hangs
			<-c.done
			c.t.Fatalf("%q did not come:\n%s\n%q", want, c.shown(), c.output())
		}
	}
}

func (c *child) typed(s string) {
	if _, err := c.pty.WriteString(s); err != nil {
		c.t.Fatal(err)
	}
}

// UI-01: on every way out the terminal is as it was.
func TestRunRestoresTheTerminal(t *testing.T) {
	tests := []struct {
		how  string
		end  func(c *child)
		want string
	}{
		{"quit", func(c *child) { c.typed("\x04") }, "ended: <nil>"},
		{"term", func(c *child) { _ = c.cmd.Process.Signal(syscall.SIGTERM) }, "signal: terminated"},
		{"hangup", func(c *child) { _ = c.cmd.Process.Signal(syscall.SIGHUP) }, "signal: hangup"},
		{"context", func(*child) {}, "ended: context canceled"},
		{"panic", func(c *child) { c.typed("x") }, "program experienced a panic"},
	}
	for _, tt := range tests {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			c := startChild(t, tt.how)
			c.wait("hello from before")
			tt.end(c)
			c.wait("ended:")
			c.wait("asked:")
			out := c.output()
			for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?2004h": "\x1b[?2004l", "\x1b[?1002h": "\x1b[?1002l", "\x1b[?25l": "\x1b[?25h"} {
				if i := strings.LastIndex(out, on); i >= 0 && strings.LastIndex(out, off) < i {
					t.Errorf("%q was not taken back", on)
				}
			}
			_, tail, _ := strings.Cut(out, "\x1b[?1049l")
			if !strings.Contains(tail, "resume with: agent --resume 01ABC") || !strings.Contains(tail, tt.want) {
				t.Errorf("after the screen:\n%q", tail)
			}
			if after, err := term.GetState(int(c.pty.Fd())); err == nil && *after != *c.before {
				t.Errorf("the terminal's state is another one: %+v, was %+v", after, c.before)
			}
		})
	}
}

// ctrl+g opens the text in the person's editor.
func TestEditor(t *testing.T) {
	dir := t.TempDir()
	editor := filepath.Join(dir, "my editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho EDITING \"$1\"; cat \"$2\"; printf 'second\\n' >> \"$2\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(editor, filepath.Join(dir, "editor")); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "editor", "VISUAL="+filepath.Join(dir, "editor")+" --wait")
	c.wait("hello from before")
	c.typed("\x1b[200~first\n\x1b[201~")
	c.wait("first")
	c.typed("\x07")
	c.wait("EDITING --wait")
	c.wait("second")
	c.typed("\r")
	c.wait("›")
	for !strings.Contains(c.output(), "asked:") { // once the text was sent, it is empty
		c.typed("\x04")
		time.Sleep(50 * time.Millisecond)
	}
	c.wait(`asked: ["submit \"first\\nsecond\""]`)
}

func TestEditorThatFails(t *testing.T) {
	c := startChild(t, "editor", "VISUAL=", "EDITOR=/no/such/editor")
	c.wait("hello from before")
	c.typed("kept")
	c.typed("\x07")
	c.wait("set EDITOR to your editor")
	c.typed("\x03")
	c.typed("\x04")
	c.wait("asked: []")
}

// ctrl+z leaves the screen to the shell, and what was written is there when the
// person comes back.
func TestSuspendAndResume(t *testing.T) {
	c := startChild(t, "suspend")
	c.wait("hello from before")
	c.typed("half a prompt")
	c.wait("half a prompt")
	c.typed("\x1a")
	c.wait("\x1b[?1049l")
	for { // it is suspended when it has caught up with the terminal's state
		if after, err := term.GetState(int(c.pty.Fd())); err != nil || *after == *c.before {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if strings.Contains(c.shown(), "half a prompt") {
		t.Errorf("the screen was not left:\n%s", c.shown())
	}
	back := len(c.output())
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(c.output()[back:], "\x1b[?1049h") || !strings.Contains(c.shown(), "half a prompt") {
		time.Sleep(10 * time.Millisecond)
		_ = c.cmd.Process.Signal(syscall.SIGCONT) // the first may come before it waits
	}
	c.typed("\x03\x04")
	c.wait("ended: <nil>")
}

func TestDrawn(t *testing.T) {
	drawn := 0
	on(t, 80, 24, Options{Drawn: func() { drawn++ }}, func(t *testing.T, s *stage) {
		s.Wait(time.Second)
		s.Type("a")
		s.Wait(time.Second)
		if drawn != 1 {
			t.Errorf("called %d times, want once", drawn)
		}
	})
}
