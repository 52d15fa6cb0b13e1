package bash

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent ends the command's shell when this program is killed. The
// signal comes when the thread that started it ends, which Go's threads only
// do when a goroutine that is locked to one returns.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// closeInherited keeps the descriptors that the program was started with from
// commands; those that Go opens are marked already.
func closeInherited() {
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	closeListed("/proc/self/fd") // a kernel before 5.11
}

// killWithChildren kills a process group and what its leader started, which may be
// in a session of its own and not end with it yet.
func killWithChildren(p *os.Process) {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.Pid))
	for child := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	kill(p)
}

// survivors lists the processes of a session that are not dead, without the
// session's leader.
//
// Numbers are given in turn. As long as they cannot have gone round since the
// leader's start, what it started has one between the leader's and the newest,
// and only those are looked at.
func survivors(session int, started time.Time) []survivor {
	var left []survivor
	last := 0
	if time.Since(started) < time.Second {
		last = lastPid()
	}
	for _, pid := range pids() {
		if pid == session || last >= session && (pid < session || pid > last) {
			continue
		}
		if group, sid, state := stat(pid); (sid == session || group == session) && state != 'Z' && state != 'X' {
			left = append(left, survivor{pid, commandLine(pid)})
		}
	}
	return left
}

// lastPid is the number of the newest process; 0 when it is not known.
func lastPid() int {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) == 0 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[len(fields)-1])
	return pid
}

func pids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// stat reads a process's group, session and state; zeros when it is gone.
func stat(pid int) (group, session int, state byte) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, 'X'
	}
	// The name is in parentheses and may hold anything; fields follow the last one.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 4 {
		return 0, 0, 'X'
	}
	group, _ = strconv.Atoi(fields[2])
	session, _ = strconv.Atoi(fields[3])
	return group, session, fields[0][0]
}

func commandLine(pid int) string {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if len(data) == 0 {
		data, _ = os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	}
	return clipLine(string(bytes.ReplaceAll(data, []byte{0}, []byte{' '})))
}

// killMarked kills the processes whose environment holds the marker, but for
// those of the sessions in spare.
func killMarked(marker string, spare map[int]bool) {
	want := append([]byte(marker), 0)
	for _, pid := range pids() {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || !bytes.Contains(env, want) {
			continue
		}
		if _, session, _ := stat(pid); !spare[session] {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}
