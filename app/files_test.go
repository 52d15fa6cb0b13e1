package app_test

import (
	"slices"
	"testing"
)

// Mentions complete to the files of the workspace that are not ignored.
func TestFiles(t *testing.T) {
	r := newRig(t, "== a\nx\n", map[string]string{"a.go": "", "b/c.go": "", ".gitignore": "*.log\n", "x.log": ""})
	files, err := r.app.Files()
	slices.Sort(files)
	if want := []string{".gitignore", "a.go", "b/c.go"}; err != nil || !slices.Equal(files, want) {
		t.Fatalf("files %v, %v; want %v", files, err, want)
	}
}
