package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/phero-agent/agent/tools"
)

// names lists what is in a directory, hidden names too.
func names(t testing.TB, dir string) string {
	t.Helper()
	var out []string
	for _, e := range must(os.ReadDir(dir)) {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestWrite(t *testing.T) {
	ws := tree(t, map[string]string{"old": "old", "parent": "file", "dir/": "", "bom": "\ufeffx\n", "crlf": "a\r\nb\r\n", "in": "-> real", "real": "r", "dangling": "-> made"})
	opt := WithWorkingDirectory(ws)
	for _, c := range []struct {
		path, content, at, want string
		fails                   bool
	}{
		{"new", "text", "new", "text", false},           // FILE-38
		{"old", "other", "old", "other", false},         // FILE-38
		{"old", "", "old", "", false},                   // FILE-38
		{"a/b/c", "deep", "a/b/c", "deep", false},       // FILE-40, E9
		{"parent/x", "no", "parent", "file", true},      // FILE-40, E10
		{"dir", "no", "", "", true},                     // E10
		{"/", "no", "", "", true},                       // E10
		{"slash/", "no", "", "", true},                  // E10
		{"bom", "y\n", "bom", "\ufeffy\n", false},       // E12
		{"bom", "\ufeffz\n", "bom", "\ufeffz\n", false}, // E12
		{"crlf", "x\ny\n", "crlf", "x\r\ny\r\n", false},
		{"crlf", "x\ny\r\n", "crlf", "x\ny\r\n", false}, // literal, and from now on mixed
		{"crlf", "x\ny\n", "crlf", "x\ny\n", false},
		{"in", "through the link", "real", "through the link", false}, // E4
		{"dangling", "made", "made", "made", false},                   // E4
	} {
		res, err := call(t, must(NewWriteTool(opt)).Tool(), WriteInput{FilePath: c.path, Content: c.content})
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.path, err)
		}
		if c.at != "" && content(t, filepath.Join(ws, c.at)) != c.want {
			t.Errorf("%s holds %q, want %q", c.at, content(t, filepath.Join(ws, c.at)), c.want)
		}
		if out, ok := res.(*WriteOutput); !c.fails && (!ok || out.BytesWritten != len(c.want)) {
			t.Errorf("%s: result %+v", c.path, res) // FILE-38
		}
	}
	for _, l := range []string{"in", "dangling"} {
		if _, err := os.Readlink(filepath.Join(ws, l)); err != nil {
			t.Errorf("%s is no link any more", l) // E4
		}
	}
	if got := names(t, ws); got != "a bom crlf dangling dir in made new old parent real" {
		t.Errorf("left behind: %s", got) // FILE-42
	}
}

// FILE-39; E23
func TestWriteNoOverwrite(t *testing.T) {
	ws := tree(t, map[string]string{"f": "old", "dir/": "", "dangling": "-> nowhere"})
	opts := []Option{WithWorkingDirectory(ws), WithNoOverwrite()}
	for _, path := range []string{"f", "dir", "dangling"} {
		in := WriteInput{FilePath: path, Content: "new"}
		if err := write(t, in, opts...); !errors.Is(err, ErrFileExists) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := must(NewWriteTool(opts...)).Preview(&in); !errors.Is(err, ErrFileExists) {
			t.Errorf("preview of %s: %v", path, err)
		}
	}
	if content(t, filepath.Join(ws, "f")) != "old" || names(t, ws) != "dangling dir f" {
		t.Error("something was written:", names(t, ws))
	}
	// Of two writes of one new file, exactly one wins.
	for range 50 {
		path := filepath.Join(ws, "race")
		var wins [2]error
		var both sync.WaitGroup
		for i := range wins {
			both.Go(func() { wins[i] = write(t, WriteInput{FilePath: path, Content: "x"}, opts...) })
		}
		both.Wait()
		if (wins[0] == nil) == (wins[1] == nil) || !errors.Is(errors.Join(wins[:]...), ErrFileExists) {
			t.Fatalf("two writes of one file: %v, %v", wins[0], wins[1])
		}
		os.Remove(path)
	}
}

// FILE-41; E1
func TestModes(t *testing.T) {
	ws := tree(t, map[string]string{"x": ""})
	opt := WithWorkingDirectory(ws)
	path := filepath.Join(ws, "x")
	for _, mode := range []fs.FileMode{0o755, 0o600, 0o664, 0o755 | fs.ModeSetuid, 0o755 | fs.ModeSticky} {
		if err := errors.Join(os.WriteFile(path, []byte("one"), 0o644), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		mode = must(os.Stat(path)).Mode() // the system may not grant every bit
		if err := write(t, WriteInput{FilePath: "x", Content: "two"}, opt); err != nil {
			t.Fatal(err)
		}
		if got := must(os.Stat(path)).Mode(); got != mode {
			t.Errorf("write made %v of %v", got, mode)
		}
		if _, err := edit(t, EditInput{FilePath: "x", OldString: "two", NewString: "three"}, opt); err != nil {
			t.Fatal(err)
		}
		if got := must(os.Stat(path)).Mode(); got != mode {
			t.Errorf("edit made %v of %v", got, mode)
		}
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := write(t, WriteInput{FilePath: "x", Content: "no"}, opt); !errors.Is(err, fs.ErrPermission) || content(t, path) != "three" {
		t.Errorf("write to a read-only file: %v", err)
	}
	var changes []Change
	hook := WithOnWrite(func(_ context.Context, c Change) { changes = append(changes, c) })
	if err := write(t, WriteInput{FilePath: "fresh", Content: ""}, opt, hook); err != nil {
		t.Fatal(err)
	}
	want := 0o644 &^ umask()
	if got := must(os.Stat(filepath.Join(ws, "fresh"))).Mode(); got != want || changes[0].Perm != want {
		t.Errorf("a new file has %v, the change says %v, want %v", got, changes[0].Perm, want)
	}
}

// FILE-42: a reader never sees half of a file.
func TestWriteIsAtomic(t *testing.T) {
	ws := tree(t, map[string]string{"f": strings.Repeat("a", 1<<20)})
	path := filepath.Join(ws, "f")
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			data, err := os.ReadFile(path)
			if err != nil || len(data) != 1<<20 || strings.Count(string(data), string(data[:1])) != len(data) {
				t.Errorf("a reader saw %d bytes, %v", len(data), err)
				return
			}
		}
	})
	for i := range 20 {
		if err := WriteFileAtomic(path, []byte(strings.Repeat(string(rune('a'+i)), 1<<20)), 0o644); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	reader.Wait()
}

// FILE-43
func TestWriteFileAtomic(t *testing.T) {
	ws := tree(t, map[string]string{"real": "old", "link": "-> real", "dir/": ""})
	for _, mode := range []fs.FileMode{0o666, 0o600, 0o777} {
		path := filepath.Join(ws, "real")
		if err := WriteFileAtomic(filepath.Join(ws, "link"), []byte("new"), mode); err != nil {
			t.Fatal(err)
		}
		if got := must(os.Stat(path)).Mode(); got != mode || content(t, path) != "new" {
			t.Errorf("mode %v, want %v", got, mode)
		}
		fresh := filepath.Join(ws, "fresh"+mode.String())
		if err := WriteFileAtomic(fresh, nil, mode); err != nil || must(os.Stat(fresh)).Mode() != mode {
			t.Errorf("a new file: %v, %v", err, must(os.Stat(fresh)).Mode())
		}
	}
	if _, err := os.Readlink(filepath.Join(ws, "link")); err != nil {
		t.Error("the link is gone")
	}
	if err := WriteFileAtomic(filepath.Join(ws, "no/dir/f"), nil, 0o644); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing parent: %v", err)
	}
	if err := WriteFileAtomic(filepath.Join(ws, "dir"), nil, 0o644); err == nil {
		t.Error("a directory was written")
	}
	long := filepath.Join(ws, strings.Repeat("n", 255)) // E6: there is no room for a suffix
	if err := WriteFileAtomic(long, []byte("x"), 0o644); err != nil || content(t, long) != "x" {
		t.Errorf("a name of 255 bytes: %v", err)
	}
}

// E5; C6
func TestHardLinkBreaks(t *testing.T) {
	top := tree(t, map[string]string{"ws/": "", "outside": "shared"})
	if err := os.Link(filepath.Join(top, "outside"), filepath.Join(top, "ws/x")); err != nil {
		t.Skip("no hard links here:", err)
	}
	if err := write(t, WriteInput{FilePath: "x", Content: "mine"}, WithWorkingDirectory(filepath.Join(top, "ws"))); err != nil {
		t.Fatal(err)
	}
	if content(t, filepath.Join(top, "outside")) != "shared" || content(t, filepath.Join(top, "ws/x")) != "mine" {
		t.Error("the file outside was changed through its second name")
	}
}

// FILE-70, FILE-71, FILE-72, FILE-73, FILE-74, FILE-75
func TestHooks(t *testing.T) {
	ws := tree(t, map[string]string{"f": "one\n", "same": "same"})
	var before, after []Change
	var calls []string
	opts := []Option{
		WithWorkingDirectory(ws),
		WithBeforeWrite(func(_ context.Context, c Change) error {
			if _, err := os.Lstat(filepath.Join(ws, "a")); c.Dirs != nil && err == nil {
				t.Error("a directory was made before the hook")
			}
			before = append(before, c)
			return nil
		}),
		WithOnWrite(func(ctx context.Context, c Change) {
			call, _ := tools.ToolCallFromContext(ctx)
			calls = append(calls, call.ID)
			if content(t, c.Path) != string(c.After) {
				t.Error("the hook runs before the file is written")
			}
			after = append(after, c)
		}),
	}
	ctx := tools.ContextWithToolCall(context.Background(), tools.ToolCall{ID: "call_7"})
	for _, c := range []struct {
		tool *tools.Tool
		args string
	}{
		{must(NewWriteTool(opts...)).Tool(), `{"file_path":"a/b/new","content":"text"}`},
		{must(NewEditTool(opts...)).Tool(), `{"FILE_PATH":"f","old_string":"one","new_string":"two"}`}, // CORE-08
		{must(NewMultiEditTool(opts...)).Tool(), `{"file_path":"f","edits":[{"old_string":"two","new_string":"3"},{"old_string":"3","new_string":"four"}]}`},
	} {
		if _, err := c.tool.Handle(ctx, c.args); err != nil {
			t.Fatal(err)
		}
	}
	perm := 0o644 &^ umask()
	want := []Change{
		{Path: filepath.Join(ws, "a/b/new"), After: []byte("text"), Perm: perm, Dirs: []string{filepath.Join(ws, "a"), filepath.Join(ws, "a/b")}},
		{Path: filepath.Join(ws, "f"), Before: []byte("one\n"), After: []byte("two\n"), Existed: true, Perm: 0o644},
		{Path: filepath.Join(ws, "f"), Before: []byte("two\n"), After: []byte("four\n"), Existed: true, Perm: 0o644}, // FILE-51
	}
	if !reflect.DeepEqual(after, want) || !reflect.DeepEqual(before, want) { // FILE-70, FILE-71
		t.Errorf("changes\n%+v\nbefore\n%+v\nwant\n%+v", after, before, want)
	}
	if strings.Join(calls, " ") != "call_7 call_7 call_7" { // FILE-74
		t.Errorf("calls %v", calls)
	}
	// FILE-72, FILE-75
	same := must(os.Stat(filepath.Join(ws, "same")))
	if err := write(t, WriteInput{FilePath: "same", Content: "same"}, opts...); err != nil || len(after) != 3 {
		t.Errorf("a write that changes nothing: %v, %d changes", err, len(after))
	}
	if now := must(os.Stat(filepath.Join(ws, "same"))); !now.ModTime().Equal(same.ModTime()) || !os.SameFile(now, same) {
		t.Error("a file that stays as it is was written")
	}
	if _, err := edit(t, EditInput{FilePath: "f", OldString: "absent", NewString: "x"}, opts...); err == nil || len(after) != 3 {
		t.Error("the hook was called for a failed edit")
	}
	// FILE-73
	for i := len(after) - 1; i >= 0; i-- {
		c := after[i]
		err := os.Remove(c.Path)
		if c.Existed {
			err = WriteFileAtomic(c.Path, c.Before, c.Perm)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if content(t, filepath.Join(ws, "f")) != "one\n" || names(t, filepath.Join(ws, "a/b")) != "" {
		t.Error("undo did not restore")
	}
}

func TestBeforeWriteStops(t *testing.T) {
	ws := tree(t, map[string]string{"f": "old"})
	refused := errors.New("not what was shown")
	opts := []Option{WithWorkingDirectory(ws), WithBeforeWrite(func(context.Context, Change) error { return refused }), WithOnWrite(func(context.Context, Change) { t.Error("written") })}
	for _, path := range []string{"f", "a/b/c"} {
		if err := write(t, WriteInput{FilePath: path, Content: "new"}, opts...); !errors.Is(err, refused) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if content(t, filepath.Join(ws, "f")) != "old" || names(t, ws) != "f" { // E9
		t.Errorf("the hook's error did not stop the write: %s", names(t, ws))
	}
}

// E24
func TestOnWritePanics(t *testing.T) {
	ws := tree(t, nil)
	tracker := NewReadTracker()
	opts := []Option{WithWorkingDirectory(ws), WithReadTracker(tracker), WithOnWrite(func(context.Context, Change) { panic("hook") })}
	err := write(t, WriteInput{FilePath: "f", Content: "text"}, opts...)
	if err == nil || !strings.Contains(err.Error(), "was written") || content(t, filepath.Join(ws, "f")) != "text" {
		t.Errorf("error %v", err)
	}
	if err := write(t, WriteInput{FilePath: "f", Content: "more"}, WithWorkingDirectory(ws), WithReadTracker(tracker)); err != nil {
		t.Errorf("the tracker did not see the write: %v", err)
	}
}

// FILE-69; E25
func TestChangedWhileWriting(t *testing.T) {
	ws := tree(t, map[string]string{"f": "old\n"})
	path := filepath.Join(ws, "f")
	for _, tracker := range []*ReadTracker{nil, NewReadTracker()} {
		for name, meddle := range map[string]func() error{
			"other content": func() error { return os.WriteFile(path, []byte("theirs\n"), 0o644) },
			"removed":       func() error { return os.Remove(path) },
			"a directory":   func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
			"a link":        func() error { return errors.Join(os.Remove(path), os.Symlink("/etc/hostname", path)) },
		} {
			if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte("old\n"), 0o644)); err != nil {
				t.Fatal(err)
			}
			opts := []Option{WithWorkingDirectory(ws), WithReadTracker(tracker)}
			if _, err := read(t, ReadInput{FilePath: "f"}, opts...); err != nil {
				t.Fatal(err)
			}
			opts = append(opts, WithBeforeWrite(func(context.Context, Change) error { return meddle() }), WithOnWrite(func(context.Context, Change) { t.Error("written") }))
			_, err := edit(t, EditInput{FilePath: "f", OldString: "old", NewString: "mine"}, opts...)
			var changed *ChangedError
			if err == nil || strings.HasPrefix(name, "a ") == errors.As(err, &changed) {
				t.Errorf("%s: %v", name, err)
			}
			if name == "other content" && (content(t, path) != "theirs\n" || !strings.Contains(err.Error(), "-old\n+theirs")) {
				t.Errorf("%s: %v", name, err)
			}
			if got := strings.TrimSpace(strings.ReplaceAll(names(t, ws), "f", "")); got != "" {
				t.Errorf("%s: left behind %s", name, got)
			}
		}
	}
	// A new file that comes up meanwhile is not overwritten.
	opts := []Option{WithWorkingDirectory(ws), WithBeforeWrite(func(context.Context, Change) error {
		return os.WriteFile(filepath.Join(ws, "new"), []byte("theirs"), 0o644)
	})}
	var changed *ChangedError
	if err := write(t, WriteInput{FilePath: "new", Content: "mine"}, opts...); !errors.As(err, &changed) || content(t, filepath.Join(ws, "new")) != "theirs" {
		t.Errorf("a new file: %v", err)
	}
}
