package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"
)

// FILE-76
func TestGlobNewestFirst(t *testing.T) {
	ws := tree(t, map[string]string{"a": "", "b": "", "c": "", "sub/d": "", "e": ""})
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"c", "sub/d", "a", "b"} { // a and b have one time
		at := day.AddDate(0, 0, min(i, 2))
		if err := os.Chtimes(filepath.Join(ws, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{filepath.Join(ws, "e"), filepath.Join(ws, "a"), filepath.Join(ws, "b"), filepath.Join(ws, "sub/d"), filepath.Join(ws, "c")}
	for n := range 7 { // FILE-20, FILE-88: the newest are kept
		got, err := glob(t, GlobInput{Pattern: "**"}, WithWorkingDirectory(ws), WithMaxResults(n))
		most := n
		if n == 0 || n > len(want) {
			most = len(want)
		}
		if err != nil || !slices.Equal(got.Paths, want[:most]) || got.Truncated != (most < len(want)) {
			t.Errorf("at most %d: %+v, %v", n, got, err)
		}
	}
	// FILE-87
	size := len(want[0]) + len(want[1]) + 2
	for chars, n := range map[int]int{size: 2, size - 1: 1, size + 1: 2, 1: 0} {
		got := must(glob(t, GlobInput{Pattern: "**"}, WithWorkingDirectory(ws), WithMaxOutputChars(chars)))
		if len(got.Paths) != n || !got.Truncated {
			t.Errorf("%d characters: %+v", chars, got)
		}
	}
}

// FILE-20
func TestGlobDefaultCap(t *testing.T) {
	files := map[string]string{}
	for i := range DefaultMaxResults + 1 {
		files[fmt.Sprint("f", i)] = "x"
	}
	ws := tree(t, files)
	opts := []Option{WithWorkingDirectory(ws), WithMaxOutputChars(0)}
	if got := must(glob(t, GlobInput{Pattern: "*"}, opts...)); len(got.Paths) != DefaultMaxResults || !got.Truncated {
		t.Errorf("%d paths, truncated %t", len(got.Paths), got.Truncated)
	}
	if got := must(grep(t, GrepInput{Pattern: "x"}, opts...)); len(got.Output) != DefaultMaxResults || !got.Truncated {
		t.Errorf("%d entries, truncated %t", len(got.Output), got.Truncated)
	}
	os.Remove(filepath.Join(ws, "f0"))
	if got := must(glob(t, GlobInput{Pattern: "*"}, opts...)); len(got.Paths) != DefaultMaxResults || got.Truncated { // FILE-88
		t.Errorf("%d paths, truncated %t", len(got.Paths), got.Truncated)
	}
	if got := must(grep(t, GrepInput{Pattern: "x"}, opts...)); len(got.Output) != DefaultMaxResults || got.Truncated {
		t.Errorf("%d entries, truncated %t", len(got.Output), got.Truncated)
	}
}

// FILE-77; F13
func TestGlobPatterns(t *testing.T) {
	top := tree(t, map[string]string{
		"ws/a.go": "", "ws/b.md": "", "ws/sub/c.go": "", "ws/sub/deep/d.go": "", "ws/sub/deep/e_test.go": "", "ws/x/y/z": "", "ws/{b}": "", "ws/[s]/f": "", "ws/.hid/h.go": "", "out/o.go": "",
	})
	ws := filepath.Join(top, "ws")
	for _, c := range []struct{ pattern, path, want string }{
		{"*.go", "", "a.go"},
		{"**/*.go", "", ".hid/h.go a.go sub/c.go sub/deep/d.go sub/deep/e_test.go"}, // FILE-77, FILE-85
		{"sub/**", "", "sub/c.go sub/deep/d.go sub/deep/e_test.go"},
		{"sub/*", "", "sub/c.go"},
		{"**/deep/*", "", "sub/deep/d.go sub/deep/e_test.go"},
		{"s?b/*.go", "", "sub/c.go"},
		{"[ab].{go,md}", "", "a.go b.md"},
		{"[!a].*", "", "b.md"},
		{"{a,sub/c}.go", "", "a.go sub/c.go"},
		{"{sub,x}/**", "", "sub/c.go sub/deep/d.go sub/deep/e_test.go x/y/z"},
		{"*.go", "sub", "sub/c.go"},
		{"a.go", "", "a.go"},
		{`\{b\}`, "", "{b}"},
		{`\[s\]/*`, "", "[s]/f"},
		{"./sub/*.go", "", "sub/c.go"},
		{"sub/../*.md", "", "b.md"},
		{filepath.Join(ws, "sub/*.go"), "", "sub/c.go"},
		{"none/*.go", "", ""},
		{"**/*_test.go", "", "sub/deep/e_test.go"},
	} {
		got, err := glob(t, GlobInput{Pattern: c.pattern, Path: c.path}, WithWorkingDirectory(ws))
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		var rel []string
		for _, p := range got.Paths {
			rel = append(rel, must(filepath.Rel(ws, p)))
		}
		slices.Sort(rel)
		if strings.Join(rel, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.pattern, rel, c.want)
		}
	}
	for _, bad := range []struct {
		in   GlobInput
		want error
	}{
		{GlobInput{Pattern: ""}, ErrPatternRequired},
		{GlobInput{Pattern: "["}, nil}, {GlobInput{Pattern: "{a"}, nil}, {GlobInput{Pattern: `a\`}, nil},
		{GlobInput{Pattern: "../*"}, ErrPathOutsideWorkingDirectory},
		{GlobInput{Pattern: "../../*"}, ErrPathOutsideWorkingDirectory},
		{GlobInput{Pattern: filepath.Join(top, "out/*")}, ErrPathOutsideWorkingDirectory},
		{GlobInput{Pattern: "*/../../out/*"}, nil}, {GlobInput{Pattern: "**/../.."}, nil},
		{GlobInput{Pattern: "*", Path: "../out"}, ErrPathOutsideWorkingDirectory},
		{GlobInput{Pattern: "*", Path: "a.go"}, nil}, {GlobInput{Pattern: "*", Path: "absent"}, os.ErrNotExist},
		{GlobInput{Pattern: strings.Repeat("a", 5000)}, nil},
	} {
		if got, err := glob(t, bad.in, WithWorkingDirectory(ws)); err == nil || bad.want != nil && !errors.Is(err, bad.want) {
			t.Errorf("%+v: %v, %v, want %v", bad.in, got, err, bad.want)
		}
	}
	many := strings.Repeat("{a,b}", 30) + "{*,**}" + strings.Repeat("*", 30) + "z" // no exponential time
	if got, err := glob(t, GlobInput{Pattern: many}, WithWorkingDirectory(ws)); err != nil || len(got.Paths) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// Our patterns mean what doublestar's do.
func TestGlobLikeDoublestar(t *testing.T) {
	atom := rapid.SampledFrom([]string{"a", "b", "ab", "*", "**", "?", "/", "[ab]", "[!a/]", "[a-c]", "{a,b}", "{a,?}", "{ab,b/a}", "**/", "/**/", `\*`, "."})
	name := rapid.SampledFrom([]string{"a", "b", "ab", "/", "*", "c", "."})
	rapid.Check(t, func(rt *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(atom, 1, 6).Draw(rt, "pattern"), "")
		path := strings.Trim(strings.Join(rapid.SliceOfN(name, 1, 6).Draw(rt, "path"), ""), "/")
		if path == "" || strings.Contains(path, "//") || strings.Contains(pattern, "//") || strings.Contains(pattern, "***") || strings.HasSuffix(pattern, "/") {
			return
		}
		like := pattern
		if strings.HasSuffix(pattern, "/**") {
			like += "/*" // what is inside, as git and bash have it; doublestar takes the directory itself too
		}
		want, err := doublestar.Match(like, path)
		if err != nil {
			return
		}
		g, err := compileGlob(pattern)
		if err != nil {
			rt.Fatal(err)
		}
		if got := g.match(path); got != want {
			rt.Fatalf("%q on %q: %t, doublestar says %t", pattern, path, got, want)
		}
	})
}
