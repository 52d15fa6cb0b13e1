package bash

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func TestSandboxFileSystem(t *testing.T) { // SBX-03, SBX-04, SBX-05, SBX-06, SBX-07, S1, S13, S14, S15
	home := fakeHome(t)
	write(t, home+"/.ssh/id_rsa", "key")
	dir := workspace(t)
	if err := os.Symlink(home+"/.ssh/id_rsa", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	elsewhere := write(t, filepath.Join(workspace(t), "other"), "x")
	b := inside(t, dir)

	if out := run(t, b, "echo x >f && stat -c %u f"); out.Output != strconv.Itoa(os.Geteuid())+"\n" { // SBX-04
		t.Errorf("%+v", out)
	}
	if info, err := os.Stat(filepath.Join(dir, "f")); err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		t.Errorf("the file is not on the host, or not the user's: %v", err)
	}
	out := run(t, b, "ls -A ~; ls -A /run; find /tmp -type f -not -path '"+dir+"/*'; echo x >~/f && echo y >/tmp/y && echo z >/run/z && cat ~/f /tmp/y /run/z")
	if want := "x\ny\nz\n"; out.Output != want { // SBX-05, SBX-06, SBX-07
		t.Errorf("%q, want %q", out.Output, want)
	}
	if exists(home+"/f") || exists("/tmp/y") || exists("/run/z") {
		t.Error("a private file is on the host")
	}
	if out := run(t, b, "ls -A ~ /tmp/y /run/z 2>&1 | grep -c 'cannot access'"); out.Output != "2\n" {
		t.Errorf("what is private outlives its command: %+v", out)
	}
	refused(t, b,
		"touch /usr/x", "touch /etc/x", "touch /bin/x", "touch /lib/x", "cat "+elsewhere, "cat ~/.ssh/id_rsa",
		"ls /var", "ls /opt", "ls /srv", "ls /mnt", "ls /home", "ls /boot", "cat /etc/shadow", "ls /etc/ssl/private/*",
		"touch /proc/sys/kernel/core_pattern", "echo x >/proc/sys/kernel/core_pattern", "echo b >/proc/sysrq-trigger", // V2, S8
		"head -c1 /proc/kcore", "head -c1 /dev/mem", "ls /dev/kmsg", "ls /dev/kvm", "ls /dev/fuse", "ls /dev/net/tun", "ls /dev/sda /dev/vda",
		"cat link", "/proc/self/root/usr/bin/touch /usr/x", "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch /usr/x", // S15, G4
		"touch /sys/x", "mount -t tmpfs none /mnt", "umount /etc",
	)
	if out := run(t, b, "df --output=size -B1 /tmp ~ /run | tail -n +2 | sort -u | tr -dc 0-9"); out.Output != strconv.Itoa(privateBytes) { // V11
		t.Errorf("the private directories have %s bytes", out.Output)
	}
	if _, err := os.Lstat("/bin"); err == nil {
		host, _ := os.Readlink("/bin")
		if out := run(t, b, "readlink /bin; true"); strings.TrimSpace(strings.TrimSuffix(out.Output, "(no output)")) != host {
			t.Errorf("/bin is %q, on the host %q", out.Output, host)
		}
	}
}

func TestSandboxProcesses(t *testing.T) { // V1, V10, V12, S6, S7, S16, SBX-13
	t.Setenv("SECRET_API_KEY", "sk-leak-1")
	dir := workspace(t)
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(sandbox(t, dir)), WithEnv("GIVEN=in-the-environment-only"))
	if out := run(t, b, "cat /proc/*/cmdline | grep -c in-the-environment-[o]nly"); out.Output != "0\nexit code: 1" { // V12
		t.Errorf("an argument shows a value: %+v", out)
	}
	out := run(t, b, "cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'")
	if strings.Contains(out.Output, "sk-leak-1") || !strings.Contains(out.Output, "PATH=") {
		t.Errorf("%s", out.Output)
	}
	out = run(t, b, "grep -E '^(CapEff|CapPrm|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status | sort | tr -s '\\t' ' '")
	if want := "CapAmb: 0000000000000000\nCapBnd: 0000000000000000\nCapEff: 0000000000000000\nCapPrm: 0000000000000000\nNoNewPrivs: 1\n"; out.Output != want {
		t.Errorf("%s", out.Output)
	}
	refused(t, b, "unshare -Ur true", "unshare -n true", fmt.Sprintf("kill -0 %d", os.Getpid()), fmt.Sprintf("ls /proc/%d/root", os.Getpid()+100_000))
	if out := run(t, b, "ls -d /proc/[0-9]* | wc -l"); len(out.Output) > 2 {
		t.Errorf("%s processes are seen", out.Output)
	}
}

func TestSystemCallFilter(t *testing.T) { // V14, S10, S11, S21
	t.Parallel()
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("there is no filter for " + runtime.GOARCH)
	}
	python := "/usr/bin/python3"
	if !exists(python) {
		missing(t, "a python3 below /usr")
	}
	b := inside(t, workspace(t), WithNetwork(true))
	script := `import ctypes, socket, fcntl, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def call(*a):
    ctypes.set_errno(0)
    r = libc.syscall(*a)
    return "ok" if r >= 0 else errno.errorcode[ctypes.get_errno()]
print("keyctl", call(` + itoa(unix.SYS_KEYCTL) + `, 0, -3, 0))
print("bpf", call(` + itoa(unix.SYS_BPF) + `, 0, 0, 0))
print("getpid", call(` + itoa(unix.SYS_GETPID) + `))
for f in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_VSOCK, 38, 17):
    try:
        socket.socket(f, socket.SOCK_RAW if f in (16, 17) else socket.SOCK_STREAM if f != 38 else socket.SOCK_SEQPACKET, 0).close()
        print(int(f), "ok")
    except OSError as e:
        print(int(f), errno.errorcode[e.errno])
for name, request in (("TIOCSTI", 0x5412), ("TIOCLINUX", 0x541c), ("FIONREAD", 0x541b)):
    try:
        fcntl.ioctl(os.pipe()[0], request, b"xxxx")
        print(name, "ok")
    except OSError as e:
        print(name, errno.errorcode[e.errno])
`
	out := run(t, b, python+" -c "+quote(script))
	want := "keyctl EPERM\nbpf EPERM\ngetpid ok\n1 ok\n2 ok\n10 ok\n16 ok\n40 EAFNOSUPPORT\n38 EAFNOSUPPORT\n17 EAFNOSUPPORT\nTIOCSTI EPERM\nTIOCLINUX EPERM\nFIONREAD ok\n"
	if out.Output != want {
		t.Errorf("%s", out.Output)
	}
}

func TestSandboxDescriptors(t *testing.T) { // V3, S9
	t.Parallel()
	secret, err := os.Open(write(t, filepath.Join(t.TempDir(), "secret"), "secret\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	fd, err := syscall.Dup(int(secret.Fd())) // as if the program had been started with it
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	eachRunner(t, func(t *testing.T, dir string, make func(...Option) *Tool) {
		for _, b := range []*Tool{make(), make(WithPersistentShell())} {
			out := run(t, b, fmt.Sprintf("cat <&%d; for f in /proc/self/fd/*; do [[ $f -ef /proc/self/fd ]] || echo ${f##*/}; done; ls /proc/self/fd | sort -n | tr '\\n' ' '", fd))
			if strings.Contains(out.Output, "secret\n") || !strings.HasSuffix(out.Output, "0 1 2 3 ") { // 3 is the directory
				t.Errorf("%s", out.Output)
			}
		}
	})
}

// Under a terminal of the person's, a command must not reach it.
func TestNoTerminal(t *testing.T) { // SBX-10, V4, S10, B3, B4, IMP-38
	if os.Getenv("BASH_TEST_TERMINAL") != "" {
		dir := os.Getenv("BASH_TEST_TERMINAL")
		var runner Runner = LocalRunner{}
		if r, err := NewBubblewrapRunner(dir); err == nil && r.Probe(context.Background()) == nil && os.Getenv("BASH_TEST_INSIDE") != "" {
			runner = r
		}
		b := newTool(t, WithWorkingDirectory(dir), WithRunner(runner), WithTimeout(hang/2))
		out := run(t, b, "tty; (: </dev/tty) 2>&1; (: >/dev/tty) 2>&1; read -ra f </proc/$$/stat; echo tty ${f[6]}; sudo -k true; echo end")
		write(t, filepath.Join(dir, "seen"), out.Output)
		return
	}
	sandbox(t, workspace(t))
	for _, in := range []string{"", "1"} {
		dir := workspace(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestNoTerminal$")
		cmd.Env = append(os.Environ(), "BASH_TEST_TERMINAL="+dir, "BASH_TEST_INSIDE="+in)
		tty, err := pty.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		go func() { // a terminal is read, else writers wait
			buf := make([]byte, 1024)
			for {
				if _, err := tty.Read(buf); err != nil {
					return
				}
			}
		}()
		within(t, func() { _ = cmd.Wait() })
		tty.Close()
		seen, err := os.ReadFile(filepath.Join(dir, "seen"))
		if err != nil {
			t.Fatal(err)
		}
		if text := string(seen); !strings.HasPrefix(text, "not a tty\n") || strings.Count(text, "/dev/tty: No such device or address") != 2 ||
			!strings.Contains(text, "\ntty 0\n") || !strings.Contains(text, "end\n") {
			t.Errorf("inside %q: %s", in, text)
		}
	}
}

func TestSandboxNetwork(t *testing.T) { // SBX-08, SBX-11, SBX-12, V5, S2, S3, S4, S5, S11
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	dir := workspace(t)
	home := fakeHome(t)
	for _, path := range []string{filepath.Join(workspace(t), "s"), home + "/s", filepath.Join(dir, "s"), "@phero-test-" + itoa(os.Getpid())} {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	python := needs(t, "python3")
	if !strings.HasPrefix(python, "/usr/") {
		python = "/usr/bin/python3"
		if !exists(python) {
			missing(t, "a python3 below /usr")
		}
	}
	abstract := python + ` -c 'import socket; socket.socket(socket.AF_UNIX).connect("\0phero-test-` + itoa(os.Getpid()) + `")'`
	own := python + ` -c 'import socket; socket.socket(socket.AF_UNIX).connect("s")'`
	tcp := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port)

	r := sandbox(t, dir)
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(r))
	refused(t, b, tcp, abstract, "exec 3<>/dev/tcp/1.1.1.1/80", "exec 3<>/dev/tcp/169.254.169.254/80", "getent hosts example.com",
		python+" -c 'import socket; socket.socket(socket.AF_INET6).connect((\"2606:4700::1111\", 80))'",
		python+" -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'",
		"ls /run/docker.sock /var/run/docker.sock /run/dbus /run/user /tmp/.X11-unix", "printenv DBUS_SESSION_BUS_ADDRESS SSH_AUTH_SOCK DISPLAY",
		python+` -c 'import socket; socket.socket(socket.AF_UNIX).connect("`+home+`/s")'`)
	if out := run(t, b, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"); out.Output != "lo\n" {
		t.Errorf("%+v", out)
	}
	if out := run(t, b, own); out.ExitCode != 0 { // S5: by design
		t.Errorf("%+v", out)
	}
	if out := run(t, b, python+" -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); socket.create_connection(s.getsockname())'"); out.ExitCode != 0 {
		t.Errorf("its own loopback: %+v", out)
	}
	for name, b := range map[string]*Tool{
		"option": inside(t, dir, WithNetwork(true)),
		"reach":  newTool(t, WithWorkingDirectory(dir), WithRunner(r), WithReach(func(context.Context, string) Reach { return Network })),
	} {
		for _, c := range []string{tcp, abstract, "cat /etc/resolv.conf >/dev/null"} {
			if out := run(t, b, c); out.ExitCode != 0 {
				t.Errorf("%s: %+v", name, out)
			}
		}
		refused(t, b, python+` -c 'import socket; socket.socket(socket.AF_UNIX).connect("`+home+`/s")'`) // SBX-08
	}
}

func TestMounts(t *testing.T) { // SBX-15, SBX-16, SBX-17, SBX-18, W6, W7
	t.Parallel()
	dir, rw, ro, hidden := workspace(t), workspace(t), workspace(t), workspace(t)
	for _, d := range []string{dir, rw, ro, hidden} {
		write(t, filepath.Join(d, "file"), "x\n")
	}
	write(t, filepath.Join(dir, "keep/deep/rw/file"), "x\n")
	write(t, filepath.Join(dir, "also/file"), "x\n")
	write(t, filepath.Join(dir, "keep/file"), "x\n")
	link := filepath.Join(workspace(t), "link")
	if err := os.Symlink(ro, link); err != nil {
		t.Fatal(err)
	}
	options := []BubblewrapOption{
		WithReadOnlyPaths(dir + "/keep/./../keep/"), WithWritablePaths(dir + "/keep/deep"), WithReadOnlyPaths(dir + "/keep/deep/rw/file"),
		WithWritablePaths(rw), WithReadOnlyPaths(link), WithReadOnlyPaths(dir + "/also"), WithHidden(hidden, dir+"/missing/deep", dir+"/secret"),
	}
	write(t, filepath.Join(dir, "secret"), "s\n")
	reversed := slices.Clone(options)
	slices.Reverse(reversed)
	for _, opts := range [][]BubblewrapOption{options, reversed} { // the most specific wins, whatever the order
		b := inside(t, dir, opts...)
		refused(t, b,
			"touch keep/x", "mv keep k", "rm -rf keep/deep/rw/file", "echo x >keep/deep/rw/file", "touch also/x", "touch "+ro+"/x", "touch "+link+"/x",
			"mkdir -p missing/deep", "mkdir missing/x", "rmdir missing", "mv missing m", "echo x >secret", "grep . secret", "touch "+hidden+"/x", "cat "+hidden+"/file",
		)
		if out := run(t, b, "touch x keep/deep/x "+rw+"/x && cat "+ro+"/file "+link+"/file keep/file"); out.Output != "x\nx\nx\n" {
			t.Errorf("%+v", out)
		}
		for _, path := range []string{dir + "/x", dir + "/keep/deep/x", rw + "/x"} {
			if os.Remove(path) != nil {
				t.Errorf("%s is not on the host", path)
			}
		}
		if exists(filepath.Join(dir, "missing")) { // V7
			t.Error("the mount point of a reserved path is left")
		}
	}
}

func TestProtectedPathBecomesALink(t *testing.T) { // V8, W4, W5
	t.Parallel()
	dir := workspace(t)
	state := filepath.Join(dir, ".phero")
	if err := os.Symlink(workspace(t), state); err != nil {
		t.Fatal(err)
	}
	sandbox(t, dir)
	if _, err := NewBubblewrapRunner(dir, WithReadOnlyPaths(state)); err == nil || !strings.Contains(err.Error(), state) {
		t.Errorf("at the start: %v", err)
	}
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	b := inside(t, dir, WithReadOnlyPaths(state))
	refused(t, b, "mkdir .phero/x", "ln -sfn /tmp .phero", "mv .phero x", "rmdir .phero && mkdir .phero") // SAFE-10
	if err := os.Symlink("/tmp", state); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, t.Context(), b, Input{Command: "true"}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("before a command: %v", err)
	}
}

// As the application protects its own directory.
func TestStateDirectory(t *testing.T) { // SAFE-10
	t.Parallel()
	dir := workspace(t)
	opts := []BubblewrapOption{WithReadOnlyPaths(dir + "/.phero"), WithHidden(dir+"/.phero/sessions", dir+"/.phero/blobs")}
	b := inside(t, dir, opts...)
	attacks := []string{
		"echo x >.phero/a", "mkdir -p .phero/sessions/x", "touch .phero/config.toml", "rm -rf .phero", "mv .phero x", "rmdir .phero/sessions",
		"cat .phero/sessions/1/log", "echo x >>.phero/config.toml", "mv .phero/sessions .phero/s",
	}
	refused(t, b, attacks...)
	if exists(dir + "/.phero") {
		t.Error("the reserved directory is left")
	}
	write(t, dir+"/.phero/config.toml", "a = 1\n")
	refused(t, b, attacks...)
	write(t, dir+"/.phero/sessions/1/log", "secret\n")
	write(t, dir+"/.phero/blobs/aa", "secret\n")
	refused(t, b, attacks...)
	if out := run(t, b, "cat .phero/config.toml; ls -A .phero/sessions .phero/blobs"); out.Output != "a = 1\n.phero/blobs:\n\n.phero/sessions:\n" {
		t.Errorf("%+v", out)
	}
	if got, err := os.ReadFile(dir + "/.phero/sessions/1/log"); err != nil || string(got) != "secret\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPathsThatAreRefused(t *testing.T) { // SBX-09, sandbox cases 3
	home := fakeHome(t)
	dir := workspace(t)
	sandbox(t, dir)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Dir(home), link); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, path := range []string{
		"/", "//", "/.", home, home + "/", home + "/x/..", filepath.Dir(home), link, dir + "/../../../../../..",
		"/proc", "/sys", "/dev", "/dev/shm", "/etc", "/usr", "/var", "/run", "/tmp", "/home",
	} {
		if !exists(path) {
			continue
		}
		for name, err := range map[string]error{
			"workspace": second(NewBubblewrapRunner(path)),
			"writable":  second(NewBubblewrapRunner(dir, WithWritablePaths(path))),
			"read-only": second(NewBubblewrapRunner(dir, WithReadOnlyPaths(path))),
		} {
			if path == link && name == "read-only" {
				continue // inside the workspace, it is a link that cannot be protected
			}
			if !errors.Is(err, ErrPathTooBroad) {
				t.Errorf("%s %s: %v", name, path, err)
			}
		}
	}
	missing := filepath.Join(dir, "missing")
	for name, err := range map[string]error{
		"missing workspace": second(NewBubblewrapRunner(missing)),
		"missing writable":  second(NewBubblewrapRunner(dir, WithWritablePaths(missing))),
		"missing read-only": second(NewBubblewrapRunner(dir, WithReadOnlyPaths("/missing/elsewhere"))),
		"socket":            second(NewBubblewrapRunner(dir, WithWritablePaths(socket))),
		"file":              second(NewBubblewrapRunner(write(t, filepath.Join(dir, "file"), ""))),
		"empty":             second(NewBubblewrapRunner("")),
		"NUL":               second(NewBubblewrapRunner(dir + "\x00")),
	} {
		if err == nil || errors.Is(err, ErrPathTooBroad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, h := range []string{"", "relative", "/"} { // HOME that makes no sense
		t.Setenv("HOME", h)
		if _, err := NewBubblewrapRunner(dir); err != nil {
			t.Errorf("HOME=%q: %v", h, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestOddWorkspaces(t *testing.T) { // sandbox cases 3, V9
	t.Parallel()
	parent := workspace(t)
	for _, name := range []string{"with space", "with:colon", "-dash", "new\nline", "quote'\"", "日本"} {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		b := inside(t, dir, WithReadOnlyPaths(dir+"/.phero"))
		if out := run(t, b, "pwd; touch f; touch .phero/x"); !strings.HasPrefix(out.Output, dir+"\n") || out.ExitCode != 1 || !exists(filepath.Join(dir, "f")) {
			t.Errorf("%q: %+v", name, out)
		}
	}
}

func TestWorkspaceInsideHome(t *testing.T) { // SBX-07
	home := fakeHome(t)
	write(t, home+"/secret", "s")
	dir := filepath.Join(home, "src/project")
	write(t, dir+"/file", "x\n")
	b := inside(t, dir)
	if out := run(t, b, "ls -A ~ ~/src; cat file"); out.Output != home+":\nsrc\n\n"+home+"/src:\nproject\nx\n" {
		t.Errorf("%+v", out)
	}
}

func TestFindBubblewrap(t *testing.T) { // SBX-02, SBX-21, G2, G3
	dir := workspace(t)
	path := os.Getenv("PATH")
	tool(t, filepath.Join(dir, "bwrap"))
	t.Chdir(dir)
	for _, p := range []string{t.TempDir(), "", dir, ".", "./x:" + dir} { // never from the workspace
		t.Setenv("PATH", p)
		if _, err := NewBubblewrapRunner(dir); !errors.Is(err, ErrBubblewrapNotFound) {
			t.Errorf("PATH=%q: %v", p, err)
		}
	}
	fake := workspace(t)
	for text, want := range map[string]string{
		"bwrap: setting up uid map: Permission denied":                      "AppArmor",
		"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted":      "AppArmor",
		"bwrap: No permissions to create new namespace, likely because …":   "unprivileged_userns_clone",
		"bwrap: Creating new namespace failed: Operation not permitted":     "unprivileged_userns_clone",
		"bwrap: Can't mount proc on /newroot/proc: Operation not permitted": "container",
		"bwrap: Unknown option --disable-userns":                            "too old",
		"bwrap: something else":                                             "landlock",
	} {
		write(t, filepath.Join(fake, "bwrap"), "#!/bin/sh\necho \""+text+"\" >&2\nexit 1\n")
		if err := os.Chmod(filepath.Join(fake, "bwrap"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", fake+":"+path)
		r, err := NewBubblewrapRunner(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		out := run(t, newTool(t, WithRunner(r), WithWorkingDirectory(dir)), "echo on the host")
		if !strings.Contains(out.Output, text) || strings.Contains(out.Output, "on the host\n") || out.ExitCode != 1 { // G2: nothing falls back
			t.Errorf("%+v", out)
		}
	}
}

// A bwrap that lacks the newest options still makes a sandbox.
func TestOldBubblewrap(t *testing.T) {
	dir := workspace(t)
	sandbox(t, dir)
	real := needs(t, "bwrap")
	old := filepath.Join(workspace(t), "bwrap")
	write(t, old, "#!/bin/bash\nfor a; do [[ $a == --disable-userns || $a == --size ]] && { echo \"bwrap: Unknown option $a\" >&2; exit 1; }; done\n[[ $1 == --help ]] && exit\nexec "+real+" \"$@\"\n")
	if err := os.Chmod(old, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(old)+":"+os.Getenv("PATH"))
	if out := run(t, inside(t, dir, WithHidden(dir+"/.phero")), "touch f; mkdir .phero/x; ls -A ~"); out.ExitCode != 0 || !strings.Contains(out.Output, ".phero/x") || exists(dir+"/.phero") {
		t.Errorf("%+v", out)
	}
}

// S20: a command that fills the disk is bounded by the disk and its timeout, and
// what is private to it by memory's share; the host's own /tmp sees nothing.
func TestFloodOfTheDisk(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(sandbox(t, dir)), WithTimeout(300*time.Millisecond))
	m := mark()
	if out := run(t, b, "bash -c 'yes | tee /tmp/"+m+" >big' "+m); !out.TimedOut {
		t.Errorf("%+v", out)
	}
	gone(t, m)
	info, err := os.Stat(dir + "/big")
	if err != nil || info.Size() == 0 || exists("/tmp/"+m) {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Remove(dir + "/big"); err != nil {
		t.Fatal(err)
	}
}

func TestSecrets(t *testing.T) { // S14
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/open", "")
	write(t, dir+"/sub/open", "")
	closed := []string{dir + "/closed", dir + "/keys", dir + "/sub/closed"}
	write(t, closed[0], "")
	write(t, closed[1]+"/key", "")
	write(t, closed[2], "")
	for path, mode := range map[string]os.FileMode{closed[0]: 0o640, closed[1]: 0o710, closed[2]: 0o600} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if got := secrets(dir); !slices.Equal(got, closed) {
		t.Errorf("%q", got)
	}
}

// What holds in the workspace holds in every other writable directory, under
// both of its names.
func TestWritableDirectoriesAreProtected(t *testing.T) { // SBX-15, SBX-17, W4
	dir, other := workspace(t), workspace(t)
	link := filepath.Join(workspace(t), "link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	git(t, other, "init", "-q")
	b := inside(t, dir, WithReadOnlyPaths(link+"/.phero"), WithGitProtection(), WithWritablePaths(link))
	for _, at := range []string{link, other} {
		if out := run(t, b, "cd "+at+" && echo x >file && git add file && git -c user.name=a -c user.email=a@b commit --allow-empty -qm m"); out.ExitCode != 0 {
			t.Errorf("%+v", out)
		}
		refused(t, b, "mkdir "+at+"/.phero", "echo x >"+at+"/.git/hooks/pre-commit", "git -C "+at+" config core.fsmonitor x", "mv "+at+"/.git "+at+"/.git2")
	}
	out := run(t, b, "echo ../x >"+link+"/.git/commondir")
	if !strings.Contains(out.Output, "[moved "+other+"/.git/commondir to ") || exists(other+"/.git/commondir") {
		t.Errorf("%+v", out)
	}
}
