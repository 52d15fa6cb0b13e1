package app_test

import (
	"fmt"
	"strings"
	"testing"
)

// The first request names the files of a small workspace, once in a session; of a
// larger one what is at its top.
func TestLayoutIsTold(t *testing.T) {
	r := newRig(t, "== a\nHi.\n== b\nHo.\n", map[string]string{"b.go": "", "sub/a.go": "", ".gitignore": "build\n", "build/x": ""})
	r.turn("go")
	if text := r.last()[0].Text; !strings.Contains(text, "The files of the workspace, without ignored ones:\n.gitignore\nb.go\nsub/a.go\n") {
		t.Errorf("%q", text)
	}
	r.turn("more")
	all := ""
	for _, m := range r.last() {
		all += m.Text
	}
	if strings.Count(all, "The files of the workspace") != 1 {
		t.Errorf("%q", all)
	}

	files := map[string]string{"go.mod": ""}
	for i := range 200 {
		files[fmt.Sprintf("app/f%d.go", i)] = ""
	}
	r = newRig(t, "== a\nHi.\n", files)
	r.turn("go")
	if text := r.last()[0].Text; !strings.Contains(text, "The workspace has 201 files, without ignored ones. At its top:\napp/ (200)\ngo.mod\n") {
		t.Errorf("%q", text)
	}
}
