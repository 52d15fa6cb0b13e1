package bash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/phero-agent/agent/tools"
)

// hang is how long anything may take. It shows a hang; it is no measure.
const hang = 30 * time.Second

// within fails the test when fn hangs.
func within(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(hang):
		buf := make([]byte, 1<<20)
		t.Fatalf("it hangs:\n%s", buf[:runtime.Stack(buf, true)])
	}
}

// eventually waits until cond is true.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hang); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// missing skips the test, or fails it where everything must be there.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing, and CI must have it", what)
	}
	t.Skipf("%s is missing here", what)
}

func needs(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		missing(t, program)
	}
	return path
}

// sandbox makes a bubblewrap runner, or skips the test.
func sandbox(t testing.TB, dir string, opts ...BubblewrapOption) *BubblewrapRunner {
	t.Helper()
	r, err := NewBubblewrapRunner(dir, opts...)
	if err != nil {
		if _, lookErr := exec.LookPath("bwrap"); lookErr != nil {
			missing(t, "bubblewrap")
		}
		t.Fatal(err)
	}
	if err := r.Probe(context.Background()); err != nil {
		missing(t, err.Error())
	}
	return r
}

// workspace is a directory whose real path is its path.
func workspace(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func newTool(t testing.TB, opts ...Option) *Tool {
	t.Helper()
	b, err := New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// eachRunner runs a test on the host and in the sandbox (SBX-20). make gives a
// tool whose working directory is dir.
func eachRunner(t *testing.T, fn func(t *testing.T, dir string, make func(...Option) *Tool)) {
	t.Run("local", func(t *testing.T) {
		dir := workspace(t)
		fn(t, dir, func(opts ...Option) *Tool {
			return newTool(t, append([]Option{WithWorkingDirectory(dir)}, opts...)...)
		})
	})
	t.Run("bubblewrap", func(t *testing.T) {
		dir := workspace(t)
		r := sandbox(t, dir)
		fn(t, dir, func(opts ...Option) *Tool {
			return newTool(t, append([]Option{WithWorkingDirectory(dir), WithRunner(r)}, opts...)...)
		})
	})
}

// call runs one call as the model makes it.
func call(t testing.TB, ctx context.Context, b *Tool, in Input) (*Output, error) {
	t.Helper()
	arguments, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		out any
		err error
	}
	got := make(chan answer, 1)
	go func() {
		out, err := b.Tool().Handle(ctx, string(arguments))
		got <- answer{out, err}
	}()
	select {
	case a := <-got:
		out, _ := a.out.(*Output)
		return out, a.err
	case <-time.After(hang):
		t.Fatalf("%q hangs", in.Command)
		return nil, nil
	}
}

func run(t testing.TB, b *Tool, command string) *Output {
	t.Helper()
	out, err := call(t, context.Background(), b, Input{Command: command})
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return out
}

// background starts a command in the background.
func background(t testing.TB, b *Tool, command string) string {
	t.Helper()
	out, err := call(t, context.Background(), b, Input{Command: command, RunInBackground: true})
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	if out.BashID == "" || !out.Running { // BASH-37
		t.Fatalf("%s: %+v", command, out)
	}
	return out.BashID
}

func readShell(t testing.TB, b *Tool, in OutputInput) (*OutputOutput, error) {
	t.Helper()
	arguments, _ := json.Marshal(in)
	out, err := b.OutputTool().Handle(context.Background(), string(arguments))
	o, _ := out.(*OutputOutput)
	return o, err
}

// readToEnd reads a shell until it has ended, and returns everything and the last result.
func readToEnd(t testing.TB, b *Tool, id string) (string, *OutputOutput) {
	t.Helper()
	var all strings.Builder
	for deadline := time.Now().Add(hang); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		out, err := readShell(t, b, OutputInput{BashID: id})
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(out.Output)
		if !out.Running {
			return all.String(), out
		}
	}
	t.Fatalf("%s never ends", id)
	return "", nil
}

func killShell(t testing.TB, b *Tool, id string) (*KillShellOutput, error) {
	t.Helper()
	arguments, _ := json.Marshal(KillShellInput{ShellID: id})
	out, err := b.KillTool().Handle(context.Background(), string(arguments))
	k, _ := out.(*KillShellOutput)
	return k, err
}

var lastMark atomic.Int64

// mark is an argument of sleep that no other process has.
func mark() string {
	return fmt.Sprintf("600.%d%04d", os.Getpid(), lastMark.Add(1))
}

// alive counts the processes on the host that have the argument.
func alive(mark string) int {
	n := 0
	for _, pid := range testPids() {
		data, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		for arg := range bytes.SplitSeq(data, []byte{0}) {
			if string(arg) == mark {
				n++
				break
			}
		}
	}
	return n
}

func testPids() []int {
	entries, _ := os.ReadDir("/proc")
	var list []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// gone waits until no process has the argument.
func gone(t *testing.T, mark string) {
	t.Helper()
	needProc(t)
	eventually(t, "sleep "+mark+" is gone", func() bool { return alive(mark) == 0 })
}

func needProc(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
}

func withCall(id string) context.Context {
	return tools.ContextWithToolCall(context.Background(), tools.ToolCall{ID: id, Name: "bash"})
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// exists tells whether a path is there, whatever it is.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func itoa(n int) string { return strconv.Itoa(n) }

// recorder keeps the environments that a runner's processes start with.
type recorder struct {
	Runner
	env  [][]string
	args [][]string
}

func (r *recorder) Command(ctx context.Context, command string, opts RunOptions) (*exec.Cmd, error) {
	cmd, err := r.Runner.Command(ctx, command, opts)
	if cmd != nil {
		r.env, r.args = append(r.env, cmd.Env), append(r.args, cmd.Args)
	}
	return cmd, err
}

// inside is a sandboxed shell.
func inside(t *testing.T, dir string, opts ...BubblewrapOption) *Tool {
	t.Helper()
	return newTool(t, WithWorkingDirectory(dir), WithRunner(sandbox(t, dir, opts...)))
}
