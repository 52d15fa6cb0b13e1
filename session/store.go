package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oklog/ulid/v2"
)

const (
	dirName     = ".phero"
	sessionsDir = "sessions"
	logName     = "log.jsonl"
	lockName    = "lock"

	dirPerm  = 0o700
	filePerm = 0o600

	// ignore keeps everything out of git but the settings that a project shares.
	ignore = "*\n!config.toml\n"
)

// ErrNoSession says that there is no such session, or none at all.
var ErrNoSession = errors.New("no such session")

// Store is the sessions of one workspace, below its .phero/ directory. Nothing
// below it is reached through a link that leads out of the workspace (SESS-12).
type Store struct {
	workspace string // links resolved
	blobs     *Blobs
}

// OpenStore returns the store of a workspace, an absolute path. It makes nothing
// on the disk. A .phero that leads out of the workspace is refused.
func OpenStore(workspace string) (*Store, error) {
	if !filepath.IsAbs(workspace) {
		return nil, fmt.Errorf("the workspace %q is no absolute path", workspace)
	}
	workspace, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return nil, err
	}
	s := &Store{workspace: workspace}
	s.blobs = &Blobs{store: s}
	root, err := s.root()
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	root.Close()
	return s, nil
}

// Blobs are the contents that the store's sessions name by their hashes.
func (s *Store) Blobs() *Blobs { return s.blobs }

// Dir is the directory of the store, absolute.
func (s *Store) Dir() string { return filepath.Join(s.workspace, dirName) }

func (s *Store) logPath(id string) string {
	return filepath.Join(s.Dir(), sessionsDir, id, logName)
}

// root opens .phero. A dangling link is refused too: making a directory
// through it would leave the workspace.
func (s *Store) root() (*os.Root, error) {
	ws, err := os.OpenRoot(s.workspace)
	if err != nil {
		return nil, err
	}
	defer ws.Close()
	root, err := ws.OpenRoot(dirName)
	if err == nil {
		return root, nil
	}
	info, statErr := ws.Lstat(dirName)
	switch {
	case statErr != nil:
		return nil, err
	case info.Mode().Type() == fs.ModeSymlink:
		return nil, fmt.Errorf("%s is a link that leads nowhere inside the workspace: remove it, so that sessions can be saved", s.Dir())
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory: move it away, so that sessions can be saved", s.Dir())
	}
	return nil, err
}

// prepareTries is how often .phero is made before something else must be wrong.
const prepareTries = 200

// prepare opens .phero and makes it first where it is missing. As long as it is
// empty somebody may take it away again: a sandbox that had reserved its place.
func (s *Store) prepare() (root *os.Root, err error) {
	for range prepareTries {
		if root, err = s.prepareOnce(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return root, err
}

// Make makes the store's directory where it is missing.
func (s *Store) Make() error {
	root, err := s.prepare()
	if err != nil {
		return err
	}
	return root.Close()
}

func (s *Store) prepareOnce() (*os.Root, error) {
	if err := os.Mkdir(s.Dir(), dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err // it names the directory
	}
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err == nil {
		_, err = f.WriteString(ignore)
		err = errors.Join(err, f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		root.Close()
		return nil, fmt.Errorf("%s: %w", s.Dir(), err)
	}
	return root, nil
}

// Create begins a session and returns its log, locked, with the head written.
// agentVersion is the program's.
func (s *Store) Create(agentVersion string) (*Log, error) {
	root, err := s.prepare()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	id := ulid.Make().String()
	f, lk, err := makeLog(root, id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Dir(), err)
	}
	l := &Log{id: id, store: s, file: f, lock: lk, fresh: true}
	_, err = l.Append(Entry{Kind: KindHead, Head: &Head{
		Version: formatVersion, ID: id, Workspace: s.workspace, Agent: agentVersion,
	}})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// makeLog makes the directory of a session with an empty log in it.
func makeLog(root *os.Root, id string) (*os.File, *lock, error) {
	dir := sessionPath(id)
	if err := root.MkdirAll(dir, dirPerm); err != nil {
		return nil, nil, err
	}
	lk, err := takeLock(root, filepath.Join(dir, lockName), id)
	if err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(filepath.Join(dir, logName), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		lk.release()
		return nil, nil, err
	}
	return f, lk, nil
}

// rewrite makes the directory of a session again and copies the log, size
// bytes long, from a file that has no name any more.
func (s *Store) rewrite(id string, from io.ReaderAt, size int64) (*os.File, *lock, error) {
	root, err := s.prepare()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	f, lk, err := makeLog(root, id)
	if err != nil {
		return nil, nil, err
	}
	if _, err := io.Copy(f, io.NewSectionReader(from, 0, size)); err != nil {
		// Half a log must not stand where the next try expects none.
		_ = root.Remove(filepath.Join(sessionPath(id), logName))
		f.Close()
		lk.release()
		return nil, nil, err
	}
	return f, lk, nil
}

// Open opens a session to go on with it. It is locked until the log is closed;
// when another process has it open, the error is a *[LockedError] (SESS-10).
//
// Notices tell, in words, what of the log was damaged. It is passed over and stays
// in the file (SESS-05).
func (s *Store) Open(id string) (l *Log, entries []Entry, notices []string, err error) {
	id, root, err := s.find(id)
	if err != nil {
		return nil, nil, nil, err
	}
	defer root.Close()
	dir := sessionPath(id)
	f, err := root.OpenFile(filepath.Join(dir, logName), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, nil, openError(id, err)
	}
	lk, err := takeLock(root, filepath.Join(dir, lockName), id)
	if err != nil {
		f.Close()
		return nil, nil, nil, openError(id, err)
	}
	got, err := readLog(f)
	if err != nil {
		lk.release()
		f.Close()
		return nil, nil, nil, openError(id, err)
	}
	notices = s.where(id, got.notices)
	if lk.unlocked {
		notices = append(notices, "this file system knows no locks: do not open the session in a second agent")
	}
	l = &Log{id: id, store: s, file: f, lock: lk, size: got.size, synced: got.size, torn: got.torn, seq: got.seq, tally: got.tally}
	return l, got.entries, notices, nil
}

// Read reads a session without opening it, also while another process has it open.
func (s *Store) Read(id string) ([]Entry, []string, error) {
	id, root, err := s.find(id)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	f, err := root.Open(filepath.Join(sessionPath(id), logName))
	if err != nil {
		return nil, nil, openError(id, err)
	}
	defer f.Close()
	got, err := readLog(f)
	if err != nil {
		return nil, nil, openError(id, err)
	}
	return got.entries, s.where(id, got.notices), nil
}

// where adds to notices of damage that nothing was removed.
func (s *Store) where(id string, notices []string) []string {
	if len(notices) == 0 {
		return nil
	}
	return append(notices, "nothing was removed from "+s.logPath(id))
}

// find checks an id, that is all letters and digits of one (no path), and
// opens the store for it.
func (s *Store) find(id string) (string, *os.Root, error) {
	parsed, err := ulid.ParseStrict(strings.ToUpper(id))
	if err != nil {
		return "", nil, fmt.Errorf("%w: %q is no session's id, which has 26 letters and digits", ErrNoSession, id)
	}
	root, err := s.root()
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("%w: nothing was saved in %s yet", ErrNoSession, s.workspace)
	}
	return parsed.String(), root, err
}

func sessionPath(id string) string { return filepath.Join(sessionsDir, id) }

func openError(id string, err error) error {
	var locked *LockedError
	switch {
	case errors.As(err, &locked):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s", ErrNoSession, id)
	}
	return fmt.Errorf("session %s cannot be opened: %w", id, err)
}

// syncDirs brings the names of a new session to the disk. Systems that cannot
// do that for a directory do it by themselves.
func (s *Store) syncDirs(id string) {
	for _, dir := range []string{filepath.Dir(s.logPath(id)), filepath.Join(s.Dir(), sessionsDir), s.Dir(), s.workspace} {
		syncDir(dir)
	}
}

func syncDir(path string) {
	d, err := os.Open(path)
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Sync()
}
