package file

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inNamespace runs the calling test again in a mount namespace of its own, as root
// there. It tells true inside of it.
func inNamespace(t *testing.T) bool {
	t.Helper()
	const mark = "FILE_TEST_NAMESPACE"
	if os.Getenv(mark) == t.Name() {
		return true
	}
	args := []string{"-m", "--propagation", "private"}
	if os.Geteuid() != 0 {
		args = append(args, "-U", "-r")
	}
	if err := exec.Command("unshare", append(args, "true")...).Run(); err != nil {
		needTool(t, "unshare with a mount namespace")
	}
	cmd := exec.Command("unshare", append(args, must(os.Executable()), "-test.run", "^"+t.Name()+"$", "-test.v")...)
	cmd.Env = append(os.Environ(), mark+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Fatalf("in the namespace: %v\n%s", err, out)
	}
	return false
}

// E6: no room on the device. The original stays, and nothing is left beside it.
func TestFullDisk(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	old := strings.Repeat("old\n", 20_000)
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("new\n", 50_000)
	for name, err := range map[string]error{
		"write":      write(t, WriteInput{FilePath: "f", Content: large}, WithWorkingDirectory(dir)),
		"new file":   write(t, WriteInput{FilePath: "a/b/g", Content: large}, WithWorkingDirectory(dir)),
		"atomically": WriteFileAtomic(path, []byte(large), 0o644),
	} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if content(t, path) != old || names(t, dir) != "f" {
		t.Errorf("after a full disk: %d bytes, %s", len(content(t, path)), names(t, dir))
	}
	// E9: the directories that were made are gone, and a write that fits works.
	if err := write(t, WriteInput{FilePath: "a/b/g", Content: "fits"}, WithWorkingDirectory(dir)); err != nil {
		t.Error(err)
	}
}

// E6: no more files can be opened, at whatever step of a write.
func TestFewDescriptors(t *testing.T) {
	const mark = "FILE_TEST_DESCRIPTORS"
	if os.Getenv(mark) == "" { // the limit is the process's
		cmd := exec.Command(must(os.Executable()), "-test.run", "^TestFewDescriptors$", "-test.v")
		cmd.Env = append(os.Environ(), mark+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	dir := tree(t, map[string]string{"a/b/f": "old"})
	tool := must(NewWriteTool(WithWorkingDirectory(dir)))
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	failed, wrote := 0, 0
	for most := range uint64(30) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		_, err := tool.handle(context.Background(), &WriteInput{FilePath: "a/b/f", Content: "new"})
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
		want := "new"
		if err != nil {
			failed++
			want = "old"
			if !errors.Is(err, syscall.EMFILE) && !strings.Contains(err.Error(), "replaced while") {
				t.Errorf("%d files: %v", most, err)
			}
		} else {
			wrote++
		}
		if got := content(t, filepath.Join(dir, "a/b/f")); got != want || names(t, filepath.Join(dir, "a/b")) != "f" {
			t.Fatalf("%d files: %v, %q, %s", most, err, got, names(t, filepath.Join(dir, "a/b")))
		}
		if err := os.WriteFile(filepath.Join(dir, "a/b/f"), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 || wrote == 0 {
		t.Errorf("%d writes failed, %d did not", failed, wrote)
	}
}

// C12: a file that is a mount of its own cannot be renamed over.
func TestMountedFile(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	dir := tree(t, map[string]string{"f": "below", "source": "long old content\n", "sub/x": "in"})
	path := filepath.Join(dir, "f")
	if err := errors.Join(unix.Mount(filepath.Join(dir, "source"), path, "", unix.MS_BIND, ""), unix.Mount("tmpfs", filepath.Join(dir, "sub"), "tmpfs", 0, "")); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(path, unix.MNT_DETACH)
	defer unix.Unmount(filepath.Join(dir, "sub"), unix.MNT_DETACH)
	if _, err := edit(t, EditInput{FilePath: "f", OldString: "long old", NewString: "new"}, WithWorkingDirectory(dir)); err != nil {
		t.Fatal(err)
	}
	if content(t, path) != "new content\n" || content(t, filepath.Join(dir, "source")) != "new content\n" || names(t, dir) != "f source sub" {
		t.Errorf("%q, %s", content(t, path), names(t, dir))
	}
	// No room below the mount: what was written already is taken back.
	small := filepath.Join(dir, "sub/small")
	if err := errors.Join(os.Mkdir(small, 0o755), unix.Mount("tmpfs", small, "tmpfs", 0, "size=64k"), os.WriteFile(small+"/g", []byte("old"), 0o644),
		os.WriteFile(filepath.Join(dir, "g"), nil, 0o644), unix.Mount(small+"/g", filepath.Join(dir, "g"), "", unix.MS_BIND, "")); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(small, unix.MNT_DETACH)
	defer unix.Unmount(filepath.Join(dir, "g"), unix.MNT_DETACH)
	if err := write(t, WriteInput{FilePath: "g", Content: strings.Repeat("new\n", 50_000)}, WithWorkingDirectory(dir)); !errors.Is(err, syscall.ENOSPC) || content(t, small+"/g") != "old" || names(t, dir) != "f g source sub" {
		t.Errorf("a full mount: %v, %.20q, %s", err, content(t, small+"/g"), names(t, dir))
	}
	if err := write(t, WriteInput{FilePath: "sub/y", Content: "across a mount"}, WithWorkingDirectory(dir)); err != nil {
		t.Errorf("below a mount point: %v", err)
	}
}

// E3: extended attributes and ACLs survive.
func TestKeepsAttributes(t *testing.T) {
	dir := tree(t, map[string]string{"f": "old\n"})
	path := filepath.Join(dir, "f")
	if err := unix.Setxattr(path, "user.note", []byte("kept"), 0); err != nil {
		t.Skip("no extended attributes here:", err)
	}
	// user::rw- user:12345:r-- group::r-- mask::rw- other::---
	acl := []byte("\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\x39\x30\x00\x00" + "\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff")
	withACL := unix.Setxattr(path, "system.posix_acl_access", acl, 0) == nil
	mode := must(os.Stat(path)).Mode()
	for range 2 {
		if err := write(t, WriteInput{FilePath: "f", Content: "x" + content(t, path)}, WithWorkingDirectory(dir)); err != nil {
			t.Fatal(err)
		}
	}
	value := make([]byte, 200)
	n, err := unix.Getxattr(path, "user.note", value)
	if err != nil || string(value[:n]) != "kept" {
		t.Errorf("the attribute is %q, %v", value[:max(n, 0)], err)
	}
	if n, err = unix.Getxattr(path, "system.posix_acl_access", value); withACL && (err != nil || !bytes.Equal(value[:n], acl)) {
		t.Errorf("the ACL is %q, %v", value[:max(n, 0)], err)
	}
	if got := must(os.Stat(path)).Mode(); got != mode {
		t.Errorf("the mode is %v, was %v", got, mode)
	}
	if !withACL {
		needTool(t, "a file system with ACLs")
	}
}

// E2: root keeps another owner; E3: what is immutable is refused.
func TestOwnerKeptAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to own a file as someone else")
	}
	dir := tree(t, map[string]string{"f": "old\n"})
	path := filepath.Join(dir, "f")
	if err := errors.Join(os.Chown(path, 12345, 54321), os.Chmod(path, 0o4755|fs.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	was := must(os.Stat(path)).Mode()
	if _, err := edit(t, EditInput{FilePath: "f", OldString: "old", NewString: "new"}, WithWorkingDirectory(dir)); err != nil {
		t.Fatal(err)
	}
	st := must(os.Stat(path)).Sys().(*syscall.Stat_t)
	if st.Uid != 12345 || st.Gid != 54321 || must(os.Stat(path)).Mode() != was {
		t.Errorf("owner %d:%d, mode %v, was %v", st.Uid, st.Gid, must(os.Stat(path)).Mode(), was)
	}
	f := must(os.Open(path))
	defer f.Close()
	const immutable = 0x10
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, immutable); err != nil {
		t.Skip("no immutable files here:", err)
	}
	defer unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0)
	if err := write(t, WriteInput{FilePath: "f", Content: "x"}, WithWorkingDirectory(dir)); !errors.Is(err, fs.ErrPermission) || content(t, path) != "new\n" || names(t, dir) != "f" {
		t.Errorf("an immutable file: %v, %s", err, names(t, dir))
	}
}

// E2: who may write a file of another owner, but not give a new one to that owner,
// writes into the file itself.
func TestForeignOwnerKeptAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a file of another owner")
	}
	dir := tree(t, map[string]string{"f": "a long old content\n"})
	path := filepath.Join(dir, "f")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777), os.Chown(path, 12345, 12345), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	was := must(os.Stat(path))
	asNobody(t, "TestWriteAsNobody", "FILE_TEST_FOREIGN="+path)
	now := must(os.Stat(path))
	if st := now.Sys().(*syscall.Stat_t); st.Uid != 12345 || !os.SameFile(was, now) || now.Mode() != was.Mode() || content(t, path) != "new\n" {
		t.Errorf("owner %d, mode %v, %q", st.Uid, now.Mode(), content(t, path))
	}
	if names(t, dir) != "f" {
		t.Errorf("left behind: %s", names(t, dir))
	}
}

// TestWriteAsNobody is the other user's part of TestForeignFileKeepsOwner.
func TestWriteAsNobody(t *testing.T) {
	path := os.Getenv("FILE_TEST_FOREIGN")
	if path == "" {
		t.Skip("runs as a part of TestForeignFileKeepsOwner")
	}
	if err := WriteFileAtomic(path, []byte("new\n"), 0o666); err != nil {
		t.Fatal(err)
	}
}

// E8: the temporary file of a private file is never readable by others, and its
// name cannot be known before.
func TestTemporaryFile(t *testing.T) {
	dir := tree(t, map[string]string{"secret": "old"})
	if err := os.Chmod(filepath.Join(dir, "secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := openPlace("", filepath.Join(dir, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	seen := map[string]bool{}
	for range 3 {
		err := p.write([]byte("new"), 0o600, must(p.lstat()), func() error {
			for name := range strings.FieldsSeq(names(t, dir)) {
				if strings.HasPrefix(name, tempPrefix) {
					seen[name] = true
					if mode := must(os.Lstat(filepath.Join(dir, name))).Mode(); mode != 0o600 {
						t.Errorf("%s has mode %v", name, mode)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("names of temporary files: %v", seen)
	}
}

// E7: a write that is killed before the rename leaves the original, and beside it a
// hidden file that says whose it was.
func TestKilledWrite(t *testing.T) {
	dir := tree(t, map[string]string{"f": "old"})
	cmd := exec.Command(must(os.Executable()), "-test.run", "^TestWriteIsKilled$")
	cmd.Env = append(os.Environ(), "FILE_TEST_KILLED="+filepath.Join(dir, "f"))
	out := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1)
	if _, err := out.Read(buf); err != nil { // it is between the write and the rename
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	left := strings.Fields(names(t, dir))
	if content(t, filepath.Join(dir, "f")) != "old" || len(left) != 2 || !strings.HasPrefix(left[0], tempPrefix) {
		t.Errorf("after a kill: %q, %v", content(t, filepath.Join(dir, "f")), left)
	}
}

// TestWriteIsKilled is the process that TestKilledWrite kills.
func TestWriteIsKilled(t *testing.T) {
	path := os.Getenv("FILE_TEST_KILLED")
	if path == "" {
		t.Skip("runs as a part of TestKilledWrite")
	}
	p, err := openPlace("", path)
	if err != nil {
		t.Fatal(err)
	}
	err = p.write([]byte("new"), 0o644, must(p.lstat()), func() error {
		os.Stdout.WriteString("x")
		select {}
	})
	t.Fatal(err)
}

// E1, FILE-40, FILE-41: what is new follows the umask.
func TestUmask(t *testing.T) {
	ws := tree(t, nil)
	defer unix.Umask(unix.Umask(0o077))
	if err := write(t, WriteInput{FilePath: "a/b", Content: "x"}, WithWorkingDirectory(ws)); err != nil {
		t.Fatal(err)
	}
	dir, file := must(os.Stat(filepath.Join(ws, "a"))).Mode().Perm(), must(os.Stat(filepath.Join(ws, "a/b"))).Mode()
	if dir != 0o700 || file != 0o600 {
		t.Errorf("the directory has %v, the file %v", dir, file)
	}
}
