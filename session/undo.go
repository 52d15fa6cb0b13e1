package session

import (
	"errors"
	"fmt"
	"os"
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
	Turn bool // all changes of the last turn that made some
	From int  // all changes of the turns from this number on; 0: not so
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
	planned := make([]Planned, len(steps))
	for i, s := range steps {
		p := Planned{Change: s.change(), Removes: s.to.hash == "", Conflict: s.conflict, Now: s.now.hash}
		if s.conflict != "" && s.from != "" {
			// Without it the person still sees the two other sides.
			p.Recorded, _ = j.blobs.Get(s.from)
		}
		planned[i] = p
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
		u.Files = append(u.Files, s.fileChange())
	}
	j.mu.Lock()
	j.move(records, redo)
	j.mu.Unlock()
	_, err = j.appendEntry(Entry{Kind: KindUndo, Undo: &entry})
	return u, err
}

// step is what is done to one file.
type step struct {
	path     string
	from     string // hash of what the session left
	to       side
	now      side
	dirs     [][]string // of the changes, outermost first each
	conflict string
}

// plan picks the changes and looks at their files. Contents that are to be
// written are read here, so that none can be missing halfway.
func (j *Journal) plan(scope Scope, redo bool, picks []Pick) ([]*record, []*step, error) {
	records := j.choose(scope, redo)
	if picks != nil {
		records = slices.DeleteFunc(records, func(r *record) bool {
			return !slices.ContainsFunc(picks, func(p Pick) bool { return p.Path == r.Path })
		})
	}
	if len(records) == 0 && redo {
		return nil, nil, ErrNothingToRedo
	}
	if len(records) == 0 {
		return nil, nil, ErrNothingToUndo
	}
	var steps []*step
	byPath := map[string]*step{}
	for _, r := range records {
		from, to := r.After, r.Before
		if redo {
			from, to = to, from
		}
		s := byPath[r.Path]
		if s == nil {
			s = &step{path: r.Path, from: from}
			steps = append(steps, s)
			byPath[r.Path] = s
		} else if s.to.hash != from {
			s.conflict = "was changed between two changes of the session"
		}
		s.to = side{hash: to, perm: r.Perm.Perm()}
		s.dirs = append(s.dirs, r.Dirs)
	}
	for _, s := range steps {
		if err := j.look(s); err != nil {
			return nil, nil, err
		}
	}
	return records, steps, nil
}

// choose returns the changes that are next, in the order in which they are treated.
func (j *Journal) choose(scope Scope, redo bool) []*record {
	j.mu.Lock()
	defer j.mu.Unlock()
	stack := j.done
	if redo {
		stack = j.undone
	}
	var records []*record
	for _, r := range slices.Backward(stack) {
		switch {
		case scope.From > 0 && r.turn < scope.From,
			scope.From == 0 && len(records) > 0 && (!scope.Turn || r.turn != records[0].turn):
			return records
		}
		records = append(records, r)
	}
	return records
}

// look reads both sides of a file and finds what speaks against writing it.
func (j *Journal) look(s *step) (err error) {
	if err := j.inside(s.path); err != nil {
		return err
	}
	if s.to.hash != "" {
		if s.to.data, err = j.blobs.Get(s.to.hash); err != nil {
			return fmt.Errorf("%s cannot be restored: %w", s.path, err)
		}
	}
	if s.now, err = readSide(s.path); err != nil {
		return fmt.Errorf("%s cannot be restored: %w", s.path, err)
	}
	switch s.now.hash {
	case s.from:
	case s.to.hash:
		// As wanted already: by a person, or by an undo that a crash cut off.
		s.conflict = ""
	case "":
		s.conflict = "was removed since"
	default:
		s.conflict = "was changed since"
		if s.from == "" {
			s.conflict = "was made since"
		}
	}
	return nil
}

// inside checks a path from the log, which somebody may have written.
func (j *Journal) inside(path string) error {
	for _, part := range strings.Split(filepath.ToSlash(path), "/") {
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, dirName) {
			return fmt.Errorf("%s: %w", path, ErrOutside)
		}
	}
	resolved, err := file.ResolvePath(j.workspace, path)
	if err != nil || resolved != path || path == j.workspace {
		return fmt.Errorf("%s: %w", path, ErrOutside)
	}
	return nil
}

// conflicts are the files that may not be written: with picks, those that are
// not what the person saw.
func conflicts(steps []*step, redo bool, picks []Pick) error {
	e := &ConflictError{Redo: redo}
	for _, s := range steps {
		what := s.conflict
		if i := slices.IndexFunc(picks, func(p Pick) bool { return p.Path == s.path }); i >= 0 {
			if what = ""; picks[i].Now != s.now.hash {
				what = "was changed while you looked"
			}
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

// keep puts away the contents that nobody could bring back after they were written over.
func (j *Journal) keep(steps []*step) ([]Overwritten, error) {
	var kept []Overwritten
	for _, s := range steps {
		if s.conflict == "" || s.now.hash == "" || s.now.hash == s.from {
			continue
		}
		if _, err := j.blobs.Put(s.now.data); err != nil {
			return nil, fmt.Errorf("%s was not overwritten: %w", s.path, err)
		}
		kept = append(kept, Overwritten{Path: s.path, Blob: s.now.hash})
	}
	return kept, nil
}

// apply writes all files, or puts back those that were written.
func (j *Journal) apply(steps []*step) error {
	for i, s := range steps {
		if s.to.hash != "" && s.to.hash == s.now.hash && s.to.perm == s.now.perm {
			continue
		}
		err := j.put(s, s.to)
		if err == nil {
			continue
		}
		err = fmt.Errorf("%s could not be written, so nothing was changed: %w", s.path, err)
		for _, done := range slices.Backward(steps[:i]) {
			if back := j.put(done, done.now); back != nil {
				err = errors.Join(err, fmt.Errorf("%s could not be put back: %w", done.path, back))
			}
		}
		return err
	}
	return nil
}

// put makes a file what it was at one time.
func (j *Journal) put(s *step, to side) error {
	if to.hash != "" {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
			return err
		}
		return file.WriteFileAtomic(s.path, to.data, to.perm)
	}
	if err := os.Remove(s.path); err != nil && !isGone(err) {
		return err
	}
	for _, dirs := range s.dirs {
		j.removeDirs(s.path, dirs)
	}
	return nil
}

// removeDirs removes the directories that a write made for a file, as far as
// they are empty (UNDO-11).
func (j *Journal) removeDirs(path string, dirs []string) {
	for _, dir := range slices.Backward(dirs) {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) || j.inside(dir) != nil {
			return
		}
		if err := os.Remove(dir); err != nil && !isGone(err) {
			return
		}
	}
}

// change is the step as a change from what is there to what will be.
func (s *step) change() file.Change {
	return file.Change{
		Path: s.path, Before: s.now.data, After: s.to.data,
		Existed: s.now.hash != "", Perm: s.to.perm,
	}
}

func (s *step) fileChange() FileChange {
	f := FileChange{Path: s.path, Before: s.now.hash, After: s.to.hash}
	f.Added, f.Removed = s.change().Counts()
	return f
}

// Changed lists the files that the session has changed and not taken back, from
// before the first change to after the last one, by path.
func (j *Journal) Changed() []FileChange {
	j.mu.Lock()
	done := slices.Clone(j.done)
	j.mu.Unlock()
	var (
		files  []FileChange
		byPath = map[string]int{}
		many   = map[string]bool{}
	)
	for _, r := range done {
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
	var (
		c   file.Change
		err error
	)
	if f.Before != "" {
		if c.Before, err = j.blobs.Get(f.Before); err != nil {
			return
		}
	}
	if c.After, err = j.blobs.Get(f.After); err != nil {
		return
	}
	f.Added, f.Removed = c.Counts()
}
