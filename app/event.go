package app

import (
	"time"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/human"
)

// Event is something that happened, as plain data; the kinds are all on this
// page. What is durable comes as [Committed], the entries of the log: a screen
// that is resumed folds the same entries as one that saw them happen. All other
// events are of the moment, and may be merged or left out by who shows them.
type Event interface{ event() }

// Opened says that a session is open, new or resumed. What was shown before is gone.
type Opened struct {
	ID      string
	Resumed bool
	Entries []session.Entry
	Notices []string // what could not be read, and the like
}

// Committed says that an entry was written to the log.
//
// A user's message begins a turn or joins it. The assistant's message ends the
// deltas before it, and its calls wait from then on. A tool's message ends the
// call that it names. A change belongs to the call that it names.
type Committed struct{ Entry session.Entry }

// TurnStarted says that the model works from now on.
type TurnStarted struct{ Turn int }

// TurnEnded says that it no longer does. The entry of the same news was committed before it.
type TurnEnded struct {
	Turn    int
	Outcome session.Outcome
	Error   string // in words, "" where there was none
}

// Queued is the whole queue of messages that wait for a turn's next step.
type Queued struct{ Texts []string }

// ReplyDelta is a piece of the reply that comes in.
type ReplyDelta struct {
	Parent          string // the call whose sub-agent replies; "" for the conversation itself
	Text, Reasoning string
}

// CallDelta says that a call is arriving.
type CallDelta struct {
	Parent string
	Index  int
	Tool   string
	Bytes  int
}

// Retrying says that a request failed and when it will be sent again.
type Retrying struct {
	Parent  string
	Reason  string
	Attempt int
	Until   time.Time
}

// ToolStarted says that a call runs from now on, its questions answered or none asked.
type ToolStarted struct {
	Call tools.ToolCall
	Time time.Time
}

// ToolOutput is output of a running command, as it was written.
type ToolOutput struct {
	CallID string
	Chunk  []byte
}

// ToolSilent says that a running command printed nothing since a time, for long.
type ToolSilent struct {
	CallID string
	Since  time.Time
}

// Asked is a question for permission. It is open until [Closed].
type Asked struct {
	ID      string
	Call    tools.ToolCall
	Request permissions.Request
	Change  *file.Change      // what the call would write, for a file tool
	Trace   permissions.Trace // how it was decided that it is asked
	Offers  []Offer           // what can be allowed from now on; none: always has no effect

	Reach bash.Reach   // that a command has when it is allowed as it is
	Wider []bash.Reach // that the person can give it instead, this once
	Lack  *bash.Lack   // the command ran and failed for want of this: may it run once more, with more?
}

// Questioned is a question of the model, or of the application itself.
type Questioned struct {
	ID     string
	Source string // who asks: the model is "", else a label
	Input  human.Input
}

// Closed says that a question was answered, or that nobody waits for it any more.
type Closed struct{ ID string }

// Shells lists the background shells, whenever one starts or ends.
type Shells struct{ List []bash.ShellInfo }

// Usage is how full the context window is.
type Usage struct {
	Last      session.Usage // of the newest request
	Window    int           // tokens, 0 where it is not known
	Estimated bool          // the server counts nothing
	Cost      float64       // of the session so far, in dollars; 0 where prices are not known
}

// Compacting says that the conversation is being summed up; the zero value, that
// it no longer is.
type Compacting struct{ Piece, Of int }

// State is what the status line says of the workspace and the settings.
type State struct {
	Workspace string // absolute
	Branch    string // "" outside of git
	Model     string
	Provider  string // its host, or "script"
	Sandbox   string // "bwrap", "landlock", "seatbelt", "none" or "no commands"; "" while it is not known
	Network   bool   // commands have the network in it
	Root      bool   // the program runs as root
	Scripted  bool   // no model thinks: a script is played
	SetUp     string // why there is no model and what to set, in some lines; "" where there is one
}

// ModeChanged says that the permission mode is another one without the person's
// key: an approved plan is carried out.
type ModeChanged struct{ Mode permissions.Mode }

// Restart asks for an App made anew: other settings hold now.
type Restart struct{}

// Notice is a line for the person.
type Notice struct {
	Level Level
	Text  string
}

// Level says how loud a notice is.
type Level int

// The levels of notices.
const (
	Info Level = iota
	Warning
	Error
)

func (Opened) event()      {}
func (Committed) event()   {}
func (TurnStarted) event() {}
func (TurnEnded) event()   {}
func (Queued) event()      {}
func (ReplyDelta) event()  {}
func (CallDelta) event()   {}
func (Retrying) event()    {}
func (ToolStarted) event() {}
func (ToolOutput) event()  {}
func (ToolSilent) event()  {}
func (Asked) event()       {}
func (Questioned) event()  {}
func (Closed) event()      {}
func (Shells) event()      {}
func (Usage) event()       {}
func (Compacting) event()  {}
func (State) event()       {}
func (ModeChanged) event() {}
func (Restart) event()     {}
func (Notice) event()      {}
