//go:build unix

package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// FILE-34, FILE-35, FILE-36; F1, F2, F7
func TestReadRefuses(t *testing.T) {
	ws := tree(t, map[string]string{"nul": "a\x00b", "utf16": "\xff\xfea\x00b\x00", "dir/": "", "file": "x"})
	if err := unix.Mkfifo(filepath.Join(ws, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(ws, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for path, want := range map[string]error{
			"nul": ErrBinaryFile, "utf16": ErrBinaryFile, "absent": fs.ErrNotExist, "file/below": fs.ErrNotExist, "absent/below": fs.ErrNotExist,
			"dir": nil, "fifo": nil, "socket": nil, "/dev/zero": nil, "/dev/urandom": nil, "/dev/tty": nil, "/dev/stdin": nil, "/dev/fd/0": nil, ".": nil, // C8
		} {
			_, err := read(t, ReadInput{FilePath: path}, WithWorkingDirectory(ws))
			if filepath.IsAbs(path) {
				_, err = read(t, ReadInput{FilePath: path})
			}
			if err == nil || want != nil && path != "file/below" && !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", path, err, want)
			}
			if path != "." && path != "/dev/stdin" && path != "/dev/fd/0" && !strings.Contains(fmt.Sprint(err), filepath.Base(path)) && path != "file/below" {
				t.Errorf("%s: the error does not name it: %v", path, err)
			}
		}
		for _, in := range []EditInput{{FilePath: "fifo", OldString: "a", NewString: "b"}, {FilePath: "dir", OldString: "a", NewString: "b"}} { // F1, FILE-47
			if _, err := edit(t, in, WithWorkingDirectory(ws)); err == nil {
				t.Errorf("edit of %s succeeded", in.FilePath)
			}
			if err := write(t, WriteInput{FilePath: in.FilePath}, WithWorkingDirectory(ws)); err == nil {
				t.Errorf("write to %s succeeded", in.FilePath)
			}
		}
		if got, err := grep(t, GrepInput{Pattern: "x"}, WithWorkingDirectory(ws)); err != nil || len(got.Output) != 1 { // F1
			t.Errorf("grep over a FIFO: %v, %v", got, err)
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("a special file blocks")
	}
}

// F2: a file that says it is regular and cannot be read is an error.
func TestReadMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/mem"); err != nil {
		t.Skip("needs /proc")
	}
	if got, err := read(t, ReadInput{FilePath: "/proc/self/mem"}); err == nil || !strings.Contains(err.Error(), "/mem") {
		t.Errorf("%.50q, %v", got, err)
	}
}

// F2: a regular file that waits for news does not block.
func TestReadWaitingFile(t *testing.T) {
	const path = "/proc/kmsg"
	f, err := os.Open(path)
	if err != nil {
		t.Skip("no such file that may be opened:", err)
	}
	f.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2 { // the first read may get what is there
			if _, err := read(t, ReadInput{FilePath: path}); err == nil {
				t.Log("read something")
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the read blocks")
	}
}

// FILE-42; E6: a failed write leaves the old content and nothing beside it.
func TestWriteFailsWhole(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t, t.Name())
		return
	}
	ws := tree(t, map[string]string{"ro/f": "old"})
	dir := filepath.Join(ws, "ro")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	calls := 0
	opts := []Option{WithWorkingDirectory(ws), WithOnWrite(func(context.Context, Change) { calls++ })}
	if err := write(t, WriteInput{FilePath: "ro/f", Content: "new"}, opts...); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("write: %v", err)
	}
	if err := write(t, WriteInput{FilePath: "ro/a/b", Content: "new"}, opts...); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("write below: %v", err)
	}
	if content(t, filepath.Join(dir, "f")) != "old" || names(t, dir) != "f" || calls != 0 { // FILE-72
		t.Errorf("%s, %d hook calls", names(t, dir), calls)
	}
}

// asNobody runs a test of this package as another user.
func asNobody(t *testing.T, test string, env ...string) {
	t.Helper()
	// The binary of the tests lies where another user may not look.
	copied := filepath.Join(must(os.MkdirTemp("", "file-test")), "test")
	defer os.RemoveAll(filepath.Dir(copied))
	if err := errors.Join(os.Chmod(filepath.Dir(copied), 0o755), os.WriteFile(copied, must(os.ReadFile(must(os.Executable()))), 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "-test.run", "^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir = "/"
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: "+test)) {
		t.Fatalf("%v\n%s", err, out)
	}
}
