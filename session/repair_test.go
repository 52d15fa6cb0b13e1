package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A repair keeps every entry that can be read, with its number, and the damaged
// log to the byte; after it the log is sound.
func TestRepair(t *testing.T) { // SESS-05
	l := lines(t, "one", "two", "three")
	head, one, two, three := l[0], l[1], l[2], l[3]
	bad := slices.Clone(two)
	bad[40] ^= 1
	newer := sealed(`{"seq":3,"kind":"hologram","hologram":{"x":1.50},"log":{"messages":1}`)
	for name, c := range map[string]struct {
		log  []byte
		want string
		kept int
	}{
		"bad line":      {join(head, one, bad, three), "one three", 3},
		"torn":          {join(head, one, two[:len(two)-5]), "one", 2},
		"NULs":          {join(head, one, make([]byte, 4096), three), "one three", 3},
		"NULs behind":   {join(head, one, two, make([]byte, 4096)), "one two", 3},
		"no head":       {join(one, two), "one two", 2},
		"two writers":   {join(head, one, one, two, three), "one one two three", 5},
		"gap":           {join(head, one, three), "one three", 3},
		"newer and bad": {join(head, one, newer, bad, three), "one three", 4},
		"nothing":       {[]byte("rubbish"), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			x := create(t, s)
			ok(t, x.Close())
			id, path := x.ID(), s.logPath(x.ID())
			ok(t, os.WriteFile(path, c.log, 0o600))
			before, _, err := s.Read(id)
			ok(t, err)
			if r := must[Report](t)(s.Check(id)); len(r.Log) == 0 || r.Sound() {
				t.Errorf("checked: %+v", r)
			}
			got := must[Repaired](t)(s.Repair(id))
			if got.Kept != c.kept || filepath.Base(got.Damaged) != "damaged-1.jsonl" {
				t.Errorf("repaired: %+v", got)
			}
			if kept := must[[]byte](t)(os.ReadFile(got.Damaged)); string(kept) != string(c.log) {
				t.Error("the damaged log is another one now")
			}
			after, notices, err := s.Read(id)
			ok(t, err)
			if textsOf(after) != c.want {
				t.Errorf("holds %s, want %s", textsOf(after), c.want)
			}
			if name == "newer and bad" {
				if len(notices) != 2 || !strings.Contains(notices[0], "hologram") {
					t.Errorf("notices: %q", notices)
				}
				if text := string(must[[]byte](t)(os.ReadFile(path))); !strings.Contains(text, `"hologram":{"x":1.50}`) {
					t.Error("what is newer is lost")
				}
			} else if len(notices) > 0 {
				t.Errorf("notices: %q", notices)
			}
			if n := len(after); after[n-1].Kind != KindRepair || after[0].Kind != KindHead {
				t.Errorf("holds %+v", after)
			} else if before = slices.DeleteFunc(before, func(e Entry) bool { return e.Kind == KindHead }); len(before) > 0 {
				if d := cmp.Diff(before, after[1:n-1]); d != "" {
					t.Error(d)
				}
			}
			if _, err := s.Repair(id); !errors.Is(err, ErrSound) {
				t.Errorf("once more: %v", err)
			}
			if info := must[[]Info](t)(s.List()); c.want != "" && (len(info) != 1 || info[0].Messages != len(strings.Fields(c.want))) {
				t.Errorf("listed as %+v", info)
			}
			// It goes on.
			y := first(t)(s.Open(id))
			put(t, y, say("more"))
			ok(t, y.Close())
			if r := must[Report](t)(s.Check(id)); name != "newer and bad" && !r.Sound() {
				t.Errorf("checked: %+v", r)
			}
		})
	}
}

func TestRepairRefuses(t *testing.T) { // SESS-10
	s := newStore(t)
	l := create(t, s)
	put(t, l, say("a"))
	var locked *LockedError
	if _, err := s.Repair(l.ID()); !errors.As(err, &locked) {
		t.Errorf("an open one: %v", err)
	}
	ok(t, l.Close())
	if _, err := s.Repair(l.ID()); !errors.Is(err, ErrSound) {
		t.Errorf("a sound one: %v", err)
	}
	if _, err := s.Repair("01ARZ3NDEKTSV4RRFFQ69G5FAV"); !errors.Is(err, ErrNoSession) {
		t.Errorf("none: %v", err)
	}
}

// A check names the contents that are gone.
func TestCheckOfContents(t *testing.T) {
	d := newDesk(t)
	put(t, d.log, say("go"))
	d.write(1, "f", "one")
	d.write(1, "f", "two")
	if r := must[Report](t)(d.store.Check(d.log.ID())); !r.Sound() {
		t.Fatalf("checked: %+v", r)
	}
	ok(t, os.Remove(filepath.Join(d.store.Dir(), blobPath(Hash([]byte("two"))))))
	ok(t, os.WriteFile(filepath.Join(d.store.Dir(), blobPath(Hash([]byte("one")))), []byte("x"), 0o600))
	r := must[Report](t)(d.store.Check(d.log.ID()))
	slices.Sort(r.Contents)
	want := []string{"a content of " + d.path("f") + " is damaged", "a content of " + d.path("f") + " is gone"}
	if diff := cmp.Diff(want, r.Contents); diff != "" || len(r.Log) > 0 {
		t.Errorf("%+v %s", r, diff)
	}
}
