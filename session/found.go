package session

import (
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"github.com/phero-agent/agent/session/tree"
	"github.com/phero-agent/agent/tools/file"
)

// Found records what changed while commands ran (UNDO-09). f names the commands, t
// is what changed. Beside a command in the background the file tools write, too:
// what they wrote is theirs, and left out.
func (j *Journal) Found(f Found, step int, t tree.Found) error {
	f.ID = ulid.Make().String()
	var newest map[string]*record
	if f.Doubt != "" {
		newest = j.newest()
	}
	for _, c := range t.Changes {
		ch := j.change(c)
		if r := newest[ch.Path]; r == nil || r.found != nil || r.Before != ch.Before || r.After != ch.After {
			f.Changes = append(f.Changes, ch)
		}
	}
	for _, l := range t.Lost {
		f.Lost = append(f.Lost, Lost{Path: j.path(l.Path), Why: l.Why})
	}
	if len(f.Changes) == 0 && len(f.Lost) == 0 {
		return nil
	}
	j.count(f.Changes)
	j.mu.Lock()
	records := j.pushFound(&f, step)
	j.mu.Unlock()
	e, err := j.appendEntry(Entry{Kind: KindFound, Step: step, Found: &f})
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range records {
		r.seq = e.Seq
	}
	return err
}

func (j *Journal) path(path string) string {
	return filepath.Join(j.workspace, filepath.FromSlash(path))
}

// change is what the journal says of a change that was found.
func (j *Journal) change(c tree.Change) Change {
	ch := Change{
		ID: ulid.Make().String(), Tool: "bash", Path: j.path(c.Path), Existed: !c.Before.Gone,
		Before: stateHash(c.Before), After: stateHash(c.After), Perm: c.After.Mode & keptMode,
	}
	if c.After.Gone {
		ch.Perm = c.Before.Mode & keptMode
	} else if was := c.Before.Mode & keptMode; !c.Before.Gone && was != ch.Perm {
		ch.Was = was
	}
	if !utf8.ValidString(ch.Path) {
		ch.RawPath = []byte(ch.Path)
	}
	return ch
}

func stateHash(s tree.State) string {
	switch {
	case s.Gone:
		return ""
	case s.Mode.IsDir():
		return dirHash
	case s.Mode.Type() == fs.ModeSymlink:
		return linkPrefix + s.Hash
	}
	return s.Hash
}

// newest are the newest changes by path, but for those that were taken back.
func (j *Journal) newest() map[string]*record {
	j.mu.Lock()
	defer j.mu.Unlock()
	byPath := make(map[string]*record, len(j.records))
	for _, r := range j.records {
		byPath[r.Path] = r
	}
	for _, r := range j.undone {
		if byPath[r.Path] == r {
			delete(byPath, r.Path)
		}
	}
	return byPath
}

// countMost is for how many changes that were found together lines are counted.
const countMost = 1000

func (j *Journal) count(changes []Change) {
	if len(changes) > countMost {
		return
	}
	var counts errgroup.Group
	counts.SetLimit(4)
	for i := range changes {
		counts.Go(func() error {
			c := &changes[i]
			before, err := j.content(c.Before)
			if err != nil {
				return nil
			}
			after, err := j.content(c.After)
			if err != nil {
				return nil
			}
			diff := file.Change{Before: before, After: after}
			c.Added, c.Removed = diff.Counts()
			return nil
		})
	}
	_ = counts.Wait()
}

// pushFound makes the records of changes that were found, with mu held, or while
// loading. What is in doubt does not end what can be made again.
func (j *Journal) pushFound(f *Found, step int) []*record {
	var records []*record
	for _, c := range f.Changes {
		records = append(records, &record{Change: c, turn: step, found: f})
	}
	j.records = append(j.records, records...)
	j.done = append(j.done, records...)
	if f.Doubt == "" && len(records) > 0 {
		j.undone = nil
	}
	return records
}
