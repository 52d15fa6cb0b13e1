package bash

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestTimeouts(t *testing.T) { // BASH-08, BASH-09, BASH-10, BASH-11, C18, F7
	t.Parallel()
	if DefaultTimeout != 120*time.Second || MaxTimeout != 600*time.Second || SafeModeTimeout != 30*time.Second {
		t.Error("the defaults differ")
	}
	const s, ms = time.Second, time.Millisecond
	for _, tt := range []struct {
		name string
		opts []Option
		ask  int
		want time.Duration
	}{
		{"default", nil, 0, 120 * s},
		{"asked", nil, 5000, 5 * s},
		{"capped", nil, 700_000, 600 * s},
		{"huge", nil, math.MaxInt, 600 * s},
		{"default option", []Option{WithDefaultTimeout(300 * ms)}, 0, 300 * ms},
		{"default option, asked", []Option{WithDefaultTimeout(300 * ms)}, 5000, 5 * s},
		{"max option", []Option{WithMaxTimeout(300 * ms)}, 60_000, 300 * ms},
		{"max below default", []Option{WithMaxTimeout(300 * ms)}, 0, 300 * ms},
		{"fixed", []Option{WithTimeout(300 * ms)}, 0, 300 * ms},
		{"fixed, asked more", []Option{WithTimeout(300 * ms)}, 10_000, 300 * ms},
		{"fixed, asked less", []Option{WithTimeout(300 * ms)}, 100, 100 * ms},
		{"fixed above max", []Option{WithTimeout(900 * s)}, 0, 900 * s},
		{"safe", []Option{WithSafeMode()}, 0, 30 * s},
		{"safe, asked more", []Option{WithSafeMode()}, 600_000, 30 * s},
		{"safe and fixed", []Option{WithSafeMode(), WithTimeout(60 * s)}, 0, 60 * s},
		{"fixed and safe", []Option{WithTimeout(60 * s), WithSafeMode()}, 0, 60 * s},
	} {
		if got, err := newTool(t, tt.opts...).limits.foreground(tt.ask); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	if got, err := defaultLimits().inBackground(math.MaxInt); err != nil || got <= 0 {
		t.Errorf("%v, %v", got, err)
	}
	for name, o := range map[string]Option{
		"fixed": WithTimeout(-1), "default": WithDefaultTimeout(-1), "max": WithMaxTimeout(0), "background": WithBackgroundTimeout(-1),
	} {
		if _, err := New(o); !errors.Is(err, ErrInvalidTimeout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTimeoutOfTheModel(t *testing.T) { // BASH-10, BASH-11
	t.Parallel()
	for _, tt := range []struct {
		opts []Option
		in   Input
		want string
	}{
		{[]Option{WithDefaultTimeout(100 * time.Millisecond)}, Input{}, "a\ncommand timed out after 100ms"},
		{[]Option{WithMaxTimeout(100 * time.Millisecond)}, Input{Timeout: 60_000}, "a\ncommand timed out after 100ms"},
		{nil, Input{Timeout: 100}, "a\ncommand timed out after 100ms"},
	} {
		tt.in.Command = "echo a; sleep " + mark()
		if out, err := call(t, t.Context(), newTool(t, tt.opts...), tt.in); err != nil || out.Output != tt.want {
			t.Errorf("%+v, %v, want %q", out, err, tt.want)
		}
	}
}
