// Package regular reads files that somebody else may have put there, as a repository
// or a command could: a FIFO must not hold the program up, a device or an endless file
// not fill its memory, and where a directory is the limit, no link lead out of it.
package regular

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Reasons why a file is not read.
var (
	ErrNotRegular = errors.New("it is no regular file")
	ErrTooLong    = errors.New("it is too long")
)

// Open opens a regular file, or a link to one. It never waits.
func Open(path string) (*os.File, error) {
	return checked(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// Read reads a regular file of at most limit bytes, or a link to one. The beginning
// of a longer one comes with [ErrTooLong].
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return read(f, limit)
}

// ReadIn is [Read] of a file that must be in a directory, also by its links.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := checked(root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0))
	if err != nil {
		return nil, err
	}
	return read(f, limit)
}

func checked(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func read(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return data[:limit], ErrTooLong
	}
	return data, err
}
