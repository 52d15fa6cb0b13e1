package app_test

import (
	"strings"
	"testing"

	"github.com/phero-agent/agent/session"
)

// A call whose arguments cannot be understood failed; nobody refused it, so it is none of the
// denials that a run without a screen counts.
func TestBadArgumentsAreNoDenial(t *testing.T) {
	r := newRig(t, "== a\n> bash {\"command\":7}\n> bash {\"command\":\"true\",\"command\":\"false\"}\n== b\nDone.\n", nil)
	r.turn("go")
	for i := range 2 {
		if m := r.result(i); m.Status != session.StatusFailed || !strings.HasPrefix(m.Text, "Error: ") {
			t.Errorf("%d: %+v", i, m)
		}
	}
}
