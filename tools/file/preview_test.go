package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// previewer is a tool with its Preview, over arguments as the model sends them.
type previewer struct {
	preview func(args string) (*Change, error)
	handle  func(args string) (any, error)
}

// previewers makes the three writing tools with one set of options.
func previewers(opts ...Option) map[string]previewer {
	w, e, m := must(NewWriteTool(opts...)), must(NewEditTool(opts...)), must(NewMultiEditTool(opts...))
	ctx := context.Background()
	return map[string]previewer{
		"write":      {func(a string) (*Change, error) { return w.Preview(decoded[WriteInput](a)) }, func(a string) (any, error) { return w.Tool().Handle(ctx, a) }},
		"edit":       {func(a string) (*Change, error) { return e.Preview(decoded[EditInput](a)) }, func(a string) (any, error) { return e.Tool().Handle(ctx, a) }},
		"multi_edit": {func(a string) (*Change, error) { return m.Preview(decoded[MultiEditInput](a)) }, func(a string) (any, error) { return m.Tool().Handle(ctx, a) }},
	}
}

// decoded decodes arguments as a dialog does (FILE-58).
func decoded[T any](args string) *T {
	var in T
	if err := json.Unmarshal([]byte(args), &in); err != nil {
		panic(err)
	}
	return &in
}

// FILE-54, FILE-55, FILE-56, FILE-57, FILE-58; E26
func TestPreviewIsTheCall(t *testing.T) {
	files := map[string]string{
		"read": "one two two\n", "unread": "x", "stale": "old\n", "crlf": "a\r\nb\r\n", "big": strings.Repeat("x", 200), "dir/": "", "out": "-> /etc/hostname", "x.sh": "#!/bin/sh\n",
	}
	for _, c := range []struct{ tool, args string }{
		{"write", `{"file_path":"new","content":"text"}`},
		{"write", `{"file_path":"a/b/c","content":"text"}`},
		{"write", `{"FILE_path":"read","Content":"text"}`},
		{"write", `{"file_path":"read","file_path":"new2","content":"text"}`},
		{"write", `{"file_path":"unread","content":"text"}`},
		{"write", `{"file_path":"stale","content":"text"}`},
		{"write", `{"file_path":"dir","content":"text"}`},
		{"write", `{"file_path":"out","content":"text"}`},
		{"write", `{"file_path":"../x","content":"text"}`},
		{"write", `{"file_path":"","content":"text"}`},
		{"write", `{"file_path":"read/x","content":"text"}`},
		{"edit", `{"file_path":"read","old_string":"one","new_string":"1"}`},
		{"edit", `{"file_path":"read","OLD_string":"two","new_string":"2","Replace_All":true}`},
		{"edit", `{"file_path":"read","old_string":"two","new_string":"2"}`},
		{"edit", `{"file_path":"read","old_string":"three","new_string":"3"}`},
		{"edit", `{"file_path":"read","old_string":"","new_string":"3"}`},
		{"edit", `{"file_path":"read","old_string":"one","new_string":"one"}`},
		{"edit", `{"file_path":"unread","old_string":"x","new_string":"y"}`},
		{"edit", `{"file_path":"stale","old_string":"old","new_string":"y"}`},
		{"edit", `{"file_path":"absent","old_string":"x","new_string":"y"}`},
		{"edit", `{"file_path":"big","old_string":"x","new_string":"y"}`},
		{"edit", `{"file_path":"crlf","old_string":"a\nb","new_string":"a\nc"}`},
		{"edit", `{"file_path":"x.sh","old_string":"sh","new_string":"bash"}`},
		{"multi_edit", `{"file_path":"read","edits":[{"old_string":"one","new_string":"1"},{"old_string":"1","new_string":"2"}]}`},
		{"multi_edit", `{"file_path":"read","edits":[{"old_string":"one","new_string":"1"},{"old_string":"one","new_string":"2"}]}`},
		{"multi_edit", `{"file_path":"read","edits":[]}`},
	} {
		for _, more := range [][]Option{nil, {WithNoOverwrite()}} {
			ws := tree(t, files)
			tracker := NewReadTracker()
			var hooked []Change
			opts := append([]Option{
				WithWorkingDirectory(ws), WithReadTracker(tracker), WithMaxFileSize(100),
				WithOnWrite(func(_ context.Context, ch Change) { hooked = append(hooked, ch) }),
			}, more...)
			for _, name := range []string{"read", "stale", "crlf", "x.sh"} {
				if _, err := read(t, ReadInput{FilePath: name}, opts...); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.WriteFile(filepath.Join(ws, "stale"), []byte("new\n"), 0o644), os.Chmod(filepath.Join(ws, "x.sh"), 0o755)); err != nil {
				t.Fatal(err)
			}
			listed := names(t, ws)
			tool := previewers(opts...)[c.tool]
			preview, previewErr := tool.preview(c.args)
			if got := names(t, ws); got != listed || len(hooked) != 0 { // FILE-54
				t.Errorf("%s: the preview made %s", c.args, got)
			}
			again, againErr := tool.preview(c.args) // FILE-57
			if !reflect.DeepEqual(preview, again) || fmt.Sprint(previewErr) != fmt.Sprint(againErr) {
				t.Errorf("%s: a second preview differs", c.args)
			}
			_, callErr := tool.handle(c.args)
			if fmt.Sprint(previewErr) != fmt.Sprint(callErr) { // FILE-55, FILE-56
				t.Errorf("%s: the preview fails with\n%v\nthe call with\n%v", c.args, previewErr, callErr)
			}
			for _, class := range []error{ErrFileNotRead, ErrFileExists, ErrOldStringNotFound, ErrOldStringNotUnique, ErrFileTooLarge, ErrPathOutsideWorkingDirectory, fs.ErrNotExist, ErrNoChange} {
				if errors.Is(previewErr, class) != errors.Is(callErr, class) {
					t.Errorf("%s: the errors differ in %v", c.args, class)
				}
			}
			if callErr == nil && (len(hooked) != 1 || !reflect.DeepEqual(*preview, hooked[0]) || content(t, hooked[0].Path) != string(preview.After)) {
				t.Errorf("%s: previewed %+v, written %+v", c.args, preview, hooked)
			}
		}
	}
	if _, err := must(NewWriteTool()).Preview(nil); !errors.Is(err, ErrNilInput) { // FILE-59
		t.Error(err)
	}
	if _, err := must(NewEditTool()).Preview(nil); !errors.Is(err, ErrNilInput) {
		t.Error(err)
	}
	if _, err := must(NewMultiEditTool()).Preview(nil); !errors.Is(err, ErrNilInput) {
		t.Error(err)
	}
}
