// Package ui is the screen: it shows the application's events and sends what
// the person wants down to it.
//
//	app ──Event──► Pump ──one batch a frame──► Model ──► transcript, panes, dialogs ──► View
//	    ◄──method calls of Agent, from commands──┘ ◄── intents ──┘
//
// The root model routes and nothing else: panes and dialogs own their state, do
// not know each other, and say what the person wants as intents. A session that
// is resumed goes through the same code as one that is seen live.
package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/human"
)

// Agent is what the screen asks of the application. It is called from commands
// only, never while a message is handled, so it may take its time.
type Agent interface {
	Submit(text string)                               // a prompt: starts a turn, or queues it
	Ran(app.OwnCommand)                               // the person ran a command of their own
	Cancel()                                          // stops the turn
	Unqueue() (string, bool)                          // takes the last queued message back
	Answer(id string, a app.Answer)                   // to an Asked
	Reply(id string, answers map[string]human.Answer) // to a Questioned; nil declines
	PlanUndo(scope session.Scope, redo bool) ([]session.Planned, error)
	Undo(scope session.Scope, picks []session.Pick) (done bool) // of picked files; what came of it are events
	Redo(scope session.Scope, picks []session.Pick)
	Diff() ([]file.Change, error) // what the session changed
	Mode() permissions.Mode
	SetMode(permissions.Mode)
	SetModel(name string) // from the next request on; what came of it are events
	Models() ([]app.ModelInfo, error)
	Effort() string                          // of the reasoning; "" is the server's default
	Efforts() []string                       // the levels that there are
	SetEffort(level string) error            // from the next request on
	Permissions(args string) (string, error) // what /permissions answers
	Compact(keep string)                     // makes the conversation shorter; keep: what must not be lost
	Context() (app.ContextReport, error)     // what fills the context window
	New()
	Resume(id string)                                                       // asks where only the person can decide
	Sessions() ([]app.SessionInfo, error)                                   // the newest first
	SearchSessions(ctx context.Context, text string) ([]session.Hit, error) // in which it was said
	PreviewSession(id string) (app.Preview, error)
	Prompts() ([]app.Prompt, error) // of the person, the oldest first
	Rewind(to int64) error          // to before a prompt; files stay
	Fork(before int64) error        // goes on in a copy, up to before a prompt; 0: all of it
	Rename(title string) error
	Export(name string) (path string, err error)
	Background(callID string) bool // moves a running command to the background
	Kill(shellID string)
	Shells() []bash.ShellInfo                // with what they printed last; looking consumes nothing
	RunCommand(name, arguments string) error // of app.CommandsChanged
}

// Options say how the screen is set up. The zero value works.
type Options struct {
	Prompt   string                   // sent at once
	Version  string                   // shown where nothing was said yet
	Resume   string                   // the command that goes on with a session, without its id; "" is "agent --resume"
	Theme    string                   // "dark", "light", "contrast"; "auto" or "" asks the terminal
	Colors   []string                 // of the person, over the theme's, as "accent = #ff8800"
	Keys     []string                 // rebound, as "composer ctrl+r = alt+r"
	Light    bool                     // the terminal is light, as long as it does not answer
	Vim      bool                     // the keys of vi in the text
	Notify   string                   // "bell", "osc9" or "osc777" when something wants the person elsewhere; "" is nothing
	Progress bool                     // the terminal shows that something is at work, OSC 9;4
	ASCII    bool                     // only ASCII in the chrome
	Plain    bool                     // line by line instead of the screen
	Mouse    bool                     // the wheel, the scrollbar and clicks are ours, not the terminal's
	Still    bool                     // nothing moves but what is new
	Open     string                   // the session that is asked about at the start
	Ask      bool                     // the picker of sessions is open at the start
	Dir      string                   // where the person's own commands run; "" is the working directory
	StateDir string                   // where prompts and the draft are kept; "" keeps nothing
	Files    func() ([]string, error) // paths below the workspace to complete after @; nil: none
	Drawn    func()                   // called once, when the first frame is on the terminal; nil: nothing
	Commands []Command                // beside the built-in ones; the same name takes their place
}

// Command is a slash command that the application brings.
type Command struct {
	Name    string // without the slash
	Aliases []string
	Args    []string // words that it takes, to complete
	Help    string
	Run     func(args string) (string, error) // what it returns is shown; called from a command
}

// failure is an error for the person.
type failure struct{ err error }

// calls keeps the order of what the person asks of the application, though
// commands run at the same time.
type calls struct{ last chan struct{} }

// inOrder runs f after everything that was asked before.
func (c *calls) inOrder(f func()) tea.Cmd {
	return c.inOrderMsg(func() tea.Msg {
		f()
		return nil
	})
}

// inOrderMsg is [calls.inOrder] for what brings something back.
func (c *calls) inOrderMsg(f func() tea.Msg) tea.Cmd {
	before, done := c.last, make(chan struct{})
	c.last = done
	return func() tea.Msg {
		defer close(done)
		if before != nil {
			<-before
		}
		return f()
	}
}

// now runs f without waiting for anything: for what must not wait.
func now(f func()) tea.Cmd {
	return func() tea.Msg {
		f()
		return nil
	}
}
