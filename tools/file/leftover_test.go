package file

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	files := map[string]bool{ // whether it stays
		tempPrefix + "whole": false, tempPrefix + "half": false, tempPrefix + "empty": false,
		tempPrefix + "other": true, tempPrefix + "longer": true, "abc": true,
	}
	content := map[string]string{
		tempPrefix + "whole": "abc", tempPrefix + "half": "a", tempPrefix + "empty": "",
		tempPrefix + "other": "x", tempPrefix + "longer": "abcd", "abc": "abc",
	}
	for name, data := range content {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveLeftovers(filepath.Join(dir, "abc"), []byte("abc")); err != nil {
		t.Fatal(err)
	}
	for name, stays := range files {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s (%q): %v, stays %v", name, content[name], err, stays)
		}
	}
}
