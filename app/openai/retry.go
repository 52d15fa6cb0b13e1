package openai

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/phero-agent/agent/app"
)

const (
	firstWait   = 500 * time.Millisecond // doubled from attempt to attempt
	longestWait = 30 * time.Second
	longestWish = 5 * time.Minute // a server that wants a longer wait is not waited for
)

// retries is how often a request is sent again after an error. Most pass within
// a minute; what tells of a fault rather than of a busy server gets fewer.
func retries(e *app.ProviderError) int {
	switch {
	case errors.Is(e, errIdle):
		return 1
	case e.Kind == app.ErrToolUseFailed:
		return 2
	case e.Kind == app.ErrTruncated, e.Kind == app.ErrUnreachable:
		return 3
	}
	return 7
}

// backoff is how long to wait before the attempt after this one, and whether
// there is one. The server's wish counts; without one the wait doubles, with
// jitter so that clients do not come back all at once.
func backoff(attempt int, e *app.ProviderError) (wait time.Duration, again bool) {
	if !e.Retryable || attempt > retries(e) || e.RetryAfter > longestWish {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	wait = min(firstWait<<(attempt-1), longestWait)
	return wait/2 + rand.N(wait/2), true
}

// reason is an error in words for a line that also shows the wait.
func reason(e *app.ProviderError) string {
	short := *e
	short.Next = ""
	return short.Error()
}
