//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/ui/uitest"
)

// asProgram makes the test binary be the program: what the tests start is the
// real thing, in a process and on a terminal of its own.
const asProgram = "AGENT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	bash.MaybeHelper()
	switch {
	case os.Getenv(asPanicking) != "":
		if err := panickingScreen(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(app.ExitError)
		}
		os.Exit(app.ExitOK)
	case os.Getenv(asServer) != "":
		serveScripted()
		os.Exit(0)
	case os.Getenv(asProgram) != "":
		main()
	}
	os.Exit(m.Run())
}

// sandboxWorks tells whether this machine can run commands in bubblewrap.
var sandboxWorks = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "agent-probe-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	r, err := bash.NewBubblewrapRunner(dir)
	return err == nil && r.Probe(context.Background()) == nil
})

// program is the command of the program in a directory, with an empty home. On a
// machine without a working sandbox it does without; in CI that is a failure.
func program(t *testing.T, dir, home string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if !sandboxWorks() {
		if os.Getenv("CI") != "" {
			t.Fatal("bubblewrap does not work here")
		}
		if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--sandbox") }) {
			args = append(args, "--sandbox=none")
		}
	}
	cmd := gently(exec.CommandContext(t.Context(), self, args...))
	cmd.Dir = dir
	cmd.Env = []string{
		asProgram + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8",
		"SHELL=/bin/bash",
	}
	return cmd
}

// gently makes a command that the test leaves at work end by itself, with all that it
// started: what lives on would write into directories that are being removed.
func gently(cmd *exec.Cmd) *exec.Cmd {
	cmd.Cancel = func() error {
		if syscall.Kill(-cmd.Process.Pid, syscall.SIGHUP) == nil { // it leads a session
			return nil
		}
		return cmd.Process.Signal(syscall.SIGHUP)
	}
	cmd.WaitDelay = time.Minute
	return cmd
}

// patience is how long anything on a terminal may take before a test fails.
const patience = 4 * time.Minute

// terminal is the program on a real terminal.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	pty  *os.File
	done chan struct{} // closed when the program's output ended

	lines bool // text is everything that was printed, not the screen

	mu   sync.Mutex
	more chan struct{} // closed and made anew when the screen changes
	vt   *vt.Emulator
	raw  strings.Builder
}

// onTerminal starts a command on a terminal of w by h cells.
func onTerminal(t *testing.T, cmd *exec.Cmd, w, h int) *terminal {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, cmd: cmd, pty: tty, done: make(chan struct{}), more: make(chan struct{}), vt: vt.NewEmulator(w, h)}
	answers := make(chan struct{})
	go func() { // to what the program asks its terminal
		defer close(answers)
		io.Copy(tty, term.vt)
	}()
	go term.read()
	t.Cleanup(func() { // the end of the test's context told it to end
		cmd.Wait()
		tty.Close()
		<-term.done
		term.vt.InputPipe().(io.Closer).Close() // Close of the emulator itself would race with its reader
		<-answers
		if t.Failed() {
			t.Logf("the last screen:\n%s", term.text())
		}
	})
	return term
}

func (s *terminal) read() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.raw.Write(buf[:n])
		s.vt.Write(buf[:n])
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text is the screen, without trailing blanks.
func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines {
		return strings.ReplaceAll(s.raw.String(), "\r\n", "\n")
	}
	lines := strings.Split(s.vt.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// everything is what the program wrote, and what the terminal echoed.
func (s *terminal) everything() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// until waits for a screen that is right.
func (s *terminal) until(what string, right func(screen string) bool) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		more := s.more
		s.mu.Unlock()
		if right(s.text()) {
			return
		}
		select {
		case <-more:
		case <-s.done:
			if right(s.text()) {
				return
			}
			s.t.Fatalf("the program ended before its screen %s:\n%s", what, s.text())
		case <-deadline:
			s.t.Fatalf("the screen never %s:\n%s", what, s.text())
		}
	}
}

func (s *terminal) waitFor(text string) {
	s.t.Helper()
	s.until("showed "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

func (s *terminal) waitGone(text string) {
	s.t.Helper()
	s.until("lost "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// bright tells whether the screen shows a text that is not dim.
func (s *terminal) bright(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for y, line := range strings.Split(s.vt.String(), "\n") {
		before, _, found := strings.Cut(line, text)
		if !found {
			continue
		}
		cell := s.vt.CellAt(ansi.StringWidth(before), y)
		return cell != nil && cell.Style.Attrs&uv.AttrFaint == 0
	}
	return false
}

func (s *terminal) send(raw string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, raw); err != nil {
		s.t.Fatal(err)
	}
}

// key presses a key by its name, as "ctrl+c".
func (s *terminal) key(name string) {
	s.t.Helper()
	raw, ok := uitest.KeyBytes(name)
	if !ok {
		s.t.Fatalf("no key %q", name)
	}
	s.send(raw)
}

func (s *terminal) resize(w, h int) {
	s.t.Helper()
	s.mu.Lock()
	s.vt.Resize(w, h)
	s.mu.Unlock()
	if err := pty.Setsize(s.pty, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		s.t.Fatal(err)
	}
}

// kill ends the program as a power cut would.
func (s *terminal) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatal(err)
	}
	<-s.done
}

// ended tells whether the program's output ended.
func (s *terminal) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// exit waits for the program's end and returns its exit code.
func (s *terminal) exit() int {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(patience):
		s.t.Fatalf("the program did not end:\n%s", s.text())
	}
	s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}
