package file

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const nonBlock = syscall.O_NONBLOCK

// handle is a directory held open by its bare descriptor: a walk opens many
// thousand files, and what os.File does for each would take half of the time.
type handle struct{ fd int }

// scratch is memory of one worker, used again for every directory.
type scratch struct{ dirents []byte }

func openTop(dir *os.Root) (*handle, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &handle{fd}, nil
}

func (h *handle) close() { unix.Close(h.fd) }

// sub opens a directory by its path below h, in which nothing may be a link.
func (h *handle) sub(path string) (*handle, error) {
	fd, err := unix.Openat2(h.fd, path, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // an old kernel, or a container's filter
		return h.subByName(path)
	}
	if err != nil {
		return nil, err
	}
	return &handle{fd}, nil
}

func (h *handle) subByName(path string) (*handle, error) {
	fd := h.fd
	for name := range strings.SplitSeq(path, "/") {
		next, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if fd != h.fd {
			unix.Close(fd)
		}
		if err != nil {
			return nil, err
		}
		fd = next
	}
	return &handle{fd}, nil
}

// list adds the entries of the directory, in no order. On an error it has added those
// before it.
func (h *handle) list(ctx context.Context, s *scratch, add func(entry)) {
	if s.dirents == nil {
		s.dirents = make([]byte, 64<<10)
	}
	for ctx.Err() == nil {
		n, err := unix.Getdents(h.fd, s.dirents)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		for rest := s.dirents[:n]; len(rest) > 19; {
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			name := rest[19:size]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			typ := rest[18]
			rest = rest[size:]
			if len(name) == 1 && name[0] == '.' || len(name) == 2 && name[0] == '.' && name[1] == '.' {
				continue
			}
			add(entry{string(name), h.kind(typ, name)})
		}
	}
}

// rewind lets list begin anew.
func (h *handle) rewind() { _, _ = unix.Seek(h.fd, 0, io.SeekStart) }

func (h *handle) kind(typ byte, name []byte) kind {
	switch typ {
	case unix.DT_REG:
		return isFile
	case unix.DT_DIR:
		return isFolder
	case unix.DT_LNK:
		return isLink
	case unix.DT_UNKNOWN:
		var st unix.Stat_t
		if unix.Fstatat(h.fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return isOther
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			return isFile
		case unix.S_IFDIR:
			return isFolder
		case unix.S_IFLNK:
			return isLink
		}
	}
	return isOther
}

// modified returns the time of a file's last change, in nanoseconds.
func (h *handle) modified(name string) (int64, bool) {
	var st unix.Stat_t
	if unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, false
	}
	return st.Mtim.Nano(), true
}

// rawFile is an open file without its os.File.
type rawFile int

// open opens a file in the directory. It never blocks and follows no link.
func (h *handle) open(name string) (rawFile, error) {
	fd, err := unix.Openat(h.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	return rawFile(fd), err
}

func (f rawFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(f), p)
		if err == unix.EINTR {
			continue
		}
		if n == 0 && err == nil && len(p) > 0 {
			return 0, io.EOF
		}
		return max(n, 0), err
	}
}

func (f rawFile) Close() error { return unix.Close(int(f)) }
