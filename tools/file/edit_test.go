package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEdit(t *testing.T) {
	for _, c := range []struct {
		name, before, old, new string
		all                    bool
		want                   string
		n                      int
		err                    error
	}{
		{"once", "a b c", "b", "x", false, "a x c", 1, nil},                                          // FILE-44
		{"none", "a", "b", "x", false, "", 0, ErrOldStringNotFound},                                  // FILE-45
		{"twice", "b b", "b", "x", false, "", 0, ErrOldStringNotUnique},                              // FILE-45
		{"all", "b b", "b", "x", true, "x x", 2, nil},                                                // FILE-45
		{"overlap", "aaa", "aa", "b", false, "", 0, ErrOldStringNotUnique},                           // FILE-48
		{"overlap, all", "aaa", "aa", "b", true, "ba", 1, nil},                                       // FILE-48
		{"new holds old", "a a", "a", "aa", true, "aa aa", 2, nil},                                   // E17
		{"delete", "abc", "b", "", false, "ac", 1, nil},                                              // FILE-46
		{"empty old", "a", "", "x", false, "", 0, ErrOldStringRequired},                              // FILE-46, E15
		{"empty old, empty file", "", "", "x", false, "", 0, ErrOldStringRequired},                   // E15
		{"equal", "a", "a", "a", false, "", 0, ErrNoChange},                                          // FILE-46, E14
		{"literal", "x", "x", "$1 \\1 %s & \x00\r", false, "$1 \\1 %s & \x00\r", 1, nil},             // E18
		{"no final newline", "a\nb", "b", "c", false, "a\nc", 1, nil},                                // E13
		{"BOM", "\ufeffa\n", "a", "b", false, "\ufeffb\n", 1, nil},                                   // E12
		{"other bytes", "a\xe9\x00\xff\nb", "b", "c", false, "a\xe9\x00\xff\nc", 1, nil},             // F7
		{"CRLF", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", false, "x\r\ny\r\nz\r\nc\r\n", 1, nil},    // FILE-48, E11
		{"CRLF, one line", "a\r\nb\r\n", "b", "b\nc", false, "a\r\nb\r\nc\r\n", 1, nil},              // FILE-48
		{"CRLF, last line", "a\r\nb", "b", "b\nc", false, "a\r\nb\r\nc", 1, nil},                     // FILE-48
		{"CRLF, start and end", "a\r\nb\r\nc", "\nb\n", "\n", false, "a\r\nc", 1, nil},               // FILE-48
		{"CRLF as sent", "a\r\nb\r\n", "a\r\nb", "a\nb", false, "a\nb\r\n", 1, nil},                  // E18
		{"mixed", "a\nb\r\nc\nd\r\n", "b\nc\n", "b\nx\nc\n", false, "a\nb\r\nx\r\nc\nd\r\n", 1, nil}, // E11
		{"mixed, LF span", "a\nb\nc\r\n", "a\nb", "x\ny", false, "x\ny\nc\r\n", 1, nil},              // E11
		{"both ends", "a\nb\r\na\r\nb\n", "a\nb", "x", false, "", 0, ErrOldStringNotUnique},          // FILE-48
		{"both ends, all", "a\nb\r\na\r\nb\n", "a\nb", "x\ny", true, "x\ny\r\nx\r\ny\n", 2, nil},     // FILE-48
		{"only the line end", "a\r\nb", "a\nb", "ab", false, "ab", 1, nil},
		{"LF in a CRLF file stays", "a\r\nb\nc\r\n", "c", "c\nd", false, "a\r\nb\nc\r\nd\r\n", 1, nil}, // E11
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := tree(t, map[string]string{"f": c.before})
			out, err := edit(t, EditInput{"f", c.old, c.new, c.all}, WithWorkingDirectory(ws))
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			want := c.want
			if err != nil {
				want = c.before
			} else if out.Replacements != c.n {
				t.Errorf("%d replacements, want %d", out.Replacements, c.n)
			}
			if got := content(t, filepath.Join(ws, "f")); got != want {
				t.Errorf("file is %q, want %q", got, want)
			}
		})
	}
}

// The result of an edit names the lines of what was put in.
func TestEditNamesLines(t *testing.T) {
	for _, c := range []struct {
		name, before string
		edits        []Edit
		want         []int
	}{
		{"one", "a\nb\nc\n", []Edit{{"c", "x", false}}, []int{3}},
		{"all", "x\ny\nx x\n", []Edit{{"x", "z\nz", true}}, []int{1, 4, 5}},
		{"many", strings.Repeat("x\n", 50), []Edit{{"x", "z", true}}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"CRLF", "a\r\nb\r\nc\r\n", []Edit{{"b\nc", "b\nx\nc", false}}, []int{2}},
		{"deleted at the end", "a\nb\n", []Edit{{"b\n", "", false}}, []int{1}},
		{"all deleted", "a\n", []Edit{{"a\n", "", false}}, []int{1}},
		{"above moves below", "a\nb\nc\n", []Edit{{"c", "C\nC", false}, {"a", "0\na", false}}, []int{1, 4}},
		{"below moves nothing", "a\nb\nc\n", []Edit{{"a", "0\na", false}, {"c", "C", false}}, []int{1, 4}},
		{"one within another", "a\nb\nc\n", []Edit{{"b", "x\ny", false}, {"a\nx\ny", "z", false}}, []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := tree(t, map[string]string{"f": c.before, "g": c.before})
			out, err := multiEdit(t, MultiEditInput{"f", c.edits}, WithWorkingDirectory(ws))
			if err != nil || !slices.Equal(out.Lines, c.want) {
				t.Fatalf("%+v, %v, want lines %v", out, err, c.want)
			}
			if e := c.edits[0]; len(c.edits) == 1 {
				if out, err = edit(t, EditInput{"g", e.OldString, e.NewString, e.ReplaceAll}, WithWorkingDirectory(ws)); err != nil || !slices.Equal(out.Lines, c.want) {
					t.Errorf("edit: %+v, %v, want lines %v", out, err, c.want)
				}
			}
		})
	}
}

// E11, E12, F7: the bytes outside of what is replaced stay, whatever they are: in
// memory, and in the file that the tool writes.
func TestEditKeepsBytes(t *testing.T) {
	rapid.Check(t, editKeepsBytes)
	ws := tree(t, nil)
	path := filepath.Join(ws, "f")
	tool := must(NewEditTool(WithWorkingDirectory(ws)))
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.SliceOf(rapid.Byte()).Draw(rt, "before")
		old := rapid.StringMatching(`[a-z\n]{1,4}`).Draw(rt, "old")
		text := rapid.String().Draw(rt, "new")
		at := rapid.IntRange(0, len(before)).Draw(rt, "at")
		before = slices.Insert(before, at, []byte(old)...)
		if err := os.WriteFile(path, before, 0o644); err != nil {
			rt.Fatal(err)
		}
		want, done, err := replace(before, Edit{OldString: old, NewString: text})
		_, callErr := tool.handle(context.Background(), &EditInput{FilePath: "f", OldString: old, NewString: text})
		if (err == nil) != (callErr == nil) {
			rt.Fatalf("%v, the call: %v", err, callErr)
		}
		if err != nil {
			want = before
		}
		got := must(os.ReadFile(path))
		if !bytes.Equal(got, want) {
			rt.Fatalf("%q became %q, want %q", before, got, want)
		}
		if s := patchAt(done); err == nil && (!bytes.Equal(got[:s.start], before[:s.start]) || !bytes.HasSuffix(got, before[s.end:])) {
			rt.Fatalf("%q became %q, outside of %v too", before, got, s)
		}
	})
}

// patchAt is what the only replacement took out.
func patchAt(done []patch) (old span) {
	if len(done) == 1 {
		old = done[0].old
	}
	return old
}

func FuzzEditKeepsBytes(f *testing.F) { f.Fuzz(rapid.MakeFuzz(editKeepsBytes)) }

func editKeepsBytes(rt *rapid.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "\n", "\r\n", "\r", " ", "\t", "\x00", "\xff", "\xe9", "é", "\ufeff", "\u00a0", "word", "}\n"})
	text := func(rt *rapid.T, label string, most int) string {
		return strings.Join(rapid.SliceOfN(piece, 0, most).Draw(rt, label), "")
	}
	head, old, tail := text(rt, "head", 12), text(rt, "old", 4), text(rt, "tail", 12)
	sent := old
	if rapid.Bool().Draw(rt, "as read shows it") {
		sent = strings.ReplaceAll(old, "\r\n", "\n")
	}
	before := head + old + tail
	e := Edit{OldString: sent, NewString: text(rt, "new", 5)}
	after, done, err := replace([]byte(before), e)
	if err != nil {
		if sent != "" && errors.Is(err, ErrOldStringNotFound) && !strings.Contains(sent, "\r") {
			rt.Fatalf("%q was not found in %q", sent, before)
		}
		return
	}
	spans := find([]byte(before), sent)
	if len(done) != 1 || len(spans) != 1 || done[0].old != spans[0] {
		rt.Fatalf("%v replaced, at %v", done, spans)
	}
	s := spans[0]
	if !bytes.HasPrefix(after, []byte(before[:s.start])) || !bytes.HasSuffix(after, []byte(before[s.end:])) || len(after) < len(before)-(s.end-s.start) {
		rt.Fatalf("%q became %q, outside of %d-%d too", before, after, s.start, s.end)
	}
	middle := string(after[s.start : len(after)-(len(before)-s.end)])
	if string(after[done[0].new.start:done[0].new.end]) != middle {
		rt.Fatalf("%q was put in at %v of %q", middle, done[0].new, after)
	}
	if flat := strings.NewReplacer("\r\n", "\n"); flat.Replace(middle) != flat.Replace(e.NewString) {
		rt.Fatalf("%q was put in for %q", middle, e.NewString)
	}
	if string(before[s.start:s.end]) != sent && strings.ReplaceAll(before[s.start:s.end], "\r\n", "\n") != sent {
		rt.Fatalf("%q was replaced for %q", before[s.start:s.end], sent)
	}
}

// FILE-49, FILE-50, FILE-51, FILE-52; E19, E20
func TestMultiEdit(t *testing.T) {
	type edits []Edit
	for _, c := range []struct {
		name, before string
		edits        edits
		want         string
		n            int
		err          error
		text         string
	}{
		{"chain", "A", edits{{"A", "B", false}, {"B", "C", false}}, "C", 2, nil, ""},                                                         // FILE-49
		{"second fails", "A", edits{{"A", "B", false}, {"X", "C", false}}, "A", 0, ErrOldStringNotFound, "edit 2 of 2"},                      // FILE-50
		{"third fails", "A A", edits{{"A", "B", true}, {"B", "C", true}, {"C", "D", false}}, "A A", 0, ErrOldStringNotUnique, "edit 3 of 3"}, // FILE-50
		{"cancel out", "A", edits{{"A", "B", false}, {"B", "A", false}}, "A", 0, ErrNoChange, ""},                                            // FILE-52
		{"empty", "A", edits{}, "A", 0, ErrEditsRequired, ""},                                                                                // FILE-49
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := tree(t, map[string]string{"f": c.before})
			was := must(os.Stat(filepath.Join(ws, "f")))
			var changes []Change
			out, err := multiEdit(t, MultiEditInput{"f", c.edits}, WithWorkingDirectory(ws), WithOnWrite(func(_ context.Context, ch Change) { changes = append(changes, ch) }))
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Fatalf("error %v, want %v %q", err, c.err, c.text)
			}
			if got := content(t, filepath.Join(ws, "f")); got != c.want {
				t.Errorf("file is %q, want %q", got, c.want)
			}
			now := must(os.Stat(filepath.Join(ws, "f")))
			if err == nil && (out.Replacements != c.n || len(changes) != 1 || string(changes[0].Before) != c.before) { // FILE-51
				t.Errorf("%+v, %+v", out, changes)
			}
			if err != nil && (len(changes) != 0 || !now.ModTime().Equal(was.ModTime()) || !os.SameFile(was, now)) { // FILE-50
				t.Error("a failed call touched the file or called the hook")
			}
		})
	}
	var many []Edit
	var text strings.Builder
	for i := range 10_000 {
		many = append(many, Edit{OldString: fmt.Sprintf("<%d>", i), NewString: fmt.Sprintf("[%d]", i)})
		fmt.Fprintf(&text, "<%d>", i)
	}
	ws := tree(t, map[string]string{"f": text.String()})
	if out, err := multiEdit(t, MultiEditInput{"f", many}, WithWorkingDirectory(ws)); err != nil || out.Replacements != 10_000 { // E20
		t.Errorf("10,000 edits: %+v, %v", out, err)
	}
}

// FILE-47
func TestEditMissing(t *testing.T) {
	ws := tree(t, nil)
	if _, err := edit(t, EditInput{FilePath: "a/b", OldString: "x", NewString: "y"}, WithWorkingDirectory(ws)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if names(t, ws) != "" {
		t.Error("something was made:", names(t, ws))
	}
}

// FILE-14, FILE-18
func TestEditSizes(t *testing.T) {
	ws := tree(t, map[string]string{"nine": "123456789", "eleven": "12345678901"})
	opts := []Option{WithWorkingDirectory(ws), WithMaxFileSize(10)}
	if _, err := edit(t, EditInput{FilePath: "nine", OldString: "1", NewString: "twelve bytes"}, opts...); err != nil {
		t.Error(err)
	}
	if _, err := edit(t, EditInput{FilePath: "eleven", OldString: "2", NewString: "x"}, opts...); !errors.Is(err, ErrFileTooLarge) {
		t.Errorf("edit: %v", err)
	}
	if _, err := multiEdit(t, MultiEditInput{"eleven", []Edit{{OldString: "2", NewString: "x"}}}, opts...); !errors.Is(err, ErrFileTooLarge) {
		t.Errorf("multi_edit: %v", err)
	}
	if err := write(t, WriteInput{FilePath: "eleven", Content: "more than ten bytes"}, opts...); err != nil {
		t.Errorf("write has no limit: %v", err)
	}
}

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

// FILE-60, FILE-61, FILE-62, FILE-63, FILE-64, FILE-65, FILE-66, FILE-67, FILE-68; E22
func TestTracker(t *testing.T) {
	tracker := NewReadTracker()
	var ws string
	opts := func() []Option { return []Option{WithWorkingDirectory(ws), WithReadTracker(tracker)} } // FILE-60
	at := func(name string) string { return filepath.Join(ws, name) }
	readIt := func(in ReadInput) func() error {
		return func() error { _, err := read(t, in, opts()...); return err }
	}
	doEdit := func() error {
		_, err := edit(t, EditInput{FilePath: "f", OldString: "one", NewString: "two"}, opts()...)
		return err
	}
	back := func() error {
		_, err := multiEdit(t, MultiEditInput{"f", []Edit{{OldString: "two", NewString: "one"}}}, opts()...)
		return err
	}
	doWrite := func() error { return write(t, WriteInput{FilePath: "f", Content: "two\n"}, opts()...) }
	put := func(text string) func() error {
		return func() error { return os.WriteFile(at("f"), []byte(text), 0o644) }
	}
	sameTime := func() error { // other bytes, same size, same time
		was := must(os.Stat(at("f")))
		return errors.Join(os.WriteFile(at("f"), []byte("one\nX\n"), 0o644), os.Chtimes(at("f"), was.ModTime(), was.ModTime()))
	}
	whole := readIt(ReadInput{FilePath: "f"})
	changed := &ChangedError{}
	for _, c := range []struct {
		name  string
		steps []func() error
		want  any // of the last step: nil, an error to match, or changed
	}{
		{"unread edit", []func() error{doEdit}, ErrFileNotRead},                                // FILE-61
		{"unread write", []func() error{doWrite}, ErrFileNotRead},                              // FILE-61
		{"unread multi_edit", []func() error{back}, ErrFileNotRead},                            // FILE-61
		{"read, edit", []func() error{whole, doEdit}, nil},                                     // FILE-61
		{"read, write", []func() error{whole, doWrite}, nil},                                   // FILE-61
		{"changed", []func() error{whole, put("one\nmore\n"), doEdit}, changed},                // FILE-62
		{"changed, read again", []func() error{whole, put("one\nmore\n"), whole, doEdit}, nil}, // FILE-62
		{"same size and time", []func() error{whole, sameTime, doEdit}, changed},               // FILE-62
		{"touched", []func() error{whole, func() error {
			return os.Chtimes(at("f"), must(os.Stat(at("dir"))).ModTime().AddDate(0, 1, 0), must(os.Stat(at("dir"))).ModTime().AddDate(0, 1, 0))
		}, doEdit}, nil}, // FILE-62
		{"same bytes, new file", []func() error{whole, func() error { return os.Remove(at("f")) }, put("one\n2\n"), doEdit}, nil},
		{"own changes", []func() error{whole, doEdit, back, doEdit, back}, nil},                                                                                                                  // FILE-64
		{"new file, then edit", []func() error{func() error { return os.Remove(at("f")) }, func() error { return write(t, WriteInput{FilePath: "f", Content: "one"}, opts()...) }, doEdit}, nil}, // FILE-63, FILE-64
		{"reset", []func() error{whole, func() error { tracker.Reset(); return nil }, doEdit}, ErrFileNotRead},                                                                                   // FILE-65
		{"partial read", []func() error{readIt(ReadInput{FilePath: "f", Offset: 2, Limit: 1}), doEdit}, nil},                                                                                     // FILE-66
		{"grep is no read", []func() error{func() error { _, err := grep(t, GrepInput{Pattern: "one"}, opts()...); return err }, doEdit}, ErrFileNotRead},                                        // FILE-66
		{"glob is no read", []func() error{func() error { _, err := glob(t, GlobInput{Pattern: "*"}, opts()...); return err }, doEdit}, ErrFileNotRead},                                          // FILE-66
		{"failed read", []func() error{func() error { _, _ = read(t, ReadInput{FilePath: "f", Offset: -1}, opts()...); return nil }, doEdit}, ErrFileNotRead},                                    // FILE-66
		{"through a link", []func() error{readIt(ReadInput{FilePath: "link"}), doEdit}, nil},                                                                                                     // FILE-67
		{"another spelling", []func() error{readIt(ReadInput{FilePath: "./dir/../f"}), doEdit}, nil},                                                                                             // FILE-67
		{"deleted, write", []func() error{whole, func() error { return os.Remove(at("f")) }, doWrite}, nil},                                                                                      // FILE-68
		{"deleted, edit", []func() error{whole, func() error { return os.Remove(at("f")) }, doEdit}, fs.ErrNotExist},                                                                             // FILE-68
		{"replaced by a link", []func() error{whole, func() error { return errors.Join(os.Remove(at("f")), os.Symlink("other", at("f"))) }, doEdit}, ErrFileNotRead},                             // E22
		{"seen", []func() error{func() error { tracker.Seen(at("f"), []byte("one\n2\n")); return nil }, doEdit}, nil},
		{"seen otherwise", []func() error{func() error { tracker.Seen(at("f"), []byte("another\n")); return nil }, doEdit}, changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			tracker.Reset()
			ws = tree(t, map[string]string{"f": "one\n2\n", "link": "-> f", "dir/": "", "other": "one\n"})
			var err error
			for i, step := range c.steps {
				if err = step(); err != nil && i < len(c.steps)-1 {
					t.Fatalf("step %d: %v", i+1, err)
				}
			}
			var got *ChangedError
			switch want := c.want.(type) {
			case nil:
				if err != nil {
					t.Error(err)
				}
			case *ChangedError:
				if !errors.As(err, &got) || got.Path != at("f") || len(got.Hunks) == 0 {
					t.Errorf("error %v, want a *ChangedError with a diff", err)
				}
			case error:
				if !errors.Is(err, want) {
					t.Errorf("error %v, want %v", err, want)
				}
			}
		})
	}
}

func TestChangedErrorText(t *testing.T) {
	before := []byte("a\nb\nc\nd\ne\n")
	err := &ChangedError{Path: "/w/f", Hunks: Hunks(before, []byte("a\nb\nX\nd\ne\n"), 1)}
	want := "/w/f changed on disk after it was read; nothing was written. Read it again, then decide anew.\n@@ line 2 @@\n b\n-c\n+X\n d"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	long := &ChangedError{Path: "/w/f", Hunks: Hunks(nil, []byte(strings.Repeat(strings.Repeat("x", 999)+"\n", 1000)), 1)}
	if n := len(long.Error()); n > 7000 || !strings.HasSuffix(long.Error(), "[more changes are not shown]") {
		t.Errorf("the diff of a large change has %d bytes", n)
	}
}

// The contents that a tracker keeps are bounded; what it knows is not lost with them.
func TestTrackerMemory(t *testing.T) {
	tracker := NewReadTracker()
	ws := tree(t, map[string]string{"f": "x"})
	info := must(os.Stat(filepath.Join(ws, "f")))
	data := bytes.Repeat([]byte("x"), keptFile)
	for i := range 3 * keptTotal / keptFile {
		tracker.Seen(fmt.Sprint(i), data)
	}
	if tracker.bytes > keptTotal || len(tracker.kept) > keptTotal/keptFile {
		t.Errorf("%d bytes are kept", tracker.bytes)
	}
	if err := tracker.check("0", data, info); err != nil {
		t.Errorf("the oldest is forgotten: %v", err)
	}
	var changed *ChangedError
	if err := tracker.check("0", []byte("other"), info); !errors.As(err, &changed) {
		t.Errorf("error %v", err)
	}
}
