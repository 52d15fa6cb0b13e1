package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// freshFor is how long a content is safe that was kept or named anew while other
// sessions are open: their logs may be about to name it.
const freshFor = 10 * time.Minute

// Removed is what became of a session that was removed.
type Removed struct {
	Bytes    int64 // of the disk that are free now
	Contents int   // of files that were dropped
	Shared   int   // contents that other sessions name, and that stay
}

// Remove deletes a session and the contents that no other session names. One that
// is open, here or elsewhere, is refused with a *[LockedError].
func (s *Store) Remove(id string) (Removed, error) {
	began := time.Now()
	id, root, err := s.find(id)
	if err != nil {
		return Removed{}, err
	}
	defer root.Close()
	raw, err := root.ReadFile(filepath.Join(sessionPath(id), logName))
	if err != nil {
		return Removed{}, openError(id, err)
	}
	lk, err := takeLock(root, filepath.Join(sessionPath(id), lockName), id)
	if err != nil {
		return Removed{}, openError(id, err)
	}
	defer lk.release()
	mine := map[string]bool{}
	for _, hash := range namedContents(raw) {
		mine[hash] = true
	}
	before := began
	r := Removed{}
	others, err := s.othersNeed(root, id, mine)
	if err != nil {
		return Removed{}, fmt.Errorf("session %s was not removed: %w", id, err)
	}
	if others.open {
		before = began.Add(-freshFor)
	}
	r.Shared = others.shared
	// First under a name that is no session's, so that no half of it is ever listed.
	gone := filepath.Join(sessionsDir, ".removed-"+id)
	if err := root.Rename(sessionPath(id), gone); err != nil {
		return Removed{}, fmt.Errorf("session %s was not removed: %w", id, err)
	}
	r.Bytes = sizeOf(root, gone)
	if err := root.RemoveAll(gone); err != nil {
		return r, fmt.Errorf("session %s is removed, but not all of its files are: %w", id, err)
	}
	for hash := range mine {
		info, err := root.Lstat(blobPath(hash))
		if err != nil || !info.ModTime().Before(before) {
			continue
		}
		if err := root.Remove(blobPath(hash)); err != nil {
			return r, fmt.Errorf("session %s is removed, but not all contents are: %w", id, err)
		}
		r.Bytes += info.Size()
		r.Contents++
	}
	return r, nil
}

// needs is what the other sessions of a store make of some contents.
type needs struct {
	open   bool // one of them is open in a process
	shared int  // contents that they name
}

// othersNeed takes the contents that other sessions name out of hashes. What a
// repair put away counts as well.
func (s *Store) othersNeed(root *os.Root, id string, hashes map[string]bool) (needs, error) {
	var n needs
	ids, err := sessionIDs(root)
	if err != nil {
		return n, err
	}
	for _, other := range ids {
		if other == id {
			continue
		}
		n.open = n.open || isLocked(root, filepath.Join(sessionPath(other), lockName))
		err := eachLog(root, other, func(log []byte) {
			for _, hash := range namedContents(log) {
				if hashes[hash] {
					delete(hashes, hash)
					n.shared++
				}
			}
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// eachLog reads the log of a session, and the damaged ones beside it.
func eachLog(root *os.Root, id string, read func([]byte)) error {
	files, err := fs.ReadDir(root.FS(), filepath.ToSlash(sessionPath(id)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".jsonl") {
			continue
		}
		log, err := root.ReadFile(filepath.Join(sessionPath(id), f.Name()))
		if err != nil {
			return err
		}
		read(log)
	}
	return nil
}

func sizeOf(root *os.Root, dir string) (bytes int64) {
	files, _ := fs.ReadDir(root.FS(), filepath.ToSlash(dir)) // what cannot be read has no size to tell
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
