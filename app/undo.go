package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/phero-agent/agent/session"
)

// Undo takes the last change back, or the last turn's; force also overwrites
// what somebody else changed since (UNDO-02 to UNDO-04, UNDO-10).
func (a *App) Undo(turn, force bool) { a.rewind(a.journal.Undo, turn, force) }

// Redo makes the change again that the last undo took back.
func (a *App) Redo(turn, force bool) { a.rewind(a.journal.Redo, turn, force) }

// rewind does the one or the other while no turn runs (UNDO-08), says what came
// of it, and tells the model at its next request (UNDO-07).
func (a *App) rewind(do func(turn, force bool) (session.Undone, error), turn, force bool) {
	err := a.idle(func() error {
		undone, err := do(turn, force)
		if err == nil || len(undone.Files) > 0 {
			did := "undid"
			if undone.Redo {
				did = "redid"
			}
			files := a.describe(undone.Files)
			a.sync()
			a.emit(Notice{Text: did + " " + files})
			a.note(fmt.Sprintf("The user %s your change: %s. Read a file again before you change it.", did, files))
		}
		return err
	})
	if err != nil {
		a.emit(Notice{Level: Error, Text: err.Error()})
	}
}

// describe names files as the person sees them, with their lines.
func (a *App) describe(files []session.FileChange) string {
	parts := make([]string, len(files))
	for i, f := range files {
		path := f.Path
		if rel, err := filepath.Rel(a.opts.Workspace, f.Path); err == nil {
			path = rel
		}
		parts[i] = fmt.Sprintf("%s (+%d −%d)", path, f.Added, f.Removed)
		if f.After == "" {
			parts[i] = path + " (removed)"
		}
	}
	return strings.Join(parts, ", ")
}
