package session

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestOneProcessASession(t *testing.T) { // SESS-10
	s := newStore(t)
	l := create(t, s)
	put(t, l, say("a"))
	ok(t, l.Close())

	o := startOther(t, "hold", s.workspace, l.ID())
	if !o.lines.Scan() || o.lines.Text() != "open" {
		t.Fatalf("the other process says %q", o.lines.Text())
	}
	_, _, _, err := s.Open(l.ID())
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("opened twice: %v", err)
	}
	host := must[string](t)(os.Hostname())
	if locked.PID != o.cmd.Process.Pid || locked.ID != l.ID() || locked.Host != host || time.Since(locked.Since) > time.Hour {
		t.Errorf("locked: %+v", locked)
	}
	for _, word := range []string{l.ID(), "process " + strconv.Itoa(locked.PID), host, "start a new session"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("no %q in: %v", word, err)
		}
	}
	if info := must[Info](t)(s.Latest(nil)); !info.Open {
		t.Error("the list does not show it as open")
	}
	if got := texts(t, s, l.ID()); got != "a" {
		t.Errorf("read %q", got)
	}
	// A second session in the same workspace is no trouble.
	put(t, create(t, s), say("b"))

	// After a crash the lock is free, though its file names the owner still.
	o.kill()
	if info := must[[]Info](t)(s.List())[1]; info.ID != l.ID() || info.Open {
		t.Errorf("listed as %+v", info)
	}
	l = first(t)(s.Open(l.ID()))
	defer l.Close()
	if _, _, _, err := s.Open(l.ID()); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("opened twice in one process: %v", err)
	}
}

func TestLockIsGivenBack(t *testing.T) { // SESS-10
	s := newStore(t)
	l := create(t, s)
	ok(t, l.Close())
	o := startOther(t, "hold", s.workspace, l.ID())
	o.lines.Scan()
	ok(t, o.stdin.Close())
	ok(t, o.cmd.Wait())
	ok(t, first(t)(s.Open(l.ID())).Close())
}

func TestLookingDoesNotLockOut(t *testing.T) {
	s := newStore(t)
	l := create(t, s)
	put(t, l, say("a"))
	ok(t, l.Close())
	root := must[*os.Root](t)(s.root())
	defer root.Close()
	lockFile := filepath.Join(sessionPath(l.ID()), lockName)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				if isLocked(root, lockFile) {
					continue // by this test
				}
			}
		}
	}()
	for range 50 {
		// As a crash leaves it: only then a list looks whether the lock is held.
		ok(t, os.WriteFile(filepath.Join(s.Dir(), lockFile), []byte("{}"), 0o600))
		ok(t, first(t)(s.Open(l.ID())).Close())
	}
	close(stop)
	<-stopped
}

func TestUnknownOwner(t *testing.T) {
	e := &LockedError{ID: "X"}
	if got := e.Error(); got != "session X is open in another process: close it there, start a new session, or go on in a copy: agent sessions fork X" {
		t.Error(got)
	}
}
