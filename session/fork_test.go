package session

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFork(t *testing.T) {
	s := newStore(t)
	l := create(t, s)
	entries := put(t, l, say("fix the bug"), Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleAssistant, Text: "yes"}},
		Entry{Kind: KindTurn, Step: 1, Turn: &Turn{Outcome: OutcomeDone}}, say("and more"), back(5))
	before := must[[]byte](t)(os.ReadFile(s.logPath(l.ID())))

	whole, notices, err := s.Fork(l.ID(), 0, "v9") // the other one is open
	ok(t, err)
	if len(notices) > 0 {
		t.Errorf("notices: %q", notices)
	}
	got, notices, err := s.Read(whole)
	ok(t, err)
	if len(notices) > 0 {
		t.Errorf("notices: %q", notices)
	}
	head := got[0].Head
	if d := cmp.Diff(&Head{Version: formatVersion, ID: whole, Workspace: s.workspace, Agent: "v9", Fork: &Fork{ID: l.ID()}}, head); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(entries, got[1:1+len(entries)]); d != "" {
		t.Error(d)
	}
	if title := must[[]Info](t)(s.List())[0].Title; title != "fix the bug (fork)" {
		t.Errorf("the title is %q", title)
	}

	part, _, err := s.Fork(l.ID(), entries[3].Seq, "v9")
	ok(t, err)
	if got := texts(t, s, part); got != "fix the bug yes" {
		t.Errorf("holds %s", got)
	}
	// Both go on by themselves.
	x := first(t)(s.Open(part))
	put(t, x, say("other"))
	ok(t, x.Close())
	if after := must[[]byte](t)(os.ReadFile(s.logPath(l.ID()))); string(after) != string(before) {
		t.Error("the session that was copied is another one now")
	}

	if _, _, err := s.Fork(l.ID(), entries[1].Seq, ""); !errors.Is(err, ErrNoMessage) {
		t.Errorf("before a reply: %v", err)
	}
	if _, _, err := s.Fork(strings.Repeat("0", 26), 0, ""); !errors.Is(err, ErrNoSession) {
		t.Errorf("of none: %v", err)
	}
}

// A copy of a session at work is whole: what still runs there is nothing of the
// copy, and its files are left alone.
func TestForkOfARunningTurn(t *testing.T) {
	d := newDesk(t)
	put(t, d.log, say("go"))
	d.write(1, "done", "x")
	ok(t, d.journal.Intent(d.call(), 1, d.change("flying", "half")))
	d.put("flying", "half")
	fork, _, err := d.store.Fork(d.log.ID(), 0, "")
	ok(t, err)
	entries, _, err := d.store.Read(fork)
	ok(t, err)
	j := NewJournal(d.store.Blobs(), d.dir, func(e Entry) (Entry, error) {
		t.Errorf("the journal of the copy writes %+v", e)
		return e, nil
	})
	if notices := j.Load(entries); len(notices) > 0 {
		t.Errorf("notices: %q", notices)
	}
	var paths []string
	for _, f := range j.Changed() {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff([]string{d.path("done")}, paths); diff != "" {
		t.Error(diff)
	}
}
