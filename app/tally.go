package app

import (
	"fmt"
	"sync"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// tally counts what the session's own conversation and its sub-agents do, who
// run at the same time.
type tally struct {
	mu       sync.Mutex
	ids      map[string]bool // of all calls
	lastID   int
	calls    int64
	requests int           // of this turn
	cost     float64       // of the session, in dollars
	unpriced session.Usage // of a resumed session, until the model is known
}

func newTally() *tally { return &tally{ids: map[string]bool{}} }

// identify gives every call an id that is unique in the session; the server's
// own goes to WireID where it differs (decision 9).
func (t *tally) identify(calls []tools.ToolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range calls {
		c := &calls[i]
		if c.ID == "" || t.ids[c.ID] {
			c.WireID = c.ID
			for t.ids[c.ID] || c.ID == "" {
				t.lastID++
				c.ID = fmt.Sprintf("call_%d", t.lastID)
			}
		}
		t.ids[c.ID] = true
	}
}

// known takes the calls and the usage of a message of a resumed session.
func (t *tally) known(m session.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range m.Calls {
		t.ids[c.ID] = true
	}
	if m.Usage != nil {
		t.unpriced = plus(t.unpriced, *m.Usage)
	}
}

// order is the number of the next call.
func (t *tally) order() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	return t.calls
}

// request counts a request of the turn; false: it would be one more than most,
// and is not counted. 0 is no limit.
func (t *tally) request(most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if most > 0 && t.requests >= most {
		return false
	}
	t.requests++
	return true
}

// anew lets the turn make as many requests again.
func (t *tally) anew() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests = 0
}

// spend adds to the session's cost. What a resumed session had cost is reckoned
// with the prices of the model that goes on with it; nil: they are not known yet.
func (t *tally) spend(u session.Usage, info *ModelInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unpriced = plus(t.unpriced, u)
	if info != nil {
		t.cost += info.Prices.Cost(t.unpriced)
		t.unpriced = session.Usage{}
	}
}

// dollars is what the session cost so far.
func (t *tally) dollars() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cost
}
