package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

// New begins a new session (SESS-07).
func (a *App) New() {
	a.try("no new session", func() error {
		err := a.closeLog()
		a.reset()
		a.emit(Opened{})
		return err
	})
}

// Open goes on with a session; "" is the newest one (SESS-02). One that was not
// made here is a *[ForeignError], one that is open elsewhere a *[session.LockedError].
func (a *App) Open(id string) error {
	return a.idle(func() error { return a.open(id, a.opts.Foreign) })
}

// Resume is [App.Open] with the person's word: whether a foreign session opens,
// and whether one that is open elsewhere is copied. What goes wrong is shown.
func (a *App) Resume(id string) {
	err := a.idle(func() error {
		err := a.open(id, a.opts.Foreign)
		var (
			foreign *ForeignError
			locked  *session.LockedError
			next    func() error
		)
		switch {
		case errors.As(err, &foreign):
			if a.agrees(foreignQuestion(foreign.ID)) {
				next = func() error { return a.open(foreign.ID, true) }
			}
		case errors.As(err, &locked):
			if a.agrees(lockedQuestion(locked)) {
				next = func() error { return a.fork(locked.ID, 0) }
			}
		default:
			return err
		}
		if next == nil {
			a.emit(Notice{Text: "the session was not opened"})
			return nil
		}
		return next()
	})
	if err != nil {
		a.emit(Notice{Level: Error, Text: fmt.Sprintf("the session cannot be opened: %v", err)})
	}
}

const (
	sessionHeader = "Session"
	sessionNo     = "No"
)

func foreignQuestion(id string) human.Question {
	return human.Question{
		Header: sessionHeader,
		Question: "Session " + id + " was not made here: it came with the repository. What it holds is told to the model as if you had said it. " +
			"It brings no always answers, and its changes cannot be undone. Open it?",
		Options: []human.Choice{{Label: sessionNo, Description: "leave it"}, {Label: "Open it", Description: "I know where it comes from"}},
	}
}

func lockedQuestion(e *session.LockedError) human.Question {
	return human.Question{
		Header:   sessionHeader,
		Question: "Session " + e.ID + " is open in " + e.Owner() + ". Go on in a copy of it?",
		Options:  []human.Choice{{Label: sessionNo, Description: "leave it"}, {Label: "Fork it", Description: "a new session that begins with all of it"}},
	}
}

// agrees asks a question whose first option is no. Only while the App is held idle.
func (a *App) agrees(q human.Question) (yes bool) {
	a.aside(func(ctx context.Context) {
		answers, err := a.question(ctx, "agent", human.Input{Questions: []human.Question{q}})
		chosen := answers[q.Header].Selections
		yes = err == nil && len(chosen) == 1 && chosen[0] == q.Options[1].Label
	})
	return yes
}

// open goes on with a session. Only while the App is held idle.
func (a *App) open(id string, foreignToo bool) error {
	if id == "" {
		latest, err := a.sessions.store.Latest(a.sessions.knows)
		if errors.Is(err, session.ErrNoSession) {
			return fmt.Errorf("there is no session in %s yet", a.opts.Workspace)
		}
		if err != nil {
			return err
		}
		id = latest.ID
	}
	if a.log != nil && strings.EqualFold(a.log.ID(), id) {
		return nil
	}
	log, entries, notices, err := a.sessions.store.Open(id)
	if err != nil {
		return err
	}
	id = log.ID()
	foreign, known := a.sessions.known(id)
	if !known && !foreignToo {
		return errors.Join(&ForeignError{ID: id}, log.Close())
	}
	if !known {
		if n := len(entries); n > 0 {
			foreign = entries[n-1].Seq
		}
		if err := a.sessions.know(id, foreign); err != nil {
			return errors.Join(err, log.Close())
		}
	}
	closing := a.closeLog()
	a.reset()
	a.log = log
	notices = append(notices, a.restore(entries, foreign)...)
	if foreign > 0 {
		notices = append(notices, "this session began elsewhere: what was changed there cannot be undone here")
	}
	if err := a.perms.openSession(id); err != nil {
		notices = append(notices, err.Error())
	}
	a.emit(Opened{ID: id, Resumed: true, Entries: entries, Notices: notices})
	return closing
}

// fork copies a session and goes on in the copy. Only while the App is held idle.
func (a *App) fork(id string, before int64) error {
	copied, _, err := a.sessions.Fork(id, before)
	if err != nil {
		return err
	}
	return a.open(copied, a.opts.Foreign)
}

// Fork copies the open session, up to before the person's message whose entry has
// the number, 0 for all of it, and goes on in the copy.
func (a *App) Fork(before int64) error {
	return a.idle(func() error {
		if err := a.saved(); err != nil {
			return err
		}
		was := a.log.ID()
		a.sync()
		if err := a.fork(was, before); err != nil {
			return err
		}
		a.emit(Notice{Text: "this is a copy now; the session that it was made of: /resume " + was})
		return nil
	})
}

// errNothingSaid says that there is no session yet.
var errNothingSaid = errors.New("nothing was said yet")

// saved tells why there is no session on the disk; nil where there is one.
func (a *App) saved() error {
	switch {
	case a.log == nil:
		return errNothingSaid
	case !a.log.Saved():
		return errors.New("this session is not saved")
	}
	return nil
}

// Rename gives the open session a title; "" takes its own one back.
func (a *App) Rename(title string) error {
	return a.idle(func() error {
		a.commit(session.Entry{Kind: session.KindTitle, Title: title})
		a.sync()
		words := "the title is the first prompt's again"
		if title != "" {
			words = "the title is now: " + title
		}
		a.emit(Notice{Text: words})
		return nil
	})
}

// Export writes the open session into a file, as JSON where its name ends so,
// else as Markdown, and returns the path. "" is a name made of the session's id.
// A path that is not absolute begins where the person stands.
func (a *App) Export(name string) (path string, err error) {
	err = a.idle(func() error {
		if err := a.saved(); err != nil {
			return err
		}
		a.sync()
		format := "md"
		if strings.EqualFold(filepath.Ext(name), ".json") {
			format = "json"
		}
		if name == "" {
			name = "session-" + strings.ToLower(a.log.ID()) + ".md"
		}
		if path = name; !filepath.IsAbs(path) {
			path = filepath.Join(a.opts.Dir, name)
		}
		_, err := a.sessions.ExportTo(path, a.log.ID(), format)
		return err
	})
	return path, err
}

// Sessions lists the sessions of the workspace, newest first.
func (a *App) Sessions() ([]SessionInfo, error) { return a.sessions.List() }

// SearchSessions finds the sessions in which a text was said.
func (a *App) SearchSessions(ctx context.Context, text string) ([]session.Hit, error) {
	return a.sessions.Search(ctx, text)
}

// PreviewSession reads a session to look at.
func (a *App) PreviewSession(id string) (Preview, error) { return a.sessions.Preview(id) }
