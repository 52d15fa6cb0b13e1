//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/script"
	"github.com/phero-agent/agent/ui"
)

// asPanicking makes the test binary a program whose screen panics at /panic.
const asPanicking = "AGENT_TEST_AS_PANICKING"

// panickingScreen is the program with a scripted model and one command more.
func panickingScreen() error {
	settings, err := config.Load(config.Flags{Sandbox: os.Getenv(asPanicking)}, os.Getenv)
	if err != nil {
		return err
	}
	opts := options(settings)
	opts.NewProvider = func(context.Context, string) (app.Provider, error) {
		s, err := script.Parse(endingScript)
		return script.New(s, 0, "over"), err
	}
	pump := ui.NewPump()
	opts.Emit = pump.Emit
	return show(context.Background(), opts, pump, ui.Options{Commands: []ui.Command{{
		Name: "panic", Help: "panics", Run: func(string) (string, error) { panic("as ordered") },
	}}}, nil)
}

// Two shells in the background and a command that runs, each with a process
// that left its session. All of them have the workspace in their name.
const endingScript = `
== a
> bash {"command":"setsid bash -c \"exec -a $PWD/left sleep 600\" & exec -a $PWD/first sleep 600","run_in_background":true}
> bash {"command":"(trap '' TERM HUP INT; exec -a $PWD/deaf sleep 600) & exec -a $PWD/second sleep 600","run_in_background":true}
== b
> bash {"command":"setsid bash -c \"exec -a $PWD/escaped sleep 600\" & exec -a $PWD/running sleep 600"}
== c
Never said.
`

// sleepers counts the processes that the script's commands in a workspace started.
func sleepers(ws string) int {
	n := 0
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.HasPrefix(cmdline, []byte(ws+"/")) {
			n++
		}
	}
	return n
}

func needsProc(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
}

// However a session ends, nothing that it started is left (IMP-30, SBX-23, E11).
func TestNothingIsLeftOfASession(t *testing.T) {
	needsProc(t)
	signalled := func(s syscall.Signal) func(*terminal) {
		return func(term *terminal) {
			if err := term.cmd.Process.Signal(s); err != nil {
				term.t.Fatal(err)
			}
		}
	}
	ends := map[string]struct {
		end  func(*terminal)
		code int // -1: a signal
	}{
		"quit": {func(term *terminal) {
			term.key("esc")
			term.waitFor("interrupted")
			term.key("ctrl+d")
			term.waitFor("kill and quit")
			term.key("y")
		}, app.ExitOK},
		"SIGTERM": {signalled(syscall.SIGTERM), app.ExitTerminated},
		"SIGHUP":  {signalled(syscall.SIGHUP), app.ExitTerminated},
		"hangup":  {func(term *terminal) { term.pty.Close() }, app.ExitTerminated},
		"panic":   {func(term *terminal) { term.send("/panic"); term.waitFor("/panic"); term.key("enter") }, app.ExitError},
		"SIGKILL": {signalled(syscall.SIGKILL), -1},
	}
	for _, sandbox := range []string{"bwrap", "none"} {
		for name, end := range ends {
			if sandbox == "none" && name == "SIGKILL" {
				continue // on the host what a shell started lives on, see package bash
			}
			t.Run(sandbox+"/"+name, func(t *testing.T) {
				t.Parallel()
				if sandbox == "bwrap" && !sandboxWorks() {
					t.Skip("bubblewrap does not work here")
				}
				ws, home := realDirs(t)
				cmd := program(t, ws, home, "--sandbox="+sandbox)
				m := serveModel(t, endingScript)
				cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+m.URL+"/v1", "AGENT_MODEL=scripted")
				if name == "panic" {
					cmd.Args, cmd.Env = cmd.Args[:1], append(cmd.Env, asPanicking+"="+sandbox)
				}
				term := onTerminal(t, cmd, 100, 30)
				term.waitFor("type here")
				term.send("go")
				term.key("enter")
				for range 3 {
					term.waitFor("Allow bash?")
					asked := question(term.text())
					term.until("took answers", func(string) bool { return term.bright("[n]") })
					term.key("y")
					term.until("took the answer", func(screen string) bool { return question(screen) != asked })
				}
				await(t, "all six run", func() bool { return sleepers(ws) == 6 })
				end.end(term)
				if name == "hangup" {
					<-term.done
					cmd.Wait()
					if code := cmd.ProcessState.ExitCode(); code != end.code {
						t.Errorf("the exit code is %d", code)
					}
				} else if code := term.exit(); code != end.code {
					t.Errorf("the exit code is %d", code)
				}
				await(t, "nothing is left", func() bool { return sleepers(ws) == 0 })
			})
		}
	}
}

func realDirs(t *testing.T) (ws, home string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, home = filepath.Join(base, "ws"), filepath.Join(base, "home")
	for _, dir := range []string{ws, home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return ws, home
}

// await waits for what nothing tells of.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
