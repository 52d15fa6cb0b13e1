//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// headlessRun is the program without a terminal, with the model of a script.
func headlessRun(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	m := serveModel(t, script)
	cmd := program(t, t.TempDir(), t.TempDir(), append([]string{"-p"}, args...)...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+m.URL+"/v1", "AGENT_MODEL=scripted")
	return cmd
}

// ends waits for a program's end, and fails the test when it does not come.
func ends(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the program did not end")
	}
	return cmd.ProcessState.ExitCode()
}

const shellInBackground = `
== start
> bash {"command":"exec -a $PWD/left sleep 600","run_in_background":true}
== done
It runs.
`

// A run ends when its turn does, whatever runs in the background (IMP-24).
func TestHeadlessEndsWithItsTurn(t *testing.T) {
	needsProc(t)
	t.Parallel()
	cmd := headlessRun(t, shellInBackground, "--allow", "bash", "go", "--yolo", "--sandbox=none")
	out, err := cmd.Output()
	if err != nil || string(out) != "It runs.\n" {
		t.Fatalf("%v: %q", err, out)
	}
	await(t, "nothing is left", func() bool { return sleepers(cmd.Dir) == 0 })
}

const commandThatStays = `
== start
> bash {"command":"exec -a $PWD/first sleep 600","run_in_background":true}
> bash {"command":"echo up; exec -a $PWD/second sleep 600"}
== done
Never said.
`

// SIGTERM ends everything that a run started, and its exit code says so.
func TestHeadlessTerminated(t *testing.T) {
	needsProc(t)
	t.Parallel()
	cmd := headlessRun(t, commandThatStays, "-o", "stream-json", "go", "--yolo", "--sandbox=none")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if last = lines.Text(); strings.Contains(last, `"chunk":"up\n"`) {
			await(t, "both run", func() bool { return sleepers(cmd.Dir) == 2 })
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	var result struct {
		Type, Outcome string
		ExitCode      int `json:"exit_code"`
	}
	if err := json.Unmarshal([]byte(last), &result); err != nil || result.Type != "result" || result.Outcome != "interrupted" || result.ExitCode != 143 {
		t.Errorf("the last line is %q, %v", last, err)
	}
	if code := ends(t, cmd); code != 143 {
		t.Errorf("exit code %d", code)
	}
	await(t, "nothing is left", func() bool { return sleepers(cmd.Dir) == 0 })
}

// A stdout that nobody reads any more stops the run and what it started, without a panic.
func TestHeadlessClosedPipe(t *testing.T) {
	needsProc(t)
	t.Parallel()
	cmd := headlessRun(t, commandThatStays, "-o", "stream-json", "go", "--yolo", "--sandbox=none")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if code := ends(t, cmd); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if s := said.String(); !strings.Contains(s, "broken pipe") || strings.Contains(s, "goroutine") {
		t.Errorf("stderr is %q", s)
	}
	await(t, "nothing is left", func() bool { return sleepers(cmd.Dir) == 0 })
}

// What stdin holds up is said: a pipe that nobody closes.
func TestHeadlessSaysThatStdinIsOpen(t *testing.T) {
	t.Parallel()
	cmd := headlessRun(t, "== done\nAll read.\n", "go")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(errs).ReadString('\n')
	if err != nil || !strings.Contains(said, "stdin") || !strings.Contains(said, "/dev/null") {
		t.Errorf("stderr is %q, %v", said, err)
	}
	in.Close()
	io.Copy(io.Discard, errs)
	if code := ends(t, cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
