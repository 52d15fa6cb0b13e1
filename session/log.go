package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Log is the open log of one session. Its methods may be called at the same time.
type Log struct {
	id    string
	store *Store // nil for a log that is not saved

	syncing sync.Mutex // held while the disk works, before mu

	mu      sync.Mutex
	file    *os.File
	lock    *lock
	closed  bool
	size    int64    // bytes in the file
	synced  int64    // of them on the disk
	torn    bool     // the last line has no end
	waiting [][]byte // lines that could not be written yet
	fresh   bool     // the directories were made, and are not on the disk for sure
	seq     int64
	tally   tally
	notices []string
}

// ErrClosed says that the log was closed before.
var ErrClosed = errors.New("the session's log is closed")

// Unsaved makes a log that keeps nothing and only numbers the entries, for
// work where .phero/ cannot be written (SESS-11).
func Unsaved() *Log { return &Log{id: ulid.Make().String()} }

// ID is the session's id.
func (l *Log) ID() string { return l.id }

// Saved tells whether the log is kept on the disk.
func (l *Log) Saved() bool { return l.store != nil }

// Append writes an entry, with Seq set, and Time where it was zero. The line is
// in the file when Append returns. A change is on the disk as well: what is about
// to be overwritten must be known even after a power loss.
//
// An error of the disk is news for the person, no reason to stop: the entry is
// numbered, and the log keeps its line and writes it with the next one.
func (l *Log) Append(e Entry) (Entry, error) {
	e, err := l.append(e)
	if err == nil && e.Kind == KindChange {
		err = l.Sync()
	}
	return e, err
}

func (l *Log) append(e Entry) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return e, ErrClosed
	}
	if !e.whole() {
		return e, fmt.Errorf("an entry of kind %q lacks its content", e.Kind)
	}
	e.Seq = l.seq + 1
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC().Round(0)
	if l.store == nil {
		l.seq = e.Seq
		return e, nil
	}
	next := l.tally.add(e, l.end())
	line, err := encodeLine(e, next)
	if err != nil {
		return e, err
	}
	l.seq, l.tally = e.Seq, next
	l.waiting = append(l.waiting, line)
	return e, l.write()
}

// end is where the next line will begin, in bytes.
func (l *Log) end() int64 {
	n := l.size
	if l.torn {
		n++
	}
	for _, line := range l.waiting {
		n += int64(len(line))
	}
	return n
}

// write writes the lines that wait, one write(2) each. Called with mu held.
func (l *Log) write() error {
	if len(l.waiting) == 0 {
		return nil
	}
	if err := l.rebuild(); err != nil {
		return fmt.Errorf("%w; it will be tried again", err)
	}
	for len(l.waiting) > 0 {
		line := l.waiting[0]
		if l.torn {
			line = append([]byte("\n"), line...)
		}
		n, err := l.file.Write(line)
		if err != nil {
			l.takeBack(n)
			return fmt.Errorf("%w; it will be tried again", err)
		}
		l.size += int64(n)
		l.torn = false
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
	}
	l.waiting = nil
	return nil
}

// takeBack removes the part of a line that was written before the disk was full.
// Where that fails, the next line begins after a line end, and the part is
// passed over when the log is read.
func (l *Log) takeBack(n int) {
	if n == 0 {
		return
	}
	info, err := l.file.Stat()
	if err == nil && info.Size() == l.size+int64(n) && l.file.Truncate(l.size) == nil {
		return
	}
	l.size += int64(n)
	l.torn = true
}

// Sync returns when all entries so far are on the disk.
func (l *Log) Sync() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	for {
		f, size, err := l.unsynced()
		if f == nil {
			return err
		}
		err = f.Sync()
		if l.setSynced(f, size, err == nil) {
			continue // the file was replaced meanwhile
		}
		if err != nil {
			return fmt.Errorf("the session could not be written to the disk: %w", err)
		}
		return nil
	}
}

// unsynced returns the file and its size, or no file where nothing is to be synced.
func (l *Log) unsynced() (*os.File, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == nil {
		return nil, 0, nil
	}
	if l.closed {
		return nil, 0, ErrClosed
	}
	if err := l.write(); err != nil || l.size == l.synced {
		return nil, 0, err
	}
	return l.file, l.size, nil
}

// setSynced notes what is on the disk, and tells whether the log has another file by now.
func (l *Log) setSynced(f *os.File, size int64, worked bool) (replaced bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != f {
		return true
	}
	if !worked {
		return false
	}
	if l.fresh {
		l.store.syncDirs(l.id)
	}
	l.synced, l.fresh = size, false
	return false
}

// Close brings the log to the disk and gives up its lock. Closing twice is fine.
func (l *Log) Close() error {
	err := l.Sync()
	if errors.Is(err, ErrClosed) {
		return nil
	}
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return err
	}
	l.closed = true
	if l.store == nil {
		return nil
	}
	l.lock.release()
	return errors.Join(err, l.file.Close())
}

// Notices returns what happened to the log since the last call that the person
// should know, in words.
func (l *Log) Notices() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.notices
	l.notices = nil
	return n
}

// rebuild writes the log again from the open file, when somebody removed
// .phero/ under it (a git clean -fdx, say). Called with mu held.
func (l *Log) rebuild() error {
	name := l.store.logPath(l.id)
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l.lock.release() // its file may be gone as well, or be there still
	f, lk, err := l.store.rewrite(l.id, l.file, l.size)
	if err != nil {
		return err
	}
	l.file.Close()
	l.file, l.lock, l.synced, l.fresh = f, lk, 0, true
	l.notices = append(l.notices, "the session's log was removed while the session was open; it is written again, but changes made before cannot be undone")
	return nil
}
