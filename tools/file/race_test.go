package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// swap turns a directory of a workspace into a link that leads outside, and back,
// until the returned function is called.
func swap(t *testing.T, ws, outside string) (stop func()) {
	t.Helper()
	d, kept := filepath.Join(ws, "d"), filepath.Join(ws, "kept")
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-quit:
				return
			default:
			}
			_ = os.Rename(d, kept)
			_ = os.Symlink(outside, d)
			_ = os.Remove(d)
			_ = os.Rename(kept, d)
		}
	})
	return func() { close(quit); done.Wait() }
}

// C1, C3: whatever is swapped between check and open, no file is made outside (IMP-25).
func TestSwapWrite(t *testing.T) {
	const outside = "outside, not inside"
	top := tree(t, map[string]string{"ws/d/f": "inside", "ws/d/e": "inside", "out/e": outside})
	ws, out := filepath.Join(top, "ws"), filepath.Join(top, "out")
	stop := swap(t, ws, out)
	defer stop()
	w, e := must(NewWriteTool(WithWorkingDirectory(ws))), must(NewEditTool(WithWorkingDirectory(ws)))
	ok := 0
	for i := range 1000 {
		if _, err := call(t, w.Tool(), WriteInput{FilePath: "d/f", Content: "inside " + strings.Repeat("x", i)}); err == nil {
			ok++
		}
		if _, err := call(t, e.Tool(), EditInput{FilePath: "d/e", OldString: "inside", NewString: fmt.Sprint("inside", i)}); err == nil {
			ok++
		}
		if i%10 > 0 {
			continue
		}
		if _, err := call(t, w.Tool(), WriteInput{FilePath: "d/sub/g", Content: "x"}); err == nil {
			ok++
		}
	}
	if got := names(t, out); got != "e" || content(t, filepath.Join(out, "e")) != outside {
		t.Fatalf("outside are %s, and e is %q", got, content(t, filepath.Join(out, "e")))
	}
	t.Logf("%d of 2100 writes succeeded", ok)
}

// C2
func TestSwapRead(t *testing.T) {
	const secret = "outside secret"
	top := tree(t, map[string]string{"ws/d/f": "inside", "ws/e/f": "inside", "out/f": secret, "out/g": secret})
	ws := filepath.Join(top, "ws")
	stop := swap(t, ws, filepath.Join(top, "out"))
	defer stop()
	opt := WithWorkingDirectory(ws)
	r, gl, gr := must(NewReadTool(opt)), must(NewGlobTool(opt)), must(NewGrepTool(opt))
	for range 1000 {
		if got, _ := call(t, r.Tool(), ReadInput{FilePath: "d/f"}); strings.Contains(toText(got), "secret") {
			t.Fatalf("read %q", got)
		}
		if got, err := call(t, gr.Tool(), GrepInput{Pattern: "inside|secret", OutputMode: modeContent}); err == nil && strings.Contains(toText(got), "secret") {
			t.Fatalf("grep found %v", got)
		}
		if got, err := call(t, gr.Tool(), GrepInput{Pattern: "secret", Path: "d"}); err == nil && len(got.(*GrepOutput).Output) > 0 {
			t.Fatalf("grep found %v", got)
		}
		if got, err := call(t, gl.Tool(), GlobInput{Pattern: "**/g"}); err != nil || len(got.(*GlobOutput).Paths) > 0 {
			t.Fatalf("glob found %v, %v", got, err)
		}
	}
}

func toText(result any) string {
	switch r := result.(type) {
	case string:
		return r
	case *GrepOutput:
		return strings.Join(r.Output, "\n")
	}
	return ""
}

// F5: a file that grows, shrinks and is replaced meanwhile does no harm. An edit
// applies to the content that it saw, or not at all.
func TestFileChangesMeanwhile(t *testing.T) {
	ws := tree(t, map[string]string{"f": "start\n"})
	path := filepath.Join(ws, "f")
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
			}
			switch text := strings.Repeat("line of text\n", i%5000+1); i % 4 {
			case 0, 1:
				_ = os.WriteFile(path, []byte(text), 0o644)
			case 2:
				_ = os.Truncate(path, int64(len(text)/2))
			default:
				_ = os.WriteFile(path+"2", []byte(text), 0o644)
				_ = os.Rename(path+"2", path)
			}
		}
	})
	defer done.Wait()
	defer close(quit)
	opt := WithWorkingDirectory(ws)
	for range 100 {
		if got, err := read(t, ReadInput{FilePath: "f"}, opt); err == nil && !strings.Contains(got, "line") && !strings.Contains(got, "empty") && !strings.Contains(got, "start") {
			t.Fatalf("read %.100q", got)
		}
		if _, err := grep(t, GrepInput{Pattern: "text", OutputMode: modeContent}, opt); err != nil {
			t.Fatal(err)
		}
		_, _ = edit(t, EditInput{FilePath: "f", OldString: "line of text\nline of text\n", NewString: "one line\n", ReplaceAll: true}, opt)
	}
}
