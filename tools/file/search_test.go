package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

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
	// What lies deeper than a path can say is passed over.
	at := must(os.OpenRoot(ws))
	for range 1500 {
		if err := at.Mkdir("abc", 0o755); err != nil {
			t.Fatal(err)
		}
		next := must(at.OpenRoot("abc"))
		at.Close()
		at = next
	}
	at.Close()
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

// F10: a large folder is searched part by part, and nothing is lost or found twice.
func TestSearchParts(t *testing.T) {
	files := map[string]string{".gitignore": "ignored*\n"}
	for i := range 100 {
		files[fmt.Sprint("f", i)] = "x"
		files[fmt.Sprint("ignored", i)] = "x"
		files[fmt.Sprintf("d%d/g", i)] = "x"
		files[fmt.Sprintf("d%d.go", i)] = "x"
	}
	ws := tree(t, files)
	gl, gr := must(NewGlobTool(WithWorkingDirectory(ws))), must(NewGrepTool(WithWorkingDirectory(ws)))
	for _, most := range []int{1, 7, 99, 200, 1000} {
		gl.opts.maxListed, gr.opts.maxListed = most, most
		paths := must(gl.handle(t.Context(), &GlobInput{Pattern: "**"})).Paths
		if slices.Sort(paths); len(paths) != 301 || len(slices.Compact(paths)) != 301 {
			t.Errorf("%d at once: glob finds %d files", most, len(paths))
		}
		if got := must(gr.handle(t.Context(), &GrepInput{Pattern: "x"})).Output; len(got) != 300 || !slices.IsSorted(got) || len(slices.Compact(got)) != 300 {
			t.Errorf("%d at once: grep finds %d files, sorted %t", most, len(got), slices.IsSorted(got))
		}
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
