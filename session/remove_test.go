package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A session that is removed takes along what no other one names (decision 33).
func TestRemove(t *testing.T) {
	d := newDesk(t)
	put(t, d.log, say("one"))
	d.write(1, "f", "mine")
	d.write(1, "f", "shared")
	other := create(t, d.store)
	put(t, other, say("two"), Entry{Kind: KindMessage, Message: &Message{Role: RoleUser, Images: []Image{{Blob: Hash([]byte("shared"))}}}})

	var locked *LockedError
	if _, err := d.store.Remove(d.log.ID()); !errors.As(err, &locked) {
		t.Fatalf("an open one: %v", err)
	}
	ok(t, d.log.Close())
	has := func(content string) bool {
		_, err := d.store.Blobs().Get(Hash([]byte(content)))
		return err == nil
	}
	fork, _, err := d.store.Fork(d.log.ID(), 0, "")
	ok(t, err)
	// While another one is open, its log may be about to name any of them.
	for _, name := range []string{"mine", "shared"} {
		age(t, d.store, name, time.Hour)
	}
	must[Removed](t)(d.store.Remove(d.log.ID()))
	if r := must[Removed](t)(d.store.Remove(fork)); !r.InUse || r.Contents != 0 || r.Bytes == 0 || !has("mine") {
		t.Errorf("removed: %+v", r)
	}
	if _, _, err := d.store.Read(fork); !errors.Is(err, ErrNoSession) {
		t.Errorf("read: %v", err)
	}
	if left := must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(d.store.Dir(), sessionsDir))); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	if got := texts(t, d.store, other.ID()); got != "two " {
		t.Errorf("the other one holds %s", got)
	}
}

func TestRemoveDropsContents(t *testing.T) {
	d := newDesk(t)
	put(t, d.log, say("one"))
	d.write(1, "f", "mine")
	d.write(1, "f", "shared")
	ok(t, d.log.Close())
	other := create(t, d.store)
	put(t, other, say("two"), Entry{Kind: KindMessage, Message: &Message{Role: RoleUser, Images: []Image{{Blob: Hash([]byte("shared"))}}}})
	ok(t, other.Close())
	must[string](t)(d.store.Blobs().Put([]byte("left over")))
	must[string](t)(d.store.Blobs().Put([]byte("new")))
	for _, name := range []string{"mine", "shared", "left over"} {
		age(t, d.store, name, time.Minute)
	}
	age(t, d.store, "new", -time.Minute)
	r := must[Removed](t)(d.store.Remove(d.log.ID()))
	if r.Contents != 2 || r.InUse {
		t.Errorf("removed: %+v", r)
	}
	if _, err := d.store.Blobs().Get(Hash([]byte("mine"))); !errors.Is(err, ErrNoBlob) {
		t.Errorf("its own content: %v", err)
	}
	for _, name := range []string{"shared", "new"} {
		if _, err := d.store.Blobs().Get(Hash([]byte(name))); err != nil {
			t.Errorf("the content %s: %v", name, err)
		}
	}
	if _, err := d.store.Remove(d.log.ID()); !errors.Is(err, ErrNoSession) {
		t.Errorf("once more: %v", err)
	}
}

// A content that is kept once more is fresh again.
func TestKeptAgainIsFresh(t *testing.T) {
	s := newStore(t)
	must[string](t)(s.Blobs().Put([]byte("x")))
	age(t, s, "x", time.Hour)
	must[string](t)(s.Blobs().Put([]byte("x")))
	info := must[os.FileInfo](t)(os.Stat(filepath.Join(s.Dir(), blobPath(Hash([]byte("x"))))))
	if time.Since(info.ModTime()) > time.Minute {
		t.Errorf("from %v", info.ModTime())
	}
}

func age(t *testing.T, s *Store, content string, by time.Duration) {
	t.Helper()
	when := time.Now().Add(-by)
	ok(t, os.Chtimes(filepath.Join(s.Dir(), blobPath(Hash([]byte(content)))), when, when))
}
