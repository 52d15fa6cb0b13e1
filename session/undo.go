package session

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools/file"
)

// Errors of undo and redo.
var (
	ErrNothingToUndo = errors.New("nothing to undo")
	ErrNothingToRedo = errors.New("nothing to redo")
	// ErrOutside says that a change names a path that no change of a session
	// may touch: outside the workspace, behind a link, in .git or .phero (UNDO-06).
	ErrOutside = errors.New("it is not a place in the workspace that can be written")
)

// ConflictError says that files are not as the session left them, or as they were
// when the person looked. Nothing was changed (UNDO-04).
type ConflictError struct {
	Redo  bool
	Files []Conflict
}

// Conflict is one file that is not as the session left it.
type Conflict struct {
	Path string
	What string // is different, in words that follow the path: "was changed since"
}

func (e *ConflictError) Error() string {
	what := "undone"
	if e.Redo {
		what = "made again"
	}
	parts := make([]string, len(e.Files))
	for i, c := range e.Files {
		parts[i] = c.Path + " " + c.What
	}
	return fmt.Sprintf("nothing was %s: %s", what, strings.Join(parts, "; "))
}

// FileChange is what became of a file.
type FileChange struct {
	Path           string
	Before, After  string // hashes of the contents; "" where there was, or is, no file
	Added, Removed int    // lines
}

// Undone is what an undo or a redo did.
type Undone struct {
	Redo    bool
	Changes []Change     // taken back, or made again, in that order; without hunks
	Files   []FileChange // each once; Before is what was there, After what is there now

	// Overwritten is what others had made of the files, where the person chose to go over it.
	Overwritten []Overwritten
}

// Scope says how much an undo or a redo treats. The zero value is the last change.
type Scope struct {
	Turn bool  // all changes of the last turn that made some
	From int64 // all changes since the entry of this number; 0: not so
}

// Pick is a file that a person chose to treat, having seen its content.
type Pick struct {
	Path string
	Now  string // hash of the content that the person saw; "" for no file
}

// Planned is what an undo or a redo would do to a file.
type Planned struct {
	Change   file.Change // Before is the content now, After the one it would get
	Removes  bool        // the file would be removed
	Conflict string      // what is different from what the session left, "" when nothing is
	Found    *Found      // the commands that made the change, without their changes; nil for a tool
	Kind     string      // "link", "directory" or the mode that it gets; "" for a file that keeps its mode
	Recorded []byte      // the content that the session left, for a conflict
	Now      string      // hash of the content now; "" for no file
}

// Pick chooses the file as it was planned, also over a conflict.
func (p Planned) Pick() Pick { return Pick{Path: p.Change.Path, Now: p.Now} }

// Plan tells what [Journal.Undo] or [Journal.Redo] would do, for a person to look at.
func (j *Journal) Plan(scope Scope, redo bool) ([]Planned, error) {
	j.undoing.Lock()
	defer j.undoing.Unlock()
	_, steps, err := j.plan(scope, redo, nil)
	if err != nil {
		return nil, err
	}
	var planned []Planned
	for _, s := range steps {
		if s.follows {
			continue
		}
		if s.err != nil {
			s.conflict = s.err.Error()
		}
		p := Planned{Change: s.change(), Removes: s.to.hash == "", Conflict: s.conflict, Now: s.now.hash, Kind: s.kind()}
		if s.found != nil {
			found := *s.found
			found.Changes = nil
			p.Found = &found
		}
		if s.conflict != "" && s.from.hash != "" {
			// Without it the person still sees the two other sides.
			p.Recorded, _ = j.content(s.from.hash)
		}
		planned = append(planned, p)
	}
	return planned, nil
}

// Undo takes changes back: content and mode are as before (UNDO-02, UNDO-10).
// With picks only those files are treated, also over a conflict, if they still are
// what the person saw; what was there is kept as a blob (UNDO-04). Without, all of
// them are, and when one is not as the session left it, nothing is touched and the
// error is a *[ConflictError].
//
// All files are treated or none. An error beside a result that names files says
// that the log could not take the news.
func (j *Journal) Undo(scope Scope, picks []Pick) (Undone, error) { return j.run(scope, false, picks) }

// Redo makes again what the last [Journal.Undo] took back, one change or a turn of them.
func (j *Journal) Redo(scope Scope, picks []Pick) (Undone, error) { return j.run(scope, true, picks) }

func (j *Journal) run(scope Scope, redo bool, picks []Pick) (Undone, error) {
	j.undoing.Lock()
	defer j.undoing.Unlock()
	records, steps, err := j.plan(scope, redo, picks)
	if err != nil {
		return Undone{}, err
	}
	if err := conflicts(steps, redo, picks); err != nil {
		return Undone{}, err
	}
	u := Undone{Redo: redo}
	if u.Overwritten, err = j.keep(steps); err != nil {
		return Undone{}, err
	}
	if err := j.apply(steps); err != nil {
		return Undone{}, err
	}
	entry := Undo{Redo: redo, Overwritten: u.Overwritten}
	for _, r := range records {
		u.Changes = append(u.Changes, r.Change)
		entry.Changes = append(entry.Changes, r.ID)
	}
	for _, s := range steps {
		if !s.follows {
			u.Files = append(u.Files, s.fileChange())
		}
	}
	j.mu.Lock()
	j.move(records, redo)
	j.mu.Unlock()
	_, err = j.appendEntry(Entry{Kind: KindUndo, Undo: &entry})
	return u, err
}

// choose returns the changes that are next, in the order in which they are treated.
// Changes in doubt do not stand in the way of the last one that is certain.
func (j *Journal) choose(scope Scope, redo bool) []*record {
	j.mu.Lock()
	defer j.mu.Unlock()
	stack := j.done
	if redo {
		stack = j.undone
	}
	var records []*record
	var sure *record // the newest
	for _, r := range slices.Backward(stack) {
		switch {
		case scope.From > 0 && r.seq < scope.From:
			continue // what was made again stands behind what came after it
		case scope.Turn && len(records) > 0 && r.turn != records[0].turn,
			scope.From == 0 && !scope.Turn && sure != nil && !sure.with(r):
			return records
		}
		records = append(records, r)
		if sure == nil && !r.doubtful() {
			sure = r
		}
	}
	return records
}

// with tells whether two changes are undone as one.
func (r *record) with(other *record) bool { return r.found != nil && r.found == other.found }

func (r *record) doubtful() bool { return r.found != nil && r.found.Doubt != "" }

// pick leaves those changes of paths that a person chose, and the directories that
// these need, or leave empty.
func pick(records []*record, redo bool, picks []Pick) []*record {
	chosen := map[string]bool{}
	for _, p := range picks {
		chosen[p.Path] = true
	}
	type count struct{ all, picked int }
	above := map[string]*count{} // by directory, of what is below it
	for _, r := range records {
		for dir := filepath.Dir(r.Path); above[dir] == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			above[dir] = &count{}
		}
	}
	for _, r := range records {
		if above[r.Path] != nil {
			continue
		}
		for dir := filepath.Dir(r.Path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			above[dir].all++
			if chosen[r.Path] {
				above[dir].picked++
			}
		}
	}
	return slices.DeleteFunc(records, func(r *record) bool {
		if chosen[r.Path] {
			return false
		}
		n := above[r.Path]
		_, to := r.sides(redo)
		return n == nil || n.picked == 0 || to.hash != dirHash && n.picked < n.all
	})
}

// conflicts are the files that may not be written: with picks, those that are
// not what the person saw.
func conflicts(steps []*step, redo bool, picks []Pick) error {
	seen := map[string]string{}
	for _, p := range picks {
		seen[p.Path] = p.Now
	}
	e := &ConflictError{Redo: redo}
	for _, s := range steps {
		if s.err != nil {
			return s.err
		}
		what := s.conflict
		if now, ok := seen[s.path]; ok {
			if what = ""; now != s.now.hash {
				what = "was changed while you looked"
			}
		} else if what == "" && picks == nil && s.found != nil && s.found.Doubt != "" {
			what = "may not be the command's doing: " + s.found.Doubt
		}
		if what != "" {
			e.Files = append(e.Files, Conflict{Path: s.path, What: what})
		}
	}
	if len(e.Files) == 0 {
		return nil
	}
	return e
}

// Changed lists the files that the session has changed and not taken back, from
// before the first change to after the last one, by path.
func (j *Journal) Changed() []FileChange { return j.ChangedSince(0) }

// ChangedSince is [Journal.Changed] for the changes since the entry of a number.
func (j *Journal) ChangedSince(seq int64) []FileChange {
	j.mu.Lock()
	done := slices.Clone(j.done)
	j.mu.Unlock()
	done = slices.DeleteFunc(done, func(r *record) bool { return r.seq < seq })
	var (
		files  []FileChange
		byPath = map[string]int{}
		many   = map[string]bool{}
	)
	for _, r := range done {
		if r.IsDir() {
			continue
		}
		i, seen := byPath[r.Path]
		if !seen {
			byPath[r.Path] = len(files)
			files = append(files, FileChange{Path: r.Path, Before: r.Before, After: r.After, Added: r.Added, Removed: r.Removed})
			continue
		}
		many[r.Path] = true
		files[i].After = r.After
		files[i].Added += r.Added
		files[i].Removed += r.Removed
	}
	files = slices.DeleteFunc(files, func(f FileChange) bool { return f.Before == f.After })
	for i := range files {
		if many[files[i].Path] {
			j.recount(&files[i])
		}
	}
	slices.SortFunc(files, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// recount counts the lines between two contents. Where one is not kept any
// more, the sum over the changes stands.
func (j *Journal) recount(f *FileChange) {
	before, err := j.content(f.Before)
	if err != nil {
		return
	}
	after, err := j.content(f.After)
	if err != nil {
		return
	}
	c := file.Change{Before: before, After: after}
	f.Added, f.Removed = c.Counts()
}

// Contents is a change of [Journal.Changed] with the contents. What a command wrote
// and nobody changed since is read from its file, where it was too large to be kept.
func (j *Journal) Contents(f FileChange) (c file.Change, err error) {
	c = file.Change{Path: f.Path, Existed: f.Before != ""}
	if c.Before, err = j.content(f.Before); err != nil {
		return c, err
	}
	if c.After, err = j.content(f.After); err != nil {
		now, readErr := readSide(f.Path)
		if readErr != nil || now.hash != f.After {
			return c, err
		}
		c.After = now.data
	}
	return c, nil
}
