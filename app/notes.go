package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/todo"
)

// notes are what the model is told at its next request beside the conversation
// (decision 26). App.mu guards them.
type notes struct {
	texts   []string
	rewound []session.FileChange // by undo and redo, each file once
	verbs   []string             // what did that: undid, redid
	told    moment
}

// moment is what the model was told of the moment: a note says only what is new.
type moment struct {
	day, git string
	plan     bool
	tasks    bool // the list, where the conversation does not show it
	layout   bool // the files, once in a session, or never when they took too long
}

const (
	planNote  = "Plan mode: change nothing and run nothing that changes anything. Look, ask, and end with a plan of the work; the user approves it."
	planEnded = "Plan mode is over: you can change files and run commands again."
)

// note tells the model something at its next request.
func (a *App) note(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notes.texts = append(a.notes.texts, text)
}

// noteRewind tells the model of files that an undo or a redo changed. What was
// undone and made again before it was told is nothing to tell.
func (a *App) noteRewind(u session.Undone) {
	verb := rewindVerb(u)
	a.mu.Lock()
	defer a.mu.Unlock()
	n := &a.notes
	if !slices.Contains(n.verbs, verb) {
		n.verbs = append(n.verbs, verb)
	}
	for _, f := range u.Files {
		i := slices.IndexFunc(n.rewound, func(o session.FileChange) bool { return o.Path == f.Path })
		if i < 0 {
			n.rewound = append(n.rewound, f)
			continue
		}
		n.rewound[i].After = f.After
	}
}

// takeNotes is what the model was not told yet, "" for nothing.
func (a *App) takeNotes() string {
	now := moment{day: time.Now().Format(time.DateOnly), git: a.gitState(), plan: a.Mode() == permissions.ModePlan, tasks: true}
	items := a.todos.Items()
	layout := a.layoutNow()
	a.mu.Lock()
	defer a.mu.Unlock()
	n := &a.notes
	var list []string
	if now.day != n.told.day {
		list = append(list, "Today is "+now.day+".")
	}
	if now.git != n.told.git && now.git != "" {
		list = append(list, now.git)
	}
	if now.layout = true; !n.told.layout && layout != "" {
		list = append(list, layout)
	}
	if now.plan != n.told.plan {
		list = append(list, map[bool]string{true: planNote, false: planEnded}[now.plan])
	}
	if !n.told.tasks && len(items) > 0 {
		list = append(list, "The task list as it is now:\n"+todo.Render(items)) // TODO-15
	}
	if text := rewoundText(a.opts.Workspace, n.verbs, n.rewound); text != "" {
		list = append(list, text)
	}
	list = append(list, n.texts...)
	*n = notes{told: now}
	return strings.Join(list, "\n")
}

func rewindVerb(u session.Undone) string {
	if u.Redo {
		return "redid"
	}
	return "undid"
}

// rewoundMost is how many files a note names.
const rewoundMost = 100

// rewoundText tells the model of files that were undone or redone, "" for none.
func rewoundText(workspace string, verbs []string, changes []session.FileChange) string {
	var files []string
	for _, f := range changes {
		switch path := file.Shown(workspace, f.Path); {
		case f.Before == f.After:
		case f.After == "":
			files = append(files, path+" (removed)")
		default:
			files = append(files, path)
		}
	}
	if len(files) == 0 {
		return ""
	}
	if more := len(files) - rewoundMost; more > 0 {
		files = append(files[:rewoundMost], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("The user %s changes of yours. These files are different now: %s. Read one again before you change it.", strings.Join(verbs, " and "), strings.Join(files, ", "))
}

// tellAnew makes the next request tell the moment as if nothing had been told.
func (a *App) tellAnew() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notes.told = moment{layout: a.notes.told.layout}
}

// relative is a path as the model and the person know it: from the workspace.
func (a *App) relative(path string) string { return file.Shown(a.opts.Workspace, path) }
