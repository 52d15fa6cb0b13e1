package bash

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestBackgroundShell(t *testing.T) { // BASH-37, BASH-38, BASH-39, E1, E2, E6, E15
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		b := make()
		id := background(t, b, "mkfifo go; echo one; read x <go; echo two; exit 3")
		var seen string
		eventually(t, "the first line", func() bool {
			out, err := readShell(t, b, OutputInput{BashID: id})
			if err != nil || !out.Running || out.ExitCode != 0 {
				t.Fatalf("%+v, %v", out, err)
			}
			seen += out.Output
			return seen == "one\n"
		})
		if out, err := readShell(t, b, OutputInput{BashID: id}); err != nil || out.Output != "" || !out.Running { // E1
			t.Errorf("%+v, %v", out, err)
		}
		write(t, filepath.Join(dir, "go"), "x\n")
		rest, last := readToEnd(t, b, id)
		if rest != "two\nexit code: 3" || last.ExitCode != 3 || last.TimedOut || last.Dropped || last.Truncated {
			t.Errorf("%q, %+v", rest, last)
		}
		if _, err := readShell(t, b, OutputInput{BashID: id}); !errors.Is(err, ErrShellNotFound) { // E6
			t.Errorf("%v", err)
		}
		id = background(t, b, "true")
		if out, last := readToEnd(t, b, id); out != "" || last.ExitCode != 0 { // a lone read that is final forgets, too
			t.Errorf("%q, %+v", out, last)
		}
		if n := len(b.Shells()); n != 0 {
			t.Errorf("%d shells are left", n)
		}
	})
}

func TestBackgroundErrors(t *testing.T) { // BASH-38, BASH-40, E14
	t.Parallel()
	b := newTool(t)
	for _, id := range []string{"../x", "bash_99", strings.Repeat("x", 10_000)} {
		if _, err := readShell(t, b, OutputInput{BashID: id}); !errors.Is(err, ErrShellNotFound) {
			t.Errorf("%v", err)
		}
		if _, err := killShell(t, b, id); !errors.Is(err, ErrShellNotFound) {
			t.Errorf("%v", err)
		}
		if err := b.Kill(id); !errors.Is(err, ErrShellNotFound) {
			t.Errorf("%v", err)
		}
	}
	if _, err := readShell(t, b, OutputInput{}); !errors.Is(err, ErrBashIDRequired) {
		t.Errorf("%v", err)
	}
	if _, err := killShell(t, b, ""); !errors.Is(err, ErrShellIDRequired) {
		t.Errorf("%v", err)
	}
	if _, err := b.OutputTool().Handle(context.Background(), `{"bash_id": 1}`); err == nil {
		t.Error("a number is taken as an id")
	}
	id := background(t, b, "true")
	if _, err := readShell(t, b, OutputInput{BashID: id, Filter: "("}); !errors.Is(err, ErrInvalidOutputFilter) {
		t.Errorf("%v", err)
	}
}

func TestOutputFilter(t *testing.T) { // BASH-38
	t.Parallel()
	dir := workspace(t)
	b := newTool(t, WithWorkingDirectory(dir))
	id := background(t, b, "mkfifo go; printf 'a1\\nb2\\na3\\nhalf a'; touch ready; read x <go; printf ' line\\nlast a'")
	eventually(t, "it is ready", func() bool { return exists(filepath.Join(dir, "ready")) })
	eventually(t, "all is written", func() bool { return strings.HasSuffix(b.Shells()[0].Tail, "half a") })
	if out, err := readShell(t, b, OutputInput{BashID: id, Filter: "a"}); err != nil || out.Output != "a1\na3\n" {
		t.Errorf("%+v, %v", out, err)
	}
	write(t, filepath.Join(dir, "go"), "x\n")
	eventually(t, "it ended", func() bool { return !b.Shells()[0].Running })
	if out, err := readShell(t, b, OutputInput{BashID: id, Filter: "^(half a line|last a)$"}); err != nil || out.Output != "half a line\nlast a" || out.Running {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := readShell(t, b, OutputInput{BashID: id}); !errors.Is(err, ErrShellNotFound) { // what the filter skipped counts as read
		t.Errorf("%v", err)
	}
}

func TestKillShell(t *testing.T) { // BASH-40, BASH-49, E8
	t.Parallel()
	needs(t, "setsid")
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		b := make()
		for _, line := range []string{
			"echo on; sleep MARK & sleep MARK",
			"trap '' TERM; echo on; sleep MARK & sleep MARK",
			"setsid sleep MARK & echo on; sleep MARK",
		} {
			m := mark()
			id := background(t, b, strings.ReplaceAll(line, "MARK", m))
			eventually(t, "it runs", func() bool { return b.Shells()[0].Tail == "on\n" })
			if k, err := killShell(t, b, id); err != nil || !k.Killed {
				t.Errorf("%+v, %v", k, err)
			}
			if k, err := killShell(t, b, id); err != nil || k.Killed { // twice
				t.Errorf("%+v, %v", k, err)
			}
			out, last := readToEnd(t, b, id)
			if !strings.HasPrefix(out, "on\n") || last.ExitCode == 0 || last.TimedOut {
				t.Errorf("%q, %+v", out, last)
			}
			if _, err := killShell(t, b, id); !errors.Is(err, ErrShellNotFound) {
				t.Errorf("%v", err)
			}
			if strings.Contains(line, "setsid") && strings.HasSuffix(t.Name(), "local") {
				b.Close()
			}
			gone(t, m)
		}
	})
}

func TestKillOfAFinishedShell(t *testing.T) { // BASH-40
	t.Parallel()
	b := newTool(t)
	id := background(t, b, "echo x")
	eventually(t, "it ended", func() bool { return !b.Shells()[0].Running })
	if k, err := killShell(t, b, id); err != nil || k.Killed {
		t.Errorf("%+v, %v", k, err)
	}
	if out, _ := readToEnd(t, b, id); out != "x\n" {
		t.Errorf("%q", out)
	}
}

func TestBackgroundLifetime(t *testing.T) { // BASH-41, BASH-42, E9
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, tt := range []struct {
		name string
		opts []Option
		ms   int
		want string
	}{
		{"foreground limits", []Option{WithTimeout(50 * time.Millisecond), WithDefaultTimeout(50 * time.Millisecond), WithMaxTimeout(50 * time.Millisecond), WithSafeMode()}, 0, "done\n"},
		{"option", []Option{WithBackgroundTimeout(150 * time.Millisecond)}, 0, "command timed out after 150ms"},
		{"capped", []Option{WithBackgroundTimeout(150 * time.Millisecond)}, 60_000, "command timed out after 150ms"},
		{"less", []Option{WithBackgroundTimeout(150 * time.Second)}, 100, "command timed out after 100ms"},
		{"the model's", nil, 100, "command timed out after 100ms"},
	} {
		b := newTool(t, tt.opts...)
		m := mark()
		line := "sleep 0.4; echo done"
		if tt.want != "done\n" {
			line = "sleep " + m + " & sleep " + m
		}
		out, err := call(t, ctx, b, Input{Command: line, RunInBackground: true, Timeout: tt.ms})
		if err != nil {
			t.Fatal(err)
		}
		if tt.name == "foreground limits" {
			cancel() // the turn's end
			ctx = context.Background()
		}
		text, last := readToEnd(t, b, out.BashID)
		if text != tt.want || last.TimedOut != (tt.want != "done\n") {
			t.Errorf("%s: %q, %+v", tt.name, text, last)
		}
		gone(t, m)
	}
}

func TestBackgroundLeftovers(t *testing.T) { // decision 16
	t.Parallel()
	b := newTool(t)
	m := mark()
	id := background(t, b, "sleep "+m+" & echo hi")
	if out, _ := readToEnd(t, b, id); !strings.HasPrefix(out, "hi\n[killed what the command left running: sleep "+m) {
		t.Errorf("%q", out)
	}
	gone(t, m)
}

func TestBackgroundOutputCap(t *testing.T) { // BASH-43, BASH-44, E4, E5
	t.Parallel()
	if DefaultMaxBackgroundOutput != 1<<20 {
		t.Error(DefaultMaxBackgroundOutput)
	}
	b := newTool(t, WithMaxBackgroundOutput(1000))
	id := background(t, b, "printf 'x%.s' {1..4999}; echo")
	eventually(t, "it ended", func() bool { return !b.Shells()[0].Running })
	out, last := readToEnd(t, b, id)
	if !last.Dropped || last.Truncated || out != "[... 4000 bytes dropped ...]\n"+strings.Repeat("x", 999)+"\n" {
		t.Errorf("%.60q, %+v", out, last)
	}

	dir := workspace(t)
	b = newTool(t, WithWorkingDirectory(dir), WithMaxBackgroundOutput(10))
	id = background(t, b, "mkfifo go0 go1; printf 0123456789; read x <go0; printf abcdefghij; read x <go1; printf ABCDE")
	steps := []string{"0123456789", "abcdefghij"} // what was read and is dropped later does not count
	for i, want := range steps {
		eventually(t, "it printed "+want, func() bool { return strings.HasSuffix(b.Shells()[0].Tail, want) })
		if out, err := readShell(t, b, OutputInput{BashID: id}); err != nil || out.Output != want || out.Dropped {
			t.Errorf("%+v, %v", out, err)
		}
		write(t, filepath.Join(dir, "go"+itoa(i)), "x\n")
	}
	if out, last := readToEnd(t, b, id); out != "ABCDE" || last.Dropped {
		t.Errorf("%q, %+v", out, last)
	}

	b = newTool(t, WithMaxBackgroundOutput(0), WithMaxOutputChars(0))
	id = background(t, b, "head -c 3000000 /dev/zero | tr '\\0' x")
	if out, last := readToEnd(t, b, id); len(out) != 3_000_000 || last.Dropped {
		t.Errorf("%d bytes, %+v", len(out), last)
	}
	b = newTool(t)
	id = background(t, b, "seq 20000")
	eventually(t, "it ended", func() bool { return !b.Shells()[0].Running })
	if out, err := readShell(t, b, OutputInput{BashID: id}); err != nil || !out.Truncated || out.Running || len(out.Output) > 31_000 {
		t.Errorf("%d bytes, %v", len(out.Output), err)
	}
}

func TestHalfACharacter(t *testing.T) { // E3
	t.Parallel()
	dir := workspace(t)
	b := newTool(t, WithWorkingDirectory(dir))
	id := background(t, b, "mkfifo go; printf 'x\\xc3'; touch ready; read x <go; printf '\\xa9\\xc3'")
	eventually(t, "it is ready", func() bool { return exists(filepath.Join(dir, "ready")) })
	var seen string
	eventually(t, "the first letter", func() bool {
		out, _ := readShell(t, b, OutputInput{BashID: id})
		seen += out.Output
		return seen != ""
	})
	if seen != "x" {
		t.Errorf("%q", seen)
	}
	write(t, filepath.Join(dir, "go"), "x\n")
	if out, _ := readToEnd(t, b, id); out != "é\uFFFD" {
		t.Errorf("%q", out)
	}
}

func TestClose(t *testing.T) { // BASH-45, BASH-46, E10
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		b := make()
		m := mark()
		background(t, b, "sleep "+m)
		background(t, b, "sleep "+m+" & sleep "+m)
		background(t, b, "trap '' TERM; echo on; while :; do sleep "+m+"; done")
		eventually(t, "the trap is set", func() bool { return b.Shells()[2].Tail == "on\n" })
		within(t, func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		gone(t, m)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if out := run(t, b, "echo still"); out.Output != "still\n" {
			t.Errorf("%+v", out)
		}
		if _, err := call(t, context.Background(), b, Input{Command: "true", RunInBackground: true}); !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

func TestCloseWhileStarting(t *testing.T) { // E10
	t.Parallel()
	b := newTool(t)
	m := mark()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := call(t, context.Background(), b, Input{Command: "sleep " + m, RunInBackground: true})
			if err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	}
	b.Close()
	wg.Wait()
	gone(t, m)
}

func TestCloseSparesForegroundCommands(t *testing.T) { // BASH-46
	t.Parallel()
	dir := workspace(t)
	b := newTool(t, WithWorkingDirectory(dir))
	run(t, b, "mkfifo go")
	got := make(chan *Output)
	go func() { got <- run(t, b, "touch ready; read x <go; echo done") }()
	eventually(t, "it runs", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.running) == 1 && exists(filepath.Join(dir, "ready"))
	})
	b.Close()
	write(t, filepath.Join(dir, "go"), "x\n")
	if out := <-got; out.Output != "done\n" {
		t.Errorf("%+v", out)
	}
}

func TestTooManyShells(t *testing.T) { // E12
	t.Parallel()
	b := newTool(t)
	seen := map[string]bool{}
	for range MaxShells {
		seen[background(t, b, "true")] = true
	}
	if len(seen) != MaxShells {
		t.Errorf("%d ids", len(seen))
	}
	if _, err := call(t, context.Background(), b, Input{Command: "true", RunInBackground: true}); !errors.Is(err, ErrTooManyShells) {
		t.Errorf("%v", err)
	}
	id := b.Shells()[0].ID
	readToEnd(t, b, id)
	if again := background(t, b, "true"); seen[again] {
		t.Errorf("%s is used twice", again)
	}
}

func TestConcurrentShellCalls(t *testing.T) { // E7, E13
	t.Parallel()
	b := newTool(t)
	id := background(t, b, "for i in {1..2000}; do echo line $i; done")
	var mu sync.Mutex
	var lines int
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for {
				out, err := readShell(t, b, OutputInput{BashID: id})
				if errors.Is(err, ErrShellNotFound) {
					return
				}
				mu.Lock()
				lines += strings.Count(out.Output, "\n")
				mu.Unlock()
				b.Shells()
			}
		})
	}
	within(t, wg.Wait)
	if lines != 2000 {
		t.Errorf("%d lines", lines)
	}
	id = background(t, b, "sleep "+mark())
	for i := range 30 {
		wg.Go(func() {
			switch i % 3 {
			case 0:
				_, _ = killShell(t, b, id)
			case 1:
				_, _ = readShell(t, b, OutputInput{BashID: id})
			case 2:
				_ = b.Close()
			}
		})
	}
	within(t, wg.Wait)
}

func TestShellsHandler(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	var mu sync.Mutex
	var states []string
	b := newTool(t, WithWorkingDirectory(dir), WithShellsHandler(func(list []ShellInfo) {
		mu.Lock()
		defer mu.Unlock()
		var s []string
		for _, i := range list {
			if s = append(s, "ended"); i.Running {
				s[len(s)-1] = "runs"
			}
		}
		states = append(states, strings.Join(s, " "))
	}))
	run(t, b, "mkfifo go")
	id := background(t, b, "echo out; read x <go; exit 7")
	eventually(t, "it printed", func() bool { return b.Shells()[0].Tail == "out\n" })
	info := b.Shells()[0]
	if info.ID != id || info.Command != "echo out; read x <go; exit 7" || !info.Running || info.ExitCode != -1 || info.Started.IsZero() {
		t.Errorf("%+v", info)
	}
	write(t, filepath.Join(dir, "go"), "x\n")
	eventually(t, "it ended", func() bool { return !b.Shells()[0].Running })
	told := func(state string) bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.Contains(states, state)
	}
	eventually(t, "the handler saw it run and end", func() bool { return told("runs") && told("ended") })
	if info := b.Shells()[0]; info.ExitCode != 7 || info.Tail != "out\n" {
		t.Errorf("%+v", info)
	}
	if out, _ := readToEnd(t, b, id); out != "out\nexit code: 7" { // looking consumed nothing
		t.Errorf("%q", out)
	}
	eventually(t, "the handler saw it go", func() bool { return told("") })
}

func TestMoveToTheBackground(t *testing.T) { // IMP-31
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		var mu sync.Mutex
		var shown strings.Builder
		b := make(WithPersistentShell(), WithTimeout(time.Minute), WithOutputHandler(func(_ context.Context, chunk []byte) {
			mu.Lock()
			defer mu.Unlock()
			shown.Write(chunk)
		}))
		if b.Background("call_1") {
			t.Error("moved a command that does not run")
		}
		run(t, b, "mkfifo go; mkdir sub")
		got := make1(t, b, "call_1", "cd sub; echo one; touch ready; read x <../go; echo two; exit 5")
		eventually(t, "it runs", func() bool { return exists(filepath.Join(dir, "sub/ready")) })
		eventually(t, "it is shown", func() bool { mu.Lock(); defer mu.Unlock(); return shown.String() == "one\n" })
		if !b.Background("call_1") || b.Background("call_1") {
			t.Error("it moves once")
		}
		out := <-got
		if !strings.HasPrefix(out.Output, "one\n[the user moved this command to the background as "+out.BashID) || !out.Running || out.BashID == "" {
			t.Errorf("%+v", out)
		}
		if out, err := readShell(t, b, OutputInput{BashID: out.BashID}); err != nil || out.Output != "" || !out.Running {
			t.Errorf("%+v, %v", out, err)
		}
		write(t, filepath.Join(dir, "go"), "x\n")
		if rest, last := readToEnd(t, b, out.BashID); rest != "two\nexit code: 5" || last.ExitCode != 5 {
			t.Errorf("%q, %+v", rest, last)
		}
		if mu.Lock(); shown.String() != "one\n" { // BASH-35
			t.Errorf("%q was shown", shown.String())
		}
		mu.Unlock()
		play(t, b, []step{{"pwd", dir + "\n"}}) // a command that runs in the background changes nothing
	})
}

// make1 runs a call of its own.
func make1(t *testing.T, b *Tool, id, command string) <-chan *Output {
	got := make(chan *Output, 1)
	go func() {
		out, err := call(t, withCall(id), b, Input{Command: command})
		if err != nil {
			t.Error(err)
		}
		got <- out
	}()
	return got
}

func TestMovedCommandOutlivesItsCall(t *testing.T) { // IMP-31
	t.Parallel()
	dir := workspace(t)
	b := newTool(t, WithWorkingDirectory(dir), WithDefaultTimeout(time.Minute))
	m := mark()
	ctx, cancel := context.WithCancel(withCall("call_1"))
	moved := make(chan *Output)
	go func() {
		out, err := call(t, ctx, b, Input{Command: "touch ready; sleep " + m})
		if err != nil {
			t.Error(err)
		}
		moved <- out
	}()
	eventually(t, "it runs", func() bool { return exists(filepath.Join(dir, "ready")) })
	if !b.Background("call_1") {
		t.Fatal("not moved")
	}
	out := <-moved
	cancel()
	eventually(t, "the sleep runs", func() bool { return alive(m) == 1 })
	if k, err := killShell(t, b, out.BashID); err != nil || !k.Killed {
		t.Errorf("%+v, %v", k, err)
	}
	gone(t, m)
	b.Close()
	got := make1(t, b, "call_2", "touch again; read x </dev/null; exec 3<>/dev/null; sleep 0.3")
	eventually(t, "it runs", func() bool { return exists(filepath.Join(dir, "again")) })
	if b.Background("call_2") {
		t.Error("moved although the tool is closed")
	}
	if out := <-got; out.Running {
		t.Errorf("%+v", out)
	}
	_ = os.Remove(filepath.Join(dir, "again"))
}
