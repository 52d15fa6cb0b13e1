package bash

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// seccompFilter is the program that the kernel runs at each system call of a
// sandboxed command; nil where the machine's numbers are not known.
//
// It refuses what no namespace holds and a command does not need: the keyrings
// of the user, kernel interfaces with a history of holes, typing into a
// terminal, and socket families that reach beyond the network namespace, such
// as vsock. Everything else is up to the namespaces.
func seccompFilter() []unix.SockFilter {
	arch, ok := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !ok {
		return nil
	}
	const (
		load       = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal      = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		atLeast    = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		answer     = unix.BPF_RET | unix.BPF_K
		refuse     = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		noFamily   = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
		allow      = unix.SECCOMP_RET_ALLOW
		offsetNr   = 0
		offsetArch = 4
		offsetArg0 = 16
		offsetArg1 = 24
		x32        = 0x40000000
	)
	var f []unix.SockFilter
	add := func(code uint16, k uint32, jt, jf uint8) {
		f = append(f, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
	}

	add(load, offsetArch, 0, 0)
	add(equal, arch, 1, 0)
	add(answer, refuse, 0, 0) // the numbers below would mean other calls
	add(load, offsetNr, 0, 0)
	if runtime.GOARCH == "amd64" {
		add(atLeast, x32, 0, 1)
		add(answer, refuse, 0, 0)
	}
	for _, nr := range []uint32{
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_OPEN_BY_HANDLE_AT,
	} {
		add(equal, nr, 0, 1)
		add(answer, refuse, 0, 0)
	}
	families := []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	for _, call := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		add(equal, call, 0, uint8(2*len(families)+2))
		add(load, offsetArg0, 0, 0)
		for _, family := range families {
			add(equal, family, 0, 1)
			add(answer, allow, 0, 0)
		}
		add(answer, noFamily, 0, 0)
	}
	add(equal, unix.SYS_IOCTL, 0, 4)
	add(load, offsetArg1, 0, 0)
	add(equal, unix.TIOCSTI, 1, 0)
	add(equal, tiocLinux, 0, 1)
	add(answer, refuse, 0, 0)
	add(answer, allow, 0, 0)
	return f
}

const tiocLinux = 0x541c // also types into a console

// seccompBytes is the filter as bwrap reads it; empty when there is none.
var seccompBytes = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	for _, i := range seccompFilter() {
		_ = binary.Write(&b, binary.NativeEndian, i)
	}
	return b.Bytes()
})

// seccompFile gives the filter to one bwrap; nil when there is none.
func seccompFile() (*os.File, error) {
	if len(seccompBytes()) == 0 {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	_, err = w.Write(seccompBytes()) // far less than a pipe holds
	return r, err
}
