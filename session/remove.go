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

// Removed is what became of a session that was removed.
type Removed struct {
	Bytes    int64 // of the disk that are free now
	Contents int   // that were dropped
	InUse    bool  // none were: another session is open, and may be about to name some
}

// Remove deletes a session, and the contents that no other session names. While
// another one is open they stay, for the next time. A session that is open itself,
// here or elsewhere, is refused with a *[LockedError].
func (s *Store) Remove(id string) (Removed, error) {
	began := time.Now()
	id, root, err := s.find(id)
	if err != nil {
		return Removed{}, err
	}
	defer root.Close()
	if _, err := root.Lstat(filepath.Join(sessionPath(id), logName)); err != nil {
		return Removed{}, openError(id, err)
	}
	lk, err := takeLock(root, filepath.Join(sessionPath(id), lockName), id)
	if err != nil {
		return Removed{}, openError(id, err)
	}
	defer lk.release()
	open, named, err := others(root, id)
	if err != nil {
		return Removed{}, fmt.Errorf("session %s was not removed: %w", id, err)
	}
	// First under a name that is no session's, so that no half of it is ever listed.
	gone := filepath.Join(sessionsDir, ".removed-"+id)
	if err := root.Rename(sessionPath(id), gone); err != nil {
		return Removed{}, fmt.Errorf("session %s was not removed: %w", id, err)
	}
	r := Removed{Bytes: sizeOf(root, gone), InUse: open}
	if err := root.RemoveAll(gone); err != nil {
		return r, fmt.Errorf("session %s is removed, but not all of its files are: %w", id, err)
	}
	if open {
		return r, nil
	}
	return r, r.drop(root, named, began)
}

// drop removes the contents that are not named. What is as new as that is about
// to be named by a session that has just begun.
func (r *Removed) drop(root *os.Root, named map[string]bool, before time.Time) error {
	blobs, err := fs.Glob(root.FS(), blobsDir+"/*/*")
	if err != nil {
		return err
	}
	for _, path := range blobs {
		info, err := root.Lstat(path)
		if err != nil || named[filepath.Base(path)] || !info.ModTime().Before(before) {
			continue
		}
		if err := root.Remove(path); err != nil {
			return fmt.Errorf("the session is removed, but not all contents are: %w", err)
		}
		r.Bytes += info.Size()
		r.Contents++
	}
	return nil
}

// others looks at the sessions beside one: whether one of them is open, and which
// contents they name. What a repair put away counts as well.
func others(root *os.Root, id string) (open bool, named map[string]bool, err error) {
	ids, err := sessionIDs(root)
	if err != nil {
		return false, nil, err
	}
	named = map[string]bool{}
	for _, other := range ids {
		if other == id {
			continue
		}
		open = open || isLocked(root, filepath.Join(sessionPath(other), lockName))
		err := eachLog(root, other, func(log []byte) {
			for _, hash := range namedContents(log) {
				named[hash] = true
			}
		})
		if err != nil {
			return false, nil, err
		}
	}
	return open, named, nil
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
