//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestInTmux runs the built binary in tmux, as most people on a server do, at
// three sizes: it types, asks, takes an answer, and leaves the pane as it was.
func TestInTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("this machine has no tmux")
	}
	bin := filepath.Join(t.TempDir(), "agent")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, size := range [][2]int{{120, 40}, {80, 24}, {40, 10}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			p := inTmux(t, bin, size[0], size[1])
			p.waitFor("type here")
			p.do("send-keys", "-t", "t", "-l", "write it")
			p.waitFor("write it")
			p.do("send-keys", "-t", "t", "Enter")
			p.waitFor("Allow write?")
			p.until(p.armed)
			p.do("send-keys", "-t", "t", "n")
			p.waitFor("I leave it.")
			p.do("send-keys", "-t", "t", "C-d")
			p.waitFor("back in the shell")
			if screen := p.screen(); strings.Contains(screen, "type here") {
				t.Errorf("the screen was not left:\n%s", screen)
			}
		})
	}
}

// pane is the program in a tmux server of its own.
type pane struct {
	t      *testing.T
	socket string
}

func inTmux(t *testing.T, bin string, w, h int) *pane {
	t.Helper()
	m := serveModel(t, "== a\n> write {\"file_path\":\"new\",\"content\":\"x\\n\"}\n? denied -> no\n== yes\nWritten.\n== no\nI leave it.\n")
	dir := t.TempDir()
	p := &pane{t, filepath.Join(dir, "s")}
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	command := fmt.Sprintf("cd %s && HOME=%s OPENAI_BASE_URL=%s/v1 AGENT_MODEL=m %s; echo back in the shell; exec cat", ws, dir, m.URL, bin)
	p.do("-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), command)
	t.Cleanup(func() { exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	return p
}

func (p *pane) do(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "tmux", append([]string{"-S", p.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "TMUX=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *pane) screen() string { return p.do("capture-pane", "-p", "-t", "t") }

// armed tells whether the choices of the question are no longer dim.
func (p *pane) armed(string) bool {
	for line := range strings.Lines(p.do("capture-pane", "-e", "-p", "-t", "t")) {
		if strings.Contains(line, "[y]") {
			return !strings.Contains(line, "\x1b[2m")
		}
	}
	return false
}

func (p *pane) waitFor(text string) {
	p.t.Helper()
	p.until(func(screen string) bool { return strings.Contains(screen, text) })
}

// until waits for a screen. tmux tells nobody when a pane changes, so it is
// asked again and again.
func (p *pane) until(right func(string) bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !right(p.screen()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("the pane never was right:\n%s", p.screen())
		}
	}
}
