//go:build linux || darwin

package bash

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a killed program left is removed by a later start; what is in use, what
// is not ours to judge yet, and what is only called so stays.
func TestPrivateDirectoriesAreSwept(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	old := time.Now().Add(-2 * sweptAfter)
	make := func(name string, age time.Time) string {
		path := filepath.Join(temp, name)
		write(t, filepath.Join(path, "sub/file"), "x")
		if err := os.Chtimes(path, age, age); err != nil {
			t.Fatal(err)
		}
		return path
	}
	left, young := make(privatePrefix+"left", old), make(privatePrefix+"young", time.Now())
	other, target := make("phero-other", old), make("target", old)
	link := filepath.Join(temp, privatePrefix+"link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	used, err := newPrivateDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(used.path, old, old); err != nil {
		t.Fatal(err)
	}
	again, err := newPrivateDir()
	if err != nil {
		t.Fatal(err)
	}
	if exists(left) {
		t.Error("what was left is still there")
	}
	for _, path := range []string{young, other, link, filepath.Join(target, "sub/file"), used.path, again.path} {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
	for _, d := range []privateDir{used, again} {
		if err := d.Close(); err != nil || exists(d.path) {
			t.Errorf("%s: %v", d.path, err)
		}
	}
}
