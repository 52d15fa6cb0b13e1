package app_test

import (
	"context"
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

// thinking is a model that says when it begins to think, and thinks until it is let on.
type thinking struct {
	app.Provider
	begun, goOn chan struct{}
}

func (m *thinking) Stream(ctx context.Context, req app.Request, emit func(app.Delta)) (app.Reply, error) {
	m.begun <- struct{}{}
	select {
	case <-m.goOn:
	case <-ctx.Done():
	}
	return m.Provider.Stream(ctx, req, emit)
}

// thinks runs a turn, and calls during with each request's number while the model thinks.
func thinks(r *rig, prompt string, requests int, during func(request int)) {
	m := &thinking{Provider: r.provider.Provider, begun: make(chan struct{}), goOn: make(chan struct{})}
	r.provider.Provider = m
	from := r.seen()
	r.app.Submit(prompt)
	for i := range requests {
		select {
		case <-m.begun:
		case <-time.After(r.patience):
			r.t.Fatal("the model is not asked")
		}
		r.app.WaitForGit() // it has a sandbox of its own
		during(i)
		m.goOn <- struct{}{}
	}
	await[app.TurnEnded](r, from, nil)
	r.provider.Provider = m.Provider
}

// Where commands are likely, sandboxes wait for them before the model asks.
func TestSandboxesAreAnticipated(t *testing.T) {
	four := func(r *rig) {
		within(r.t, "four sandboxes wait", func() bool { return sandboxes(r.dir) == 4 })
	}
	none := func(r *rig, when string) {
		if r.app.ExpectsCommands() {
			r.t.Errorf("%s: commands are expected", when)
		}
	}
	in := func(t *testing.T, text string, interactive bool) *rig {
		return inBwrap(t, text, func(o *app.Options) {
			o.Interactive = interactive
			head := filepath.Join(o.Workspace, ".git", "HEAD")
			if err := os.MkdirAll(filepath.Dir(head), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(head, []byte("ref: refs/heads/main\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("interactive", func(t *testing.T) {
		r := in(t, `== talk
hello
== work
> bash {"command":"true"}
== then
done
== talk again
hello again
== talk on
and on
`, true)
		thinks(r, "talk", 1, func(int) { none(r, "at first") })
		thinks(r, "work", 2, func(request int) {
			if request == 0 {
				none(r, "after talk")
				return
			}
			four(r)
		})
		thinks(r, "talk again", 1, func(int) { four(r) })
		within(t, "none waits when the turn is over", func() bool { return sandboxes(r.dir) == 0 })
		thinks(r, "talk on", 1, func(int) { none(r, "after talk again") })
	})
	t.Run("headless", func(t *testing.T) {
		r := in(t, `== work
done
`, false)
		thinks(r, "work", 1, func(int) { four(r) })
		within(t, "none waits when the turn is over", func() bool { return sandboxes(r.dir) == 0 })
	})
}
