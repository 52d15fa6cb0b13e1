package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/session"
)

// Prompt is a message of the person that the conversation can go back to.
type Prompt struct {
	session.Prompt
	Files int // that were changed since
}

// Prompts lists the person's messages, the oldest first.
func (a *App) Prompts() (list []Prompt, err error) {
	err = a.idle(func() error {
		a.settleFound()
		for _, p := range a.talk.Prompts() {
			list = append(list, Prompt{Prompt: p, Files: len(a.journal.ChangedSince(p.Seq))})
		}
		return nil
	})
	return list, err
}

// Rewind takes the conversation back to before the person's message whose entry
// has the number. Files stay as they are, the log keeps everything, and the model
// is told at its next request.
func (a *App) Rewind(to int64) error {
	return a.idle(func() error {
		if !slices.ContainsFunc(a.talk.Prompts(), func(p session.Prompt) bool { return p.Seq == to }) {
			return session.ErrNoMessage
		}
		a.commit(session.Entry{Kind: session.KindRewind, Rewind: &session.Rewind{To: to}})
		if items := a.talk.Todo(); !slices.Equal(items, a.todos.Items()) {
			a.todos = a.newTodos(items)
			a.commit(session.Entry{Kind: session.KindTodo, Todo: items})
		}
		a.tracker.Reset() // the model does not have the texts any more
		a.tellAnew()
		a.note(a.rewound(to))
		a.sync()
		a.emit(Usage{
			Last:   session.Usage{Input: a.gauge.tokens(a.gauge.fixed + weight(a.history()))},
			Window: a.window(), Estimated: true, Cost: a.tally.dollars(),
		})
		return nil
	})
}

// rewound tells the model what it does not see any more, and what of it is left
// in the files.
func (a *App) rewound(to int64) string {
	note := "The user took the conversation back to this point: what followed before is gone from it. Read a file again before you change it."
	changed := a.journal.ChangedSince(to)
	if len(changed) == 0 {
		return note
	}
	paths := make([]string, len(changed))
	for i, f := range changed {
		paths[i] = a.relative(f.Path)
	}
	return note + fmt.Sprintf(" What you had changed there in these files is still in them: %s.", strings.Join(paths, ", "))
}
