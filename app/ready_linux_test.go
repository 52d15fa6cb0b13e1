package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
)

// sandboxes counts the sandboxes of a workspace.
func sandboxes(dir string) (n int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		if data, _ := os.ReadFile(line); strings.Contains(string(data), "bwrap\x00") && strings.Contains(string(data), "\x00"+dir+"\x00") {
			n++
		}
	}
	return n / 2 // one part is outside
}

// within waits until cond is true.
func within(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// While a turn runs commands, sandboxes wait for the next ones; at its end none does.
func TestSandboxesWaitDuringATurn(t *testing.T) {
	r := inBwrap(t, `== commands
> bash {"command":"read x <gate; echo got $x"}
> bash {"command":"echo second"}
== then
done
== talk
hello
`)
	gate := filepath.Join(r.dir, "gate")
	mkfifo(t, gate)
	from := r.seen()
	r.app.Submit("commands")
	within(t, "two sandboxes wait beside the one that is at work", func() bool { return sandboxes(r.dir) == 3 })
	openGate(t, gate)
	await[app.TurnEnded](r, from, nil)
	if first, second := output(t, r.result(0)), output(t, r.result(1)); first.Output != "got go\n" || second.Output != "second\n" {
		t.Errorf("%+v, %+v", first, second)
	}
	within(t, "none waits when the turn is over", func() bool { return sandboxes(r.dir) == 0 })
	r.turn("talk")
	if n := sandboxes(r.dir); n != 0 {
		t.Errorf("%d sandboxes were made for talk", n)
	}
}
