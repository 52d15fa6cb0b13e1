//go:build !linux && !darwin

package file

import (
	"io/fs"
	"os"
)

// keep has nothing to do here: a new file belongs to who writes it.
func (p *place) keep(*os.File, fs.FileInfo) bool { return true }

// access leaves it to the write to fail.
func access(string) error { return nil }
