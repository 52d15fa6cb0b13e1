package bash

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// waiting is the sandbox that the next command would take, once it is made.
func waiting(t testing.TB, b *Tool) *standby {
	t.Helper()
	b.Prepare(1)
	b.ready.mu.Lock()
	if len(b.ready.list) == 0 {
		b.ready.mu.Unlock()
		t.Fatal("no sandbox waits")
	}
	s := b.ready.list[0]
	b.ready.mu.Unlock()
	select {
	case <-s.made:
	case <-time.After(hang):
		t.Fatal("the sandbox is never made")
	}
	if s.process == nil {
		t.Fatal("the sandbox was not made")
	}
	return s
}

// taken tells whether a sandbox was given a command.
func taken(s *standby) bool {
	s.process.mu.Lock()
	defer s.process.mu.Unlock()
	return s.process.sink != nil
}

func prepared(t *testing.T, dir string, opts ...BubblewrapOption) (*Tool, *BubblewrapRunner) {
	t.Helper()
	r := sandbox(t, dir, opts...)
	return newTool(t, WithWorkingDirectory(dir), WithRunner(r), WithPersistentShell()), r
}

// A command in a sandbox that waited is like any other.
func TestReady(t *testing.T) { // SBX-20
	t.Parallel()
	dir := workspace(t)
	odd := filepath.Join(dir, "a #\\ \t\nname")
	if err := os.MkdirAll(filepath.Join(odd, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"pwd; env | sort | grep -v ^PHERO_SHELL", "exit 3", "cd sub; export A=$'1\\n2'; false", `pwd; echo "$A"; cd ..`, "ls -l /proc/self/fd | wc -l",
		"cut -d' ' -f4- /proc/self/mountinfo | sed 's/[0-9]*:[0-9]* //'", "printf x; echo y >&2; kill -9 $$", "cat", "ls -A ~ /tmp /run; ls /proc >list; grep -c '^[0-9]' list; rm list",
		"ulimit -a; umask; trap; alias; set -o; shopt", "sleep 600 & echo left", "echo $0 $# $BASH_SUBSHELL $SHLVL; declare -F", strings.Repeat(" ", maxArgument) + "echo long",
	} {
		plain, _ := prepared(t, odd)
		b, _ := prepared(t, odd)
		s := waiting(t, b)
		want, got := run(t, plain, command), run(t, b, command)
		if *got != *want {
			t.Errorf("%.80q: %+v, want %+v", command, got, want)
		}
		if !taken(s) {
			t.Errorf("%.80q: the sandbox that waited was not taken", command)
		}
		if plain.Directory() != b.Directory() {
			t.Errorf("%.80q: then in %q, want %q", command, b.Directory(), plain.Directory())
		}
		next := waiting(t, b) // made when the last one was taken
		if next == s {
			t.Error("a sandbox serves twice")
		}
	}
	b, _ := prepared(t, odd)
	s := waiting(t, b)
	id := background(t, b, "pwd; ls /proc/self/fd | tr '\\n' ' '; echo >&9")
	if out, _ := readToEnd(t, b, id); out != odd+"\n0 1 2 3 bash: line 1: 9: Bad file descriptor\nexit code: 1" || !taken(s) {
		t.Errorf("in the background: %q, taken: %v", out, taken(s))
	}
	if list := b.Shells(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// What is not exactly what would be made now is not taken.
func TestReadyIsNotTaken(t *testing.T) { // SBX-17, SAFE-10
	t.Parallel()
	type world struct {
		dir, added string
		b          *Tool
		r          *BubblewrapRunner
	}
	must := func(t *testing.T, errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	swap := func(t *testing.T, path string, make func(path string) error) {
		t.Helper()
		must(t, make(path+".new"), os.Rename(path, path+".old"), os.Rename(path+".new", path))
	}
	file := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o644) }
	}
	directory := func(path string) error { return os.Mkdir(path, 0o755) }
	for name, tt := range map[string]struct {
		change        func(*testing.T, world)
		command, want string
	}{
		"a hidden file is deleted and made anew": {func(t *testing.T, w world) {
			must(t, os.Remove(w.dir+"/secret"), file("top secret")(w.dir+"/secret"))
		}, "cat secret 2>/dev/null || echo refused", "refused\n"},
		"a hidden file is replaced": {func(t *testing.T, w world) {
			must(t, file("top secret")(w.dir+"/x"), os.Rename(w.dir+"/x", w.dir+"/secret"))
		}, "cat secret 2>/dev/null || echo refused", "refused\n"},
		"a hidden directory is replaced": {func(t *testing.T, w world) {
			swap(t, w.dir+"/private", directory)
			must(t, file("x")(w.dir+"/private/key"))
		}, "ls -A private", "(no output)"},
		"a place is moved away and back": {func(t *testing.T, w world) {
			must(t, os.Rename(w.dir+"/private", w.dir+"/moved"), directory(w.dir+"/private"), os.Remove(w.dir+"/private"),
				os.Remove(w.dir+"/moved/key"), os.Remove(w.dir+"/moved"), directory(w.dir+"/private"), file("x")(w.dir+"/private/key"))
		}, "ls -A private", "(no output)"},
		"the hooks are replaced": {func(t *testing.T, w world) {
			swap(t, w.dir+"/.git/hooks", directory)
		}, "touch .git/hooks/pre-commit 2>/dev/null || echo refused", "refused\n"},
		"the config is replaced": {func(t *testing.T, w world) {
			swap(t, w.dir+"/.git/config", file("[core]\n"))
		}, "{ echo >>.git/config; } 2>/dev/null || echo refused", "refused\n"},
		"the repository is replaced": {func(t *testing.T, w world) {
			swap(t, w.dir+"/.git", directory)
			must(t, file("ref: refs/heads/main")(w.dir+"/.git/HEAD"), directory(w.dir+"/.git/hooks"), file("")(w.dir+"/.git/config"))
		}, "touch .git/fine && touch .git/hooks/x 2>/dev/null || echo refused", "refused\n"},
		"a submodule appears": {func(t *testing.T, w world) {
			must(t, os.MkdirAll(w.dir+"/.git/modules/m/hooks", 0o755), directory(w.dir+"/.git/modules/m/objects"), directory(w.dir+"/.git/modules/m/refs"),
				file("")(w.dir+"/.git/modules/m/HEAD"), file("")(w.dir+"/.git/modules/m/config"))
		}, "touch .git/modules/m/hooks/x 2>/dev/null || echo refused", "refused\n"},
		"the workspace is renamed and made anew": {func(t *testing.T, w world) {
			must(t, os.Rename(w.dir, w.dir+".old"), directory(w.dir), file("")(w.dir+"/new"))
		}, `[[ $(stat -c %i .) == "$(stat -c %i "$PWD")" && -f new && ! -d plain ]] && echo new`, "new\n"},
		"a reserved path is filled": {func(t *testing.T, w world) {
			must(t, file("mine")(w.dir+"/reserved/file"))
		}, "cat reserved/file; rm reserved/file 2>/dev/null || echo ' refused'", "mine refused\n"},
		"a reserved path is removed": {func(t *testing.T, w world) {
			must(t, os.Remove(w.dir+"/reserved"))
		}, "mkdir reserved 2>/dev/null || echo refused", "refused\n"},
		"a directory is added": {func(t *testing.T, w world) {
			must(t, w.r.addWritable(w.added))
		}, "touch " + "$ADDED/f && echo written", "written\n"},
		"a rule is changed": {func(t *testing.T, w world) {
			must(t, w.r.add(w.dir+"/plain", ReadOnly))
		}, "touch plain/x 2>/dev/null || echo refused", "refused\n"},
		"the network is allowed": {func(t *testing.T, w world) { w.r.network = true }, "true", "(no output)"},
		"the environment is another": {func(t *testing.T, w world) {
			w.b.env = append(w.b.env, "LATER=set")
		}, "echo $LATER", "set\n"},
		"it is killed": {func(t *testing.T, w world) {
			s := waiting(t, w.b)
			must(t, unix.Kill(s.process.cmd.Process.Pid, unix.SIGKILL))
			eventually(t, "it is over", s.process.over)
		}, "echo fine", "fine\n"},
		"its processes are killed": {func(t *testing.T, w world) {
			s := waiting(t, w.b)
			for _, pid := range sandboxesOf(w.dir) {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
			eventually(t, "it is over", s.process.over)
		}, "echo fine", "fine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := workspace(t)
			w := world{dir: filepath.Join(top, "ws"), added: filepath.Join(top, "added")}
			must(t, os.MkdirAll(w.dir+"/.git/hooks", 0o755), file("")(w.dir+"/.git/config"), file("")(w.dir+"/.git/HEAD"), file("")(w.dir+"/secret"),
				directory(w.dir+"/private"), file("")(w.dir+"/private/key"), directory(w.dir+"/plain"), directory(w.added))
			w.b, w.r = prepared(t, w.dir, WithGitProtection(), WithHidden(w.dir+"/secret", w.dir+"/private"), WithReadOnlyPaths(w.dir+"/reserved"))
			w.b.env = append(w.b.env, "ADDED="+w.added)
			s := waiting(t, w.b)
			tt.change(t, w)
			if out := run(t, w.b, tt.command); out.Output != tt.want {
				t.Errorf("%q, want %q", out.Output, tt.want)
			}
			if taken(s) {
				t.Error("the sandbox that waited was taken")
			}
			if s := waiting(t, w.b); s.process.over() {
				t.Error("none waits for the next command")
			}
			w.b.Rest()
			eventually(t, "no sandbox is left", func() bool { return len(sandboxesOf(w.dir)) == 0 })
		})
	}
}

// Each thing that is compared is enough by itself to refuse a sandbox, also where
// another one would tell as well.
func TestReadyIsCompared(t *testing.T) { // SBX-17
	t.Parallel()
	dir := workspace(t)
	write(t, filepath.Join(dir, "secret"), "s")
	plain := filepath.Join(dir, "plain")
	if err := os.Mkdir(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	b, r := prepared(t, dir, WithHidden(filepath.Join(dir, "secret")))
	s := waiting(t, b)
	cmd := s.process.cmd
	if err := s.fits(cmd); err != nil {
		t.Fatal(err)
	}
	if s.outside++; s.fits(cmd) == nil {
		t.Error("the mounts of the host are not compared")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/", link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--ro-bind", "/etc", link + "/etc"}, "openat2 " + link + "/etc: too many levels of symbolic links"},
		{[]string{"--tmpfs", plain}, plain + " is not mounted"},
		{[]string{"--ro-bind", plain, plain}, plain + " is not mounted"},
		{[]string{"--bind", "/etc", dir}, "/etc is not what the sandbox has at " + dir},
		{[]string{"--ro-bind", "/usr", "/etc"}, "/usr is not what the sandbox has at /etc"},
		{[]string{"--ro-bind", dir + "/none", dir}, "statx " + dir + "/none: no such file or directory"},
		{[]string{"--chdir", plain}, plain + " is not what the sandbox has at " + plain},
	} {
		other := exec.Command(cmd.Path, append(tt.args, cmd.Args[1:]...)...)
		if err := r.matches(other, cmd.Process.Pid); err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v, want %s", tt.args, err, tt.want)
		}
	}
	if n := len(mountsOf(cmd.Args)); n < 8 {
		t.Errorf("%d mounts were looked at", n)
	}
}

// A mount and its end on the host are seen, once each.
func TestHostMounts(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("BASH_TEST_MOUNTS"); dir != "" {
		hosts := theHostsMounts()
		was := hosts.seen()
		same := func(what string) {
			t.Helper()
			if now := hosts.seen(); now != was {
				t.Errorf("%s: seen without a change", what)
			}
		}
		changed := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			now := hosts.seen()
			if now == was {
				t.Errorf("%s: not seen", what)
			}
			was = now
			same(what)
		}
		same("at the beginning")
		changed("mount", unix.Mount("none", dir, "tmpfs", 0, ""))
		changed("remount", unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
		changed("unmount", unix.Unmount(dir, 0))
		return
	}
	dir := workspace(t)
	sandbox(t, dir) // such namespaces are allowed
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostMounts$", "-test.v")
	cmd.Env = append(os.Environ(), "BASH_TEST_MOUNTS="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// While one waits, what it reserves is there; afterwards nothing is.
func TestReadyLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	b, r := prepared(t, dir, WithGitProtection(), WithReadOnlyPaths(filepath.Join(dir, ".phero")))
	here := func() int { entries, _ := os.ReadDir(dir); return len(entries) }
	waiting(t, b)
	if here() != 2 {
		t.Errorf("%d paths are reserved", here())
	}
	run(t, b, "true")
	waiting(t, b)
	b.Rest()
	eventually(t, "all is gone", func() bool { return here() == 0 && len(sandboxesOf(dir)) == 0 })
	run(t, b, "true")
	if here() != 0 || len(sandboxesOf(dir)) != 0 { // nothing is made after Rest
		t.Errorf("%d paths, %d processes", here(), len(sandboxesOf(dir)))
	}
	waiting(t, b)
	b.Close()
	if here() != 0 || len(sandboxesOf(dir)) != 0 {
		t.Errorf("after Close: %d paths, %d processes", here(), len(sandboxesOf(dir)))
	}
	b.Prepare(1)
	if run(t, b, "true"); b.ready.list != nil || r.ahead != 0 || r.live != 0 {
		t.Errorf("%d wait after Close, %d, %d", len(b.ready.list), r.ahead, r.live)
	}
}

// Close waits for those that are on their end, so that none outlives the program.
func TestCloseAfterRest(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	for range 5 {
		b, r := prepared(t, dir)
		b.Prepare(maxReady)
		waiting(t, b)
		b.Rest()
		b.Close()
		if n := len(sandboxesOf(dir)); n != 0 || r.ahead != 0 {
			t.Fatalf("%d processes, %d sandboxes are left", n, r.ahead)
		}
	}
}

// Only commands with the sandbox's own reach take it.
func TestReadyAndReach(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	reach := Network
	b := newTool(t, WithWorkingDirectory(dir), WithRunner(sandbox(t, dir)), WithHostRunner(LocalRunner{}), WithPersistentShell(),
		WithReach(func(context.Context, string) Reach { return reach }))
	s := waiting(t, b)
	run(t, b, "grep -q 'eth0\\|lo' /proc/net/dev")
	reach = Host
	run(t, b, "true")
	if taken(s) || s.process.over() {
		t.Error("it was taken for another reach, or ended")
	}
	reach = Sandboxed
	if run(t, b, "true"); !taken(s) {
		t.Error("it was not taken")
	}
}

// Where there is nothing to make ahead, nothing is.
func TestPrepareElsewhere(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	r := sandbox(t, dir)
	for _, b := range []*Tool{
		newTool(t, WithWorkingDirectory(dir), WithPersistentShell()),
		newTool(t, WithWorkingDirectory(dir), WithRunner(r)),
	} {
		b.Prepare(3)
		if out := run(t, b, "echo x"); out.Output != "x\n" || len(b.ready.list) > 0 {
			t.Errorf("%+v, %d wait", out, len(b.ready.list))
		}
		b.Rest()
	}
	// A bwrap that is gone, or makes nothing.
	for _, bwrap := range []string{filepath.Join(dir, "none"), needs(t, "false")} {
		b, broken := prepared(t, dir)
		broken.bwrap = bwrap
		b.Prepare(1)
		if out, err := call(t, t.Context(), b, Input{Command: "true"}); err == nil && out.ExitCode == 0 {
			t.Errorf("%s: %+v", bwrap, out)
		}
	}
}

// One that waits ends with the program.
func TestKilledProgramWithReady(t *testing.T) { // SBX-23
	t.Parallel()
	if dir := os.Getenv("BASH_TEST_READY"); dir != "" {
		b, _ := prepared(t, dir)
		b.Prepare(4)
		for _, s := range b.ready.list {
			<-s.made
		}
		write(t, filepath.Join(dir, "ready"), "")
		select {}
	}
	dir := workspace(t)
	sandbox(t, dir)
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledProgramWithReady$")
	cmd.Env = append(os.Environ(), "BASH_TEST_READY="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "four wait", func() bool { return exists(filepath.Join(dir, "ready")) && len(sandboxesOf(dir)) >= 8 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "no sandbox is left", func() bool { return len(sandboxesOf(dir)) == 0 })
}

// A sandbox that is given up while it is being made leaves nothing.
func TestRestWhileTheSandboxIsMade(t *testing.T) { // BASH-48
	t.Parallel()
	dir := workspace(t)
	b, r := prepared(t, dir)
	for i := range 60 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%20)*500*time.Microsecond)
		b.Prepare(1 + i%3)
		if i%2 == 0 {
			_, _ = call(t, ctx, b, Input{Command: "sleep 600"})
		} else {
			<-ctx.Done()
		}
		cancel()
		b.Rest()
	}
	eventually(t, "no sandbox is left", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(sandboxesOf(dir)) == 0 && r.live == 0 && r.ahead == 0
	})
}

// Calls in parallel take one each.
func TestReadyInParallel(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	b, r := prepared(t, dir)
	b.Prepare(100)
	b.ready.mu.Lock()
	list := slices.Clone(b.ready.list)
	b.ready.mu.Unlock()
	if len(list) != maxReady {
		t.Fatalf("%d are made", len(list))
	}
	var calls sync.WaitGroup
	for range maxReady + 4 {
		calls.Go(func() {
			if out, err := call(t, t.Context(), b, Input{Command: "echo $BASH_SUBSHELL >>all; echo x"}); err != nil || out.Output != "x\n" {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	calls.Wait()
	for i, s := range list {
		if <-s.made; !taken(s) {
			t.Errorf("the sandbox %d was not taken", i)
		}
	}
	b.Rest()
	eventually(t, "none is left", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(sandboxesOf(dir)) == 0 && r.live == 0 && r.ahead == 0
	})
}

// One that nobody uses ends.
func TestReadyExpires(t *testing.T) {
	t.Parallel()
	dir := workspace(t)
	b, _ := prepared(t, dir)
	s := waiting(t, b)
	b.ready.life = time.Millisecond
	b.Prepare(1)
	eventually(t, "it has ended", func() bool { return s.process.finished() && len(sandboxesOf(dir)) == 0 })
	if out := run(t, b, "echo x"); out.Output != "x\n" {
		t.Errorf("%+v", out)
	}
}

// Many commands take no more descriptors, threads or processes than a few.
func TestManyReadyCommands(t *testing.T) {
	dir := workspace(t)
	b, _ := prepared(t, dir)
	count := func() (descriptors, sandboxes int) {
		b.Prepare(keptReady)
		for _, s := range b.ready.list {
			<-s.made
		}
		entries, _ := os.ReadDir("/proc/self/fd")
		return len(entries), len(sandboxesOf(dir))
	}
	for range 5 {
		waiting(t, b)
		run(t, b, "true")
	}
	descriptors, sandboxes := count()
	for range 500 {
		s := waiting(t, b)
		if run(t, b, "true"); !taken(s) {
			t.Fatal("the sandbox that waited was not taken")
		}
	}
	eventually(t, "no more are open", func() bool {
		d, s := count()
		return d <= descriptors && s <= sandboxes
	})
}
