package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
