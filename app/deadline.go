package app

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// errInterrupted is the cause of a turn's end by the person.
var errInterrupted = fmt.Errorf("interrupted by the user")

// timeoutError is the cause of a turn's end by its deadline.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("turn timed out after %v", e.after) }

// deadline ends a context after a time that stands still while questions are
// open (IMP-12).
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer // nil while the clock stands still
	left  time.Duration
	since time.Time
	end   func()
}

// withDeadline returns a context that ends after d with a *timeoutError as its
// cause; d = 0 means never.
func withDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelCauseFunc, *deadline) {
	ctx, cancel := context.WithCancelCause(ctx)
	clock := &deadline{left: d, end: func() { cancel(&timeoutError{after: d}) }}
	if d <= 0 {
		clock.end = nil
	}
	clock.pause(false)
	return ctx, func(cause error) { clock.pause(true); cancel(cause) }, clock
}

// pause stops the clock, or lets it go on.
func (d *deadline) pause(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.end == nil:
	case on && d.timer != nil:
		d.timer.Stop()
		d.timer = nil
		d.left -= time.Since(d.since)
	case !on && d.timer == nil:
		d.since = time.Now()
		d.timer = time.AfterFunc(d.left, d.end)
	}
}
