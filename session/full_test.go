//go:build !windows

package session

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

func init() { parts["full"] = workOnFullDisk }

// workOnFullDisk limits the size of files, which fails a write in its middle as
// a full disk does. It tells the entries' numbers and the sizes of the log.
func workOnFullDisk(args []string) error {
	s, err := OpenStore(args[0])
	if err != nil {
		return err
	}
	l, _, _, err := s.Open(args[1])
	if err != nil {
		return err
	}
	before, err := os.Stat(s.logPath(l.ID()))
	if err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	full := old
	full.Cur = uint64(before.Size()) + 50
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		return err
	}
	two, err2 := l.Append(say("two"))
	three, err3 := l.Append(say("three"))
	errSync := l.Sync()
	content := make([]byte, 4*before.Size()) // that does not shrink
	rand.NewChaCha8([32]byte{}).Read(content)
	_, errPut := s.Blobs().Put(content)
	errPut = errors.Join(errPut, s.Blobs().Trouble())
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	for _, err := range []error{err2, err3, errSync, errPut} {
		if !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("the disk was not full: %w", err)
		}
	}
	if _, err := (&Blobs{store: s}).Get(Hash(content)); !errors.Is(err, ErrNoBlob) {
		return fmt.Errorf("half a content was kept: %w", err)
	}
	if _, err := s.Blobs().Get(Hash(content)); err != nil {
		return fmt.Errorf("the content is not in memory: %w", err)
	}
	after, err := os.Stat(s.logPath(l.ID()))
	if err != nil {
		return err
	}
	if before.Size() != after.Size() {
		return errors.New("half a line is in the log")
	}
	four, err := l.Append(say("four"))
	fmt.Println(two.Seq, three.Seq, four.Seq)
	return errors.Join(err, l.Close())
}

func TestFullDisk(t *testing.T) {
	s := newStore(t)
	l := create(t, s)
	put(t, l, say("one"))
	ok(t, l.Close())
	o := startOther(t, "full", s.workspace, l.ID())
	if o.lines.Scan(); o.lines.Text() != "3 4 5" {
		t.Fatalf("the process says %q", o.lines.Text())
	}
	ok(t, o.cmd.Wait())
	if got := texts(t, s, l.ID()); got != "one two three four" {
		t.Errorf("the log holds %q", got)
	}
}
