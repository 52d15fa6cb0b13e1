package session

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools/file"
)

func TestUndoRestores(t *testing.T) { // UNDO-02, UNDO-12
	random := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{1}).Read(random)
	for name, before := range map[string]string{"text": "a\r\nb", "empty": "", "binary": string(random), "not UTF-8": "\xff\xfe\n"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.put("f", before)
			ok(t, os.Chmod(d.path("f"), 0o751))
			d.write(1, "f", "after\n")
			u := d.undo(false, false)
			d.is("f", before)
			if mode := must[fs.FileInfo](t)(os.Stat(d.path("f"))).Mode(); runtime.GOOS != "windows" && mode != 0o751 {
				t.Errorf("mode %v", mode)
			}
			if len(u.Files) != 1 || u.Files[0].Path != d.path("f") || u.Files[0].After != Hash([]byte(before)) || len(u.Changes) != 1 || u.Redo {
				t.Errorf("undone: %+v", u)
			}
			d.redo(false, false)
			d.is("f", "after\n")
		})
	}
}

func TestUndoCounts(t *testing.T) {
	d := newDesk(t)
	d.put("f", "1\n2\n3\n")
	d.write(1, "f", "1\n")
	d.write(1, "f", "1\nx\ny\nz\n")
	u := d.undo(true, false)
	want := []FileChange{{Path: d.path("f"), Before: Hash([]byte("1\nx\ny\nz\n")), After: Hash([]byte("1\n2\n3\n")), Added: 2, Removed: 3}}
	if diff := cmp.Diff(want, u.Files); diff != "" {
		t.Error(diff)
	}
}

func TestUndoWalksBackAndForth(t *testing.T) { // UNDO-03
	d := newDesk(t)
	d.put("f", "0")
	for _, v := range []string{"1", "2", "3"} {
		d.write(1, "f", v)
	}
	for _, v := range []string{"2", "1", "0"} {
		d.undo(false, false)
		d.is("f", v)
	}
	if _, err := d.journal.Undo(Scope{}, nil); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("undo: %v", err)
	}
	for _, v := range []string{"1", "2"} {
		d.redo(false, false)
		d.is("f", v)
	}
	d.write(2, "f", "new")
	if _, err := d.journal.Redo(Scope{}, nil); !errors.Is(err, ErrNothingToRedo) {
		t.Errorf("redo: %v", err)
	}
	for _, v := range []string{"2", "1", "0"} {
		d.undo(false, false)
		d.is("f", v)
	}
	d.redo(false, false)
	d.is("f", "1")
}

func TestConflicts(t *testing.T) { // UNDO-04
	for _, c := range []struct {
		name   string
		before string // "-": no file
		since  func(d *desk)
		redo   bool
		what   string // "": no conflict
		forced string // the content after force
	}{
		{"nothing", "0", func(*desk) {}, false, "", "0"},
		{"edited", "0", func(d *desk) { d.put("f", "mine") }, false, "was changed since", "0"},
		{"removed", "0", func(d *desk) { os.Remove(d.path("f")) }, false, "was removed since", "0"},
		{"put back by hand", "0", func(d *desk) { d.put("f", "0") }, false, "", "0"},
		{"created, edited", "-", func(d *desk) { d.put("f", "mine") }, false, "was changed since", "-"},
		{"created, removed by hand", "-", func(d *desk) { os.Remove(d.path("f")) }, false, "", "-"},
		{"redo", "0", func(*desk) {}, true, "", "1"},
		{"redo, edited", "0", func(d *desk) { d.put("f", "mine") }, true, "was changed since", "1"},
		{"redo, removed", "0", func(d *desk) { os.Remove(d.path("f")) }, true, "was removed since", "1"},
		{"redo of a creation", "-", func(*desk) {}, true, "", "1"},
		{"redo of a creation, made by hand", "-", func(d *desk) { d.put("f", "mine") }, true, "was made since", "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			if c.before != "-" {
				d.put("f", c.before)
			}
			d.write(1, "f", "1")
			run := d.journal.Undo
			if c.redo {
				d.undo(false, false)
				run = d.journal.Redo
			}
			c.since(d)
			now := d.read("f")
			plan := must[[]Planned](t)(d.journal.Plan(Scope{}, c.redo))
			if len(plan) != 1 || plan[0].Conflict != c.what || now != "-" && string(plan[0].Change.Before) != now || plan[0].Removes != (c.forced == "-") {
				t.Errorf("plan: %+v", plan)
			}
			if c.what != "" {
				_, err := run(Scope{}, nil)
				var conflict *ConflictError
				if !errors.As(err, &conflict) || len(conflict.Files) != 1 || conflict.Files[0] != (Conflict{d.path("f"), c.what}) || conflict.Redo != c.redo {
					t.Fatalf("error: %v", err)
				}
				if !strings.Contains(err.Error(), d.path("f")+" "+c.what) {
					t.Errorf("error: %v", err)
				}
				d.is("f", now)
				if len(d.kinds(KindUndo)) > 0 && !c.redo {
					t.Error("the log says that something was undone")
				}
			}
			u := must[Undone](t)(run(Scope{}, d.picks(false, c.redo, c.what != "")))
			d.is("f", c.forced)
			// What was overwritten is not lost.
			if (c.what != "" && now != "-") != (len(u.Overwritten) == 1) {
				t.Fatalf("overwritten: %+v", u.Overwritten)
			}
			for _, o := range u.Overwritten {
				if got := must[[]byte](t)(d.store.Blobs().Get(o.Blob)); string(got) != now || o.Path != d.path("f") {
					t.Errorf("kept %q of %s", got, o.Path)
				}
				undos := d.kinds(KindUndo)
				if got := undos[len(undos)-1].Undo.Overwritten; !slices.Equal(got, u.Overwritten) {
					t.Errorf("the log says %+v", got)
				}
			}
		})
	}
}

func TestConflictBetweenTwoChanges(t *testing.T) { // UNDO-04, UNDO-10
	d := newDesk(t)
	d.put("f", "0")
	d.write(1, "f", "1")
	d.put("f", "1 and mine")
	d.write(1, "f", "2")
	var conflict *ConflictError
	if _, err := d.journal.Undo(Scope{Turn: true}, nil); !errors.As(err, &conflict) || conflict.Files[0].What != "was changed between two changes of the session" {
		t.Fatalf("error: %v", err)
	}
	d.undo(false, false)
	d.is("f", "1 and mine")
	if _, err := d.journal.Undo(Scope{}, nil); !errors.As(err, &conflict) {
		t.Errorf("error: %v", err)
	}
	d.is("f", "1 and mine")
	d.redo(false, false)
	if u := d.undo(true, true); u.Overwritten != nil {
		t.Errorf("kept, though the session has it: %+v", u.Overwritten)
	}
	d.is("f", "0")
}

func TestUndoOfATurn(t *testing.T) { // UNDO-10
	d := newDesk(t)
	d.put("a", "a0")
	d.put("b", "b0")
	d.write(1, "a", "a1")
	d.write(2, "a", "a2")
	d.write(2, "b", "b2")
	d.write(2, "c", "c2")
	d.write(2, "a", "a3")
	u := d.undo(true, false)
	d.is("a", "a1", "b", "b0", "c", "-")
	if len(u.Changes) != 4 || len(u.Files) != 3 || u.Changes[0].Path != d.path("a") {
		t.Errorf("undone: %+v", u)
	}
	d.redo(true, false)
	d.is("a", "a3", "b", "b2", "c", "c2")

	// One conflict, and nothing is touched.
	d.put("b", "mine")
	var conflict *ConflictError
	if _, err := d.journal.Undo(Scope{Turn: true}, nil); !errors.As(err, &conflict) || len(conflict.Files) != 1 || conflict.Files[0].Path != d.path("b") {
		t.Fatalf("error: %v", err)
	}
	d.is("a", "a3", "b", "mine", "c", "c2")
	d.put("b", "b2")
	d.undo(true, false)
	d.undo(true, false)
	d.is("a", "a0", "b", "b0", "c", "-")
	d.redo(true, false)
	d.is("a", "a1", "b", "b0", "c", "-")
	// Single steps and turns mix.
	d.redo(false, false)
	d.redo(false, false)
	d.is("a", "a2", "b", "b2", "c", "-")
	d.undo(true, false)
	d.is("a", "a1", "b", "b0", "c", "-")
}

func TestFailedUndoPutsBack(t *testing.T) {
	d := newDesk(t)
	d.put("a", "a0")
	d.put("dir/b", "b0")
	d.write(1, "dir/b", "b1")
	d.write(1, "a", "a1")
	d.write(1, "new", "n1")
	// A file in the place of a directory fails the write also for root.
	ok(t, os.RemoveAll(d.path("dir")))
	d.put("dir", "a file")
	if _, err := d.journal.Undo(Scope{Turn: true}, d.picks(true, false, true)); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Fatalf("error: %v", err)
	}
	d.is("a", "a1", "new", "n1", "dir", "a file")
	ok(t, os.Remove(d.path("dir")))
	d.undo(true, true)
	d.is("a", "a0", "new", "-", "dir/b", "b0")
}

func TestUnwritableUndoPutsBack(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("no directory is unwritable for root")
	}
	d := newDesk(t)
	d.put("a", "a0")
	d.put("dir/b", "b0")
	d.write(1, "dir/b", "b1")
	d.write(1, "new/x", "n1")
	d.write(1, "a", "a1")
	ok(t, os.Chmod(d.path("dir"), 0o555))
	defer os.Chmod(d.path("dir"), 0o755)
	_, err := d.journal.Undo(Scope{Turn: true}, nil)
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "nothing was changed") {
		t.Fatalf("error: %v", err)
	}
	d.is("a", "a1", "new/x", "n1", "dir/b", "b1")
	if len(d.kinds(KindUndo)) > 0 {
		t.Error("the log says that something was undone")
	}
	ok(t, os.Chmod(d.path("dir"), 0o755))
	d.undo(true, false)
	d.is("a", "a0", "new/x", "-", "dir/b", "b0")
}

func TestUndoRemovesDirectories(t *testing.T) { // UNDO-11
	d := newDesk(t)
	d.write(1, "a/b/c.txt", "1")
	d.write(1, "a/b/d.txt", "1")
	d.write(1, "x/y/z.txt", "1")
	d.put("x/mine", "1")
	d.undo(false, false)
	if _, err := os.Stat(d.path("x/y")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("x/y is left")
	}
	d.is("x/mine", "1")
	d.undo(false, false)
	d.is("a/b/c.txt", "1")
	d.undo(false, false)
	if _, err := os.Stat(d.path("a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a is left")
	}
	d.redo(true, false)
	d.is("a/b/c.txt", "1", "a/b/d.txt", "1", "x/y/z.txt", "1")
	d.undo(true, false)
	if _, err := os.Stat(d.path("a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a is left after the second undo")
	}
}

func TestTamperedJournal(t *testing.T) { // UNDO-06
	out := t.TempDir()
	target := filepath.Join(out, "x")
	ok(t, os.WriteFile(target, []byte("1"), 0o600))
	for _, c := range []struct {
		name string
		path func(d *desk) string
	}{
		{"outside", func(*desk) string { return target }},
		{"dots", func(d *desk) string { return d.dir + "/a/../../" + filepath.Base(d.dir) + "x" }},
		{"relative", func(*desk) string { return "f" }},
		{"the workspace", func(d *desk) string { return d.dir }},
		{"git", func(d *desk) string { return d.path(".git/hooks/pre-commit") }},
		{"nested git", func(d *desk) string { return d.path("sub/.GIT/config") }},
		{"phero", func(d *desk) string { return d.path(".phero/config.toml") }},
		{"behind a link", func(d *desk) string {
			if err := os.Symlink(out, d.path("link")); err != nil {
				t.Skip("no symlinks here:", err)
			}
			return d.path("link/x")
		}},
		{"a link", func(d *desk) string {
			if err := os.Symlink(target, d.path("f")); err != nil {
				t.Skip("no symlinks here:", err)
			}
			return d.path("f")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			blob := must[string](t)(d.store.Blobs().Put([]byte("evil")))
			ch := Change{ID: "1", Path: c.path(d), Existed: true, Before: blob, After: Hash([]byte("1")), Perm: 0o644}
			put(t, d.log, Entry{Kind: KindChange, Change: &ch}, Entry{Kind: KindDone, Done: "1"})
			d.resume()
			for _, picks := range [][]Pick{nil, {{Path: ch.Path, Now: ch.After}}} {
				_, err := d.journal.Undo(Scope{}, picks)
				var conflict *ConflictError // a link could be replaced, if the person saw it
				if !errors.Is(err, ErrOutside) && !(c.name == "a link" && errors.As(err, &conflict)) {
					t.Errorf("undo: %v", err)
				}
			}
			if got := must[[]byte](t)(os.ReadFile(target)); string(got) != "1" {
				t.Errorf("the target holds %q", got)
			}
			// The same as a change in flight.
			ch.ID = "2"
			put(t, d.log, Entry{Kind: KindChange, Change: &ch})
			if n := d.resume(); len(n) != 1 || !strings.Contains(n[0], "cannot be undone") {
				t.Errorf("notices %q", n)
			}
		})
	}
}

func TestTamperedDirectories(t *testing.T) { // UNDO-06
	d := newDesk(t)
	out := filepath.Join(t.TempDir(), "empty")
	ok(t, os.MkdirAll(out, 0o755))
	ok(t, os.MkdirAll(d.path("other"), 0o755))
	for i, dirs := range [][]string{{out}, {d.path("other")}, {d.dir}} {
		id := fmt.Sprint(i)
		d.put("f", "1")
		put(t, d.log,
			Entry{Kind: KindChange, Change: &Change{ID: id, Path: d.path("f"), After: Hash([]byte("1")), Perm: 0o644, Dirs: dirs}},
			Entry{Kind: KindDone, Done: id})
		d.resume()
		d.undo(false, false)
		d.is("f", "-")
	}
	for _, dir := range []string{out, d.path("other")} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
}

func TestLostContent(t *testing.T) {
	d := newDesk(t)
	d.put("a", "a0")
	d.put("b", "b0")
	d.write(1, "a", "a1")
	d.write(1, "b", "b1")
	ok(t, os.Remove(filepath.Join(d.store.Dir(), blobPath(Hash([]byte("a0"))))))
	for _, picks := range [][]Pick{nil, {{Path: d.path("a"), Now: Hash([]byte("a1"))}}} {
		if _, err := d.journal.Undo(Scope{Turn: true}, picks); !errors.Is(err, ErrNoBlob) || !strings.Contains(err.Error(), d.path("a")) {
			t.Errorf("undo: %v", err)
		}
	}
	d.is("a", "a1", "b", "b1")
}

func TestMovedWorkspace(t *testing.T) {
	d := newDesk(t)
	d.put("f", "0")
	d.write(1, "f", "1")
	d.write(1, "new/g", "1")
	ok(t, d.log.Close())
	to := filepath.Join(must[string](t)(filepath.EvalSymlinks(t.TempDir())), "moved")
	ok(t, os.Rename(d.dir, to))
	d.dir = to
	d.store = must[*Store](t)(OpenStore(to))
	d.resume()
	d.undo(true, false)
	d.is("f", "0", "new/g", "-")
	if _, err := os.Stat(d.path("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the directory is left")
	}
}

func TestChanged(t *testing.T) {
	d := newDesk(t)
	d.put("b", "1\n2\n3\n")
	d.put("same", "x\n")
	if got := d.journal.Changed(); len(got) != 0 {
		t.Errorf("changed: %+v", got)
	}
	d.write(1, "b", "1\n3\n")
	d.write(1, "new", "n\n")
	d.write(1, "same", "y\n")
	d.write(2, "same", "x\n")
	d.write(2, "b", "1\n2\n3\n4\n")
	d.write(2, "a", "gone")
	d.undo(false, false)
	want := []FileChange{
		{Path: d.path("b"), Before: Hash([]byte("1\n2\n3\n")), After: Hash([]byte("1\n2\n3\n4\n")), Added: 1},
		{Path: d.path("new"), After: Hash([]byte("n\n")), Added: 1},
	}
	if diff := cmp.Diff(want, d.journal.Changed()); diff != "" {
		t.Error(diff)
	}
	d.resume()
	if diff := cmp.Diff(want, d.journal.Changed()); diff != "" {
		t.Error(diff)
	}
}

func TestPlanShowsAllSides(t *testing.T) { // UNDO-06
	d := newDesk(t)
	d.put("f", "0")
	d.write(1, "f", "1")
	d.put("f", "mine")
	plan := must[[]Planned](t)(d.journal.Plan(Scope{Turn: true}, false))
	want := []Planned{{
		Change:   file.Change{Path: d.path("f"), Before: []byte("mine"), After: []byte("0"), Existed: true, Perm: 0o644},
		Conflict: "was changed since", Recorded: []byte("1"), Now: Hash([]byte("mine")),
	}}
	if diff := cmp.Diff(want, plan); diff != "" {
		t.Error(diff)
	}
	d.is("f", "mine")
	if _, err := d.journal.Plan(Scope{Turn: true}, true); !errors.Is(err, ErrNothingToRedo) {
		t.Errorf("plan of a redo: %v", err)
	}
}

// A person can leave files out; those stay as they are and can be undone later.
func TestUndoOfSomeFiles(t *testing.T) { // UNDO-06
	d := newDesk(t)
	for _, name := range []string{"a", "b", "c"} {
		d.put(name, name+"0")
		d.write(1, name, name+"1")
	}
	d.write(1, "b", "b2")
	plan := must[[]Planned](t)(d.journal.Plan(Scope{Turn: true}, false))
	var picks []Pick
	for _, p := range plan {
		if p.Change.Path != d.path("b") {
			picks = append(picks, p.Pick())
		}
	}
	must[Undone](t)(d.journal.Undo(Scope{Turn: true}, picks))
	d.is("a", "a0", "b", "b2", "c", "c0")
	d.resume()
	d.redo(true, false)
	d.is("a", "a1", "b", "b2", "c", "c1")
	d.undo(true, false)
	d.is("a", "a0", "b", "b0", "c", "c0")
	if _, err := d.journal.Redo(Scope{Turn: true}, []Pick{}); !errors.Is(err, ErrNothingToRedo) {
		t.Errorf("no file: %v", err)
	}
}

// What changed between the look and the yes is not overwritten.
func TestUndoOfWhatWasSeen(t *testing.T) { // UNDO-04
	d := newDesk(t)
	d.put("a", "a0")
	d.write(1, "a", "a1")
	d.put("a", "mine")
	picks := d.picks(false, false, true)
	d.put("a", "mine too")
	var conflict *ConflictError
	if _, err := d.journal.Undo(Scope{}, picks); !errors.As(err, &conflict) || conflict.Files[0].What != "was changed while you looked" {
		t.Errorf("%v", err)
	}
	d.is("a", "mine too")
	must[Undone](t)(d.journal.Undo(Scope{}, d.picks(false, false, true)))
	d.is("a", "a0")
}

// Since an entry, everything is taken back at once, also what was made again
// behind later changes.
func TestUndoSinceAnEntry(t *testing.T) {
	d := newDesk(t)
	d.put("a", "a0")
	since := map[int]int64{}
	for turn := 1; turn <= 4; turn++ {
		since[turn] = must[Entry](t)(d.log.Append(Entry{Kind: KindNote, Step: turn, Note: "n"})).Seq
		d.write(turn, "a", fmt.Sprint("a", turn))
		d.write(turn, fmt.Sprint("f", turn), "x")
	}
	turn1 := Pick{Path: d.path("f1"), Now: Hash([]byte("x"))}
	must[Undone](t)(d.journal.Undo(Scope{From: since[1]}, []Pick{turn1}))
	must[Undone](t)(d.journal.Redo(Scope{}, nil))
	for _, resumed := range []bool{false, true} {
		if resumed {
			d.resume()
		}
		var paths []string
		for _, f := range d.journal.ChangedSince(since[3]) {
			paths = append(paths, filepath.Base(f.Path))
		}
		if got := strings.Join(paths, " "); got != "a f3 f4" {
			t.Errorf("changed since: %s", got)
		}
	}
	must[Undone](t)(d.journal.Undo(Scope{From: since[3]}, nil))
	d.is("a", "a2", "f1", "x", "f2", "x", "f3", "-", "f4", "-")
	must[Undone](t)(d.journal.Undo(Scope{From: since[1]}, nil))
	d.is("a", "a0", "f1", "-")
}
