package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

const linkType = fs.ModeSymlink

// settle finds out what the files of the deltas hold now, and what they held.
func (s *scan) settle() Found {
	if s.err != nil || s.ctx.Err() != nil {
		return Found{}
	}
	deltas := merge(s.deltas)
	s.vouch(deltas)
	var looks errgroup.Group
	looks.SetLimit(2 * runtime.GOMAXPROCS(0))
	same := make([]bool, len(deltas))
	for i := range deltas {
		if d := &deltas[i]; d.now != nil && !d.now.sig.isDir() && d.now.oid == "" {
			looks.Go(func() error {
				same[i] = s.look(d)
				return nil
			})
		}
	}
	_ = looks.Wait()
	if !s.want {
		return Found{}
	}
	kept := deltas[:0]
	for i, d := range deltas {
		if !d.quiet && (!same[i] || d.was.sig.mode != d.now.sig.mode) {
			kept = append(kept, d)
		}
	}
	return s.report(kept)
}

// unread tells whether what git says of a file is enough: nobody wants to have its content now.
func (s *scan) unread(d *delta) bool { return !s.want || d.quiet }

// vouch takes the files that git knows to be clean for what their objects are.
func (s *scan) vouch(deltas []delta) {
	for i := range deltas {
		d := &deltas[i]
		if d.now == nil {
			continue
		}
		d.now.content = content{}
		if r := d.in.repo; r != nil && !r.reads && !d.now.sig.isDir() && !d.now.racy && s.unread(d) {
			if e := find(r.index, r.path(d.path)); e != nil && e.clean(d.now.sig) {
				d.now.content = content{oid: strings.Clone(e.oid), repo: r}
			}
		}
	}
}

// look reads a file and puts its content away, and tells whether it is what it was.
func (s *scan) look(d *delta) (same bool) {
	n := d.now
	data, why := s.read(d)
	untouched := d.was != nil && d.was.sig == n.sig // it only may have changed
	if why != "" {
		n.content = content{why: why}
		if untouched {
			n.content = d.was.content
		}
		return untouched
	}
	sum := sha256.Sum256(data)
	n.content = content{hash: hex.EncodeToString(sum[:])}
	switch {
	case d.was == nil:
	case d.was.hash == "" && d.was.oid == "":
		same = untouched
	default:
		same = d.was.sig.mode.Type() == n.sig.mode.Type() &&
			(d.was.hash == n.hash || d.was.oid != "" && d.was.repo.id(data) == d.was.oid)
	}
	if same && (d.was.kept || d.was.oid != "") {
		n.oid, n.repo, n.kept = d.was.oid, d.was.repo, d.was.kept
		return true
	}
	if r := d.in.repo; r != nil {
		if e := find(r.index, r.path(d.path)); e != nil && r.id(data) == e.oid {
			n.oid, n.repo = strings.Clone(e.oid), r
		}
	}
	if n.oid == "" || !s.unread(d) {
		n.kept, n.why = s.tree.put(data)
	}
	return same
}

func (s *scan) read(d *delta) (data []byte, why string) {
	size := d.now.sig.size
	switch {
	case s.ctx.Err() != nil:
		return nil, s.ctx.Err().Error()
	case size > maxHashed, s.unread(d) && size > MaxKept && !d.in.tracks(d.path):
		return nil, words(size) + ", too large"
	case s.hashed.Add(size) > maxHashedInAll, s.unread(d) && !s.tree.room(size) && !d.in.tracks(d.path):
		return nil, errFull
	}
	at, name := path.Split(d.path)
	in, err := s.top.sub(at)
	if err == nil {
		defer in.close()
		data, err = in.read(name, d.now.sig.mode, maxHashed+1)
	}
	if err != nil {
		return nil, "it cannot be read"
	}
	if again, err := in.stat(name); err != nil || again != d.now.sig {
		d.now.racy = true // somebody writes it: what was read may be half of it
	}
	return data, ""
}

// put keeps a content beforehand, as far as there is room.
func (t *Tree) put(data []byte) (kept bool, why string) {
	if len(data) > MaxKept {
		return false, words(int64(len(data))) + ", too large"
	}
	if !t.room(int64(len(data))) {
		return false, errFull
	}
	if _, err := t.keep(data); err != nil {
		return false, err.Error()
	}
	t.kept.Add(int64(len(data)))
	return true, ""
}

// errFull is why a content is not kept, in words.
const errFull = "200 MB are kept already"

func (t *Tree) room(size int64) bool { return t.kept.Load()+size <= MaxKeptInAll }

func words(size int64) string {
	switch {
	case size >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(size)/(1<<30))
	case size >= 1<<20:
		return fmt.Sprintf("%d MB", size>>20)
	}
	return fmt.Sprintf("%d KB", size>>10)
}

// report says what changed, with the hashes of what was there before.
func (s *scan) report(deltas []delta) (found Found) {
	fetched := s.fetch(deltas)
	for _, d := range deltas {
		before, why := before(d.was, fetched)
		after := State{Gone: true}
		if d.now != nil {
			after = State{Mode: d.now.sig.mode, Hash: d.now.hash}
			if why == "" && !d.now.sig.isDir() && d.now.hash == "" {
				why = d.now.why
			}
		}
		switch {
		case why == "":
			found.Changes = append(found.Changes, Change{Path: d.path, Before: before, After: after})
		case d.was == nil:
			found.Lost = append(found.Lost, Lost{d.path, "was made: " + why})
		case d.now == nil:
			found.Lost = append(found.Lost, Lost{d.path, "was removed: " + why})
		default:
			found.Lost = append(found.Lost, Lost{d.path, "was changed: " + why})
		}
	}
	return found
}

func before(was *node, fetched map[string]object) (s State, why string) {
	switch {
	case was == nil:
		return State{Gone: true}, ""
	case was.sig.isDir() || was.kept:
		return State{Mode: was.sig.mode, Hash: was.hash}, ""
	case was.oid != "":
		o := fetched[was.oid]
		return State{Mode: was.sig.mode, Hash: o.hash}, o.why
	}
	return s, was.why
}

// object is what became of an object of git that was put away.
type object struct{ hash, why string }

// fetch puts the contents away that git holds.
func (s *scan) fetch(deltas []delta) map[string]object {
	fetched := map[string]object{}
	stores := map[*repo]*objects{}
	for _, d := range deltas {
		if d.was == nil || d.was.oid == "" || d.was.kept {
			continue
		}
		if _, known := fetched[d.was.oid]; known {
			continue
		}
		r := d.was.repo
		if stores[r] == nil {
			stores[r] = newObjects(r.common, r.hash)
			defer stores[r].close()
		}
		data, err := stores[r].read(d.was.oid)
		if err == nil && r.id(data) != d.was.oid {
			err = errPack
		}
		o := object{}
		if err == nil {
			o.hash, err = s.tree.keep(data)
		}
		if err != nil {
			o.why = err.Error()
		}
		fetched[d.was.oid] = o
	}
	return fetched
}
