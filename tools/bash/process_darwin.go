package bash

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent has no counterpart here: after kill -9 of this program, its
// commands live on.
func dieWithParent(*syscall.SysProcAttr) {}

// killWithChildren is for sandboxes with namespaces, which are not here.
func killWithChildren(p *os.Process) { kill(p) }

// closeInherited keeps the descriptors that the program was started with from commands.
func closeInherited() { closeListed("/dev/fd") }

// survivors lists the processes of a group that are not dead, without its leader.
func survivors(group int, _ time.Time) []survivor {
	const zombie = 5
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	if err != nil {
		return nil
	}
	var left []survivor
	for _, p := range procs {
		if pid := int(p.Proc.P_pid); pid != group && p.Proc.P_stat != zombie {
			left = append(left, survivor{pid, clipLine(unix.ByteSliceToString(p.Proc.P_comm[:]))})
		}
	}
	return left
}

// killMarked finds nothing here, because the system does not show environments.
func killMarked(string, map[int]bool) {}
