package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		{Kind: KindCompact, Step: 1, Compact: &Compaction{Text: "t", Keep: 3, Cleared: []string{"1"}, Read: []string{"f"}, Before: 10, After: 2, Usage: &Usage{Input: 1}}},
		{Kind: KindRewind, Step: 1, Rewind: &Rewind{To: 2}},
		{Kind: KindRepair, Repair: &Repair{Damage: []string{"line 2"}, Kept: "damaged-1.jsonl"}},
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
	if len(l.ID()) != 26 {
		t.Errorf("id %q", l.ID())
	}
	for i := range 3 {
		if e := put(t, l, say("a"))[0]; e.Seq != int64(i+1) || e.Time.IsZero() {
			t.Errorf("number %d, time %v", e.Seq, e.Time)
		}
	}
	ok(t, l.Sync())
	ok(t, l.Close())
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
