package ui

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func draftFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "draft-*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// What is written and not sent is there after a crash, its pastes whole; what
// was sent does not come back.
func TestDraftSurvives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	long := strings.Repeat("a pasted line\n", 100)
	on(t, 80, 24, Options{StateDir: dir}, func(t *testing.T, s *stage) {
		s.Type("look at ")
		s.Paste(long)
		s.Wait(2 * draftEvery)
		names := draftFiles(t, dir)
		if len(names) != 1 {
			t.Fatalf("saved: %q", names)
		}
		if info, err := os.Stat(names[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	})
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	crashed := filepath.Join(dir, fmt.Sprintf("draft-%d.json", dead.Process.Pid))
	if err := os.Rename(draftFiles(t, dir)[0], crashed); err != nil {
		t.Fatal(err)
	}
	on(t, 80, 24, Options{StateDir: dir}, func(t *testing.T, s *stage) {
		s.Wait(time.Second)
		s.wantText(t, "look at "+long)
		s.wantOn(t, "look at [pasted 100 lines]", "is back")
		if _, err := os.Stat(crashed); !os.IsNotExist(err) {
			t.Errorf("the old file: %v", err)
		}
		s.Key("enter")
		s.Wait(100 * time.Millisecond)
		if names := draftFiles(t, dir); len(names) != 0 {
			t.Errorf("what was sent is still saved: %q", names)
		}
	})
	on(t, 80, 24, Options{StateDir: dir}, func(t *testing.T, s *stage) { s.wantText(t, "") })
}

// The draft of a program that still runs is its own.
func TestDraftOfAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	theirs := filepath.Join(dir, fmt.Sprintf("draft-%d.json", os.Getppid()))
	if err := os.WriteFile(theirs, []byte(`{"text":"theirs"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	on(t, 80, 24, Options{StateDir: dir}, func(t *testing.T, s *stage) {
		s.wantText(t, "")
		s.Type("mine")
		s.Wait(2 * draftEvery)
		if names := draftFiles(t, dir); len(names) != 2 {
			t.Errorf("%q", names)
		}
	})
}

func TestDraftThatCannotBeSaved(t *testing.T) {
	on(t, 80, 24, Options{StateDir: "/dev/null"}, func(t *testing.T, s *stage) {
		s.Type("a")
		s.Wait(2 * draftEvery)
		s.wantOn(t, "what you write is not saved")
	})
}
