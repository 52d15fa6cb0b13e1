package app

import (
	"fmt"
	"strings"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
)

// PlanUndo tells what an undo, or a redo, would do, for the person to look at (UNDO-06).
func (a *App) PlanUndo(scope session.Scope, redo bool) (plan []session.Planned, err error) {
	err = a.idle(func() error {
		a.settleFound()
		plan, err = a.journal.Plan(scope, redo)
		return err
	})
	return plan, err
}

// Undo takes changes back: all files of the scope that are as the session left
// them, or those that the person picked from a plan (UNDO-02 to UNDO-04, UNDO-10).
// What came of it are events; false says that nothing was undone.
func (a *App) Undo(scope session.Scope, picks []session.Pick) (done bool) {
	return a.rewind(a.journal.Undo, scope, picks)
}

// Redo makes again what the last undo took back.
func (a *App) Redo(scope session.Scope, picks []session.Pick) { a.rewind(a.journal.Redo, scope, picks) }

// rewind does the one or the other while no turn runs (UNDO-08), says what came
// of it, and tells the model at its next request (UNDO-07).
func (a *App) rewind(do func(session.Scope, []session.Pick) (session.Undone, error), scope session.Scope, picks []session.Pick) (done bool) {
	err := a.idle(func() error {
		a.settleFound()
		undone, err := do(scope, picks)
		a.watch.rebase()
		if err == nil || len(undone.Files) > 0 {
			a.sync()
			a.emit(Notice{Text: rewound(a.opts.Workspace, undone)})
			a.noteRewind(undone)
		}
		return err
	})
	if err != nil {
		a.emit(Notice{Level: Error, Text: err.Error()})
	}
	return err == nil
}

// Diff lists what the session changed and did not take back, with the contents,
// from before its first change to after its last one.
func (a *App) Diff() (changes []file.Change, err error) {
	err = a.idle(func() error {
		a.settleFound()
		for _, f := range a.journal.Changed() {
			c, err := a.journal.Contents(f)
			if err != nil {
				return err
			}
			changes = append(changes, c)
		}
		return nil
	})
	return changes, err
}

// rewound says what an undo or a redo did, to the person.
func rewound(workspace string, u session.Undone) string {
	const most = 5
	parts := []string{}
	for _, f := range u.Files[:min(most, len(u.Files))] {
		path := file.Shown(workspace, f.Path)
		if f.After == "" {
			parts = append(parts, path+" (removed)")
		} else {
			parts = append(parts, fmt.Sprintf("%s (+%d −%d)", path, f.Added, f.Removed))
		}
	}
	if more := len(u.Files) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return rewindVerb(u) + " " + strings.Join(parts, ", ")
}
