//go:build unix

package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// goDir returns a directory that the go command names.
func goDir(b *testing.B, name string) string {
	b.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		needTool(b, "go")
	}
	return must(filepath.EvalSymlinks(strings.TrimSpace(string(out))))
}

// bigTree makes n files of source text in nested directories with .gitignore files,
// and as many that are ignored. It is kept in the system's temporary directory.
func bigTree(b *testing.B, n int) string {
	b.Helper()
	root := filepath.Join(must(filepath.EvalSymlinks(os.TempDir())), fmt.Sprintf("phero-bench-tree-%d", n))
	if _, err := os.Stat(filepath.Join(root, "done")); err == nil {
		return root
	}
	rnd := rand.New(rand.NewSource(7))
	var err error
	put := func(path, text string) {
		path = filepath.Join(root, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	put(".git/HEAD", "ref: refs/heads/main\n")
	put(".gitignore", "*.log\n/build/\nnode_modules/\n!keep.log\n**/gen/*.pb.go\n")
	for i := range n {
		dir := fmt.Sprintf("src/m%02d/p%02d/q%d", i/1000, i/100%10, i/20%5)
		if i%100 == 0 {
			put(fmt.Sprintf("src/m%02d/p%02d/.gitignore", i/1000, i/100%10), "tmp*\n/local\n*.o\n!important.o\n")
		}
		var text strings.Builder
		for k := range 20 + rnd.Intn(140) {
			if k%9 == 0 {
				fmt.Fprintf(&text, "func name%d(w%03x int) { return w%03x + x }\n", rnd.Intn(700), rnd.Intn(700), rnd.Intn(700))
			} else {
				fmt.Fprintf(&text, "\tw%03x name%d w%03x value w%03x\n", rnd.Intn(700), rnd.Intn(700), rnd.Intn(700), rnd.Intn(700))
			}
		}
		if i%6667 == 5 {
			text.WriteString("// ZEBRA_NEEDLE is here\n")
		}
		put(fmt.Sprintf("%s/f%d%s", dir, i, []string{".go", ".ts", ".py", ".md"}[i%4]), text.String())
		put(fmt.Sprintf("node_modules/m%d/f%d.js", i/50, i), text.String())
		if i%10 == 0 {
			put(fmt.Sprintf("%s/x%d.log", dir, i), text.String())
		}
	}
	put("done", "")
	if err != nil {
		b.Fatal(err)
	}
	return root
}

// bigTreeFiles is how many files of the generated tree are not ignored; as many are.
const bigTreeFiles = 50_000

// duel runs a job of ours and another program's in turn, checks that both find as
// much, and reports the medians and how many times as long ours takes. The time on the
// processors is reported too: on a busy machine that is the better figure.
func duel(b *testing.B, ours func() (found int), name string, args ...string) {
	b.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		needTool(b, name)
	}
	var mine, theirs, myCPU, theirCPU []time.Duration
	for b.Loop() {
		var out bytes.Buffer
		cmd := exec.Command(path, args...)
		cmd.Stdout = &out
		start := time.Now()
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(start))
		theirCPU = append(theirCPU, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		used := processorTime(b)
		start = time.Now()
		found := ours()
		mine = append(mine, time.Since(start))
		myCPU = append(myCPU, processorTime(b)-used)
		if lines := bytes.Count(out.Bytes(), []byte("\n")); found >= 0 && found != lines {
			b.Errorf("we find %d, %s finds %d", found, name, lines)
		}
	}
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(milliseconds(median(mine)), "agent-ms")
	b.ReportMetric(milliseconds(median(theirs)), name+"-ms")
	b.ReportMetric(milliseconds(median(mine))/milliseconds(median(theirs)), "ratio")
	b.ReportMetric(milliseconds(median(myCPU))/milliseconds(median(theirCPU)), "cpu-ratio")
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// processorTime is what this process has used on all processors.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkGrep is run with -benchtime=7x, for medians of seven.
func BenchmarkGrep(b *testing.B) {
	for _, tree := range []struct{ name, root, rare, common string }{
		{"goroot", filepath.Join(goDir(b, "GOROOT"), "src"), "errBadComparison", "ReadAll"},
		{"generated", bigTree(b, bigTreeFiles), "ZEBRA_NEEDLE", "name69"},
		{"modcache", goDir(b, "GOMODCACHE"), "errBadComparison", "ReadAll"},
	} {
		// A PDF can have its first NUL late: where rg then stops, we go on (FILE-93).
		rg := []string{"-n", "--no-heading", "--no-config", "--hidden", "--no-require-git", "--no-ignore-dot", "--no-ignore-global", "--no-ignore-exclude", "-g", "!{.git,.hg,.svn,node_modules}", "-g", "!*.pdf"}
		for _, c := range []struct {
			name, pattern string
			fold          bool
		}{
			{"rare literal", tree.rare, false},
			{"common literal", tree.common, false},
			{"literal in regexp", `func \(\w+ \*?\w+\) ServeHTTP\(`, false},
			{"fold with literal", tree.rare, true},
			{"no literal", `[a-z]+[0-9]+[A-Z][a-z]+[0-9]`, false},
		} {
			b.Run(tree.name+"/"+c.name, func(b *testing.B) {
				tool := must(NewGrepTool(WithWorkingDirectory(tree.root), WithMaxResults(0), WithMaxOutputChars(0)))
				args := append(slices.Clone(rg), "-e", c.pattern, tree.root)
				if c.fold {
					args = append(args, "-i")
				}
				duel(b, func() int {
					return len(must(call(b, tool.Tool(), GrepInput{Pattern: c.pattern, I: c.fold, Glob: "!*.pdf", OutputMode: modeContent})).(*GrepOutput).Output)
				}, "rg", args...)
			})
		}
		b.Run(tree.name+"/default cap", func(b *testing.B) {
			tool := must(NewGrepTool(WithWorkingDirectory(tree.root)))
			duel(b, func() int {
				must(call(b, tool.Tool(), GrepInput{Pattern: `func \w+\(`, OutputMode: modeContent}))
				return -1
			}, "rg", append(slices.Clone(rg), "-e", `func \w+\(`, tree.root)...)
		})
	}
}

// BenchmarkGlob is run with -benchtime=7x. Outside of a repository fd follows no
// ignore rules: there both are told to.
func BenchmarkGlob(b *testing.B) {
	for _, tree := range []struct {
		name, root string
		opts       []Option
		args       []string
	}{
		{"goroot", filepath.Join(goDir(b, "GOROOT"), "src"), nil, nil},
		{"generated", bigTree(b, bigTreeFiles), nil, nil},
		{"modcache", goDir(b, "GOMODCACHE"), []Option{WithNoIgnore()}, []string{"--no-ignore"}},
	} {
		b.Run(tree.name, func(b *testing.B) {
			tool := must(NewGlobTool(append(tree.opts, WithWorkingDirectory(tree.root), WithMaxResults(0), WithMaxOutputChars(0))...))
			fd := "fd"
			if _, err := exec.LookPath(fd); err != nil {
				fd = "fdfind"
			}
			duel(b, func() int {
				return len(must(call(b, tool.Tool(), GlobInput{Pattern: "**/*.go"})).(*GlobOutput).Paths)
			}, fd, append(tree.args, "--hidden", "--exclude", "{.git,.hg,.svn,node_modules}", "--type", "f", "--glob", "*.go", tree.root)...)
		})
	}
}

func BenchmarkHunks(b *testing.B) {
	for _, c := range []struct{ lines, changes int }{{5000, 50}, {20_000, 500}, {20_000, 20_000}, {200_000, 1}} {
		before, after := manyLines(c.lines, c.changes)
		b.Run(fmt.Sprintf("%d lines, %d changes", c.lines, c.changes), func(b *testing.B) {
			for b.Loop() {
				Hunks(before, after, 3)
			}
		})
	}
}

// tenMB is a text of nearly the largest size that an edit takes.
func tenMB() []byte {
	text, _ := manyLines(300_000, 0)
	return text[:min(len(text), int(DefaultMaxFileSize)-100)]
}

func BenchmarkEdit10MB(b *testing.B) {
	ws := must(filepath.EvalSymlinks(b.TempDir()))
	text := append(tenMB(), "the one place\n"...)
	if err := os.WriteFile(filepath.Join(ws, "f"), text, 0o644); err != nil {
		b.Fatal(err)
	}
	tracker := NewReadTracker()
	tracker.Seen(filepath.Join(ws, "f"), text)
	tool := must(NewEditTool(WithWorkingDirectory(ws), WithReadTracker(tracker)))
	in := []EditInput{{FilePath: "f", OldString: "the one place", NewString: "the 1 place"}, {FilePath: "f", OldString: "the 1 place", NewString: "the one place"}}
	b.Run("preview", func(b *testing.B) {
		for b.Loop() {
			must(tool.Preview(&in[0]))
		}
	})
	b.Run("edit", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			must(tool.handle(context.Background(), &in[i%2]))
		}
	})
}

// BenchmarkCancel reports how long calls still run after their context has ended.
func BenchmarkCancel(b *testing.B) {
	ws := must(filepath.EvalSymlinks(b.TempDir()))
	if err := os.WriteFile(filepath.Join(ws, "f"), tenMB(), 0o644); err != nil {
		b.Fatal(err)
	}
	large := WithWorkingDirectory(bigTree(b, bigTreeFiles))
	one := WithWorkingDirectory(ws)
	for name, run := range map[string]func(context.Context) error{
		"grep": func(ctx context.Context) error {
			_, err := must(NewGrepTool(large)).handle(ctx, &GrepInput{Pattern: `[a-z]+[0-9]+[A-Z][a-z]+[0-9]{3}Q`})
			return err
		},
		"grep, multiline": func(ctx context.Context) error {
			_, err := must(NewGrepTool(one)).handle(ctx, &GrepInput{Pattern: `line[^Q]*calls[^Q]*[QZ]`, Multiline: true})
			return err
		},
		"glob": func(ctx context.Context) error {
			_, err := must(NewGlobTool(large, WithNoIgnore())).handle(ctx, &GlobInput{Pattern: "**"})
			return err
		},
		"read": func(ctx context.Context) error {
			_, err := must(NewReadTool(one, WithMaxOutputChars(0))).handle(ctx, &ReadInput{FilePath: "f"})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			var stops []time.Duration
			for b.Loop() {
				ctx, cancel := context.WithCancel(context.Background())
				ended := make(chan error)
				go func() { ended <- run(ctx) }()
				select {
				case err := <-ended:
					b.Fatalf("it ended before it was cancelled: %v", err)
				case <-time.After(10 * time.Millisecond):
				}
				start := time.Now()
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					b.Fatal(err)
				}
				stops = append(stops, time.Since(start))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(median(stops).Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(slices.Max(stops).Microseconds())/1000, "most-ms")
		})
	}
}
