//go:build unix

package bash

import (
	"errors"
	"os"
	"syscall"
)

// lockShared takes the lock of a directory beside others. Who has it alone gives it
// up at once. An error says that there are no locks here.
func lockShared(f *os.File) error { return flock(f, syscall.LOCK_SH) }

// lockAlone makes a shared lock the only one; false where somebody else has one. NFS
// takes no such lock of what is open for reading only: there nobody is known of.
func lockAlone(f *os.File) bool {
	return !errors.Is(flock(f, syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
