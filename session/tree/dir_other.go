//go:build !linux

package tree

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// dir is a directory held open.
type dir struct{ root *os.Root }

func openTop(path string) (*dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &dir{root}, nil
}

func (d *dir) close() { d.root.Close() }

func (d *dir) sub(path string) (*dir, error) {
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		path = "."
	}
	root, err := d.root.OpenRoot(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	return &dir{root}, nil
}

func (d *dir) self() (sig, error) {
	info, err := d.root.Stat(".")
	if err != nil {
		return sig{}, err
	}
	return sigOf(info), nil
}

func (d *dir) stat(name string) (sig, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return sig{}, err
	}
	return sigOf(info), nil
}

// sigOf has no inode and no time of the last change: two writes of the same size
// at the same time are one.
func sigOf(info fs.FileInfo) sig {
	return sig{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: info.Mode()}
}

func (d *dir) names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// read reads a regular file, or the target of a link.
func (d *dir) read(name string, mode fs.FileMode, limit int64) ([]byte, error) {
	if mode&fs.ModeSymlink != 0 {
		target, err := d.root.Readlink(name)
		return []byte(target), err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

func sigOfFile(path string) (sig, error) {
	info, err := os.Stat(path)
	if err != nil {
		return sig{}, err
	}
	return sigOf(info), nil
}
