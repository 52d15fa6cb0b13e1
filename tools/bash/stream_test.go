package bash

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/phero-agent/agent/tools"
)

// chunks collects what the handler gets, by call.
type chunks struct {
	mu   sync.Mutex
	list map[string][][]byte
}

func (c *chunks) handle(ctx context.Context, chunk []byte) {
	call, _ := tools.ToolCallFromContext(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list == nil {
		c.list = map[string][][]byte{}
	}
	c.list[call.ID] = append(c.list[call.ID], chunk)
}

func (c *chunks) all(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(bytes.Join(c.list[id], nil))
}

func TestOutputIsStreamed(t *testing.T) { // BASH-32, BASH-33, BASH-36
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		var c chunks
		b := make(WithOutputHandler(c.handle))
		run(t, b, "mkfifo go")
		got := make1(t, b, "one", "echo a; read x <go; echo b >&2; echo c")
		eventually(t, "the first line is shown while the command runs", func() bool { return c.all("one") == "a\n" })
		write(t, filepath.Join(dir, "go"), "x\n")
		if out := <-got; out.Output != "a\nb\nc\n" || c.all("one") != out.Output {
			t.Errorf("%q, shown %q", out.Output, c.all("one"))
		}
		if out := run(t, make(), "echo a; echo b >&2; echo c"); out.Output != "a\nb\nc\n" { // BASH-33
			t.Errorf("%+v", out)
		}
	})
}

func TestStreamsOfParallelCalls(t *testing.T) { // BASH-34
	t.Parallel()
	var c chunks
	b := newTool(t, WithOutputHandler(c.handle))
	one := make1(t, b, "one", "for i in {1..200}; do echo one; done")
	two := make1(t, b, "two", "for i in {1..200}; do echo two; done")
	<-one
	<-two
	if c.all("one") != strings.Repeat("one\n", 200) || c.all("two") != strings.Repeat("two\n", 200) {
		t.Error("the calls are mixed")
	}
}

func TestBackgroundIsNotStreamed(t *testing.T) { // BASH-35
	t.Parallel()
	var c chunks
	b := newTool(t, WithOutputHandler(c.handle))
	readToEnd(t, b, background(t, b, "echo x"))
	if len(c.list) != 0 {
		t.Errorf("%q", c.list)
	}
}

func TestStreamKeepsCharactersWhole(t *testing.T) { // C9
	t.Parallel()
	var c chunks
	dir := workspace(t)
	b := newTool(t, WithWorkingDirectory(dir), WithOutputHandler(c.handle))
	run(t, b, "mkfifo go")
	got := make1(t, b, "one", `printf 'a\xc3'; read x <go; printf '\xa9\xc3'`)
	eventually(t, "the first letter", func() bool { return c.all("one") == "a" })
	write(t, filepath.Join(dir, "go"), "x\n")
	<-got
	if c.all("one") != "aé\xc3" {
		t.Errorf("%q", c.list)
	}
}

func TestSlowHandler(t *testing.T) { // BASH-36: it slows the command, not the memory
	t.Parallel()
	var total int
	b := newTool(t, WithOutputHandler(func(_ context.Context, chunk []byte) {
		time.Sleep(time.Millisecond)
		total += len(chunk)
	}))
	if out := run(t, b, "head -c 3000000 /dev/zero"); !out.Truncated || total != 3_000_000 {
		t.Errorf("%d bytes were shown", total)
	}
}

func TestHandlerThatHangs(t *testing.T) { // C10, C11
	t.Parallel()
	release := make(chan struct{})
	var after chunks
	returned := make(chan struct{})
	b := newTool(t, WithTimeout(200*time.Millisecond), WithOutputHandler(func(ctx context.Context, chunk []byte) {
		select {
		case <-returned:
			after.handle(ctx, chunk)
		default:
		}
		<-release
	}))
	m := mark()
	out := run(t, b, "echo a; sleep 0.05; echo b; sleep "+m)
	close(returned)
	if !out.TimedOut || !strings.HasPrefix(out.Output, "a\n") {
		t.Errorf("%+v", out)
	}
	gone(t, m)
	close(release)
	time.Sleep(20 * time.Millisecond)
	if after.mu.Lock(); len(after.list) != 0 {
		t.Errorf("called after the return: %q", after.list)
	}
	after.mu.Unlock()
}

func TestHandlerThatPanics(t *testing.T) { // C10
	t.Parallel()
	n := 0
	b := newTool(t, WithOutputHandler(func(context.Context, []byte) { n++; panic("handler") }))
	if out := run(t, b, "echo a; sleep 0.05; echo b"); out.Output != "a\nb\n" || n != 1 {
		t.Errorf("%+v, %d calls", out, n)
	}
}
