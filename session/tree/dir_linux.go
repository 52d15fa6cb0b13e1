package tree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// dir is a directory held open by its bare descriptor: a scan looks at many
// thousand files, and what package os does for each would take half of the time.
type dir struct{ fd int }

func openTop(path string) (*dir, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &dir{fd}, nil
}

func (d *dir) close() { unix.Close(d.fd) }

// sub opens a directory by its path below d, in which nothing may be a link.
func (d *dir) sub(path string) (*dir, error) {
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		path = "."
	}
	fd, err := unix.Openat2(d.fd, path, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // an old kernel, or a container's filter
		return d.subByName(path)
	}
	if err != nil {
		return nil, err
	}
	return &dir{fd}, nil
}

func (d *dir) subByName(path string) (*dir, error) {
	fd := d.fd
	for name := range strings.SplitSeq(path, "/") {
		next, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if fd != d.fd {
			unix.Close(fd)
		}
		if err != nil {
			return nil, err
		}
		fd = next
	}
	return &dir{fd}, nil
}

func (d *dir) self() (sig, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.fd, &st); err != nil {
		return sig{}, err
	}
	return sigOf(&st), nil
}

func (d *dir) stat(name string) (sig, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.EINTR {
			continue
		}
		return sigOf(&st), err
	}
}

func sigOf(st *unix.Stat_t) sig {
	s := sig{size: st.Size, mtime: unix.TimespecToNsec(st.Mtim), ctime: unix.TimespecToNsec(st.Ctim), ino: st.Ino, mode: fs.FileMode(st.Mode & 0o777)}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		s.mode |= fs.ModeDir
	case unix.S_IFLNK:
		s.mode |= fs.ModeSymlink
	default:
		s.mode |= fs.ModeIrregular
	}
	if st.Mode&unix.S_ISUID != 0 {
		s.mode |= fs.ModeSetuid
	}
	if st.Mode&unix.S_ISGID != 0 {
		s.mode |= fs.ModeSetgid
	}
	if st.Mode&unix.S_ISVTX != 0 {
		s.mode |= fs.ModeSticky
	}
	return s
}

func (d *dir) names() (names []string, err error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(d.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

func (d *dir) open(name string) (*os.File, error) {
	fd, err := unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// read reads a regular file, or the target of a link.
func (d *dir) read(name string, mode fs.FileMode, limit int64) ([]byte, error) {
	if mode&fs.ModeSymlink != 0 {
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(d.fd, name, buf)
		if err != nil {
			return nil, err
		}
		return buf[:n], nil
	}
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

func sigOfFile(path string) (sig, error) {
	var st unix.Stat_t
	if err := unix.Stat(filepath.Clean(path), &st); err != nil {
		return sig{}, err
	}
	return sigOf(&st), nil
}
