package bash

import (
	"fmt"
	"time"
)

// limits are the bounds of one command.
type limits struct {
	safe       bool
	fixed      time.Duration // 0: none
	byDefault  time.Duration
	max        time.Duration
	background time.Duration // 0: none
	output     int           // bytes of a result; 0: no cap
	kept       int           // bytes of a background shell; 0: no cap
}

func defaultLimits() limits {
	return limits{
		byDefault: DefaultTimeout,
		max:       MaxTimeout,
		output:    DefaultMaxOutputChars,
		kept:      DefaultMaxBackgroundOutput,
	}
}

func (l limits) check() error {
	for name, d := range map[string]time.Duration{
		"WithTimeout": l.fixed, "WithDefaultTimeout": l.byDefault - 1,
		"WithMaxTimeout": l.max - 1, "WithBackgroundTimeout": l.background,
	} {
		if d < 0 {
			return fmt.Errorf("%w: %s", ErrInvalidTimeout, name)
		}
	}
	return nil
}

// foreground is the timeout of a foreground command, given what the model asked
// for in milliseconds, 0 for nothing.
func (l limits) foreground(ms int) (time.Duration, error) {
	byDefault, most := l.byDefault, l.max
	switch {
	case l.fixed > 0:
		byDefault, most = l.fixed, l.fixed
	case l.safe:
		byDefault, most = SafeModeTimeout, SafeModeTimeout
	}
	if ms == 0 {
		return min(byDefault, most), nil
	}
	return capped(ms, most)
}

// inBackground is the timeout of a background command; 0 is none.
func (l limits) inBackground(ms int) (time.Duration, error) {
	if ms == 0 {
		return l.background, nil
	}
	if l.background > 0 {
		return capped(ms, l.background)
	}
	return capped(ms, 1<<63-1)
}

func capped(ms int, most time.Duration) (time.Duration, error) {
	if ms < 0 {
		return 0, fmt.Errorf("%w: got %d ms", ErrInvalidTimeout, ms)
	}
	// Compared in milliseconds, because the product can overflow.
	if int64(ms) >= most.Milliseconds() {
		return most, nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}
