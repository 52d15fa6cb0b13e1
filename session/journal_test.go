package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
)

// desk is a workspace with a session and its journal.
type desk struct {
	*testing.T
	dir     string
	store   *Store
	log     *Log
	journal *Journal
	calls   int
}

func newDesk(t *testing.T) *desk {
	s := newStore(t)
	d := &desk{T: t, dir: s.workspace, store: s, log: create(t, s)}
	d.journal = NewJournal(s.Blobs(), d.dir, d.log.Append)
	return d
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d *desk) read(name string) string {
	d.Helper()
	data, err := os.ReadFile(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	ok(d, err)
	return string(data)
}

func (d *desk) put(name, content string) {
	d.Helper()
	ok(d, os.MkdirAll(filepath.Dir(d.path(name)), 0o755))
	ok(d, os.WriteFile(d.path(name), []byte(content), 0o644))
}

// change is what a file tool would do.
func (d *desk) change(name, after string) file.Change {
	d.Helper()
	c := file.Change{Path: d.path(name), After: []byte(after), Perm: 0o644}
	if info, err := os.Stat(c.Path); err == nil {
		c.Existed, c.Perm = true, info.Mode().Perm()
		c.Before = must[[]byte](d)(os.ReadFile(c.Path))
	}
	for dir := filepath.Dir(c.Path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		c.Dirs = append([]string{dir}, c.Dirs...)
	}
	return c
}

func (d *desk) call() tools.ToolCall {
	d.calls++
	return tools.ToolCall{ID: fmt.Sprint("call", d.calls), Name: "write"}
}

func (d *desk) onDisk(c file.Change) {
	d.Helper()
	ok(d, os.MkdirAll(filepath.Dir(c.Path), 0o755))
	ok(d, file.WriteFileAtomic(c.Path, c.After, c.Perm))
}

// write writes a file as the file tools do.
func (d *desk) write(turn int, name, after string) {
	d.Helper()
	call, c := d.call(), d.change(name, after)
	ok(d, d.journal.Intent(call, turn, c))
	d.onDisk(c)
	ok(d, d.journal.Done(call, c))
}

func (d *desk) undo(turn, force bool) Undone {
	d.Helper()
	return must[Undone](d)(d.journal.Undo(Scope{Turn: turn}, d.picks(turn, false, force)))
}

func (d *desk) redo(turn, force bool) Undone {
	d.Helper()
	return must[Undone](d)(d.journal.Redo(Scope{Turn: turn}, d.picks(turn, true, force)))
}

// picks are all files of a plan, as a person picks them who wants them in any case.
func (d *desk) picks(turn, redo, force bool) (picks []Pick) {
	d.Helper()
	if force {
		for _, p := range must[[]Planned](d)(d.journal.Plan(Scope{Turn: turn}, redo)) {
			picks = append(picks, p.Pick())
		}
	}
	return picks
}

// is checks files: name, content, …; "-" is no file.
func (d *desk) is(pairs ...string) {
	d.Helper()
	for p := range slices.Chunk(pairs, 2) {
		if got := d.read(p[0]); got != p[1] {
			d.Errorf("%s holds %q, want %q", p[0], got, p[1])
		}
	}
}

// resume closes the session and opens it again, as the next start does.
func (d *desk) resume() []string {
	d.Helper()
	ok(d, d.log.Close())
	l, entries, notices, err := d.store.Open(d.log.ID())
	ok(d, err)
	d.Cleanup(func() { l.Close() })
	if notices != nil {
		d.Errorf("notices of the log: %q", notices)
	}
	d.log = l
	d.journal = NewJournal(d.store.Blobs(), d.dir, l.Append)
	return d.journal.Load(entries)
}

func (d *desk) kinds(kind Kind) []Entry {
	d.Helper()
	entries, _, err := d.store.Read(d.log.ID())
	ok(d, err)
	return slices.DeleteFunc(entries, func(e Entry) bool { return e.Kind != kind })
}

func TestEveryChangeIsRecorded(t *testing.T) { // UNDO-01
	d := newDesk(t)
	d.put("a", "1\n2\n")
	d.write(1, "a", "1\n3\n")
	d.write(1, "b/c", "new\n")
	d.write(2, "a", "1\n3\n4\n")
	var got []Change
	for _, e := range d.kinds(KindChange) {
		c := *e.Change
		if e.Time.IsZero() || c.ID == "" {
			t.Errorf("entry %+v", e)
		}
		c.ID, c.Hunks = "", nil
		got = append(got, c)
	}
	want := []Change{
		{CallID: "call1", Tool: "write", Path: d.path("a"), Existed: true, Before: Hash([]byte("1\n2\n")), After: Hash([]byte("1\n3\n")), Perm: 0o644, Added: 1, Removed: 1},
		{CallID: "call2", Tool: "write", Path: d.path("b/c"), After: Hash([]byte("new\n")), Perm: 0o644, Dirs: []string{d.path("b")}, Added: 1},
		{CallID: "call3", Tool: "write", Path: d.path("a"), Existed: true, Before: Hash([]byte("1\n3\n")), After: Hash([]byte("1\n3\n4\n")), Perm: 0o644, Added: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if done := d.kinds(KindDone); len(done) != 3 || done[2].Step != 2 {
		t.Errorf("marks %+v", done)
	}
	if h := d.kinds(KindChange)[0].Change.Hunks; len(h) != 1 || !slices.Equal(h[0].Lines, []string{" 1", "-2", "+3"}) {
		t.Errorf("hunks %+v", h)
	}
}

func TestUndoAfterResume(t *testing.T) { // UNDO-05
	d := newDesk(t)
	d.put("f", "0")
	for i, v := range []string{"1", "2", "3", "4"} {
		d.write(i+1, "f", v)
	}
	d.undo(false, false)
	d.undo(false, false)
	if n := d.resume(); n != nil {
		t.Errorf("notices %q", n)
	}
	d.redo(false, false)
	d.is("f", "3")
	d.resume()
	d.redo(false, false)
	d.is("f", "4")
	d.undo(false, false)
	d.resume()
	d.undo(false, false)
	d.undo(false, false)
	d.write(5, "f", "new")
	d.resume()
	if _, err := d.journal.Redo(Scope{}, nil); !errors.Is(err, ErrNothingToRedo) {
		t.Errorf("redo: %v", err)
	}
	d.undo(false, false)
	d.undo(false, false)
	d.is("f", "0")
}

func TestCrashIsSettled(t *testing.T) { // UNDO-05
	for _, c := range []struct {
		name   string
		before string
		crash  func(d *desk, c file.Change) // what happened after the intent
		after  []Entry                      // logged after it
		notice string
		undone string // the content after an undo; "": nothing to undo
	}{
		{"written", "0", (*desk).onDisk, nil, "", "0"},
		{"not written", "0", func(*desk, file.Change) {}, nil, "", ""},
		{"created", "-", (*desk).onDisk, nil, "", "-"},
		{"not created", "-", func(*desk, file.Change) {}, nil, "", ""},
		{"changed since", "0", func(d *desk, _ file.Change) { d.put("dir/f", "mine") }, nil, "was being written when the program ended, and was changed since", ""},
		{"a directory since", "-", func(d *desk, c file.Change) { os.MkdirAll(c.Path, 0o755) }, nil, "was changed since", ""},
		{"the call failed long ago", "0", func(d *desk, _ file.Change) { d.put("dir/f", "mine") }, []Entry{
			{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleTool, CallID: "call1", Status: StatusFailed}},
		}, "", ""},
		{"the turn ended", "0", func(d *desk, _ file.Change) { d.put("dir/f", "mine") }, []Entry{{Kind: KindTurn, Turn: &Turn{}}}, "", ""},
		{"settled by a resume before", "0", func(d *desk, _ file.Change) { d.put("dir/f", "mine") }, []Entry{
			{Kind: KindMessage, Step: 2, Message: &Message{Role: RoleUser, Text: "on"}},
		}, "", ""},
		{"other calls went on", "0", (*desk).onDisk, []Entry{
			{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleTool, CallID: "call2"}},
			{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleUser, Text: "sub", Parent: "call2"}},
		}, "", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			if c.before != "-" {
				d.put("dir/f", c.before)
			}
			put(t, d.log, say("go"))
			ch := d.change("dir/f", "1")
			ok(t, d.journal.Intent(d.call(), 1, ch))
			c.crash(d, ch)
			put(t, d.log, c.after...)
			notices := strings.Join(d.resume(), "\n")
			if (c.notice == "") != (notices == "") || !strings.Contains(notices, c.notice) {
				t.Errorf("notices: %q", notices)
			}
			if n := len(d.kinds(KindDone)); (c.undone != "") != (n == 1) {
				t.Errorf("%d marks", n)
			}
			d.resume() // the second time it is known
			_, err := d.journal.Undo(Scope{}, nil)
			if c.undone == "" {
				if !errors.Is(err, ErrNothingToUndo) {
					t.Errorf("undo: %v", err)
				}
				return
			}
			ok(t, err)
			d.is("dir/f", c.undone)
		})
	}
}

func TestLeftDirectoriesOfACrash(t *testing.T) { // UNDO-11
	d := newDesk(t)
	c := d.change("a/b/f", "1")
	ok(t, d.journal.Intent(d.call(), 1, c))
	ok(t, os.MkdirAll(d.path("a/b"), 0o755))
	d.resume()
	if _, err := os.Stat(d.path("a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the directories of a write that never happened are left")
	}
}

func TestCrashInAnUndo(t *testing.T) { // UNDO-05
	d := newDesk(t)
	d.put("a", "a0")
	d.put("b", "b0")
	d.write(1, "a", "a1")
	d.write(1, "b", "b1")
	d.put("b", "b0") // the first file of the undo was restored, then the power failed
	d.resume()
	restored := must[fs.FileInfo](t)(os.Stat(d.path("b")))
	d.undo(true, false)
	d.is("a", "a0", "b", "b0")
	if now := must[fs.FileInfo](t)(os.Stat(d.path("b"))); !os.SameFile(restored, now) {
		t.Error("the restored file was written again")
	}
	d.redo(true, false)
	d.is("a", "a1", "b", "b1")
}

func TestDoneWithoutIntent(t *testing.T) { // UNDO-01, UNDO-13
	d := newDesk(t)
	d.put("f", "0")
	c := d.change("f", "1")
	d.onDisk(c)
	ok(t, d.journal.Done(tools.ToolCall{ID: "sub", Name: "edit", Parent: "call"}, c))
	d.undo(false, false)
	d.is("f", "0")
}

func TestFailedWriteIsNoChange(t *testing.T) {
	d := newDesk(t)
	d.put("f", "0")
	d.write(1, "f", "1")
	ok(t, d.journal.Intent(d.call(), 1, d.change("f", "never")))
	d.undo(false, false)
	d.is("f", "0")
	ok(t, d.journal.Intent(d.call(), 1, d.change("f", "never")))
	d.redo(false, false) // an intent alone does not drop it
	d.is("f", "1")
}

// Where contents cannot be kept on the disk the work goes on, and can be undone.
func TestContentsInMemory(t *testing.T) {
	d := newDesk(t)
	blobs := filepath.Join(d.store.Dir(), blobsDir)
	ok(t, os.RemoveAll(blobs))
	ok(t, os.WriteFile(blobs, nil, 0o600))
	d.put("f", "0")
	d.write(1, "f", "1")
	if err := d.store.Blobs().Trouble(); err == nil || !strings.Contains(err.Error(), "cannot be kept in "+d.store.Dir()) {
		t.Errorf("trouble: %v", err)
	}
	if err := d.store.Blobs().Trouble(); err != nil {
		t.Errorf("told twice: %v", err)
	}
	d.undo(false, false)
	d.is("f", "0")
	ok(t, os.Remove(blobs)) // the disk takes contents again
	d.write(2, "g", "2")
	for _, content := range []string{"0", "1", "2"} {
		must[[]byte](t)((&Blobs{store: d.store}).Get(Hash([]byte(content))))
	}
}

func TestUnsavedJournal(t *testing.T) { // SESS-11
	d := newDesk(t)
	d.log = Unsaved()
	d.journal = NewJournal(UnsavedBlobs(), d.dir, d.log.Append)
	d.put("f", "0")
	d.write(1, "f", "1")
	d.undo(false, false)
	d.is("f", "0")
	d.redo(false, false)
	d.is("f", "1")
}

func TestBytesInPaths(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("file names are text here")
	}
	d := newDesk(t)
	name := "f\xff\xfe"
	d.put(name, "0")
	d.write(1, name, "1")
	d.write(1, "d\xff/f", "1")
	d.resume()
	d.undo(true, false)
	d.is(name, "0", "d\xff/f", "-")
}

func TestLargeHunksStayOutOfTheLog(t *testing.T) {
	d := newDesk(t)
	d.write(1, "f", strings.Repeat("a long line of text\n", 100_000))
	if size := must[os.FileInfo](t)(os.Stat(d.store.logPath(d.log.ID()))).Size(); size > hunksMost {
		t.Errorf("the log has %d bytes", size)
	}
	if c := d.kinds(KindChange)[0].Change; c.Added != 100_000 {
		t.Errorf("added %d", c.Added)
	}
	d.undo(false, false)
	if !bytes.Equal([]byte(d.read("f")), []byte("-")) {
		t.Error("the file is left")
	}
}
