//go:build linux || darwin

package file

import (
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// keep gives a temporary file the owner and the extended attributes, ACLs among
// them, of the file that it replaces. It tells whether it has all of them now.
func (p *place) keep(f *os.File, was fs.FileInfo) bool {
	st, ok := was.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	if info, err := f.Stat(); err == nil {
		mine, _ := info.Sys().(*syscall.Stat_t)
		if (mine.Uid != st.Uid || mine.Gid != st.Gid) && f.Chown(int(st.Uid), int(st.Gid)) != nil {
			return false
		}
	}
	old, _, err := p.open(was, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer old.Close()
	return copyAttributes(old, f)
}

func copyAttributes(old, f *os.File) bool {
	from, to := int(old.Fd()), int(f.Fd())
	size, err := unix.Flistxattr(from, nil)
	if err != nil || size == 0 {
		return true // none, or a file system without
	}
	names := make([]byte, size)
	if size, err = unix.Flistxattr(from, names); err != nil {
		return true
	}
	all := true
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		n, err := unix.Fgetxattr(from, name, nil)
		if err != nil {
			continue
		}
		value := make([]byte, n)
		if n, err = unix.Fgetxattr(from, name, value); err != nil {
			continue
		}
		if unix.Fsetxattr(to, name, value[:n], 0) != nil && !kernelOwned(name) {
			all = false
		}
	}
	return all
}

// kernelOwned tells of labels that the system sets by itself and that not every
// process may copy. Capabilities are meant to be lost when a file is written.
func kernelOwned(name string) bool {
	return strings.HasPrefix(name, "security.") || strings.HasPrefix(name, "trusted.") ||
		runtime.GOOS == "darwin" && strings.HasPrefix(name, "com.apple.")
}

// access tells whether the process may write the file.
func access(path string) error {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
	if err == unix.ETXTBSY {
		return nil // a running program can be replaced
	}
	return err
}
