package bash

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// When the program is killed, its sandboxed commands die.
func TestKilledProgram(t *testing.T) { // SBX-23, E11
	t.Parallel()
	if dir := os.Getenv("BASH_TEST_KILLED"); dir != "" {
		r, err := NewBubblewrapRunner(dir)
		if err != nil {
			t.Fatal(err)
		}
		b := newTool(t, WithWorkingDirectory(dir), WithRunner(r))
		m := os.Getenv("BASH_TEST_MARK")
		background(t, b, "setsid sleep "+m+" & sleep "+m)
		run(t, b, "setsid sleep "+m+" & touch ready; sleep "+m)
		return
	}
	dir := workspace(t)
	sandbox(t, dir)
	m := mark()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledProgram$")
	cmd.Env = append(os.Environ(), "BASH_TEST_KILLED="+dir, "BASH_TEST_MARK="+m)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the commands run", func() bool { return exists(filepath.Join(dir, "ready")) && alive(m) >= 3 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	gone(t, m)
}

func TestNothingIsWrittenLate(t *testing.T) { // S17
	t.Parallel()
	dir := workspace(t)
	r := sandbox(t, dir)
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r), WithTimeout(2*time.Second))
	m := mark()
	out := run(t, b, "setsid nohup bash -c 'while :; do echo x >>late; done' "+m+" & sleep "+m)
	if !out.TimedOut {
		t.Errorf("%+v", out)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "late"))
	gone(t, m)
	if after, _ := os.ReadFile(filepath.Join(dir, "late")); len(before) == 0 || len(after) != len(before) {
		t.Errorf("%d bytes at the return, %d later", len(before), len(after))
	}
}

// sandboxesOf lists the processes of bubblewrap that have a workspace among
// their arguments.
func sandboxesOf(dir string) (list []int) {
	for _, pid := range testPids() {
		data, _ := os.ReadFile(filepath.Join("/proc", itoa(pid), "cmdline"))
		if strings.Contains(string(data), "bwrap\x00") && strings.Contains(string(data), "\x00"+dir+"\x00") {
			list = append(list, pid)
		}
	}
	return list
}

// A sandbox that is stopped while it is being made leaves nothing: bwrap's parts
// do not end with each other from the start.
func TestStopWhileTheSandboxIsMade(t *testing.T) { // BASH-48, SBX-14, A8
	t.Parallel()
	dir := workspace(t)
	r := sandbox(t, dir)
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r))
	for i := range 150 {
		after := time.Duration(i%50) * 200 * time.Microsecond
		ctx, cancel := context.WithTimeout(t.Context(), after)
		if i%3 == 0 {
			_ = r.Probe(ctx)
		} else {
			_, _ = call(t, ctx, b, Input{Command: "sleep 600"})
		}
		cancel()
	}
	eventually(t, "no sandbox is left", func() bool { return len(sandboxesOf(dir)) == 0 })
}

// Nor does one that is being made when the program is killed.
func TestKilledWhileTheSandboxIsMade(t *testing.T) { // SBX-23
	t.Parallel()
	if dir := os.Getenv("BASH_TEST_STARTING"); dir != "" {
		b := newTool(t, WithWorkingDirectory(dir), WithRunner(sandbox(t, dir)))
		for i := 0; ; i++ {
			write(t, filepath.Join(dir, "started"), itoa(i))
			background(t, b, "sleep 600")
		}
	}
	dir := workspace(t)
	sandbox(t, dir)
	for i := range 15 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileTheSandboxIsMade$")
		cmd.Env = append(os.Environ(), "BASH_TEST_STARTING="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it starts commands", func() bool { return exists(filepath.Join(dir, "started")) })
		time.Sleep(time.Duration(i) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if err := os.Remove(filepath.Join(dir, "started")); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "no sandbox is left", func() bool { return len(sandboxesOf(dir)) == 0 })
}
