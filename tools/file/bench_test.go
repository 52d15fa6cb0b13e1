//go:build unix

package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// run measures another program with the same job.
func run(b *testing.B, name string, args ...string) {
	b.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		b.Skipf("%s is not here", name)
	}
	var cpu time.Duration
	for b.Loop() {
		cmd := exec.Command(path, args...)
		cmd.Stdout = io.Discard
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			b.Fatal(err)
		}
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// measure runs a call of ours, and reports its time on the processors too: on a
// busy machine that is the better figure.
func measure(b *testing.B, call func() error) {
	b.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	for b.Loop() {
		if err := call(); err != nil {
			b.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys>>20), "MB")
	b.ReportMetric(float64((used()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func BenchmarkGrep(b *testing.B) {
	for _, tree := range []struct{ name, root, rare, common string }{
		{"modcache", goDir(b, "GOMODCACHE"), "errBadComparison", "ReadAll"},
		{"goroot", filepath.Join(goDir(b, "GOROOT"), "src"), "errBadComparison", "ReadAll"},
		{"generated", bigTree(b, 20_000), "ZEBRA_NEEDLE", "name69"},
	} {
		for _, c := range []struct {
			name, pattern string
			fold          bool
		}{
			{"rare literal", tree.rare, false}, {"common literal", tree.common, false}, {"func", `func \w+\(`, false},
			{"literal in regexp", `func \(\w+ \*?\w+\) ServeHTTP\(`, false}, {"fold with literal", tree.rare, true}, {"fold, regexp", `todo\(\w+\)`, true},
			{"no literal", `[a-z]+[0-9]+[A-Z][a-z]+[0-9]`, false},
		} {
			b.Run(tree.name+"/"+c.name+"/agent", func(b *testing.B) {
				tool := must(NewGrepTool(WithWorkingDirectory(tree.root), WithMaxResults(0), WithMaxOutputChars(0)))
				measure(b, func() error {
					_, err := call(b, tool.Tool(), GrepInput{Pattern: c.pattern, I: c.fold, OutputMode: modeContent})
					return err
				})
			})
			b.Run(tree.name+"/"+c.name+"/rg", func(b *testing.B) {
				args := []string{"-n", "--no-heading", "--no-config", "--hidden", "-g", "!.git", c.pattern, tree.root}
				if c.fold {
					args = append(args, "-i")
				}
				run(b, "rg", args...)
			})
		}
		b.Run(tree.name+"/default cap/agent", func(b *testing.B) {
			tool := must(NewGrepTool(WithWorkingDirectory(tree.root)))
			measure(b, func() error {
				_, err := call(b, tool.Tool(), GrepInput{Pattern: `func \w+\(`, OutputMode: modeContent})
				return err
			})
		})
	}
}

func BenchmarkGlob(b *testing.B) {
	for _, tree := range []struct{ name, root string }{
		{"goroot", filepath.Join(goDir(b, "GOROOT"), "src")}, {"generated", bigTree(b, 20_000)}, {"modcache", goDir(b, "GOMODCACHE")},
	} {
		b.Run(tree.name+"/agent", func(b *testing.B) {
			tool := must(NewGlobTool(WithWorkingDirectory(tree.root)))
			measure(b, func() error {
				_, err := call(b, tool.Tool(), GlobInput{Pattern: "**/*.go"})
				return err
			})
		})
		b.Run(tree.name+"/fd", func(b *testing.B) {
			name := "fd"
			if _, err := exec.LookPath(name); err != nil {
				name = "fdfind"
			}
			run(b, name, "--hidden", "--exclude", ".git", "-e", "go", ".", tree.root)
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

func BenchmarkEdit10MB(b *testing.B) {
	ws := must(filepath.EvalSymlinks(b.TempDir()))
	text, _ := manyLines(260_000, 0)
	text = append(text[:10<<20-100], "the one place\n"...)
	if err := os.WriteFile(filepath.Join(ws, "f"), text, 0o644); err != nil {
		b.Fatal(err)
	}
	tracker := NewReadTracker()
	tracker.Seen(filepath.Join(ws, "f"), text)
	tool := must(NewEditTool(WithWorkingDirectory(ws), WithReadTracker(tracker)))
	in := []EditInput{{FilePath: "f", OldString: "the one place", NewString: "the 1 place"}, {FilePath: "f", OldString: "the 1 place", NewString: "the one place"}}
	b.Run("preview", func(b *testing.B) {
		measure(b, func() error {
			_, err := tool.Preview(&in[0])
			return err
		})
	})
	b.Run("edit", func(b *testing.B) {
		i := 0
		measure(b, func() error {
			i++
			_, err := tool.handle(context.Background(), &in[(i-1)%2])
			return err
		})
	})
}
