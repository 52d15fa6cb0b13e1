//go:build unix && !linux

package file

import (
	"io/fs"
	"sync"
	"syscall"
)

// umask can only be read by setting it, so it is read once.
var umask = sync.OnceValue(func() fs.FileMode {
	mask := syscall.Umask(0o022)
	syscall.Umask(mask)
	return fs.FileMode(mask) & fs.ModePerm
})
