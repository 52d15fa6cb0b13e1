//go:build linux || darwin

package bash

import (
	"errors"
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
	dieWithParent(cmd.SysProcAttr)
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

func isTooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }
