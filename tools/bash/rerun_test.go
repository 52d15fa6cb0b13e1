package bash

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/tools"
)

// pretended is a sandbox in name only: a command can tell its reach from $REACH.
type pretended struct{ LocalRunner }

func (p pretended) Command(ctx context.Context, command string, opts RunOptions) (*exec.Cmd, error) {
	opts.ExtraEnv = append(opts.ExtraEnv, "REACH="+opts.Reach.String())
	return p.LocalRunner.Command(ctx, command, opts)
}
func (pretended) reached(opts RunOptions) Reach { return opts.Reach }
func (pretended) hides(path string) bool        { return path == "/hidden" }

// offline fails as without a network, unless there is one.
const offline = `echo $REACH; [ $REACH = sandboxed ] && { echo 'curl: (6) Could not resolve host: x'; false; }; [ $REACH != sandboxed ]`

func TestRerun(t *testing.T) { // decision 19
	t.Parallel()
	dir := workspace(t)
	answer := Network
	var asked []Lack
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(pretended{}), WithHostRunner(LocalRunner{}), WithPersistentShell(),
		WithRerun(func(_ context.Context, command string, lack Lack) Reach {
			asked = append(asked, lack)
			return answer
		}))
	run(t, b, "mkdir -p sub")
	out := run(t, b, "cd sub && export A=$REACH; "+offline)
	if out.Reach != "network" || out.ExitCode != 0 || !strings.HasPrefix(out.Output, "network\n") || !strings.Contains(out.Output, "with the network") {
		t.Errorf("%+v", out)
	}
	if len(asked) != 1 || asked[0].Reach != Network || asked[0].Why == "" {
		t.Errorf("asked %+v", asked)
	}
	// The second run began where the first did, and its state counts.
	play(t, b, []step{{"pwd; echo $A", dir + "/sub\nnetwork\n"}})

	answer = Sandboxed
	out = run(t, b, offline)
	if out.Reach != "" || out.ExitCode != 1 || out.Wants != Network || !strings.Contains(out.Output, "did not: go on without it]\nexit code: 1") {
		t.Errorf("declined: %+v", out)
	}
	if run(t, b, "echo 'curl: (6) Could not resolve host: x'; false"); len(asked) != 3 {
		t.Errorf("asked %+v", asked)
	}
	// What was allowed once is not remembered.
	if out := run(t, b, "echo $REACH"); out.Output != "sandboxed\n" || out.Reach != "" || len(asked) != 3 {
		t.Errorf("%+v", out)
	}
	// A command that went well, or had what it seems to lack, is not run again.
	run(t, b, "echo 'curl: (6) Could not resolve host: x'")
	background(t, b, offline)
	if len(asked) != 3 {
		t.Errorf("asked %+v", asked)
	}
	answer = Host
	if out := run(t, b, "ls /hidden; echo 'ls: cannot access /hidden: No such file or directory'; [ \"$REACH\" = '' ]"); out.Reach != "host" || asked[3].Reach != Host || !strings.Contains(asked[3].Why, "/hidden") {
		t.Errorf("%+v, %+v", out, asked[3])
	}
}

// A command whose rerun is stopped, or that is moved then, ends as any other.
func TestRerunIsStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := newTool(t, WithRunner(pretended{}),
		WithRerun(func(context.Context, string, Lack) Reach { return Network }),
		WithOutputHandler(func(_ context.Context, chunk []byte) {
			if strings.Contains(string(chunk), "network") {
				cancel()
			}
		}))
	_, err := call(t, ctx, b, Input{Command: offline + " && sleep 600"})
	var stopped *StoppedError
	if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || !strings.HasPrefix(stopped.Output, "network\n") {
		t.Errorf("%v, %+v", err, stopped)
	}
}

// BASH-48: what a command printed until it was stopped is not lost.
func TestStoppedCommandKeepsItsOutput(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := newTool(t, WithOutputHandler(func(_ context.Context, chunk []byte) { cancel() }))
	_, err := call(t, ctx, b, Input{Command: "echo so far; sleep 600"})
	var stopped *StoppedError
	if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || !strings.HasPrefix(stopped.Output, "so far\n") {
		t.Errorf("%v, %+v", err, stopped)
	}
}

// Nothing in a call widens its own reach (decision 19, G1).
func TestTheModelCannotWiden(t *testing.T) {
	t.Parallel()
	b := newTool(t, WithRunner(pretended{}), WithHostRunner(LocalRunner{}))
	for _, arguments := range []string{
		`{"command":"echo $REACH","reach":"host"}`,
		`{"command":"echo $REACH","Reach":2,"network":true,"sandbox":"none","dangerously_disable_sandbox":true}`,
		`{"command":"REACH=x; echo sandboxed","description":"run on the host, with the network"}`,
	} {
		out, err := b.Tool().Handle(t.Context(), arguments)
		if o, _ := out.(*Output); err != nil || o.Output != "sandboxed\n" || o.Reach != "" {
			t.Errorf("%s: %+v, %v", arguments, out, err)
		}
	}
}

// Decision 15: the order of calls counts, not that of their starts.
func TestCallOrderWins(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	b := newTool(t, WithWorkingDirectory(dir), WithPersistentShell())
	ordered := func(order int64, command string) {
		t.Helper()
		ctx := tools.ContextWithToolCall(t.Context(), tools.ToolCall{ID: itoa(int(order)), Order: order})
		if out, err := call(t, ctx, b, Input{Command: command}); err != nil || out.ExitCode != 0 {
			t.Fatalf("%s: %+v, %v", command, out, err)
		}
	}
	ordered(2, "export A=second")
	ordered(1, "export A=first") // its question took longer
	play(t, b, []step{{"echo $A", "second\n"}})
	ordered(9, "export A=ninth")
	play(t, b, []step{{"export A=after; echo $A", "after\n"}, {"echo $A", "after\n"}})
}

func TestSilence(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	if out, err := exec.Command(needs(t, "mkfifo"), first, second).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	told := make(chan time.Time, 10)
	b := newTool(t, WithWorkingDirectory(dir), WithSilenceHandler(50*time.Millisecond, func(_ context.Context, since time.Time) { told <- since }))
	done := make(chan *Output)
	begun := time.Now()
	go func() { done <- run(t, b, "read x <first; echo said; read x <second") }()
	start := <-told
	if start.Before(begun) {
		t.Errorf("silent since %v, begun %v", start, begun)
	}
	write(t, first, "go\n")
	if since := <-told; !since.After(start) { // since it said something
		t.Errorf("silent since %v, then %v", start, since)
	}
	write(t, second, "go\n")
	<-done
	if n := len(told); n != 0 {
		t.Errorf("told %d times more", n)
	}
}

func TestHiddenPaths(t *testing.T) { // decision 19
	t.Parallel()
	hides := func(path string) bool {
		return path == "/home/me/.aws/config" || path == "/var/run/docker.sock" || path == "/opt/in stall"
	}
	for line, want := range map[string]string{
		"cat: /home/me/.aws/config: No such file or directory":                                              "/home/me/.aws/config",
		"open /home/me/.aws/config: no such file or directory":                                              "/home/me/.aws/config",
		"FileNotFoundError: [Errno 2] No such file or directory: '/home/me/.aws/config'":                    "/home/me/.aws/config",
		"Error: ENOENT: no such file or directory, open '/home/me/.aws/config'":                             "/home/me/.aws/config",
		"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?": "/var/run/docker.sock",
		"ls: cannot access '/opt/in stall': No such file or directory":                                      "/opt/in stall",
		"touch: cannot touch '/opt/in stall/new': No such file or directory":                                "/opt/in stall/new",
		"cat: /home/me/.aws/other: No such file or directory":                                               "",
		"cat: home/me/.aws/config: No such file or directory":                                               "",
		"see /home/me/.aws/config":                                                                          "",
		"x: permission denied":                                                                              "",
	} {
		got := ""
		if isPathFailure(strings.ToLower(line)) {
			got = hiddenPath(line, hides)
		}
		if got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}
