package bash

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// privateDir is a home and temp directory of a runner that cannot mount one. It
// is locked as long as the runner lives, so that a later start can tell it from
// one that a killed program left.
type privateDir struct {
	path string
	lock io.Closer
}

const (
	privatePrefix = "phero-home-"
	sweptAfter    = time.Minute // a younger one may be about to be locked
)

func newPrivateDir() (privateDir, error) {
	sweep(os.TempDir())
	dir, err := os.MkdirTemp("", privatePrefix)
	if err != nil {
		return privateDir{}, fmt.Errorf("the private directory: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return privateDir{}, err
	}
	lock, err := lockDirectory(dir)
	if err != nil {
		return privateDir{}, fmt.Errorf("the private directory: %w", err)
	}
	return privateDir{dir, lock}, nil
}

// Close removes the private directory.
func (p privateDir) Close() error {
	err := os.RemoveAll(p.path)
	p.lock.Close()
	return err
}

// sweep removes the private directories that nobody has locked.
func sweep(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), privatePrefix) || !e.IsDir() {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < sweptAfter || !ours(info) {
			continue
		}
		path := filepath.Join(temp, e.Name())
		if lock, err := lockDirectory(path); err == nil {
			_ = os.RemoveAll(path) // what cannot be removed stays
			lock.Close()
		}
	}
}
