//go:build unix

package app_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
)

// IMP-29: the model is told at its next request that a background command ended,
// once; and a look at the shells takes nothing from bash_output (IMP-28).
func TestEndOfAShellIsTold(t *testing.T) {
	r := newRig(t, `
== a
> bash {"command":"read x <fifo; echo served $x; exit 3","run_in_background":true}
== b
It runs.
== c
> bash_output {"bash_id":"bash_1"}
== d
done
== e
nothing new
`, nil)
	gate := filepath.Join(r.dir, "fifo")
	mkfifo(t, gate)
	r.turn("serve")
	openGate(t, gate)
	await(r, 0, func(e app.Shells) bool { return len(e.List) == 1 && !e.List[0].Running })
	if list := r.app.Shells(); len(list) != 1 || list[0].Tail != "served go\n" {
		t.Errorf("the shells are %+v", list)
	}
	r.turn("and?")
	told := func() int {
		n := 0
		for _, m := range r.last() {
			n += strings.Count(m.Text, "The background command bash_1 (read x <fifo; echo served $x; exit 3) ended with exit code 3.")
		}
		return n
	}
	if n := told(); n != 1 {
		t.Errorf("told %d times", n)
	}
	if m := r.result(1); !strings.Contains(m.Text, "served go") {
		t.Errorf("bash_output gave %+v", m)
	}
	r.turn("and now?")
	if n := told(); n != 1 {
		t.Errorf("told %d times in the end", n)
	}
}
