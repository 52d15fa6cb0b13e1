package bash

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// reservations are the mount points that were made for missing paths. They are
// directories of the host: removing one unmounts it in every sandbox. So whoever
// uses those below a root holds a shared lock on it, and only who has it alone
// removes them; what stays for that reason is known by its time to the next one who
// comes, in this program or another.
type reservations struct {
	made  map[string]string   // to be removed, with the root of each
	roots map[string]*os.File // locked; nil where there are no locks
}

// reservedAt is the modification time of a directory that only reserves a path.
// Making anything in it changes the time.
var reservedAt = time.Unix(0x72657376, 0)

// hold keeps what is reserved below a root from being removed, until release.
func (r *reservations) hold(root string) {
	if _, held := r.roots[root]; held {
		return
	}
	f, err := os.Open(root)
	if err == nil && lockShared(f) != nil {
		f.Close()
		f = nil
	}
	r.roots[root] = f
}

// reserve makes the mount point for the first missing part of the way from root to
// path, and returns it; "" when all of it exists.
func (r *reservations) reserve(root, path string) (string, error) {
	r.hold(root)
	missing := r.firstMissing(root, path)
	if missing == "" || r.made[missing] != "" {
		return missing, nil
	}
	if err := os.Mkdir(missing, 0o755); errors.Is(err, fs.ErrExist) {
		return r.reserve(root, path) // somebody made it just now
	} else if err != nil {
		return "", fmt.Errorf("%s cannot be reserved: %w", missing, reason(err))
	}
	_ = os.Chtimes(missing, reservedAt, reservedAt) // else it is removed by this one or stays
	r.made[missing] = root
	return missing, nil
}

// firstMissing is the first part of the way that does not exist, or only because it
// is reserved.
func (r *reservations) firstMissing(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return ""
	}
	at := root
	for part := range strings.SplitSeq(rel, "/") {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if err == nil && isReserved(at, info) {
			r.made[at] = root
		}
		if r.made[at] != "" || errors.Is(err, fs.ErrNotExist) {
			return at
		}
	}
	return ""
}

// isReserved tells whether a directory reserves a path, whoever made it.
func isReserved(dir string, info fs.FileInfo) bool {
	if !info.IsDir() || !info.ModTime().Equal(reservedAt) {
		return false
	}
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// recheck forgets the roots that are others now, and what somebody has filled or
// removed, while no command ran and only a sandbox that waits for one kept them.
func (r *reservations) recheck() {
	for root, f := range r.roots {
		if f == nil {
			continue
		}
		held, err := f.Stat()
		if now, nowErr := os.Stat(root); err != nil || nowErr != nil || !os.SameFile(held, now) {
			f.Close()
			delete(r.roots, root)
		}
	}
	for path := range r.made {
		if info, err := os.Lstat(path); err != nil || !info.IsDir() || !isEmpty(path) {
			delete(r.made, path)
		}
	}
}

// release removes the mount points that nobody uses any more.
func (r *reservations) release() {
	for root, f := range r.roots {
		if f == nil || lockAlone(f) {
			for path, below := range r.made {
				if below == root {
					_ = os.Remove(path) // only when it is still empty
				}
			}
		}
		if f != nil {
			f.Close()
		}
	}
	clear(r.made)
	clear(r.roots)
}
