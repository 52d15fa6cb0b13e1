//go:build unix

package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/phero-agent/agent/tools/regular"
)

func TestRead(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	at := func(name string) string { return filepath.Join(dir, name) }
	for path, text := range map[string]string{at("file"): "12345", at("full"): "1234", outside: "1"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "full", "device": "/dev/zero", "out": outside, "loop": "loop"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, c := range []struct {
		name, want string
		err, inErr error // of Read and of ReadIn; nil in inErr is the same
	}{
		{name: "full", want: "1234"},
		{name: "link", want: "1234"},
		{name: "file", want: "1234", err: regular.ErrTooLong},
		{name: "fifo", err: regular.ErrNotRegular},
		{name: "dir", err: regular.ErrNotRegular},
		{name: "device", err: regular.ErrNotRegular, inErr: errAny},
		{name: "out", want: "1", inErr: errAny},
		{name: "loop", err: errAny},
		{name: "none", err: fs.ErrNotExist},
	} {
		data, err := regular.Read(at(c.name), 4)
		if string(data) != c.want || !is(err, c.err) {
			t.Errorf("Read(%s): %q, %v", c.name, data, err)
		}
		want, wantErr := c.want, c.err
		if c.inErr != nil {
			want, wantErr = "", c.inErr
		}
		data, err = regular.ReadIn(root, c.name, 4)
		if string(data) != want || !is(err, wantErr) {
			t.Errorf("ReadIn(%s): %q, %v", c.name, data, err)
		}
	}
}

var errAny = errors.New("any error")

func is(err, want error) bool {
	if want == errAny {
		return err != nil
	}
	return errors.Is(err, want)
}
