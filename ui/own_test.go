package ui

import (
	"strings"
	"testing"
)

func TestOwnLine(t *testing.T) {
	for _, tt := range []struct {
		text, line string
		told, ok   bool
	}{
		{"!ls", "ls", true, true}, {"! git status", "git status", true, true}, {"!!env", "env", false, true},
		{"!", "", true, false}, {"!!", "", false, false}, {"wow!", "wow!", true, false}, {"!a\nb", "a\nb", true, true},
	} {
		if line, told, ok := ownLine(tt.text); line != tt.line && ok || told != tt.told && ok || ok != tt.ok {
			t.Errorf("%q: %q, told %v, ok %v", tt.text, line, told, ok)
		}
	}
}

// A command of the person's own gets the terminal; its output is shown, and the
// model is told unless it was given with !!.
func TestOwnCommand(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	run := func(line string) (*Model, *recorder, ranMsg) {
		r := &recorder{}
		m := New(r, NewPump(), Options{Dir: t.TempDir()})
		c := &ownCommand{dir: m.opts.Dir}
		c.line, c.told, _ = ownLine(line)
		var out strings.Builder
		c.SetStdin(strings.NewReader("yes\n"))
		c.SetStdout(&out)
		msg := ranMsg{c, c.Run()}
		if !strings.HasPrefix(out.String(), "$ "+c.line+"\n") {
			t.Errorf("the terminal showed %q", out.String())
		}
		if cmd := m.ran(msg); cmd != nil {
			cmd()
		}
		return m, r, msg
	}
	m, r, _ := run(`!read a; printf '\033[31m%s\033[0m\n' "$a"; pwd >&2; exit 3`)
	if log := r.log(); len(log) != 1 || !strings.Contains(log[0], `"yes\n`) || !strings.Contains(log[0], m.opts.Dir) || !strings.HasSuffix(log[0], " 3") {
		t.Errorf("the model was told %q", log)
	}
	if shown := strings.Join(m.transcript.items[0].Lines(60), "\n"); !strings.Contains(shown, "exit 3") || !strings.Contains(shown, "    yes") {
		t.Errorf("shown:\n%s", shown)
	}
	m, r, _ = run("!!echo secret")
	if len(r.log()) != 0 {
		t.Errorf("the model was told %q", r.log())
	}
	if shown := strings.Join(m.transcript.items[0].Lines(60), "\n"); !strings.Contains(shown, "not shown to the model") || !strings.Contains(shown, "    secret") {
		t.Errorf("shown:\n%s", shown)
	}
	if m, _, msg := run("!printf half; kill -9 $$"); msg.command.code != 128+9 || !strings.Contains(msg.command.output.String(), "half\nsignal: killed\n") {
		t.Errorf("%d, %q", msg.command.code, msg.command.output.String())
	} else if shown := strings.Join(m.transcript.items[0].Lines(60), "\n"); !strings.Contains(shown, "exit 137") {
		t.Errorf("shown:\n%s", shown)
	}
}

func TestCaptureKeepsBothEnds(t *testing.T) {
	var c capture
	c.Write([]byte("begin "))
	for range 1000 {
		c.Write([]byte(strings.Repeat("x", 1000)))
	}
	c.Write([]byte(" end"))
	got := c.String()
	if !strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, " end") || len(got) > 4*captured || !strings.Contains(got, "bytes left out") {
		t.Errorf("%d bytes: %.20q … %q", len(got), got, got[len(got)-20:])
	}
}
