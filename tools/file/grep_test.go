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

	"pgregory.net/rapid"
)

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
