package permissions_test

import (
	"testing"

	"github.com/phero-agent/agent/permissions"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"undo", "undo", 0}, {"udno", "undo", 1}, {"und", "undo", 1}, {"sesions", "sessions", 1}, {"x", "quit", 4}, {"", "new", 3}} {
		if got := permissions.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
