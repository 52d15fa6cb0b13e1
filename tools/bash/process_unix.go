//go:build linux || darwin

package bash

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// separate gives the command a session of its own, and so a process group, and
// no controlling terminal.
func separate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
	cmd.SysProcAttr.Setpgid = false
}

// closeListed marks the descriptors that a directory lists to be closed in commands.
func closeListed(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// awaitExit waits until the process has ended, and leaves it to be reaped: until
// then nobody else can get its number.
func awaitExit(cmd *exec.Cmd) {
	const pPID = 1
	pid := cmd.Process.Pid
	var info [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

func terminate(p *os.Process) { _ = unix.Kill(-p.Pid, unix.SIGTERM) }
func kill(p *os.Process)      { _ = unix.Kill(-p.Pid, unix.SIGKILL) }

// survivor is a process that a shell left running.
type survivor struct {
	pid  int
	line string
}

func killSurvivors(session int, left []survivor) {
	_ = unix.Kill(-session, unix.SIGKILL)
	for _, s := range left {
		_ = unix.Kill(s.pid, unix.SIGKILL)
	}
}

// readRest takes what is in the pipe now, and no more than a writer that goes
// on for ever can be allowed.
func readRest(f *os.File, buf []byte, write func([]byte)) {
	const most = 1 << 20
	_ = f.SetReadDeadline(time.Time{})
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; total < most; {
		var n int
		var readErr error
		err := raw.Read(func(fd uintptr) bool {
			n, readErr = unix.Read(int(fd), buf)
			return true
		})
		if err != nil || readErr != nil || n <= 0 {
			return
		}
		write(buf[:n])
		total += n
	}
}

// lockDirectory locks a directory for as long as it is not closed; an error
// says that somebody else has it.
func lockDirectory(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ours tells whether a file belongs to this program's user.
func ours(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// readable and writable tell what this program's user may do with a path.
func readable(path string) bool { return unix.Access(path, unix.R_OK) == nil }
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

func isTooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }
