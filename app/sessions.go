package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
)

// Sessions are the saved sessions of a workspace, with what the state directory
// knows of them: a session that it does not know came with the repository (decision 6).
type Sessions struct {
	store    *session.Store
	stateDir string
	version  string
}

// OpenSessions opens the sessions of a workspace. Nothing is made on the disk.
func OpenSessions(opts Options) (*Sessions, error) {
	store, err := session.OpenStore(opts.Workspace)
	if err != nil {
		return nil, err
	}
	return &Sessions{store: store, stateDir: opts.StateDir, version: opts.Version}, nil
}

// SessionInfo is what a list shows of a session.
type SessionInfo struct {
	session.Info
	Foreign bool // it was not made here
}

// List lists the sessions, the one written last first.
func (s *Sessions) List() ([]SessionInfo, error) {
	list, err := s.store.List()
	files, _ := os.ReadDir(filepath.Join(s.stateDir, "sessions")) // without it none is known
	known := map[string]bool{}
	for _, f := range files {
		known[f.Name()] = true
	}
	infos := make([]SessionInfo, len(list))
	for i, info := range list {
		infos[i] = SessionInfo{Info: info, Foreign: !known[info.ID+knownSuffix]}
	}
	return infos, err
}

// Search finds the sessions in which a text was said.
func (s *Sessions) Search(ctx context.Context, text string) ([]session.Hit, error) {
	return s.store.Search(ctx, text)
}

// Preview is what there is to know of a session before it is opened.
type Preview struct {
	ID      string
	Said    []session.Message // the newest by the person and the model, the oldest first
	Changed []string          // files, from the workspace
	Damage  []string          // of the log, in words
}

// previewMost is how many messages a preview has.
const previewMost = 8

// Preview reads a session, also one that is open elsewhere.
func (s *Sessions) Preview(id string) (Preview, error) {
	entries, notices, err := s.store.Read(id)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{ID: id, Damage: notices}
	for _, e := range session.Active(entries) {
		if e.Kind == session.KindMessage && e.Message.Parent == "" && e.Message.Role != session.RoleTool && e.Message.Text != "" {
			p.Said = append(p.Said, *e.Message)
		}
	}
	p.Said = p.Said[max(0, len(p.Said)-previewMost):]
	for _, path := range session.ChangedPaths(entries) {
		p.Changed = append(p.Changed, file.Shown(filepath.Dir(s.store.Dir()), path))
	}
	return p, nil
}

// Fork copies a session up to before the person's message whose entry has the
// number, 0 for all of it, and returns the copy's id. Notices name damage.
func (s *Sessions) Fork(id string, before int64) (fork string, notices []string, err error) {
	foreign, known := s.known(id)
	fork, notices, err = s.store.Fork(id, before, s.version)
	if err != nil {
		return "", nil, err
	}
	if !known {
		return fork, notices, nil // what it is a copy of is foreign, and so is the copy
	}
	return fork, notices, s.know(fork, foreign)
}

// Prompts lists what the person said in a session, the oldest first.
func (s *Sessions) Prompts(id string) ([]session.Prompt, error) {
	entries, _, err := s.store.Read(id)
	return session.NewConversation(entries).Prompts(), err
}

// Rename gives a session that is not open a title; "" takes its own one back.
func (s *Sessions) Rename(id, title string) error {
	log, _, _, err := s.store.Open(id)
	if err != nil {
		return err
	}
	_, err = log.Append(session.Entry{Kind: session.KindTitle, Title: title})
	return errors.Join(err, log.Close())
}

// Export writes a session, "md" or "json". Notices name what of it is damaged.
func (s *Sessions) Export(id, format string, w io.Writer) (notices []string, err error) {
	entries, notices, err := s.store.Read(id)
	if err != nil {
		return nil, err
	}
	x := session.NewExport(strings.ToUpper(id), entries)
	switch format {
	case "md":
		return notices, x.WriteMarkdown(w)
	case "json":
		return notices, x.WriteJSON(w)
	}
	return nil, fmt.Errorf("there is no format %q: md or json", format)
}

// ExportTo is [Sessions.Export] into a private file that is not there yet.
func (s *Sessions) ExportTo(path, id, format string) (notices []string, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s is there already: give another name", path)
	}
	if err != nil {
		return nil, err
	}
	notices, err = s.Export(id, format, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return notices, errors.Join(err, os.Remove(path))
	}
	return notices, nil
}

// Remove deletes a session, what no other one needs of it, and its always answers.
func (s *Sessions) Remove(id string) (session.Removed, error) {
	removed, err := s.store.Remove(id)
	if err != nil {
		return removed, err
	}
	for _, path := range []string{s.knownPath(id), sessionAnswers(s.stateDir, strings.ToUpper(id))} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
	}
	return removed, nil
}

// Check looks for damage of a session.
func (s *Sessions) Check(id string) (session.Report, error) { return s.store.Check(id) }

// Repair makes the log of a session from what is good of it.
func (s *Sessions) Repair(id string) (session.Repaired, error) { return s.store.Repair(id) }

// ForeignError says that a session was not made here: somebody has to say that it
// may be opened.
type ForeignError struct{ ID string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("session %s was not made here, it came with the repository: open it with --foreign if you trust what it says to the model", e.ID)
}

func (s *Sessions) knownPath(id string) string {
	return filepath.Join(s.stateDir, "sessions", strings.ToUpper(id)+knownSuffix)
}

// knownSuffix ends the names of the files that say what sessions are known.
const knownSuffix = ".known"

// know notes that a session was made here, or that the person opened a foreign
// one; its entries up to the number foreign were made elsewhere.
func (s *Sessions) know(id string, foreign int64) error {
	path := s.knownPath(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strconv.FormatInt(foreign, 10)+"\n"), 0o600)
}

// known tells whether a session was made here, or opened by the person's word,
// and up to which entry it was made elsewhere.
func (s *Sessions) known(id string) (foreign int64, ok bool) {
	text, err := os.ReadFile(s.knownPath(id))
	if err != nil {
		return 0, false
	}
	foreign, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return foreign, err == nil
}

func (s *Sessions) knows(id string) bool {
	_, ok := s.known(id)
	return ok
}
