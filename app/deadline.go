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

// deadline bounds the time of a turn. Its clock stands still while questions are
// open (IMP-12). When it is up, the turn goes on only with a yes to more.
type deadline struct {
	after time.Duration
	up    func() // called when the time is up

	mu    sync.Mutex
	timer *time.Timer // nil while the clock stands still
	left  time.Duration
	since time.Time
	held  chan struct{} // nothing new begins until it is closed; nil: go on
}

// withDeadline returns a context that ends with a *timeoutError as its cause when
// d has passed and more, if any, says no; d = 0 means never.
func withDeadline(ctx context.Context, d time.Duration, more func(context.Context) bool) (context.Context, context.CancelCauseFunc, *deadline) {
	ctx, cancel := context.WithCancelCause(ctx)
	clock := &deadline{after: d, left: d}
	clock.up = func() {
		goOn := clock.hold()
		defer goOn()
		if more == nil || !more(ctx) {
			cancel(&timeoutError{after: d})
		}
	}
	clock.pause(false)
	return ctx, func(cause error) { clock.pause(true); cancel(cause) }, clock
}

// hold gives the turn its whole time again, and keeps it from beginning anything
// until the returned function is called.
func (d *deadline) hold() func() {
	held := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held, d.timer, d.left = held, nil, d.after
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.held = nil
		close(held)
	}
}

// wait returns when something new may begin, or the context ended.
func (d *deadline) wait(ctx context.Context) error {
	d.mu.Lock()
	held := d.held
	d.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// pause stops the clock, or lets it go on.
func (d *deadline) pause(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.after <= 0:
	case on && d.timer != nil:
		d.timer.Stop()
		d.timer = nil
		d.left -= time.Since(d.since)
	case !on && d.timer == nil:
		d.since = time.Now()
		d.timer = time.AfterFunc(d.left, d.up)
	}
}
