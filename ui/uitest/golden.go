package uitest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files below testdata anew")

// Golden compares the screen and its cursor to testdata/<name>.screen. With
// -update it writes the file.
func (s *Screen) Golden(name string) {
	s.t.Helper()
	x, y, shown := s.Cursor()
	cursor := "hidden"
	if shown {
		cursor = fmt.Sprintf("%d,%d", x, y)
	}
	Golden(s.t, name+".screen", s.Text()+"cursor "+cursor+"\n")
}

// Golden compares got to testdata/<name>. With -update it writes the file.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update to write it\ngot\n%s", err, got)
	}
	if want := strings.ReplaceAll(string(data), "\r\n", "\n"); got != want {
		t.Errorf("%s differs\n%s", path, differences(want, got))
	}
}

// differences shows both texts line by line, marked where they differ.
func differences(want, got string) string {
	var b strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var wl, gl string
		if i < len(w) {
			wl = w[i]
		}
		if i < len(g) {
			gl = g[i]
		}
		if wl == gl {
			fmt.Fprintf(&b, "      %s\n", gl)
			continue
		}
		fmt.Fprintf(&b, "want  %s\n got  %s\n", wl, gl)
	}
	return b.String()
}
