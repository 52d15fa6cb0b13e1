package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// IMP-27: the pane keeps the end of a command's output, bounded, as a terminal would
// show it; it follows until it is scrolled, says what ran, for how long and how it
// ended, and keeps ended commands until others come.
func TestOutputPane(t *testing.T) {
	on(t, 120, 40, Options{}, func(t *testing.T, s *stage) {
		call := aCall("a", "bash", `{"command":"make all"}`)
		s.emit(app.TurnStarted{}, modelSays("", call), app.ToolStarted{Call: call, Time: time.Now()})
		print := func(text string) { s.emit(app.ToolOutput{CallID: "a", Chunk: []byte(text)}) }

		print("one\n 10%\r 50%\r\x1b[32m100%\x1b[0m done\nfetch a\nfetch b\n\x1b[2A\x1b[2Kfetched a\n")
		s.Wait(time.Second)
		s.Key("ctrl+t")
		s.wantOn(t, "OUTPUT", "0:01", "$ make all", "100% done", "fetched a", "fetch b")
		s.wantOff(t, "50%", "fetch a")
		x, y, _ := s.Find("100% done")
		if c := s.Cell(x, y); c.Fg == nil {
			t.Error("the colour of the output is lost")
		}
		for i := range 30 {
			var lines strings.Builder
			for j := range 100 {
				fmt.Fprintf(&lines, "line %d\n", 100*i+j)
			}
			print(lines.String())
		}
		s.wantOn(t, "line 2999")
		if n := s.model.output.current().output.Len(); n > outputLines {
			t.Errorf("%d lines are kept", n)
		}
		pane := func() string {
			var out []string
			for _, l := range strings.Split(s.Text(), "\n") {
				_, right, _ := strings.Cut(l, "│")
				out = append(out, strings.TrimSpace(right))
			}
			return strings.Join(out, "\n")
		}
		s.Key("pgup", "pgup")
		before := pane()
		print("newer\nnewest\n")
		if pane() != before { // it was scrolled
			t.Errorf("the pane moved from\n%s\nto\n%s", before, pane())
		}
		s.Key("g")
		s.wantOn(t, "above are gone")
		s.Key("f")
		if !strings.Contains(pane(), "newest") {
			t.Errorf("it does not follow:\n%s", pane())
		}

		s.Wait(10 * time.Second)
		s.emit(result("a", session.StatusOK, jsonText(map[string]any{"output": "x", "exit_code": 2})), app.TurnEnded{})
		s.wantOn(t, "✗", "$ make all", "newest") // it stays after its end
		s.Key("esc")

		next := aCall("b", "bash", `{"command":"make again"}`)
		s.emit(app.TurnStarted{}, modelSays("", next), app.ToolStarted{Call: next, Time: time.Now()}, app.ToolOutput{CallID: "b", Chunk: []byte("again\n")})
		s.wantOn(t, "$ make again", "2/2")
		s.Key("ctrl+t", "tab") // and can be looked at again
		s.wantOn(t, "$ make all", "newest")
	})
}

// What a command prints is kept to a megabyte, whatever it prints (IMP-27).
func TestOutputIsBounded(t *testing.T) {
	m := filled(120, 40, 1)
	call := aCall("a", "bash", `{"command":"yes"}`)
	m.apply(modelSays("", call), nil)
	m.apply(app.ToolStarted{Call: call}, nil)
	for range 50 {
		m.apply(app.ToolOutput{CallID: "a", Chunk: []byte(strings.Repeat(strings.Repeat("y", 3000)+"\n", 100))}, nil)
	}
	kept := 0
	lines, above := m.transcript.calls["a"].call.lines()
	for _, l := range lines {
		kept += len(l)
	}
	if kept > 1<<20+128<<10 || kept < 1<<19 || len(lines)+above != 5000 {
		t.Errorf("%d bytes in %d lines are kept, %d are above", kept, len(lines), above)
	}
}
