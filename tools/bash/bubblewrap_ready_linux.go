package bash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// hostMounts tells when something is mounted or unmounted on the host, also below
// what a sandbox shows. To read the table takes half a millisecond while sandboxes
// are made, so the kernel is asked whether it has changed.
type hostMounts struct {
	mu      sync.Mutex
	table   int // its descriptor, which only seen may poll; -1 where there is none
	changes int // seen so far
}

// theHostsMounts are one for all runners: the table is the program's.
var theHostsMounts = sync.OnceValue(func() *hostMounts {
	table, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		table = -1
	}
	return &hostMounts{table: table}
})

// seen is another number after each change.
func (h *hostMounts) seen() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	fd := []unix.PollFd{{Fd: int32(h.table), Events: unix.POLLPRI}}
	n, err := unix.Poll(fd, 0)
	for err == unix.EINTR {
		n, err = unix.Poll(fd, 0)
	}
	if n != 0 || h.table < 0 { // not known is changed
		h.changes++
	}
	return h.changes
}

func (r *BubblewrapRunner) outside() int { return theHostsMounts().seen() }

// matches tells what a sandbox shows otherwise than bwrap would with the same
// arguments now: every mount is at its place, what is bound is the file that has
// the name on the host at this moment, and the directory is the one to work in.
// The sandbox holds on to these files, so none can be another with the same number.
//
// The kernel takes away a mount whose place somebody removes or replaces, and
// moves one with the place: then the place is no mount.
func (r *BubblewrapRunner) matches(cmd *exec.Cmd, pid int) error {
	proc, err := innerProcess(pid)
	if err != nil {
		return err
	}
	root, err := unix.Open(filepath.Join(proc, "root"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: filepath.Join(proc, "root"), Err: err}
	}
	defer unix.Close(root)
	files := map[string]fileID{} // many are /dev/null
	for _, m := range mountsOf(cmd.Args) {
		var shown fileID
		if m.flag == "--chdir" {
			shown, _, err = identify(unix.AT_FDCWD, filepath.Join(proc, "cwd"))
		} else {
			shown, err = mountedAt(root, m.to)
		}
		if err != nil {
			return err
		}
		if m.from == "" {
			continue
		}
		file, known := files[m.from]
		if !known {
			if file, _, err = identify(unix.AT_FDCWD, m.from); err != nil {
				return err
			}
			files[m.from] = file
		}
		if file != shown {
			return fmt.Errorf("%s is not what the sandbox has at %s", m.from, m.to)
		}
	}
	return nil
}

// innerProcess is bwrap's part inside, which it starts alone.
func innerProcess(pid int) (string, error) {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return "", err
	}
	child := strings.TrimSpace(string(children))
	if _, err := strconv.Atoi(child); err != nil {
		return "", fmt.Errorf("the sandbox has no process: %q", child)
	}
	return filepath.Join("/proc", child), nil
}

// fileID is a file as long as something holds on to it.
type fileID struct {
	device [2]uint32
	inode  uint64
}

// mountedAt is what is mounted at a place below root, to which no symbolic link leads.
func mountedAt(root int, place string) (fileID, error) {
	at, err := unix.Openat2(root, place, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return fileID{}, &os.PathError{Op: "openat2", Path: place, Err: err}
	}
	defer unix.Close(at)
	id, mounted, err := identify(at, "")
	if err == nil && !mounted {
		err = fmt.Errorf("%s is not mounted", place)
	}
	return id, err
}

// identify tells what file has the name, or is open as dir where that is "", and
// whether something is mounted there. It fails on kernels that do not tell, before 5.8.
func identify(dir int, path string) (id fileID, mounted bool, err error) {
	var x unix.Statx_t
	if err := unix.Statx(dir, path, unix.AT_EMPTY_PATH, unix.STATX_INO, &x); err != nil {
		return fileID{}, false, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	if x.Mask&unix.STATX_INO == 0 || x.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT == 0 {
		return fileID{}, false, fmt.Errorf("the kernel does not tell what is mounted at %s", path)
	}
	return fileID{[2]uint32{x.Dev_major, x.Dev_minor}, x.Ino}, x.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, nil
}

// argMount is a mount as bwrap is told, or the directory to work in.
type argMount struct {
	flag     string
	from, to string // from is "" for what has no file on the host
}

// mountsOf reads what [BubblewrapRunner.args] wrote.
func mountsOf(args []string) (list []argMount) {
	for i := 1; i < len(args); i++ {
		switch flag := args[i]; flag {
		case "--":
			return list
		case "--bind", "--ro-bind":
			list = append(list, argMount{flag, args[i+1], args[i+2]})
			i += 2
		case "--tmpfs", "--proc", "--dev":
			list = append(list, argMount{flag, "", args[i+1]})
			i++
		case "--chdir":
			list = append(list, argMount{flag, args[i+1], args[i+1]})
			i++
		case "--symlink":
			i += 2
		case "--cap-drop", "--sync-fd", "--size", "--perms", "--remount-ro", "--seccomp":
			i++
		}
	}
	return list
}
