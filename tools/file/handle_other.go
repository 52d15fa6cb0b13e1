//go:build !linux

package file

import (
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"
)

const nonBlock = syscall.O_NONBLOCK

// handle is a directory held open. Where a link is swapped in during a walk it can
// lead to another place below the start, never out of it.
type handle struct{ dir *os.Root }

// scratch is memory of one worker; listing needs none here.
type scratch struct{}

func openTop(dir *os.Root) (*handle, error) {
	top, err := dir.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &handle{top}, nil
}

func (h *handle) close() { h.dir.Close() }

func (h *handle) sub(path string) (*handle, error) {
	dir, err := h.dir.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &handle{dir}, nil
}

// list adds the entries of the directory, in no order. On an error it has added those
// before it.
func (h *handle) list(ctx context.Context, _ *scratch, add func(entry)) {
	f, err := h.dir.Open(".")
	if err != nil {
		return
	}
	defer f.Close()
	for ctx.Err() == nil {
		some, err := f.ReadDir(1000)
		for _, e := range some {
			k := isOther
			switch {
			case e.Type().IsRegular():
				k = isFile
			case e.IsDir():
				k = isFolder
			case e.Type()&fs.ModeSymlink != 0:
				k = isLink
			}
			add(entry{e.Name(), k})
		}
		if err != nil {
			return
		}
	}
}

// rewind lets list begin anew, as it does in any case.
func (h *handle) rewind() {}

// modified returns the time of a file's last change, in nanoseconds.
func (h *handle) modified(name string) (int64, bool) {
	info, err := h.dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.ModTime().UnixNano(), true
}

// open opens a file in the directory. It never blocks.
func (h *handle) open(name string) (io.ReadCloser, error) {
	f, err := h.dir.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}
