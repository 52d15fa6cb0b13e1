package bash

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files")

func TestSeatbeltProfile(t *testing.T) { // decision 20
	t.Parallel()
	mounts := arrange([]Mount{
		{Path: "/usr", Source: "/usr", Access: ReadOnly},
		{Path: "/private/tmp", Access: Private},
		{Path: "/Users/me", Access: Private},
		{Path: "/Users/me/.rustup", Source: "/Users/me/.rustup", Access: ReadOnly},
		{Path: "/Users/me/src/a \"b\" \\c", Source: "/Users/me/src/a \"b\" \\c", Access: Writable, Why: "the workspace"},
		{Path: "/Users/me/src/a \"b\" \\c/.git", Source: "/Users/me/src/a \"b\" \\c/.git", Access: Writable, Why: gitWhy},
		{Path: "/Users/me/src/a \"b\" \\c/.git/hooks", Source: "/Users/me/src/a \"b\" \\c/.git/hooks", Access: ReadOnly},
		{Path: "/Users/me/src/a \"b\" \\c/.phero/sessions", Access: Hidden},
	})
	for name, network := range map[string]bool{"offline": false, "network": true} {
		got := seatbeltProfile(mounts, "/private/tmp/phero-1", network)
		golden := filepath.Join("testdata", "seatbelt-"+name+".sb")
		if *update {
			write(t, golden, got)
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the profile is another:\n%s", golden, got)
		}
		if strings.Count(got, "(") != strings.Count(got, ")") || strings.Contains(got, "(allow network") != network {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestSeatbelt(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	r, err := NewSeatbeltRunner(dir, WithHidden(filepath.Join(dir, ".phero")))
	if runtime.GOOS != "darwin" {
		if !errors.Is(err, ErrSeatbeltNotFound) {
			t.Errorf("%v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	outside := write(t, filepath.Join(workspace(t), "file"), "x")
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r))
	play(t, b, []step{{"echo x >f; cat f; echo y >$TMPDIR/y; cat ~/y", "x\ny\n"}})
	refused(t, b, "cat "+outside, "echo x >"+outside, "mkdir .phero/x", "ls ~/../..", "exec 3<>/dev/tcp/127.0.0.1/80")
}
