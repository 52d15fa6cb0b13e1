package bash

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/phero-agent/agent/tools"
)

func TestToolsHaveTheirNames(t *testing.T) { // BASH-01
	t.Parallel()
	b := newTool(t)
	for want, tool := range map[string]*tools.Tool{"bash": b.Tool(), "bash_output": b.OutputTool(), "kill_shell": b.KillTool()} {
		if tool.Name() != want || tool.Description() == "" {
			t.Errorf("%s: %q, %q", want, tool.Name(), tool.Description())
		}
		if tool.Exclusive() { // parallel calls, decision 15
			t.Errorf("%s is exclusive", want)
		}
		for name, p := range tool.InputSchema()["properties"].(map[string]any) {
			if p.(map[string]any)["description"] == nil {
				t.Errorf("%s: %s has no description", want, name)
			}
		}
	}
	want := "command description timeout run_in_background" // BASH-04
	for name := range strings.FieldsSeq(want) {
		if b.Tool().InputSchema()["properties"].(map[string]any)[name] == nil {
			t.Errorf("bash has no field %s", name)
		}
	}
}

func TestOutputAndExitCode(t *testing.T) { // BASH-02, BASH-03, BASH-05, BASH-06, C15
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		killed, killedCode := "exit code: -1 (signal: killed)", -1
		if strings.HasSuffix(t.Name(), "bubblewrap") {
			killed, killedCode = "exit code: 137", 137
		}
		for _, shell := range []struct {
			name string
			b    *Tool
		}{{"fresh", make()}, {"persistent", make(WithPersistentShell())}} {
			for _, tt := range []struct {
				command, want string
				code          int
			}{
				{"echo a; echo b >&2; echo c", "a\nb\nc\n", 0},
				{"[[ $BASH_VERSION ]] && echo yes", "yes\n", 0},
				{"true", "(no output)", 0}, // C16
				{"false", "exit code: 1", 1},
				{"echo x; exit 2", "x\nexit code: 2", 2},
				{"printf x; exit 3", "x\nexit code: 3", 3},
				{"exit 126", "exit code: 126", 126},
				{"exit 127", "exit code: 127", 127},
				{"exit 130", "exit code: 130", 130},
				{"exit 137", "exit code: 137", 137},
				{"exit 255", "exit code: 255", 255},
				{"kill -9 $$", killed, killedCode},                                               // A9
				{"cat", "(no output)", 0},                                                        // B1
				{"readlink /proc/self/fd/0", "/dev/null\n", 0},                                   // B5
				{"read x; echo $?", "1\n", 0},                                                    // B2
				{"tty", "not a tty\nexit code: 1", 1},                                            // B4
				{"--version", "bash: line 1: --version: command not found\nexit code: 127", 127}, // B15
				{"-c x", "bash: line 1: -c: command not found\nexit code: 127", 127},
				{"shopt -q extglob || echo off", "off\n", 0}, // B14
				{"echo $#", "0\n", 0},
				{"echo 'a  b'   'c'\r", "a  b c\r\n", 0},                                      // G1: not trimmed, not converted
				{"printf 'a\\0b'", "a\x00b", 0},                                               // C4
				{"printf '\\033]52;c;ZXZpbA==\\a\\033[2J'", "\x1b]52;c;ZXZpbA==\a\x1b[2J", 0}, // C14: as it was written
			} {
				out := run(t, shell.b, tt.command)
				if out.Output != tt.want || out.ExitCode != tt.code || out.Running || out.TimedOut || out.Truncated || out.BashID != "" {
					t.Errorf("%s: %q: %+v, want %q", shell.name, tt.command, out, tt.want)
				}
			}
		}
	})
}

func TestStreamsKeepTheirOrder(t *testing.T) { // BASH-03, C12
	t.Parallel()
	b := newTool(t)
	var want strings.Builder
	for range 1000 {
		want.WriteString("out\nerr\n")
	}
	if got := run(t, b, "for ((i = 0; i < 1000; i++)); do echo out; echo err >&2; done"); got.Output != want.String() {
		t.Errorf("%d bytes in another order", len(got.Output))
	}
}

func TestInputErrors(t *testing.T) { // BASH-04, BASH-52
	t.Parallel()
	b := newTool(t)
	for _, tt := range []struct {
		arguments string
		want      error
	}{
		{`null`, ErrNilInput},
		{`{}`, ErrCommandRequired},
		{``, ErrCommandRequired},
		{`{"command": " \n"}`, ErrCommandRequired},
		{`{"command": "echo a\u0000b"}`, ErrCommandInvalid}, // B7
		{`{"command": "true", "timeout": -1}`, ErrInvalidTimeout},
		{`{"command": "true", "timeout": -1, "run_in_background": true}`, ErrInvalidTimeout},
	} {
		if _, err := b.Tool().Handle(context.Background(), tt.arguments); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.arguments, err, tt.want)
		}
	}
	for _, arguments := range []string{ // C18
		`{"command": "true", "timeout": 1e18}`, `{"command": "true", "timeout": 0.5}`,
		`{"command": "true", "timeout": "5"}`, `{"command": 3}`, `{"command": "true"`,
	} {
		var parse *tools.ArgumentParseError
		if _, err := b.Tool().Handle(context.Background(), arguments); !errors.As(err, &parse) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	for _, arguments := range []string{`null`} {
		if _, err := b.OutputTool().Handle(context.Background(), arguments); !errors.Is(err, ErrNilInput) {
			t.Errorf("bash_output %s: %v", arguments, err)
		}
		if _, err := b.KillTool().Handle(context.Background(), arguments); !errors.Is(err, ErrNilInput) {
			t.Errorf("kill_shell %s: %v", arguments, err)
		}
	}
}

func TestLongCommand(t *testing.T) { // BASH-52, B6
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		word := strings.Repeat("x", 200<<10)
		for _, b := range []*Tool{make(WithMaxOutputChars(0)), make(WithMaxOutputChars(0), WithPersistentShell())} {
			if out := run(t, b, "echo '"+word+"'\nexit 3"); out.Output != word+"\nexit code: 3" {
				t.Errorf("%d bytes of output, exit code %d", len(out.Output), out.ExitCode)
			}
			out := run(t, b, "/bin/echo '"+word+"'")
			if out.ExitCode != 126 || !strings.Contains(out.Output, "Argument list too long") {
				t.Errorf("an argument that is too long: %.200s", out.Output)
			}
		}
	})
}

func TestCommandInInvalidUTF8(t *testing.T) { // B8: both see the decoded text
	t.Parallel()
	b := newTool(t)
	out, err := b.Tool().Handle(context.Background(), "{\"command\": \"printf %s 'a\xff' | od -An -tx1\"}")
	if err != nil || !strings.Contains(out.(*Output).Output, "61 ef bf bd") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestWorkingDirectory(t *testing.T) { // BASH-07, SBX-01
	t.Parallel()
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		if out := run(t, make(), "pwd"); out.Output != dir+"\n" {
			t.Errorf("pwd: %q", out.Output)
		}
	})
	gone := filepath.Join(t.TempDir(), "gone")
	if _, err := New(WithWorkingDirectory(gone)); err == nil || !strings.Contains(err.Error(), gone) {
		t.Errorf("a missing directory: %v", err)
	}
	if _, err := New(WithWorkingDirectory(write(t, gone, ""))); err == nil || !strings.Contains(err.Error(), gone) {
		t.Errorf("a file: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "later")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b := newTool(t, WithWorkingDirectory(dir))
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, context.Background(), b, Input{Command: "pwd"}); err == nil || !strings.Contains(err.Error(), dir) { // A14
		t.Errorf("a directory that went: %v", err)
	}
}

func TestBashMissing(t *testing.T) { // BASH-02, B13
	t.Setenv("PATH", t.TempDir())
	b := newTool(t)
	if _, err := call(t, context.Background(), b, Input{Command: "true"}); !errors.Is(err, ErrBashNotFound) {
		t.Errorf("%v", err)
	}
}

func TestForkFails(t *testing.T) { // A13
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root has no limit of processes")
	}
	if runtime.GOOS != "linux" {
		t.Skip("needs prlimit")
	}
	b := newTool(t)
	out := run(t, b, "ulimit -u 1; /bin/true; echo after")
	if !strings.Contains(out.Output, "fork") {
		t.Errorf("%+v", out)
	}
	if out := run(t, b, "echo fine"); out.Output != "fine\n" {
		t.Errorf("%+v", out)
	}
}

func TestDescriptionsDiffer(t *testing.T) { // BASH-29
	t.Parallel()
	fresh, persistent := newTool(t).Tool().Description(), newTool(t, WithPersistentShell()).Tool().Description()
	if !strings.Contains(fresh, "starts fresh") || strings.Contains(persistent, "starts fresh") || !strings.Contains(persistent, "carry over") {
		t.Errorf("fresh: %s\npersistent: %s", fresh, persistent)
	}
}

func TestGuards(t *testing.T) { // BASH-08, BASH-16, BASH-17, F1, F2
	t.Parallel()
	dir := workspace(t)
	for _, tt := range []struct {
		name    string
		opts    []Option
		command string
		want    error
	}{
		{"block", []Option{WithBlocklist("Curl")}, "CURL x", ErrCommandBlocked},
		{"block twice", []Option{WithBlocklist("x y"), WithBlocklist("z")}, "echo z", ErrCommandBlocked},
		{"block spaces", []Option{WithBlocklist("x y")}, "x   y", ErrCommandBlocked},
		{"block empty", []Option{WithBlocklist("")}, "true", nil},                       // F4
		{"block is easy to get around", []Option{WithBlocklist("true")}, "t''rue", nil}, // BASH-51
		{"allow", []Option{WithAllowlist("go test")}, "ls", ErrCommandNotAllowed},
		{"allow case", []Option{WithAllowlist("ECHO")}, "echo x", nil},
		{"allow empty", []Option{WithAllowlist("")}, "true", ErrCommandNotAllowed}, // F4
		{"allow none", []Option{WithAllowlist()}, "true", ErrCommandNotAllowed},
		{"block wins", []Option{WithAllowlist("echo"), WithBlocklist("echo")}, "echo", ErrCommandBlocked}, // F5
		{"safe", []Option{WithSafeMode()}, "rm -rf /", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "RM -RF /", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "sudo rm -rf / --no-preserve-root", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "rm -rf /*", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "rm -fr /", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "rm  -rf  /", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "rm -r -f /", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "rm -rf ~", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, `rm -rf "$HOME"`, ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "rm -rf /tmp/x", ErrCommandBlocked},             // a substring, as stated
		{"safe", []Option{WithSafeMode()}, `echo "never run rm -rf /"`, ErrCommandBlocked}, // F3
		{"safe", []Option{WithSafeMode()}, "dd if=/dev/zero of=x", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "mkfs.ext4 /dev/sda", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, ":(){ :|:& };:", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "echo > /dev/sda", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "chmod -R 777 /", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "shutdown -h now", ErrCommandBlocked},
		{"safe", []Option{WithSafeMode()}, "rm -rf ./build", nil},
	} {
		for _, inBackground := range []bool{false, true} { // F6, E16
			b := newTool(t, append(tt.opts, WithWorkingDirectory(dir))...)
			_, err := call(t, context.Background(), b, Input{Command: tt.command, RunInBackground: inBackground})
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Errorf("%s: %q: %v, want %v", tt.name, tt.command, err, tt.want)
			}
			if err != nil && len(b.Shells()) != 0 {
				t.Errorf("%s: %q started", tt.name, tt.command)
			}
		}
	}
}

// A runner of somebody else's, which builds the process and nothing more.
type envRunner struct{ seen []RunOptions }

func (r *envRunner) Command(ctx context.Context, command string, opts RunOptions) (cmd *exec.Cmd, err error) {
	r.seen = append(r.seen, opts)
	return LocalRunner{}.Command(ctx, command, opts)
}

var _, _, _ Runner = (*envRunner)(nil), LocalRunner{}, (*BubblewrapRunner)(nil) // SBX-19

func TestCustomRunner(t *testing.T) { // BASH-18, BASH-19, BASH-24
	t.Parallel()
	r := &envRunner{}
	b := newTool(t, WithRunner(r), WithEnv("A=1", "B="), WithTimeout(hang/100))
	if out := run(t, b, "echo $A"); out.Output != "1\n" {
		t.Errorf("%+v", out)
	}
	if got := r.seen[0]; strings.Join(got.ExtraEnv, " ") != "A=1 B=" || got.Env != nil || got.Reach != Sandboxed {
		t.Errorf("%+v", got)
	}
	m := mark()
	if out := run(t, b, "echo a; sleep "+m); !out.TimedOut {
		t.Errorf("%+v", out)
	}
	gone(t, m)
}

type nothingRunner struct{}

func (nothingRunner) Command(context.Context, string, RunOptions) (*exec.Cmd, error) { return nil, nil }

func TestRunnerThatReturnsNothing(t *testing.T) {
	t.Parallel()
	if _, err := call(t, context.Background(), newTool(t, WithRunner(nothingRunner{})), Input{Command: "true"}); err == nil {
		t.Error("no error")
	}
}
