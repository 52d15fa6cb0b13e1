package app

import (
	"errors"
	"fmt"

	"github.com/phero-agent/agent/session"
)

// Undoing takes changes of a session back without a screen ("agent undo").
type Undoing struct {
	ID      string   // of the session
	Notices []string // what of the log is damaged, and the like

	workspace string
	log       *session.Log
	journal   *session.Journal
}

// OpenUndo opens a session for that; "" is the newest one. One that is open
// elsewhere is a *[session.LockedError]. Close it.
func OpenUndo(opts Options, id string) (*Undoing, error) {
	s, err := OpenSessions(opts)
	if err != nil {
		return nil, err
	}
	if id == "" {
		latest, err := s.store.Latest(s.knows)
		if errors.Is(err, session.ErrNoSession) {
			return nil, fmt.Errorf("there is no session in %s yet", opts.Workspace)
		}
		if err != nil {
			return nil, err
		}
		id = latest.ID
	}
	log, entries, notices, err := s.store.Open(id)
	if err != nil {
		return nil, err
	}
	foreign, known := s.known(log.ID())
	if !known {
		return nil, errors.Join(fmt.Errorf("session %s was not made here: what was changed elsewhere cannot be undone", log.ID()), log.Close())
	}
	u := &Undoing{ID: log.ID(), Notices: notices, workspace: opts.Workspace, log: log}
	u.journal = session.NewJournal(s.store.Blobs(), opts.Workspace, log.Append)
	u.Notices = append(u.Notices, u.journal.Load(madeHere(entries, foreign))...)
	return u, nil
}

// List is what can be taken back, and made again, the newest first.
func (u *Undoing) List() []session.Step { return u.journal.List() }

// Plan is [session.Journal.Plan].
func (u *Undoing) Plan(scope session.Scope, redo bool) ([]session.Planned, error) {
	return u.journal.Plan(scope, redo)
}

// Undo takes back, or makes again, what was picked, and says what became of the
// files. The model is told when the session goes on (UNDO-07).
func (u *Undoing) Undo(scope session.Scope, redo bool, picks []session.Pick) (did string, err error) {
	do := u.journal.Undo
	if redo {
		do = u.journal.Redo
	}
	undone, err := do(scope, picks)
	if err != nil && len(undone.Files) == 0 {
		return "", err
	}
	if note := rewoundText(u.workspace, []string{rewindVerb(undone)}, undone.Files); note != "" {
		_, noted := u.log.Append(session.Entry{Kind: session.KindNote, Note: note})
		err = errors.Join(err, noted)
	}
	return rewound(u.workspace, undone), errors.Join(err, u.log.Sync())
}

// Close closes the session.
func (u *Undoing) Close() error { return u.log.Close() }
