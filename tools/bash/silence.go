package bash

import (
	"context"
	"time"
)

// watchSilence tells the silence handler when a command prints nothing for
// long. The returned function ends that, and waits for a call of the handler.
func (t *Tool) watchSilence(ctx context.Context, out *sink) (end func()) {
	if t.silence == nil {
		return func() {}
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var told time.Time
		started := time.Now()
		timer := time.NewTimer(t.silentAfter)
		defer timer.Stop()
		for {
			select {
			case <-ended:
				return
			case <-timer.C:
			}
			since := out.lastWrite()
			if since.IsZero() {
				since = started
			}
			left := t.silentAfter - time.Since(since)
			if left <= 0 && !since.Equal(told) {
				told = since
				t.silence(ctx, since)
			}
			if left <= 0 {
				left = t.silentAfter
			}
			timer.Reset(left)
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}
