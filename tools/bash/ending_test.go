package bash

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What a shell leaves behind never delays the return, is killed where it can be
// reached, and is named.
func TestLeftovers(t *testing.T) { // BASH-50, A1, A2, A3, decision 16
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		b := make()
		for name, line := range map[string]string{
			"holds the pipe":    "sleep MARK & echo hi",
			"writes for ever":   "(while :; do echo -n; sleep 0.01 MARK; done) & echo hi",
			"holds only stderr": "sleep MARK >/dev/null & echo hi",
			"holds nothing":     "sleep MARK >/dev/null 2>&1 & echo hi",
			"ignores signals":   "(trap '' TERM HUP INT; sleep MARK) & echo hi",
			"job control":       "set -m; sleep MARK & echo hi",
			"stopped":           "sleep MARK & kill -STOP $!; echo hi",
		} {
			m := mark()
			line = strings.ReplaceAll(line, "sleep 0.01 MARK", "sleep 0.01; : MARK")
			out := run(t, b, strings.ReplaceAll(line, "MARK", m))
			if !strings.HasPrefix(out.Output, "hi\n[killed what the command left running: ") ||
				!strings.Contains(out.Output, "run_in_background") || out.ExitCode != 0 || out.TimedOut {
				t.Errorf("%s: %+v", name, out)
			}
			gone(t, m)
		}
	})
}

func TestWhatEndsByItselfIsNotNamed(t *testing.T) {
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		b := make()
		for _, line := range []string{"(sleep 0.01; echo late) & echo early", "echo early; echo late > >(cat)", "yes | head -1"} {
			if out := run(t, b, line); strings.Contains(out.Output, "killed") {
				t.Errorf("%s: %+v", line, out)
			}
		}
		if out := run(t, b, "(sleep 0.01; echo late) & echo early"); out.Output != "early\nlate\n" {
			t.Errorf("%+v", out)
		}
	})
}

// A process that left the session cannot be reached on the host; in the sandbox it can.
func TestEscapees(t *testing.T) { // BASH-50, A4, A5
	t.Parallel()
	needs(t, "setsid")
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		b := make()
		inside := strings.HasSuffix(t.Name(), "bubblewrap")
		for _, line := range []string{
			"setsid sleep MARK & echo hi",
			"(setsid sleep MARK &) ; echo hi",
			"setsid -f sleep MARK >/dev/null 2>&1 </dev/null; echo hi",
			"setsid -f bash -c 'while :; do echo -n; done' MARK; echo hi",
		} {
			m := mark()
			out := run(t, b, strings.ReplaceAll(line, "MARK", m))
			if !strings.HasPrefix(out.Output, "hi\n") || out.TimedOut || out.ExitCode != 0 {
				t.Errorf("%s: %+v", line, out)
			}
			if inside {
				gone(t, m)
				continue
			}
			if needProc(t); alive(m) == 0 && strings.Contains(line, "-f") {
				t.Errorf("%s: it did not escape, so the test shows nothing", line)
			}
			if err := b.Close(); err != nil { // the session's end
				t.Error(err)
			}
			gone(t, m)
		}
	})
}

func TestTimeoutKillsEverything(t *testing.T) { // BASH-47, BASH-49, SBX-14, V13, A4, A6, A10, A11, C17
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		b := make(WithTimeout(300 * time.Millisecond))
		for name, line := range map[string]string{
			"plain":        "sleep MARK",
			"two":          "sleep MARK & sleep MARK",
			"setsid":       "setsid sleep MARK & sleep MARK",
			"ignores TERM": "trap '' TERM; (trap '' TERM; sleep MARK) & sleep MARK",
			"stopped":      "sleep MARK & kill -STOP $$",
			"closed pipes": "exec 1>&- 2>&-; sleep MARK",
		} {
			m := mark()
			out := run(t, b, "echo a; "+strings.ReplaceAll(line, "MARK", m))
			if out.Output != "a\ncommand timed out after 300ms" || !out.TimedOut || out.ExitCode != -1 {
				t.Errorf("%s: %+v", name, out)
			}
			if name == "setsid" && strings.HasSuffix(t.Name(), "local") {
				b.Close()
			}
			gone(t, m)
		}
	})
}

func TestCancelKillsEverything(t *testing.T) { // BASH-48, BASH-49, A7
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		b := make()
		m := mark()
		ready := filepath.Join(dir, "ready")
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for !exists(ready) {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		_, err := call(t, ctx, b, Input{Command: "bash -c 'sleep " + m + " & sleep " + m + " & touch ready; wait'"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		gone(t, m)

		m = mark()
		ctx, cancel = context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		if _, err := call(t, ctx, b, Input{Command: "sleep " + m}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		gone(t, m)
	})
}

func TestCancelAtBadMoments(t *testing.T) { // A8
	t.Parallel()
	b := newTool(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := call(t, ctx, b, Input{Command: "true"}); !errors.Is(err, context.Canceled) {
		t.Errorf("before the start: %v", err)
	}
	if _, err := call(t, ctx, b, Input{Command: "true", RunInBackground: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("before the start: %v", err)
	}
	for i := range 40 {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			time.Sleep(time.Duration(i) * 200 * time.Microsecond)
			cancel()
		}()
		out, err := call(t, ctx, b, Input{Command: "true"})
		if !(err == nil && out.ExitCode == 0 || errors.Is(err, context.Canceled)) {
			t.Fatalf("%+v, %v", out, err)
		}
	}
}

func TestTimeoutAtTheEnd(t *testing.T) { // A15
	t.Parallel()
	for i := range 40 {
		b := newTool(t, WithTimeout(time.Duration(i+1)*400*time.Microsecond))
		out := run(t, b, "true")
		if out.TimedOut == (out.ExitCode == 0) || out.TimedOut == (out.Output == "(no output)") {
			t.Fatalf("%+v", out)
		}
	}
}

func TestNothingGrows(t *testing.T) { // A12
	needProc(t)
	b := newTool(t, WithPersistentShell())
	run(t, b, "true")
	count := func() (fds, goroutines, zombies int) {
		list, _ := os.ReadDir("/proc/self/fd")
		for _, pid := range testPids() {
			if status, _ := os.ReadFile(filepath.Join("/proc", itoa(pid), "stat")); strings.Contains(string(status), ") Z "+itoa(os.Getpid())+" ") {
				zombies++
			}
		}
		return len(list), runtime.NumGoroutine(), zombies
	}
	fds, goroutines, _ := count()
	for range 500 {
		run(t, b, "echo x; true &")
	}
	eventually(t, "descriptors and goroutines are as before", func() bool {
		f, g, z := count()
		return f <= fds && g <= goroutines && z == 0
	})
}
