package session

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
)

// Journal knows the changes of a session, for undo and redo. Its methods may be
// called at the same time, but an undo must not run beside a turn (UNDO-08).
//
// A change is recorded twice: what will be written before the write, and that it
// was written after it. So a crash leaves no change unknown (UNDO-05).
type Journal struct {
	blobs       *Blobs
	workspace   string // links resolved
	appendEntry func(Entry) (Entry, error)

	undoing sync.Mutex // held for a whole undo, before mu

	mu      sync.Mutex
	records []*record // every change, in the order of the intents
	done    []*record // written and not taken back, the newest last
	undone  []*record // taken back, the next one to be made again last
}

// record is one change.
type record struct {
	Change
	turn    int
	seq     int64  // of the intent's entry, or of what was found
	pending bool   // not known to be written
	found   *Found // what the change was found among, nil for a write of a tool
}

// newRecord makes the record of an intent. Diffs stay in the log.
func newRecord(c Change, turn int) *record {
	c.Hunks = nil
	return &record{Change: c, turn: turn, pending: true}
}

// NewJournal makes an empty journal of a workspace. Entries go to appendEntry,
// which is [Log.Append] or calls it.
func NewJournal(blobs *Blobs, workspace string, appendEntry func(Entry) (Entry, error)) *Journal {
	if resolved, err := filepath.EvalSymlinks(workspace); err == nil {
		workspace = resolved
	}
	return &Journal{blobs: blobs, workspace: workspace, appendEntry: appendEntry}
}

// hunksMost is how much of a diff stands in the log, in bytes. A larger one can
// be made from the contents.
const hunksMost = 64 << 10

// Intent records a change before it is written (UNDO-01). When it returns nil, the
// contents and the intent are on the disk, or the disk does not take them: then
// they are in memory, which the log's and the blobs' errors tell. step is the
// turn's number.
func (j *Journal) Intent(call tools.ToolCall, step int, c file.Change) error {
	ch := Change{
		ID: ulid.Make().String(), CallID: call.ID, Tool: call.Name,
		Path: c.Path, Existed: c.Existed, Perm: c.Perm, Dirs: c.Dirs,
		Hunks: shortHunks(file.Hunks(c.Before, c.After, 3)),
	}
	if !utf8.ValidString(c.Path) {
		ch.RawPath, ch.Dirs = []byte(c.Path), nil
	}
	ch.Added, ch.Removed = c.Counts()
	var puts errgroup.Group
	if c.Existed {
		puts.Go(func() (err error) {
			ch.Before, err = j.blobs.Put(c.Before)
			return err
		})
	}
	puts.Go(func() (err error) {
		ch.After, err = j.blobs.Put(c.After)
		return err
	})
	if err := puts.Wait(); err != nil {
		return fmt.Errorf("the change of %s could not be recorded for undo: %w", c.Path, err)
	}
	// An entry that the disk did not take is written later, so the change counts in any case.
	r := newRecord(ch, step)
	j.mu.Lock()
	j.records = append(j.records, r)
	j.mu.Unlock()
	e, err := j.appendEntry(Entry{Kind: KindChange, Step: step, Change: &ch})
	j.mu.Lock()
	r.seq = e.Seq
	j.mu.Unlock()
	if errors.Is(err, ErrClosed) {
		return fmt.Errorf("the change of %s could not be recorded for undo: %w", c.Path, err)
	}
	return nil
}

func shortHunks(hunks []file.Hunk) []file.Hunk {
	size := 0
	for i, h := range hunks {
		for _, line := range h.Lines {
			size += len(line)
		}
		if size > hunksMost {
			return hunks[:i]
		}
	}
	return hunks
}

// Done records that a change was written. A change without an intent is recorded
// as a whole, in the turn of the change before it.
func (j *Journal) Done(call tools.ToolCall, c file.Change) error {
	r := j.pendingRecord(call.ID, c)
	if r == nil {
		if err := j.Intent(call, j.turn(), c); err != nil {
			return err
		}
		r = j.pendingRecord(call.ID, c)
	}
	return j.finish(r)
}

func (j *Journal) turn() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.records); n > 0 {
		return j.records[n-1].turn
	}
	return 0
}

func (j *Journal) pendingRecord(callID string, c file.Change) *record {
	after := Hash(c.After)
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range slices.Backward(j.records) {
		if r.pending && r.CallID == callID && r.Path == c.Path && r.After == after {
			return r
		}
	}
	return nil
}

// finish marks a change as written. Nothing can be made again from then on (UNDO-03).
func (j *Journal) finish(r *record) error {
	j.mu.Lock()
	j.push(r)
	j.mu.Unlock()
	_, err := j.appendEntry(Entry{Kind: KindDone, Step: r.turn, Done: r.ID})
	return err
}

// push is called with mu held, or while loading.
func (j *Journal) push(r *record) {
	r.pending = false
	j.done = append(j.done, r)
	j.undone = nil
}

// Load folds the entries of a resumed log into an empty journal. A change whose
// end is not known is settled against the disk: written (the log gets the mark),
// never written, or neither, which the notices name and which cannot be undone.
func (j *Journal) Load(entries []Entry) (notices []string) {
	f := fold{journal: j, byID: map[string]*record{}}
	for _, e := range entries {
		f.add(e)
	}
	for _, r := range f.flying {
		if n := j.land(r); n != "" {
			notices = append(notices, n)
		}
	}
	return notices
}

// fold puts the journal together from entries.
type fold struct {
	journal *Journal
	byID    map[string]*record
	flying  []*record // changes whose end is not known, and whose call may have been running at the end
	turn    int
	from    string // the workspace at the time, where it was another one
}

func (f *fold) add(e Entry) {
	j := f.journal
	switch e.Kind {
	case KindHead:
		f.from = e.Head.Workspace
	case KindChange:
		r := newRecord(f.rebase(*e.Change), e.Step)
		r.seq = e.Seq
		f.byID[r.ID] = r
		f.flying = append(f.flying, r)
		j.records = append(j.records, r)
	case KindDone:
		if r := f.byID[e.Done]; r != nil && r.pending {
			j.push(r)
			f.land(func(x *record) bool { return x == r })
		}
	case KindFound:
		found := *e.Found
		for i, c := range found.Changes {
			found.Changes[i] = f.rebase(c)
		}
		for _, r := range j.pushFound(&found, e.Step) {
			r.seq = e.Seq
			f.byID[r.ID] = r
		}
	case KindUndo:
		j.move(f.pick(e.Undo.Changes), e.Undo.Redo)
	case KindTurn:
		f.land(func(*record) bool { return true })
	case KindMessage:
		f.message(e)
	}
}

// message drops the intents that no crash cut off: the program lived on, and
// would have written the mark.
func (f *fold) message(e Entry) {
	m := e.Message
	switch {
	case m.Role == RoleTool:
		f.land(func(r *record) bool { return r.CallID == m.CallID })
	case m.Role == RoleUser && m.Parent == "" && e.Step != f.turn:
		f.turn = e.Step
		f.land(func(*record) bool { return true })
	}
}

func (f *fold) land(landed func(*record) bool) {
	f.flying = slices.DeleteFunc(f.flying, landed)
}

func (f *fold) pick(ids []string) []*record {
	var rs []*record
	for _, id := range ids {
		if r := f.byID[id]; r != nil {
			rs = append(rs, r)
		}
	}
	return rs
}

// rebase moves the paths of a change to where the workspace is now.
func (f *fold) rebase(c Change) Change {
	if f.from == "" || f.from == f.journal.workspace {
		return c
	}
	move := func(path string) string {
		if rel, err := filepath.Rel(f.from, path); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(f.journal.workspace, rel)
		}
		return path
	}
	c.Path = move(c.Path)
	dirs := make([]string, len(c.Dirs))
	for i, d := range c.Dirs {
		dirs[i] = move(d)
	}
	c.Dirs = dirs
	return c
}

// move moves changes between the two stacks. Called with mu held, or while loading.
func (j *Journal) move(rs []*record, redo bool) {
	from, to := &j.done, &j.undone
	if redo {
		from, to = to, from
	}
	for _, r := range rs {
		if i := slices.Index(*from, r); i >= 0 {
			*from = slices.Delete(*from, i, i+1)
			*to = append(*to, r)
		}
	}
}

// land settles a change that was in flight when the program ended.
func (j *Journal) land(r *record) (notice string) {
	if err := j.inside(r.Path); err != nil {
		return fmt.Sprintf("a change was being written when the program ended; it cannot be undone: %v", err)
	}
	j.sweep(r)
	now, err := readSide(r.Path)
	switch {
	case err != nil:
		return fmt.Sprintf("%s was being written when the program ended, and cannot be read now: %v", r.Path, err)
	case now.hash == r.After:
		if err := j.finish(r); err != nil {
			return fmt.Sprintf("that %s was written could not be noted: %v", r.Path, err)
		}
		return ""
	case now.hash == r.Before:
		j.removeDirs(r.Path, r.Dirs)
		return ""
	}
	return fmt.Sprintf("%s was being written when the program ended, and was changed since: this change cannot be undone", r.Path)
}

// sweep removes what a write that was killed has left beside its file. What it
// cannot remove does no harm.
func (j *Journal) sweep(r *record) {
	if data, err := j.blobs.Get(r.After); err == nil {
		_ = file.RemoveLeftovers(r.Path, data)
	}
}
