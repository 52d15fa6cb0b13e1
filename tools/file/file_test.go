package file

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/tools"
)

// tree makes files below a new directory, and returns it resolved. A name that
// ends in a slash is a directory, a content that begins with "-> " a symlink.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		switch target, link := strings.CutPrefix(content, "-> "); {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// must returns the value of a call that may not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// call runs a tool with its input as the model would send it.
func call(t testing.TB, tool *tools.Tool, in any) (any, error) {
	t.Helper()
	args, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Handle(context.Background(), string(args))
}

func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func read(t testing.TB, in ReadInput, opts ...Option) (string, error) {
	t.Helper()
	res, err := call(t, must(NewReadTool(opts...)).Tool(), in)
	s, _ := res.(string)
	return s, err
}

func write(t testing.TB, in WriteInput, opts ...Option) error {
	t.Helper()
	_, err := call(t, must(NewWriteTool(opts...)).Tool(), in)
	return err
}

func edit(t testing.TB, in EditInput, opts ...Option) (*EditOutput, error) {
	t.Helper()
	res, err := call(t, must(NewEditTool(opts...)).Tool(), in)
	out, _ := res.(*EditOutput)
	return out, err
}

func multiEdit(t testing.TB, in MultiEditInput, opts ...Option) (*EditOutput, error) {
	t.Helper()
	res, err := call(t, must(NewMultiEditTool(opts...)).Tool(), in)
	out, _ := res.(*EditOutput)
	return out, err
}

func glob(t testing.TB, in GlobInput, opts ...Option) (*GlobOutput, error) {
	t.Helper()
	res, err := call(t, must(NewGlobTool(opts...)).Tool(), in)
	out, _ := res.(*GlobOutput)
	return out, err
}

func grep(t testing.TB, in GrepInput, opts ...Option) (*GrepOutput, error) {
	t.Helper()
	res, err := call(t, must(NewGrepTool(opts...)).Tool(), in)
	out, _ := res.(*GrepOutput)
	return out, err
}

// allTools makes the six tools.
func allTools(opts ...Option) (map[string]*tools.Tool, error) {
	r, err1 := NewReadTool(opts...)
	w, err2 := NewWriteTool(opts...)
	e, err3 := NewEditTool(opts...)
	m, err4 := NewMultiEditTool(opts...)
	gl, err5 := NewGlobTool(opts...)
	gr, err6 := NewGrepTool(opts...)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return nil, err
	}
	return map[string]*tools.Tool{
		"read": r.Tool(), "write": w.Tool(), "edit": e.Tool(), "multi_edit": m.Tool(), "glob": gl.Tool(), "grep": gr.Tool(),
	}, nil
}
