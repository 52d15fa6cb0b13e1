package app

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/phero-agent/agent/session"
)

// saving is the state of what is saved.
type saving struct {
	mu     sync.Mutex // held while an entry is appended and emitted: both have one order
	broken bool       // the person was told that saving fails
	syncs  sync.WaitGroup
}

// commit appends an entry to the log and then tells the screen. What cannot be
// saved still happened: the work goes on, and the person is told once.
func (a *App) commit(e session.Entry) {
	_, _ = a.append(e)
}

func (a *App) append(e session.Entry) (session.Entry, error) {
	a.saving.mu.Lock()
	defer a.saving.mu.Unlock()
	if a.log == nil {
		a.openLog()
	}
	e.Step = a.turn
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	saved, err := a.log.Append(e) // numbered, also where it could not be saved
	if err != nil {
		a.unsaved(err)
	}
	a.talk.Add(saved)
	a.emit(Committed{Entry: saved})
	return saved, err
}

// opened begins the session where it has not begun: what is kept for its first
// message must be where the session is.
func (a *App) opened() {
	a.saving.mu.Lock()
	defer a.saving.mu.Unlock()
	if a.log == nil {
		a.openLog()
	}
}

// history is what the model was told so far.
func (a *App) history() []session.Message {
	a.saving.mu.Lock()
	defer a.saving.mu.Unlock()
	return a.talk.Messages()
}

// openLog begins the session's log at its first entry.
func (a *App) openLog() {
	log := session.Unsaved()
	if !a.opts.NoSession {
		log = a.newLog()
	}
	if !log.Saved() {
		a.keep(session.UnsavedBlobs())
	}
	a.log = log
	a.perms.beginSession(log.ID())
	a.emit(Committed{Entry: session.Entry{Seq: 1, Time: time.Now(), Kind: session.KindHead, Head: &session.Head{ID: log.ID(), Workspace: a.opts.Workspace, Agent: a.opts.Version}}})
}

// newLog is the log of a new session; where it cannot be made, one that keeps nothing.
func (a *App) newLog() *session.Log {
	log, err := a.sessions.store.Create(a.opts.Version)
	if err != nil {
		a.unsaved(err)
		return session.Unsaved()
	}
	if err := a.sessions.know(log.ID(), 0); err != nil {
		a.emit(Notice{Level: Warning, Text: fmt.Sprintf("it cannot be noted that this session was made here, so it will be asked about when it opens again: %v", err)})
	}
	return log
}

func (a *App) unsaved(err error) {
	if !a.saving.broken {
		a.emit(Notice{Level: Error, Text: fmt.Sprintf("the session is not saved: %v", err)})
	}
	a.saving.broken = true
}

// sync makes all that was committed durable.
func (a *App) sync() {
	a.saving.syncs.Wait()
	a.syncLog(a.log, a.blobs)
}

// syncLater does the same beside the next request (decision 33).
func (a *App) syncLater() {
	log, blobs := a.log, a.blobs
	a.saving.syncs.Go(func() { a.syncLog(log, blobs) })
}

func (a *App) syncLog(log *session.Log, blobs *session.Blobs) {
	err := cmp.Or(log.Sync(), blobs.Trouble())
	for _, text := range log.Notices() {
		a.emit(Notice{Level: Warning, Text: text})
	}
	if err != nil {
		a.saving.mu.Lock()
		defer a.saving.mu.Unlock()
		a.unsaved(err)
	}
}

func (a *App) closeLog() error {
	a.saving.syncs.Wait()
	if a.log == nil {
		return nil
	}
	return a.log.Close()
}

// keep sets where contents are kept, with an empty journal on them.
func (a *App) keep(b *session.Blobs) {
	a.blobs = b
	a.journal = session.NewJournal(b, a.opts.Workspace, a.append)
	a.watch.use(a.opts.Workspace, b)
}

// reset begins an empty conversation.
func (a *App) reset() {
	a.log, a.talk, a.tally, a.turn = nil, session.NewConversation(nil), newTally(), 0
	a.saving.broken = false
	a.model.logged = ""
	a.keep(a.sessions.store.Blobs())
	a.tracker.Reset()
	a.todos = a.newTodos(nil)
	a.mu.Lock()
	a.queue, a.notes = nil, notes{}
	a.mu.Unlock()
	if err := a.perms.openSession(""); err != nil {
		a.emit(Notice{Level: Warning, Text: err.Error()})
	}
}

// restore makes the conversation what the entries say. Changes up to the entry of
// the number foreign were made elsewhere: they are not the journal's.
func (a *App) restore(entries []session.Entry, foreign int64) (notices []string) {
	a.talk = session.NewConversation(entries)
	a.restoreModel(entries)
	for _, e := range entries {
		a.turn = max(a.turn, e.Step)
		if e.Kind == session.KindTodo {
			a.todos = a.newTodos(e.Todo)
		}
		if e.Compact != nil && e.Compact.Usage != nil {
			a.tally.spend(*e.Compact.Usage, nil)
		}
		if e.Message != nil {
			a.tally.known(*e.Message)
		}
	}
	if n := len(entries); n > 0 && entries[n-1].Step > 0 && !slices.ContainsFunc(entries, func(e session.Entry) bool { return e.Kind == session.KindTurn && e.Step == a.turn }) {
		a.note("The program ended in the middle of your last turn. What became of the calls of your last reply stands in their results; a reply that was still coming in is lost.")
	}
	for _, u := range session.Untold(session.Active(entries)) {
		a.noteRewind(u)
	}
	return a.journal.Load(madeHere(entries, foreign))
}

// madeHere are the entries whose changes are the journal's.
func madeHere(entries []session.Entry, foreign int64) []session.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e session.Entry) bool {
		return e.Seq <= foreign && e.Kind != session.KindHead
	})
}
