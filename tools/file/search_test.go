package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// FILE-86
func TestSearchLinks(t *testing.T) {
	top := tree(t, map[string]string{
		"ws/f": "needle", "ws/in": "-> f", "ws/out": "-> ../out/x", "ws/ro": "-> ../ro/y", "ws/dangling": "-> nowhere", "ws/dir": "-> ../out", "ws/real/g": "needle", "ws/dirin": "-> real",
		"ws/loop": "-> loop", "out/x": "needle", "ro/y": "needle",
	})
	ws := filepath.Join(top, "ws")
	for _, c := range []struct {
		opts []Option
		want string
	}{
		{nil, "f in real/g"},
		{[]Option{WithReadOnlyRoots(filepath.Join(top, "ro"))}, "f in real/g ro"},
	} {
		opts := append([]Option{WithWorkingDirectory(ws)}, c.opts...)
		if got := found(t, ws, "**", opts...); strings.Join(got, " ") != c.want {
			t.Errorf("glob: %q, want %q", got, c.want)
		}
		if got := must(grep(t, GrepInput{Pattern: "needle"}, opts...)).Output; strings.Join(got, " ") != c.want {
			t.Errorf("grep: %q, want %q", got, c.want)
		}
	}
}

func TestGrep(t *testing.T) {
	no := false
	ws := tree(t, map[string]string{
		"a.go": "package a\n\nfunc One() {}\n\n\n\nfunc Two() {}\n", "b.txt": "One\r\ntwo\r\n", "sub/c.go": "x\nOne <b> & \"q\"\ny\n", "bin": "One\x00", "late": strings.Repeat("x", 9000) + "\x00One\n",
		"empty": "", "bom": "\ufeffOne\n", "weird:1:x": "One\n", "latin": "One caf\xe9\n",
	})
	odd := `"weird:1:x"`
	for _, c := range []struct {
		in   GrepInput
		want []string
	}{
		{GrepInput{Pattern: "One"}, []string{"a.go", "b.txt", "bom", "late", "latin", "sub/c.go", "weird:1:x"}}, // FILE-91, FILE-93
		{GrepInput{Pattern: "One", Glob: "*.go"}, []string{"a.go", "sub/c.go"}},
		{GrepInput{Pattern: "One", Glob: "sub/**"}, []string{"sub/c.go"}},
		{GrepInput{Pattern: "One", Glob: "!*.go", Type: "txt"}, []string{"b.txt"}},
		{GrepInput{Pattern: "One", Type: "go", OutputMode: "count"}, []string{"a.go:1", "sub/c.go:1"}},
		{GrepInput{Pattern: "func", Path: "a.go", OutputMode: "count"}, []string{"a.go:2"}},
		{GrepInput{Pattern: "One", Path: "sub", OutputMode: "content"}, []string{"sub/c.go" + `:2:One <b> & "q"`}}, // FILE-96
		{GrepInput{Pattern: "One", Path: "sub", OutputMode: "content", N: &no}, []string{"sub/c.go" + `:One <b> & "q"`}},
		{GrepInput{Pattern: "one", Path: "a.go", I: true, OutputMode: "content"}, []string{"a.go:3:func One() {}"}},
		{GrepInput{Pattern: "func", Path: "a.go", OutputMode: "content", C: 1}, []string{"a.go-2-", "a.go:3:func One() {}", "a.go-4-", "--", "a.go-6-", "a.go:7:func Two() {}"}},
		{GrepInput{Pattern: "func", Path: "a.go", OutputMode: "content", B: 3}, []string{"a.go-1-package a", "a.go-2-", "a.go:3:func One() {}", "a.go-4-", "a.go-5-", "a.go-6-", "a.go:7:func Two() {}"}},
		{GrepInput{Pattern: "package", Path: "a.go", OutputMode: "content", A: 1}, []string{"a.go:1:package a", "a.go-2-"}},
		{GrepInput{Pattern: "^One$", Path: "b.txt", OutputMode: "content"}, []string{"b.txt:1:One"}},
		{GrepInput{Pattern: "^One", Path: "bom"}, []string{"bom"}},
		{GrepInput{Pattern: "One", Path: "weird:1:x", OutputMode: "content"}, []string{odd + ":1:One"}}, // F14
		{GrepInput{Pattern: "One", Path: "latin", OutputMode: "content"}, []string{"latin" + `:1:One caf\xe9`}},
		{GrepInput{Pattern: `One.*\n.*two`, Multiline: true, Path: "b.txt"}, []string{"b.txt"}},
		{GrepInput{Pattern: `One.*Two`, Multiline: true, Path: "a.go", OutputMode: "content"}, []string{"a.go:3:func One() {}", "a.go:4:", "a.go:5:", "a.go:6:", "a.go:7:func Two() {}"}},
		{GrepInput{Pattern: `One.*Two`, Path: "a.go"}, []string{}},
		{GrepInput{Pattern: `[^a]One`, Path: "b.txt"}, []string{}}, // no line end is matched
		{GrepInput{Pattern: "", Path: "empty"}, nil},
		{GrepInput{Pattern: "x*", Path: "sub/c.go", OutputMode: "count"}, []string{"sub/c.go:3"}}, // F12: matches the empty string
		{GrepInput{Pattern: "x*", Path: "empty", OutputMode: "count"}, []string{}},
		{GrepInput{Pattern: "$", Path: "sub/c.go", OutputMode: "content", Multiline: true, HeadLimit: 1}, []string{"sub/c.go:1:x"}},
		{GrepInput{Pattern: "(a+)+$", Path: "sub"}, []string{}}, // F12
	} {
		got, err := grep(t, c.in, WithWorkingDirectory(ws))
		if got == nil {
			got = &GrepOutput{}
		}
		if c.want == nil {
			if !errors.Is(err, ErrPatternRequired) {
				t.Errorf("%+v: %v", c.in, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Output, c.want) {
			t.Errorf("%+v: %v\ngot  %q\nwant %q", c.in, err, got.Output, c.want)
		}
	}
	for _, bad := range []struct {
		in   GrepInput
		want error
	}{
		{GrepInput{Pattern: "("}, nil}, {GrepInput{Pattern: `a\C`}, nil}, {GrepInput{Pattern: "(?=a)"}, nil},
		{GrepInput{Pattern: "x", OutputMode: "lines"}, ErrInvalidOutputMode},                                        // FILE-91
		{GrepInput{Pattern: "x", A: 1}, ErrContextFlagsRequireContentMode},                                          // FILE-96
		{GrepInput{Pattern: "x", OutputMode: "count", C: 1}, ErrContextFlagsRequireContentMode},                     // FILE-96
		{GrepInput{Pattern: "x", Type: "klingon"}, nil},                                                             // FILE-97
		{GrepInput{Pattern: "x", HeadLimit: -1}, nil}, {GrepInput{Pattern: "x", OutputMode: "content", B: -1}, nil}, // FILE-92
		{GrepInput{Pattern: "x", Path: "/etc"}, ErrPathOutsideWorkingDirectory}, // FILE-03
		{GrepInput{Pattern: "x", Path: "absent"}, os.ErrNotExist}, {GrepInput{Pattern: "x", Glob: "["}, nil},
		{GrepInput{Pattern: strings.Repeat("(a*b)", 200_000)}, nil}, // F12
	} {
		if got, err := grep(t, bad.in, WithWorkingDirectory(ws)); err == nil || bad.want != nil && !errors.Is(err, bad.want) {
			t.Errorf("%.60v: %v, %v, want %v", bad.in, got, err, bad.want)
		}
	}
}

// FILE-92
func TestGrepHeadLimit(t *testing.T) {
	ws := tree(t, map[string]string{"f": strings.Repeat("x\n", 10)})
	for _, c := range []struct{ head, n int }{{0, 5}, {3, 3}, {5, 5}, {50, 5}} {
		got := must(grep(t, GrepInput{Pattern: "x", OutputMode: "content", HeadLimit: c.head}, WithWorkingDirectory(ws), WithMaxResults(5)))
		if len(got.Output) != c.n || !got.Truncated {
			t.Errorf("head_limit %d: %d entries, truncated %t", c.head, len(got.Output), got.Truncated)
		}
	}
	if got := must(grep(t, GrepInput{Pattern: "x", OutputMode: "content", HeadLimit: 10}, WithWorkingDirectory(ws))); len(got.Output) != 10 || got.Truncated {
		t.Errorf("%d entries, truncated %t", len(got.Output), got.Truncated)
	}
	// FILE-95
	got := must(grep(t, GrepInput{Pattern: "x", OutputMode: "content"}, WithWorkingDirectory(ws), WithMaxOutputChars(3*len("f:1:x\n"))))
	if len(got.Output) != 3 || !got.Truncated {
		t.Errorf("%d entries, truncated %t", len(got.Output), got.Truncated)
	}
}

// FILE-94; F6
func TestGrepLongLines(t *testing.T) {
	long := strings.Repeat("é", 3<<20/2)
	ws := tree(t, map[string]string{
		"min.js": strings.Repeat("a", 700_000) + "needle" + strings.Repeat("b", 300_000), "huge": "needle" + long + "\n" + long + "needle" + long + "\nneedle\n", "early": "needle" + strings.Repeat("x", 2000),
	})
	got := must(grep(t, GrepInput{Pattern: "needle", OutputMode: "content"}, WithWorkingDirectory(ws), WithMaxOutputChars(0)))
	if len(got.Output) != 5 {
		t.Fatalf("%d entries", len(got.Output))
	}
	for _, e := range got.Output {
		if !strings.Contains(e, "needle") || len(e) > 1400 || !regexp.MustCompile(`line clipped|:3:needle$`).MatchString(e) {
			t.Errorf("%d bytes: %.200s", len(e), e)
		}
	}
	if n := len(got.Output[4]); n > 1024 {
		t.Errorf("the entry of min.js has %d bytes", n)
	}
}

// Blocks do not show: what is found in a large file is what is found in its lines.
func TestGrepBlocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "needle", "", "beta needle", strings.Repeat("x", 3000), "é", "b\r"}), 1, 300).Draw(rt, "words")
		after, before := rapid.IntRange(0, 3).Draw(rt, "after"), rapid.IntRange(0, 3).Draw(rt, "before")
		m, err := compileMatcher("needle", false, false)
		if err != nil {
			rt.Fatal(err)
		}
		s := &searcher{query: &query{matcher: m, mode: modeContent, numbers: true, before: before, after: after}, buf: make([]byte, 4096)}
		got, _ := s.search(context.Background(), "f", strings.NewReader(strings.Join(words, "\n")))
		show := map[int]byte{}
		for i, w := range words {
			if strings.Contains(w, "needle") {
				for j := max(0, i-before); j <= min(len(words)-1, i+after); j++ {
					if show[j] == 0 {
						show[j] = '-'
					}
				}
				show[i] = ':'
			}
		}
		var want []string
		last := -1
		for i, w := range words {
			if show[i] == 0 || i == len(words)-1 && w == "" {
				continue
			}
			if last >= 0 && last < i-1 && before+after > 0 {
				want = append(want, "--")
			}
			last = i
			want = append(want, fmt.Sprintf("f%c%d%c%s", show[i], i+1, show[i], clipLine([]byte(strings.TrimSuffix(w, "\r")), 0)))
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("got  %.80q\nwant %.80q", got, want)
		}
	})
}

// The same lines as ripgrep in a part of Go's library.
func TestGrepLikeRipgrep(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		needTool(t, "rg")
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		needTool(t, "go")
	}
	root := must(filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(goroot)), "src/text")))
	matched := 0
	for _, c := range []struct {
		pattern string
		fold    bool
	}{
		{"func", false}, {`func \(\w+ \*?\w+\) \w+\(`, false}, {`^\s*return nil, fmt\.Errorf`, false}, {`\berr(or)?s?\.New\(`, false}, {"todo|fixme", true}, {`[A-Z]\w+Error`, false},
		{`^$`, false}, {`\bthe\b`, true}, {`[^\x00-\x7f]`, false}, {"e$", false}, {`(?i)package\s+file`, false}, {"x{3,}", false}, {`\t+\}$`, false}, {"日本", false}, {"k", true}, {`^(package|import)\b`, false},
		{`[[:upper:]]{4,}`, false}, {`"[^"]{30,}"`, false}, {".", false}, {`\x{2014}`, false}, {`a.*b.*c.*d`, false}, {`\d+\.\d+`, false},
	} {
		args := []string{"-n", "--no-heading", "--hidden", "--no-config", "--sort", "path", "--crlf", "-g", "!.git", "--no-ignore-global", "--no-ignore-exclude", "--no-ignore-parent"}
		if c.fold {
			args = append(args, "-i")
		}
		cmd := exec.Command(rg, append(args, "-e", c.pattern, root)...)
		out, err := cmd.Output()
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
			t.Fatalf("%s: %v", c.pattern, err)
		}
		want := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
		got := must(grep(t, GrepInput{Pattern: c.pattern, I: c.fold, Path: root, OutputMode: "content"}, WithMaxResults(0), WithMaxOutputChars(0)))
		place := func(lines []string) map[string]bool {
			places := map[string]bool{}
			for _, l := range lines {
				f := strings.SplitN(l, ":", 3)
				if len(f) == 3 {
					places[f[0]+":"+f[1]] = true
				}
			}
			return places
		}
		g, w := place(got.Output), place(want)
		for p := range g {
			if !w[p] {
				t.Errorf("%s: only we find %s", c.pattern, p)
			}
		}
		for p := range w {
			if !g[p] {
				t.Errorf("%s: only ripgrep finds %s", c.pattern, p)
			}
		}
		if len(g) > 0 {
			matched++
		}
	}
	if matched < 15 {
		t.Errorf("only %d patterns match anything here", matched)
	}
}

// Decision: every tool takes a path of a grep as it is, and outside of the working
// directory it is absolute.
func TestGrepPaths(t *testing.T) {
	top := tree(t, map[string]string{"ws/a/f": "needle", "ws/~": "needle", "ws/~user/g": "needle", "ro/x": "needle"})
	ws, ro := filepath.Join(top, "ws"), filepath.Join(top, "ro")
	opts := []Option{WithWorkingDirectory(ws), WithReadOnlyRoots(ro)}
	for path, want := range map[string]string{
		"": "a/f ./~ ./~user/g", "a": "a/f", "a/f": "a/f", "~user": "./~user/g", "./~": "./~", filepath.Join(ws, "a"): "a/f", ro: filepath.Join(ro, "x"), filepath.Join(ro, "x"): filepath.Join(ro, "x"),
	} {
		got := must(grep(t, GrepInput{Pattern: "needle", Path: path}, opts...)).Output
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
		for _, p := range got {
			if text, err := read(t, ReadInput{FilePath: p}, opts...); err != nil || text != "     1\tneedle" {
				t.Errorf("read of %q: %q, %v", p, text, err)
			}
		}
	}
	if got := must(grep(t, GrepInput{Pattern: "needle", Path: filepath.Join(ws, "a")})).Output; !slices.Equal(got, []string{filepath.Join(ws, "a/f")}) {
		t.Errorf("without a working directory: %q", got)
	}
}

// FILE-76: results come in path order; decision: also across directories.
func TestGrepPathOrder(t *testing.T) {
	files := map[string]string{}
	for _, d := range []string{"", "a/", "a/b/", "a-b/", "a.b/", "b/", "a/z/y/"} {
		for i := range 40 {
			files[fmt.Sprintf("%sf%d", d, i)] = "x"
		}
		files[d+"a.go"] = "x"
	}
	ws := tree(t, files)
	for range 5 {
		got := must(grep(t, GrepInput{Pattern: "x"}, WithWorkingDirectory(ws), WithMaxOutputChars(0)))
		if len(got.Output) != len(files) || !slices.IsSorted(got.Output) {
			t.Fatalf("%d of %d, sorted %t", len(got.Output), len(files), slices.IsSorted(got.Output))
		}
		first := must(grep(t, GrepInput{Pattern: "x", HeadLimit: 17}, WithWorkingDirectory(ws)))
		if !slices.Equal(first.Output, got.Output[:17]) || !first.Truncated {
			t.Fatalf("the first 17 are %q", first.Output)
		}
	}
}

// FILE-89
func TestSearchCancelled(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f", i)] = strings.Repeat("some text to search\n", 2000)
	}
	ws := tree(t, files)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, tool := range must(allTools(WithWorkingDirectory(ws))) {
		if name != "glob" && name != "grep" {
			continue
		}
		if _, err := tool.Handle(ctx, `{"pattern":"d*/f"}`); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		late, stop := context.WithTimeout(context.Background(), time.Millisecond)
		_, err := tool.Handle(late, `{"pattern":"[a-z]+[b-y]+z+q|{a,b}"}`)
		stop()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FILE-97; F10
func TestSearchUnreadable(t *testing.T) {
	ws := tree(t, map[string]string{"a/f": "x", "closed/f": "x", "g": "x", "h": "x"})
	if err := errors.Join(os.Chmod(filepath.Join(ws, "closed"), 0), os.Chmod(filepath.Join(ws, "g"), 0)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(ws, "closed"), 0o755)
	want := 2
	if os.Geteuid() == 0 {
		want = 4
	}
	if got, err := grep(t, GrepInput{Pattern: "x"}, WithWorkingDirectory(ws)); err != nil || len(got.Output) != want {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := glob(t, GlobInput{Pattern: "**"}, WithWorkingDirectory(ws)); err != nil {
		t.Error(err)
	}
}

// F10: depth, and names that are not UTF-8 (C9).
func TestSearchOddTrees(t *testing.T) {
	ws := tree(t, map[string]string{"top": "x"})
	deep := ws
	for range 60 {
		deep = filepath.Join(deep, strings.Repeat("d", 50))
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "bottom"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "bad\xffname"), []byte("x"), 0o644); err != nil {
		t.Skip("the file system takes UTF-8 only:", err)
	}
	got := must(glob(t, GlobInput{Pattern: "**"}, WithWorkingDirectory(ws)))
	if len(got.Paths) != 3 || !slices.Contains(got.Paths, filepath.Join(ws, `bad\xffname`)) {
		t.Errorf("%q", got.Paths)
	}
	if _, err := read(t, ReadInput{FilePath: `bad\xffname`}, WithWorkingDirectory(ws)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the escaped name: %v", err)
	}
	if got := must(grep(t, GrepInput{Pattern: "x"}, WithWorkingDirectory(ws))); len(got.Output) != 3 {
		t.Errorf("%q", got.Output)
	}
}

// Results that are thrown away for lack of memory are found again.
func TestGrepSearchesAgain(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = "needle\n"
		files[fmt.Sprintf("g%d", i)] = "needle\n"
	}
	ws := tree(t, files)
	tool := must(NewGrepTool(WithWorkingDirectory(ws)))
	var all [2][]string
	for i, held := range []int64{1 << 20, 0} {
		q, err := tool.query(&GrepInput{Pattern: "needle", OutputMode: modeContent})
		if err != nil {
			t.Fatal(err)
		}
		q.held = held
		w, err := tool.opts.newWalk(ws, ws)
		if err != nil {
			t.Fatal(err)
		}
		w.want = func(string, string) bool { return true }
		c := &collector{}
		err = searchTree(context.Background(), w, q, c)
		w.close()
		if err != nil {
			t.Fatal(err)
		}
		all[i] = c.out
	}
	if len(all[0]) != len(files) || !slices.Equal(all[0], all[1]) {
		t.Errorf("%d and %d entries of %d", len(all[0]), len(all[1]), len(files))
	}
}

// A panic in a worker reaches the caller, and the other workers end.
func TestPoolPanics(t *testing.T) {
	p := newPool(context.Background())
	for range 100 {
		p.push(func(int) {}, func(int) { panic("in a task") })
	}
	p.start()
	defer func() {
		if r := recover(); r != "in a task" {
			t.Errorf("recovered %v", r)
		}
	}()
	p.wait()
	t.Error("the panic is lost")
}
