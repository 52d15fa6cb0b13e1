package app_test

import (
	"math"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

func TestCost(t *testing.T) {
	p := app.Prices{Input: 3, Output: 15, CacheRead: 0.3}
	for _, c := range []struct {
		usage session.Usage
		want  float64
	}{
		{session.Usage{Input: 1e6, Output: 1e6}, 18},
		{session.Usage{Input: 1e6, CacheRead: 9e5}, 0.57},
		{session.Usage{Input: 10, CacheRead: 20}, 6e-6}, // a server that counts cached tokens apart
	} {
		if got := p.Cost(c.usage); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v costs %g, want %g", c.usage, got, c.want)
		}
	}
}
