package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/oklog/ulid/v2"

	"github.com/phero-agent/agent/tools/file"
)

// What [Change].Before and After say of a link and of a directory.
const (
	linkPrefix = "link:"
	dirHash    = "dir"
)

// keptMode are the bits of a mode that are restored.
const keptMode = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// side is what is at a path at one time.
type side struct {
	hash string // as in [Change]; "" where there is nothing
	data []byte
	perm fs.FileMode
}

// errNotRegular says that a path is a device, a socket or the like now.
var errNotRegular = errors.New("is no regular file any more")

func readSide(path string) (side, error) {
	info, err := os.Lstat(path)
	if isGone(err) {
		return side{}, nil
	}
	if err != nil {
		return side{}, err
	}
	s := side{perm: info.Mode() & keptMode}
	switch info.Mode().Type() {
	case 0:
		if s.data, err = os.ReadFile(path); err == nil {
			s.hash = Hash(s.data)
		}
	case fs.ModeSymlink:
		var target string
		if target, err = os.Readlink(path); err == nil {
			s.data = []byte(target)
			s.hash = linkPrefix + Hash(s.data)
		}
	case fs.ModeDir:
		s.hash = dirHash
	default:
		err = errNotRegular
	}
	return s, err
}

// isGone tells whether there is nothing at a path, perhaps since a file stands
// where its directory was.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// content is what a hash of [Change] stands for.
func (j *Journal) content(hash string) ([]byte, error) {
	if hash == "" || hash == dirHash {
		return nil, nil
	}
	return j.blobs.Get(strings.TrimPrefix(hash, linkPrefix))
}

// sides are what a change leads from and to.
func (r *record) sides(redo bool) (from, to side) {
	from, to = side{hash: r.After, perm: r.Perm & keptMode}, side{hash: r.Before, perm: r.Perm & keptMode}
	if r.Was != 0 {
		to.perm = r.Was & keptMode
	}
	if redo {
		from, to = to, from
	}
	return from, to
}

// step is what is done to one path.
type step struct {
	path     string
	from     side // what the session left, without its content
	to       side
	now      side
	dirs     [][]string // of the changes, outermost first each
	found    *Found     // the commands that made the newest change, nil for a tool
	follows  bool       // a directory that goes along with what is in it
	conflict string
	err      error // why it cannot be done
}

// plan picks the changes and looks at their files. Contents that are to be
// written are read here, so that none can be missing halfway.
func (j *Journal) plan(scope Scope, redo bool, picks []Pick) ([]*record, []*step, error) {
	records := j.choose(scope, redo)
	if picks != nil {
		records = pick(records, redo, picks)
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
		from, to := r.sides(redo)
		s := byPath[r.Path]
		if s == nil {
			s = &step{path: r.Path, from: from, found: r.found}
			steps = append(steps, s)
			byPath[r.Path] = s
		} else if s.to.hash != from.hash {
			s.conflict = "was changed between two changes of the session"
		}
		s.to = to
		s.dirs = append(s.dirs, r.Dirs)
	}
	for _, s := range steps {
		j.look(s)
		if s.found == nil {
			continue
		}
		for dir := filepath.Dir(s.path); len(dir) > len(j.workspace); dir = filepath.Dir(dir) {
			if above := byPath[dir]; above != nil {
				above.follows = above.from.hash == dirHash || above.to.hash == dirHash
			}
		}
	}
	return records, steps, nil
}

// look reads both sides of a path and finds what speaks against writing it.
func (j *Journal) look(s *step) {
	if s.err = j.inside(s.path); s.err != nil {
		return
	}
	var err error
	if s.now, err = readSide(s.path); err == nil {
		switch {
		case s.to.hash == s.from.hash && s.to.hash != "" && s.now.hash != "":
			s.mode()
			return
		case s.to.hash == s.now.hash:
			s.to.data = s.now.data
		default:
			s.to.data, err = j.content(s.to.hash)
		}
	}
	if err != nil {
		s.err = fmt.Errorf("%s cannot be restored: %w", s.path, err)
		return
	}
	switch s.now.hash {
	case s.to.hash:
		// As wanted already: by a person, or by an undo that a crash cut off.
		s.conflict = ""
	case s.from.hash:
		s.conflict = cmp.Or(s.conflict, s.otherMode())
	case "":
		s.conflict = "was removed since"
	default:
		s.conflict = "was changed since"
		if s.from.hash == "" {
			s.conflict = "was made since"
		}
	}
}

// mode is a step that only gives back a mode: the content stays what it is.
func (s *step) mode() {
	s.to.hash, s.to.data = s.now.hash, s.now.data
	s.conflict = s.otherMode()
}

// otherMode says that somebody changed the mode since a command ran. What the
// tools write has the mode that it had.
func (s *step) otherMode() string {
	if s.found != nil && s.now.hash != "" && s.now.perm != s.from.perm && s.now.perm != s.to.perm && !strings.HasPrefix(s.now.hash, linkPrefix) {
		return "got another mode since"
	}
	return ""
}

// kind says what is special of a step, in words.
func (s *step) kind() string {
	hash := s.to.hash
	if hash == "" {
		hash = s.now.hash
	}
	switch {
	case hash == dirHash:
		return "directory"
	case strings.HasPrefix(hash, linkPrefix):
		return "link"
	case s.to.hash != "" && s.now.hash != "" && s.to.perm != s.now.perm:
		return fmt.Sprintf("mode %04o", s.to.perm)
	}
	return ""
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

// inside checks a path from the log, which somebody may have written.
func (j *Journal) inside(path string) error {
	for _, part := range strings.Split(filepath.ToSlash(path), "/") {
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, dirName) {
			return fmt.Errorf("%s: %w", path, ErrOutside)
		}
	}
	// The last part may be a link that is replaced; those above may be none.
	dir := filepath.Dir(path)
	resolved, err := file.ResolvePath(j.workspace, dir)
	if err != nil || resolved != dir || filepath.Clean(path) != path || path == j.workspace {
		return fmt.Errorf("%s: %w", path, ErrOutside)
	}
	return nil
}

// keep puts away the contents that nobody could bring back after they were written
// over. Only what no change of the session made is named.
func (j *Journal) keep(steps []*step) ([]Overwritten, error) {
	var kept []Overwritten
	for _, s := range steps {
		others := s.conflict != "" && s.now.hash != s.from.hash
		if s.now.hash == "" || s.now.hash == dirHash || !others && s.found == nil {
			continue
		}
		if _, err := j.blobs.Put(s.now.data); err != nil {
			return nil, fmt.Errorf("%s was not overwritten: %w", s.path, err)
		}
		if others {
			kept = append(kept, Overwritten{Path: s.path, Blob: s.now.hash})
		}
	}
	return kept, nil
}

// apply treats all paths, or puts back those that were treated. What goes away goes
// first, from the inside out; then what comes, from the outside in.
func (j *Journal) apply(steps []*step) error {
	steps = slices.Clone(steps)
	slices.SortStableFunc(steps, func(a, b *step) int {
		switch {
		case a.to.hash == "" && b.to.hash == "":
			return strings.Compare(b.path, a.path)
		case a.to.hash == "":
			return -1
		case b.to.hash == "":
			return 1
		}
		return strings.Compare(a.path, b.path)
	})
	for i, s := range steps {
		if s.to.hash != "" && s.to.hash == s.now.hash && s.to.perm == s.now.perm {
			continue
		}
		err := j.put(s, s.now, s.to)
		if err == nil {
			continue
		}
		err = fmt.Errorf("%s could not be written, so nothing was changed: %w", s.path, err)
		for _, done := range slices.Backward(steps[:i]) {
			if back := j.put(done, done.to, done.now); back != nil {
				err = errors.Join(err, fmt.Errorf("%s could not be put back: %w", done.path, back))
			}
		}
		return err
	}
	for _, s := range slices.Backward(steps) {
		if s.to.hash == dirHash { // it could be written into until now
			if err := os.Chmod(s.path, s.to.perm); err != nil {
				return fmt.Errorf("%s has not its mode back: %w", s.path, err)
			}
		}
	}
	return nil
}

// put makes a path what it was at one time.
func (j *Journal) put(s *step, from, to side) error {
	if to.hash == "" {
		return j.remove(s, from)
	}
	if from.hash != "" && (from.isFile() != to.isFile() || from.hash == dirHash != (to.hash == dirHash)) {
		if err := j.remove(s, from); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	switch {
	case to.hash == dirHash:
		if err := os.Mkdir(s.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return os.Chmod(s.path, to.perm|0o700)
	case to.isFile():
		return file.WriteFileAtomic(s.path, to.data, to.perm)
	}
	beside := filepath.Join(filepath.Dir(s.path), ".phero-tmp-"+ulid.Make().String())
	if err := os.Symlink(string(to.data), beside); err != nil {
		return err
	}
	if err := os.Rename(beside, s.path); err != nil {
		_ = os.Remove(beside)
		return err
	}
	return nil
}

func (s side) isFile() bool { return s.hash != dirHash && !strings.HasPrefix(s.hash, linkPrefix) }

// remove takes away what is at a path. A directory that somebody else put something
// into stays.
func (j *Journal) remove(s *step, was side) error {
	err := os.Remove(s.path)
	if was.hash == dirHash && (errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist)) {
		return nil
	}
	if err != nil && !isGone(err) {
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
