package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FILE-03, FILE-04, FILE-05, FILE-06, FILE-07, FILE-08, FILE-09; C5, C8, C9, C13
func TestResolvePath(t *testing.T) {
	out := tree(t, map[string]string{"x": "outside", "sub/": ""})
	ws := tree(t, map[string]string{
		"sub/a": "inside", "f": "x", "in": "-> sub", "chain3": "-> chain2", "chain2": "-> chain1", "chain1": "-> sub/a",
		"out": "-> " + out, "outfile": "-> " + filepath.Join(out, "x"), "dangling": "-> " + filepath.Join(out, "new"), "d2": "-> dangling",
		"loop": "-> loop2", "loop2": "-> loop", "self": "-> self/tail", "up": "-> ..", "danglingin": "-> nope/x", "dot": "-> .",
		"hop0": "-> sub/a",
	})
	for i := range 50 {
		if err := os.Symlink(fmt.Sprintf("hop%d", i), filepath.Join(ws, fmt.Sprintf("hop%d", i+1))); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", ws)
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(ws, linked); err != nil {
		t.Fatal(err)
	}
	outside := ErrPathOutsideWorkingDirectory
	anyError := errors.New("any")
	for _, c := range []struct {
		dir, path, want string
		err             error
	}{
		{ws, "sub/../sub/a", "sub/a", nil},                // FILE-09
		{ws, "new/deep/leaf", "new/deep/leaf", nil},       // FILE-09: a missing leaf
		{ws, filepath.Join(ws, "f"), "f", nil},            // absolute
		{linked, "sub/a", "sub/a", nil},                   // FILE-04: the directory is given through a link
		{ws, filepath.Join(linked, "f"), "f", nil},        // and so is the path
		{ws, "in/a", "sub/a", nil},                        // FILE-04
		{ws, "chain3", "sub/a", nil},                      // C5
		{ws, "danglingin", "nope/x", nil},                 // C5: dangling inside
		{ws, "dot/dot/f", "f", nil},                       // C5
		{ws, "~/f", "f", nil},                             // FILE-08
		{ws, "~", "", nil},                                // FILE-08
		{ws, "~user", "~user", nil},                       // FILE-08
		{ws, "./f", "f", nil},                             // C9
		{ws, ".", "", nil},                                // C9
		{ws, "-rf", "-rf", nil},                           // C9
		{ws, "a\nb\x1b\u202e", "a\nb\x1b\u202e", nil},     // C9
		{ws, "hop30", "sub/a", nil},                       // C5
		{ws, "hop50", "", anyError},                       // C5: too many hops
		{ws, "loop", "", anyError},                        // FILE-05
		{ws, "self", "", anyError},                        // C5: a link to itself with a tail
		{ws, "out/x", "", outside},                        // FILE-04
		{ws, "outfile", "", outside},                      // FILE-04
		{ws, "dangling", "", outside},                     // FILE-05
		{ws, "d2", "", outside},                           // FILE-05: two links
		{ws, "up/f", "", outside},                         // C5: a link to a parent
		{ws, "../f", "", outside},                         // FILE-03
		{ws, "sub/../../f", "", outside},                  // FILE-03
		{ws, ws + "2/f", "", outside},                     // FILE-06
		{ws, filepath.Join(out, "x"), "", outside},        // FILE-03
		{ws, "/proc/self/root/etc/hostname", "", outside}, // C8
		{ws, "/dev/stdin", "", outside},                   // C8
		{ws, "", "", ErrPathRequired},                     // FILE-25
		{ws, "a\x00b", "", anyError},                      // C9
		{ws, strings.Repeat("n", 5000), "", anyError},     // C9
		{ws, strings.Repeat("a/", 10_000), "", nil},       // C9: missing, so it is only a name
		{"", filepath.Join(out, "x"), "", nil},            // FILE-07
	} {
		name := fmt.Sprintf("%.40q", c.path)
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS != "linux" && strings.HasPrefix(c.path, "/proc") {
				t.Skip("needs /proc")
			}
			got, err := ResolvePath(c.dir, c.path)
			switch {
			case c.err == anyError:
				if err == nil {
					t.Fatalf("resolved to %q, want an error", got)
				}
			case !errors.Is(err, c.err):
				t.Fatalf("error %v, want %v", err, c.err)
			case err == nil && c.want != "" && got != filepath.Join(ws, c.want):
				t.Fatalf("resolved to %q, want %q", got, filepath.Join(ws, c.want))
			}
			// C13: a call finds the same file, or fails for the same reason.
			_, callErr := read(t, ReadInput{FilePath: c.path}, WithWorkingDirectory(c.dir))
			if err != nil && (callErr == nil || callErr.Error() != err.Error()) {
				t.Errorf("read fails with %v, ResolvePath with %v", callErr, err)
			}
			if err == nil && errors.Is(callErr, outside) {
				t.Errorf("read refuses what ResolvePath resolves: %v", callErr)
			}
		})
	}
}

// FILE-08
func TestNoHome(t *testing.T) {
	t.Setenv("HOME", "")
	if got, err := ResolvePath(t.TempDir(), "~/a"); err == nil || !strings.Contains(err.Error(), "~/a") {
		t.Errorf("%q, %v", got, err)
	}
}

// C13: on random trees of links, a path resolves as the kernel does, and never outside.
func TestResolvePathProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		top, err := os.MkdirTemp(must(filepath.EvalSymlinks(t.TempDir())), "")
		if err != nil {
			rt.Fatal(err)
		}
		ws := filepath.Join(top, "ws")
		for _, d := range []string{"ws/a/b", "ws/c", "out/a"} {
			if err := os.MkdirAll(filepath.Join(top, d), 0o755); err != nil {
				rt.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(top, d, "f"), []byte(d), 0o644); err != nil {
				rt.Fatal(err)
			}
		}
		word := rapid.SampledFrom([]string{"a", "b", "c", "f", "l1", "l2", "l3", "..", ".", "out", "ws", ""})
		path := func(label string) string {
			p := strings.Join(rapid.SliceOfN(word, 1, 5).Draw(rt, label), "/")
			if rapid.Bool().Draw(rt, label+" absolute") {
				return top + "/" + p
			}
			return p
		}
		for _, l := range []string{"ws/l1", "ws/a/l2", "ws/c/l3", "out/l1"} {
			if target := path(l); target != "" {
				_ = os.Symlink(target, filepath.Join(top, l))
			}
		}
		asked := path("asked")
		if asked == "" {
			return
		}
		got, err := ResolvePath(ws, asked)
		abs := asked
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(ws, abs)
		}
		real, realErr := filepath.EvalSymlinks(filepath.Clean(abs))
		switch inside := real == ws || strings.HasPrefix(real, ws+"/"); {
		case realErr == nil && inside && (err != nil || got != real):
			rt.Fatalf("%q: got %q, %v; want %q", asked, got, err, real)
		case realErr == nil && !inside && !errors.Is(err, ErrPathOutsideWorkingDirectory):
			rt.Fatalf("%q leads to %q: got %q, %v", asked, real, got, err)
		case err == nil && got != ws && !strings.HasPrefix(got, ws+"/"):
			rt.Fatalf("%q resolved outside: %q", asked, got)
		}
	})
}

// FILE-10, FILE-11, FILE-12, FILE-13; C7
func TestReadOnlyRoots(t *testing.T) {
	top := tree(t, map[string]string{
		"ws/f": "in ws", "out/x": "outside", "out/etc": "-> /etc/hostname", "out/back": "-> ../ws/f", "other/y": "other", "out/away": "-> ../other/y",
	})
	ws, out := filepath.Join(top, "ws"), filepath.Join(top, "out")
	for _, root := range []string{out, "../out"} { // FILE-12
		opts := []Option{WithWorkingDirectory(ws), WithReadOnlyRoots(root, filepath.Join(top, "absent"))}
		if got, err := read(t, ReadInput{FilePath: filepath.Join(out, "x")}, opts...); err != nil || got != "     1\toutside" {
			t.Errorf("read: %q, %v", got, err) // FILE-10
		}
		if got, err := glob(t, GlobInput{Pattern: "*", Path: out}, opts...); err != nil || len(got.Paths) != 2 {
			t.Errorf("glob: %+v, %v", got, err) // FILE-10; the link back into the workspace counts
		}
		if got, err := grep(t, GrepInput{Pattern: "outside|other", Path: out}, opts...); err != nil || len(got.Output) != 1 {
			t.Errorf("grep: %+v, %v", got, err) // FILE-10
		}
		if got, err := read(t, ReadInput{FilePath: filepath.Join(out, "back")}, opts...); err != nil || got != "     1\tin ws" {
			t.Errorf("read of a link back: %q, %v", got, err) // FILE-11
		}
		for _, l := range []string{"etc", "away"} { // FILE-11
			if _, err := read(t, ReadInput{FilePath: filepath.Join(out, l)}, opts...); !errors.Is(err, ErrPathOutsideWorkingDirectory) {
				t.Errorf("read of %s: %v", l, err)
			}
		}
		// FILE-13
		x := filepath.Join(out, "x")
		if err := write(t, WriteInput{FilePath: x, Content: "no"}, opts...); !errors.Is(err, ErrPathOutsideWorkingDirectory) {
			t.Errorf("write: %v", err)
		}
		if _, err := edit(t, EditInput{FilePath: x, OldString: "outside", NewString: "no"}, opts...); !errors.Is(err, ErrPathOutsideWorkingDirectory) {
			t.Errorf("edit: %v", err)
		}
		if content(t, x) != "outside" {
			t.Error("the file below the read-only root was changed")
		}
	}
	// C7: a read-only root grants; in the working directory it takes nothing away.
	if err := write(t, WriteInput{FilePath: "sub/f", Content: "x"}, WithWorkingDirectory(ws), WithReadOnlyRoots("sub")); err != nil || content(t, filepath.Join(ws, "sub/f")) != "x" {
		t.Errorf("write below a read-only root in the working directory: %v", err)
	}
	for _, whole := range []Option{WithReadOnlyRoots("/"), WithRoots("/")} {
		if _, err := NewReadTool(WithWorkingDirectory(ws), whole); err == nil {
			t.Error("the whole file system was taken as a root") // C7
		}
	}
}

func TestRoots(t *testing.T) {
	top := tree(t, map[string]string{"ws/f": "", "more/x": "old", "more/out": "-> ../other", "other/": ""})
	opts := []Option{WithWorkingDirectory(filepath.Join(top, "ws")), WithRoots("../more")}
	x := filepath.Join(top, "more/x")
	if _, err := edit(t, EditInput{FilePath: x, OldString: "old", NewString: "new"}, opts...); err != nil || content(t, x) != "new" {
		t.Errorf("edit: %v", err)
	}
	if err := write(t, WriteInput{FilePath: "../more/a/b", Content: "b"}, opts...); err != nil {
		t.Errorf("write: %v", err)
	}
	if got, err := grep(t, GrepInput{Pattern: "new|b", Path: filepath.Dir(x)}, opts...); err != nil || len(got.Output) != 2 {
		t.Errorf("grep: %v, %v", got, err)
	}
	for _, path := range []string{"../other/y", "../more/out/y", "../more/../y"} {
		if err := write(t, WriteInput{FilePath: path, Content: "no"}, opts...); !errors.Is(err, ErrPathOutsideWorkingDirectory) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// FILE-01, FILE-02
func TestConstructorsTakeEveryOption(t *testing.T) {
	opts := []Option{
		WithWorkingDirectory(t.TempDir()), WithReadOnlyRoots(t.TempDir()), WithRoots(t.TempDir()), WithMaxFileSize(1), WithMaxOutputChars(1), WithReadTracker(NewReadTracker()),
		WithNoOverwrite(), WithOnWrite(nil), WithBeforeWrite(nil), WithMaxResults(1), WithNoIgnore(), nil,
	}
	names := map[string]bool{"read": false, "write": true, "edit": true, "multi_edit": true, "glob": false, "grep": false}
	for name, exclusive := range names {
		got := must(allTools(opts...))[name]
		if got.Name() != name || got.Exclusive() != exclusive { // FILE-53, E21
			t.Errorf("%s: name %s, exclusive %t", name, got.Name(), got.Exclusive())
		}
		if got.Description() == "" || got.InputSchema()["type"] != "object" {
			t.Errorf("%s has no description or schema", name)
		}
	}
	for _, bad := range []Option{WithMaxFileSize(-1), WithMaxOutputChars(-1), WithMaxResults(-1)} {
		if _, err := allTools(bad); err == nil {
			t.Error("a negative limit was taken") // FILE-02
		}
	}
	if _, err := NewReadTool(WithWorkingDirectory(filepath.Join(tree(t, map[string]string{"f": ""}), "f"))); err == nil {
		t.Error("a file was taken as the working directory")
	}
}

// CORE-15
func TestSchemas(t *testing.T) {
	required := map[string][]string{
		"read": {"file_path"}, "write": {"file_path", "content"}, "edit": {"file_path", "old_string", "new_string"}, "multi_edit": {"file_path", "edits"}, "glob": {"pattern"}, "grep": {"pattern"},
	}
	for name, tool := range must(allTools()) {
		schema := tool.InputSchema()
		if got, _ := schema["required"].([]string); !slices.Equal(got, required[name]) {
			t.Errorf("%s requires %v, want %v", name, got, required[name])
		}
		for field, s := range schema["properties"].(map[string]any) {
			if s.(map[string]any)["description"] == nil {
				t.Errorf("%s: %s has no description", name, field)
			}
		}
	}
}

// C4: the working directory itself is replaced by a link.
func TestWorkingDirectoryReplaced(t *testing.T) {
	top := tree(t, map[string]string{"ws/f": "inside", "out/f": "outside secret"})
	ws := filepath.Join(top, "ws")
	opt := WithWorkingDirectory(ws)
	r, w, g := must(NewReadTool(opt)), must(NewWriteTool(opt)), must(NewGrepTool(opt))
	if err := os.Rename(ws, ws+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("out", ws); err != nil {
		t.Fatal(err)
	}
	if got, err := call(t, r.Tool(), ReadInput{FilePath: "f"}); err == nil {
		t.Errorf("read %q", got)
	}
	if _, err := call(t, w.Tool(), WriteInput{FilePath: "g", Content: "x"}); err == nil {
		t.Error("wrote")
	}
	if got, err := call(t, g.Tool(), GrepInput{Pattern: "secret"}); err == nil {
		t.Errorf("found %v", got)
	}
	if _, err := os.Lstat(filepath.Join(top, "out/g")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was made outside")
	}
}

// C10: where names differ only in case, the file system says what is inside.
func TestCaseInsensitive(t *testing.T) {
	top := tree(t, map[string]string{"ws/sub/f": "x", "ws2/": ""})
	if _, err := os.Stat(filepath.Join(top, "WS")); err != nil {
		t.Skip("the file system tells cases apart")
	}
	ws := filepath.Join(top, "ws")
	if got, err := ResolvePath(ws, filepath.Join(top, "WS/sub/f")); err != nil || got != filepath.Join(ws, "sub/f") {
		t.Errorf("another spelling of the working directory: %q, %v", got, err)
	}
	if got, err := ResolvePath(ws, filepath.Join(top, "WS2/f")); !errors.Is(err, ErrPathOutsideWorkingDirectory) {
		t.Errorf("another directory: %q, %v", got, err)
	}
	if _, err := read(t, ReadInput{FilePath: "SUB/F"}, WithWorkingDirectory(ws)); err != nil {
		t.Errorf("another spelling below: %v", err)
	}
}
