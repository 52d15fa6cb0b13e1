package session

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// LockedError says that a session is open in another process (SESS-10).
type LockedError struct {
	ID    string    // of the session
	PID   int       // of the process that has it open; 0 where that is not known
	Host  string    // the machine where it runs
	Since time.Time // when it was opened there
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("session %s is open in %s: close it there, start a new session, or go on in a copy: agent sessions fork %s", e.ID, e.Owner(), e.ID)
}

// Owner names the process, in words.
func (e *LockedError) Owner() string {
	if e.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s, since %s", e.PID, e.Host, e.Since.Local().Format("2006-01-02 15:04"))
}

// owner is what a lock file says of the process that holds it. After a crash it
// is out of date; only the lock itself counts.
type owner struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// lock is a session's lock file, held.
type lock struct {
	f *os.File
	// unlocked says that the file system knows no locks. That must not keep
	// anybody from working (the person is told).
	unlocked bool
}

// Who lists sessions shares a lock for a moment, to see whether somebody holds
// it alone. That is waited for; it lasts only where the machine is very busy.
const (
	lockTries = 200
	lockPause = 10 * time.Millisecond
)

// takeLock locks the file at path for this process, or returns a *[LockedError].
func takeLock(root *os.Root, path, id string) (*lock, error) {
	f, err := root.OpenFile(path, os.O_RDWR|os.O_CREATE, filePerm)
	if err != nil {
		return nil, err
	}
	held, err := tryLock(f, true)
	for try := 0; !held && err == nil; try++ {
		if try == lockTries || heldAlone(root, path) {
			defer f.Close()
			o := readOwner(f)
			return nil, &LockedError{ID: id, PID: o.PID, Host: o.Host, Since: o.Since}
		}
		time.Sleep(lockPause)
		held, err = tryLock(f, true)
	}
	l := &lock{f: f, unlocked: err != nil}
	host, _ := os.Hostname()
	text, err := json.Marshal(owner{PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second)})
	if err == nil {
		err = l.write(append(text, '\n'))
	}
	if err != nil && !isFull(err) {
		f.Close()
		return nil, err
	}
	return l, nil
}

func (l *lock) write(text []byte) error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err := l.f.WriteAt(text, 0)
	return err
}

// release gives the lock up. The file stays: removing it would let two
// processes hold locks on two files of the same name.
func (l *lock) release() {
	_ = l.write(nil)
	l.f.Close()
}

func readOwner(f io.ReaderAt) owner {
	var o owner
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err != nil || json.Unmarshal(text, &o) != nil {
		return owner{}
	}
	return o
}

// isLocked tells whether a process has the lock file at path. An empty one was
// left in order, and needs no closer look.
func isLocked(root *os.Root, path string) bool {
	info, err := root.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0 && heldAlone(root, path)
}

func heldAlone(root *os.Root, path string) bool {
	f, err := root.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	shared, err := tryLock(f, false)
	return err == nil && !shared
}
