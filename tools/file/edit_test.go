package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	// F4: what is held whole is bounded, whatever the file system says is there.
	sparse := filepath.Join(ws, "sparse")
	if err := errors.Join(os.WriteFile(sparse, nil, 0o644), os.Truncate(sparse, 10<<30)); err != nil {
		t.Skip("no sparse files here:", err)
	}
	if _, err := edit(t, EditInput{FilePath: "sparse", OldString: "x", NewString: "y"}, WithWorkingDirectory(ws)); !errors.Is(err, ErrFileTooLarge) {
		t.Errorf("edit of 10 GiB: %v", err)
	}
	if err := write(t, WriteInput{FilePath: "sparse", Content: "x"}, WithWorkingDirectory(ws)); !errors.Is(err, ErrFileTooLarge) {
		t.Errorf("write over 10 GiB: %v", err)
	}
	if err := write(t, WriteInput{FilePath: "eleven", Content: "more than ten bytes"}, opts...); err != nil {
		t.Errorf("write has no limit: %v", err)
	}
}
