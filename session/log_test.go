package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/todo"
)

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newStore opens the store of a fresh workspace.
func newStore(t testing.TB) *Store {
	t.Helper()
	dir := must[string](t)(filepath.EvalSymlinks(t.TempDir()))
	return must[*Store](t)(OpenStore(dir))
}

func create(t testing.TB, s *Store) *Log {
	t.Helper()
	l := must[*Log](t)(s.Create("v1"))
	t.Cleanup(func() { l.Close() })
	return l
}

func say(text string) Entry {
	return Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleUser, Text: text}}
}

func put(t testing.TB, l *Log, entries ...Entry) []Entry {
	t.Helper()
	for i, e := range entries {
		entries[i] = must[Entry](t)(l.Append(e))
	}
	return entries
}

func everyKind() []Entry {
	return []Entry{
		{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleUser, Text: "héllo <b> & \u2028 \x7f \U0001F600", Images: []Image{{MediaType: "image/png", Blob: Hash(nil)}}}},
		{Kind: KindMessage, Step: 1, Message: &Message{
			Role: RoleAssistant, Text: "ok", Reasoning: "hm", Echo: json.RawMessage(`{"reasoning_content":"<x>\u2028"}`), Model: "m",
			Usage: &Usage{Input: 1, Output: 2, CacheRead: 3, Reasoning: 4}, Cut: true,
			Calls: []tools.ToolCall{{ID: "1", Name: "edit", Arguments: `{"a":"\u2028"}`, WireID: "w", Parent: "p", Agent: "a", Extra: json.RawMessage(`{"k":1}`)}},
		}},
		{Kind: KindNote, Note: "note"},
		{Kind: KindTodo, Todo: []todo.Item{{Content: "c", Status: todo.Pending}}},
		{Kind: KindTodo},
		{Kind: KindChange, Step: 1, Change: &Change{
			ID: "c", CallID: "1", Tool: "edit", Path: "/w/a\xff", RawPath: []byte("/w/a\xff"), Existed: true, Before: "b", After: "a", Perm: 0o640,
			Dirs: []string{"/w"}, Added: 1, Removed: 2, Hunks: []file.Hunk{{Old: 1, New: 1, Lines: []string{" x", "-y"}}},
		}},
		{Kind: KindDone, Step: 1, Done: "c"},
		{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleTool, CallID: "1", Status: StatusOK, Text: "done", Elapsed: time.Second, Parent: "p"}},
		{Kind: KindUndo, Undo: &Undo{Changes: []string{"c"}, Redo: true, Overwritten: []Overwritten{{Path: "/w/a", Blob: "h"}}}},
		{Kind: KindTurn, Step: 1, Turn: &Turn{Outcome: OutcomeFailed, Error: "e", Elapsed: time.Minute}},
		{Kind: KindTitle, Title: "title"},
	}
}

func TestEveryKindComesBack(t *testing.T) { // SESS-01, SESS-03
	s := newStore(t)
	l := create(t, s)
	put(t, l, everyKind()...)
	want, notices, err := s.Read(l.ID()) // while it is open
	ok(t, err)
	if len(want) != len(everyKind())+1 || notices != nil {
		t.Fatalf("%d entries, notices %q", len(want), notices)
	}
	for i, e := range everyKind() {
		e.Seq, e.Time = want[i+1].Seq, want[i+1].Time
		if e.Change != nil {
			e.Change.Path = string(e.Change.RawPath)
		}
		if d := cmp.Diff(e, want[i+1]); d != "" {
			t.Errorf("entry %d: %s", i, d)
		}
		if e.Seq != int64(i+2) || e.Time.IsZero() {
			t.Errorf("entry %d: number %d, time %v", i, e.Seq, e.Time)
		}
	}
	ok(t, l.Close())
	ok(t, l.Close())
	if _, err := l.Append(say("late")); !errors.Is(err, ErrClosed) {
		t.Errorf("append to a closed log: %v", err)
	}

	l, got, notices, err := s.Open(strings.ToLower(l.ID()))
	ok(t, err)
	defer l.Close()
	if d := cmp.Diff(want, got); d != "" || notices != nil {
		t.Errorf("reopened: %s %q", d, notices)
	}
	if e := put(t, l, say("on"))[0]; e.Seq != int64(len(want)+1) {
		t.Errorf("goes on with number %d after %d", e.Seq, len(want))
	}
}

func TestTimeIsKept(t *testing.T) {
	s := newStore(t)
	l := create(t, s)
	when := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600))
	e := say("a")
	e.Time = when
	if got := put(t, l, e)[0]; !got.Time.Equal(when) {
		t.Errorf("time %v", got.Time)
	}
	now := put(t, l, say("b"))[0]
	got, _, err := s.Read(l.ID())
	ok(t, err)
	if !got[2].Time.Equal(now.Time) || time.Since(now.Time) > time.Minute {
		t.Errorf("time %v, was %v", got[2].Time, now.Time)
	}
}

func TestBadEntriesAreRefused(t *testing.T) {
	l := create(t, newStore(t))
	for _, e := range []Entry{
		{},
		{Kind: KindMessage},
		{Kind: KindDone},
		{Kind: KindMessage, Message: &Message{Role: RoleAssistant, Echo: json.RawMessage(`{`)}},
	} {
		if _, err := l.Append(e); err == nil {
			t.Errorf("%+v was taken", e)
		}
	}
	if e := put(t, l, say("a"))[0]; e.Seq != 2 {
		t.Errorf("the next number is %d", e.Seq)
	}
}

func TestLayout(t *testing.T) { // SESS-04
	s := newStore(t)
	if _, err := os.Lstat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("opening a store made %s: %v", s.Dir(), err)
	}
	l := create(t, s)
	put(t, l, say("a"))
	hash := must[string](t)(s.Blobs().Put([]byte("content")))
	for path, want := range map[string]fs.FileMode{
		".":                                 0o700 | fs.ModeDir,
		".gitignore":                        0o600,
		"sessions":                          0o700 | fs.ModeDir,
		"sessions/" + l.ID():                0o700 | fs.ModeDir,
		"sessions/" + l.ID() + "/log.jsonl": 0o600,
		"sessions/" + l.ID() + "/lock":      0o600,
		"blobs":                             0o700 | fs.ModeDir,
		"blobs/" + hash[:2]:                 0o700 | fs.ModeDir,
		"blobs/" + hash[:2] + "/" + hash:    0o600,
	} {
		info, err := os.Lstat(filepath.Join(s.Dir(), path))
		if err != nil || runtime.GOOS != "windows" && info.Mode() != want {
			t.Errorf("%s: mode %v, want %v (%v)", path, info.Mode(), want, err)
		}
	}
	if got := string(must[[]byte](t)(os.ReadFile(filepath.Join(s.Dir(), ".gitignore")))); got != "*\n!config.toml\n" {
		t.Errorf(".gitignore holds %q", got)
	}
}

func TestGitSeesNothing(t *testing.T) { // SESS-04
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is missing")
		}
		t.Skip("git is missing")
	}
	s := newStore(t)
	create(t, s)
	must[string](t)(s.Blobs().Put([]byte("content")))
	home := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = s.workspace
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	if got := git("status", "--porcelain", "--untracked-files=all"); got != "" {
		t.Errorf("git status: %s", got)
	}
	ok(t, os.WriteFile(filepath.Join(s.Dir(), "config.toml"), nil, 0o600))
	if got := git("status", "--porcelain", "--untracked-files=all"); got != "?? .phero/config.toml\n" {
		t.Errorf("git status: %q", got) // a project's settings can be committed
	}
}

func TestAppendIsOneWholeLine(t *testing.T) {
	s := newStore(t)
	l := create(t, s)
	const writers, each = 8, 50
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if _, err := l.Append(say(fmt.Sprint(w, " ", i))); err != nil {
					t.Error(err)
				}
				if i%10 == 0 {
					if err := l.Sync(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	got, notices, err := s.Read(l.ID())
	ok(t, err)
	if len(got) != writers*each+1 || notices != nil {
		t.Fatalf("%d entries, %q", len(got), notices)
	}
	next := map[string]int{}
	for i, e := range got[1:] {
		if e.Seq != int64(i+2) {
			t.Fatalf("entry %d has number %d", i, e.Seq)
		}
		w, n, _ := strings.Cut(e.Message.Text, " ")
		if n != fmt.Sprint(next[w]) {
			t.Fatalf("writer %s: %s after %d", w, n, next[w]-1)
		}
		next[w]++
	}
}

func TestUnsaved(t *testing.T) { // SESS-11
	l := Unsaved()
	if len(l.ID()) != 26 || l.Saved() {
		t.Errorf("id %q, saved %v", l.ID(), l.Saved())
	}
	for i := range 3 {
		if e := put(t, l, say("a"))[0]; e.Seq != int64(i+1) || e.Time.IsZero() {
			t.Errorf("number %d, time %v", e.Seq, e.Time)
		}
	}
	ok(t, l.Sync())
	ok(t, l.Close())
}

func TestNoWayOutOfTheWorkspace(t *testing.T) { // SESS-12
	link := func(t *testing.T, target, name string) {
		t.Helper()
		ok(t, os.MkdirAll(filepath.Dir(name), 0o700))
		if err := os.Symlink(target, name); err != nil {
			t.Skip("no symlinks here:", err)
		}
	}
	empty := func(t *testing.T, dir string) {
		t.Helper()
		if got := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(got) != 0 {
			t.Errorf("%s was written outside", got)
		}
	}
	t.Run("phero", func(t *testing.T) {
		out, ws := t.TempDir(), t.TempDir()
		link(t, out, filepath.Join(ws, ".phero"))
		if _, err := OpenStore(ws); err == nil || !strings.Contains(err.Error(), ".phero is a link") {
			t.Errorf("error %v", err)
		}
		empty(t, out)
	})
	t.Run("dangling", func(t *testing.T) {
		out, ws := t.TempDir(), t.TempDir()
		link(t, filepath.Join(out, "new"), filepath.Join(ws, ".phero"))
		if _, err := OpenStore(ws); err == nil {
			t.Error("no error")
		}
		empty(t, out)
	})
	t.Run("inside", func(t *testing.T) {
		ws := t.TempDir()
		link(t, "state", filepath.Join(ws, ".phero"))
		ok(t, os.Mkdir(filepath.Join(ws, "state"), 0o700))
		s := must[*Store](t)(OpenStore(ws))
		l := create(t, s)
		put(t, l, say("a"))
		if got := texts(t, s, l.ID()); got != "a" {
			t.Errorf("the log holds %q", got)
		}
	})
	t.Run("made later", func(t *testing.T) {
		s, out := newStore(t), t.TempDir()
		link(t, out, s.Dir())
		if _, err := s.Create("v"); err == nil {
			t.Error("no error")
		}
		if _, err := s.Blobs().Put(nil); err == nil {
			t.Error("no error")
		}
		empty(t, out)
	})
	for _, part := range []string{"sessions", "blobs"} {
		t.Run(part, func(t *testing.T) {
			s, out := newStore(t), t.TempDir()
			link(t, out, filepath.Join(s.Dir(), part))
			_, err := s.Create("v")
			_, err2 := s.Blobs().Put(nil)
			if (part == "sessions" && err == nil) || (part == "blobs" && err2 == nil) {
				t.Error("no error")
			}
			empty(t, out)
		})
	}
	t.Run("log", func(t *testing.T) {
		s, out := newStore(t), t.TempDir()
		l := create(t, s)
		ok(t, l.Close())
		target := filepath.Join(out, "authorized_keys")
		ok(t, os.WriteFile(target, []byte("key"), 0o600))
		ok(t, os.Remove(s.logPath(l.ID())))
		link(t, target, s.logPath(l.ID()))
		if _, _, _, err := s.Open(l.ID()); err == nil {
			t.Error("no error")
		}
		if list := must[[]Info](t)(s.List()); len(list) != 0 {
			t.Errorf("listed %v", list)
		}
		if got := must[[]byte](t)(os.ReadFile(target)); string(got) != "key" {
			t.Errorf("the target holds %q", got)
		}
	})
	t.Run("ids", func(t *testing.T) {
		s := newStore(t)
		create(t, s)
		for _, id := range []string{"", ".", "..", "../../x", "/etc", "../sessions", "01J", strings.Repeat("!", 26), "..\\..\\x", strings.Repeat("0", 27), strings.Repeat("\x00", 26)} {
			if _, _, _, err := s.Open(id); !errors.Is(err, ErrNoSession) {
				t.Errorf("open %q: %v", id, err)
			}
			if _, _, err := s.Read(id); !errors.Is(err, ErrNoSession) {
				t.Errorf("read %q: %v", id, err)
			}
		}
	})
}

func TestOpenStoreErrors(t *testing.T) {
	if _, err := OpenStore("relative"); err == nil {
		t.Error("a relative path was taken")
	}
	if _, err := OpenStore(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no workspace: %v", err)
	}
	ws := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(ws, ".phero"), nil, 0o600))
	if _, err := OpenStore(ws); err == nil || !strings.Contains(err.Error(), "is no directory") {
		t.Errorf("a file: %v", err)
	}
}

func TestNoSession(t *testing.T) {
	s := newStore(t)
	const id = "01J00000000000000000000000"
	check := func() {
		t.Helper()
		if _, _, _, err := s.Open(id); !errors.Is(err, ErrNoSession) {
			t.Errorf("open: %v", err)
		}
		if _, _, err := s.Read(id); !errors.Is(err, ErrNoSession) {
			t.Errorf("read: %v", err)
		}
		if _, err := s.Latest(); !errors.Is(err, ErrNoSession) {
			t.Errorf("latest: %v", err)
		}
		if list, err := s.List(); err != nil || len(list) != 0 {
			t.Errorf("list: %v %v", list, err)
		}
	}
	check()
	create(t, s) // in which nothing is said
	check()
	ok(t, os.Mkdir(filepath.Join(s.Dir(), "sessions", id), 0o700)) // without a log
	check()
}

func TestUnwritable(t *testing.T) { // SESS-11
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("no directory is unwritable for root")
	}
	s := newStore(t)
	old := create(t, s)
	put(t, old, say("a"))
	ok(t, old.Close())
	lock := filepath.Join(s.Dir(), "sessions", old.ID(), "lock")
	ok(t, os.Remove(lock))
	dirs := []string{s.workspace, s.Dir(), filepath.Join(s.Dir(), "sessions"), filepath.Dir(lock)}
	for _, d := range dirs {
		ok(t, os.Chmod(d, 0o555))
		t.Cleanup(func() { os.Chmod(d, 0o755) })
	}
	if _, err := s.Create("v"); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), s.Dir()) {
		t.Errorf("create: %v", err)
	}
	if _, err := s.Blobs().Put([]byte("x")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("put: %v", err)
	}
	if _, _, _, err := s.Open(old.ID()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("open: %v", err)
	}
	if got, _, err := s.Read(old.ID()); err != nil || len(got) != 2 {
		t.Errorf("read: %d entries, %v", len(got), err)
	}
	fresh := must[*Store](t)(OpenStore(filepath.Dir(s.Dir())))
	if list, err := fresh.List(); err != nil || len(list) != 1 {
		t.Errorf("list: %v %v", list, err)
	}
}

func TestVanishedStore(t *testing.T) {
	s := newStore(t)
	l := create(t, s)
	put(t, l, say("one"), say("two"))
	ok(t, os.RemoveAll(s.Dir()))
	put(t, l, say("three"))
	if n := l.Notices(); len(n) != 1 || !strings.Contains(n[0], "was removed while") {
		t.Errorf("notices %q", n)
	}
	ok(t, l.Sync())
	put(t, l, say("four"))
	if n := l.Notices(); n != nil {
		t.Errorf("notices again: %q", n)
	}
	if got := texts(t, s, l.ID()); got != "one two three four" {
		t.Errorf("log holds %q", got)
	}
	if got := must[[]byte](t)(os.ReadFile(filepath.Join(s.Dir(), ".gitignore"))); string(got) != ignore {
		t.Errorf(".gitignore holds %q", got)
	}
	var locked *LockedError
	if _, _, _, err := s.Open(l.ID()); !errors.As(err, &locked) {
		t.Errorf("the lock was lost: %v", err)
	}
	ok(t, os.Remove(s.logPath(l.ID()))) // the log alone
	put(t, l, say("five"))
	if got := texts(t, s, l.ID()); got != "one two three four five" {
		t.Errorf("log holds %q", got)
	}
	if _, _, _, err := s.Open(l.ID()); !errors.As(err, &locked) {
		t.Errorf("the lock was lost: %v", err)
	}
	ok(t, l.Close())
}

// texts joins the messages of a session.
func texts(t testing.TB, s *Store, id string) string {
	t.Helper()
	entries, notices, err := s.Read(id)
	ok(t, err)
	if notices != nil {
		t.Errorf("notices %q", notices)
	}
	var words []string
	for _, e := range entries {
		if e.Message != nil {
			words = append(words, e.Message.Text)
		}
	}
	return strings.Join(words, " ")
}

func TestLinesAreOpenJSON(t *testing.T) {
	s := newStore(t)
	l := create(t, s)
	put(t, l, everyKind()...)
	data := must[[]byte](t)(os.ReadFile(s.logPath(l.ID())))
	if bytes.Count(data, []byte("\n")) != len(everyKind())+1 || bytes.Contains(data, []byte(`\u003c`)) {
		t.Errorf("the log reads:\n%s", data)
	}
	for line := range bytes.Lines(data) {
		var v map[string]any
		ok(t, json.Unmarshal(line, &v))
		if v["sum"] == "" || v["log"] == nil {
			t.Errorf("line %s", line)
		}
	}
}
