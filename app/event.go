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
//
// The JSON names are those of --output-format stream-json, see stream.go.
type Event interface{ event() }

// Opened says that a session is open, new or resumed. What was shown before is gone.
type Opened struct {
	ID      string          `json:"id,omitempty"`
	Resumed bool            `json:"resumed,omitempty"`
	Entries []session.Entry `json:"entries,omitempty"`
	Notices []string        `json:"notices,omitempty"` // what could not be read, and the like
}

// Committed says that an entry was written to the log.
//
// A user's message begins a turn or joins it. The assistant's message ends the
// deltas before it, and its calls wait from then on. A tool's message ends the
// call that it names. A change belongs to the call that it names.
type Committed struct {
	Entry session.Entry `json:"entry"`
}

// TurnStarted says that the model works from now on.
type TurnStarted struct {
	Turn int `json:"turn"`
}

// TurnEnded says that it no longer does. The entry of the same news was committed before it.
type TurnEnded struct {
	Turn    int             `json:"turn"`
	Outcome session.Outcome `json:"outcome"`
	Error   string          `json:"error,omitempty"` // in words, "" where there was none
}

// Queued is the whole queue of messages that wait for a turn's next step.
type Queued struct {
	Texts []string `json:"texts"`
}

// ReplyDelta is a piece of the reply that comes in.
type ReplyDelta struct {
	Parent    string `json:"parent,omitempty"` // the call whose sub-agent replies; "" for the conversation itself
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

// CallDelta says that a call is arriving.
type CallDelta struct {
	Parent string `json:"parent,omitempty"`
	Index  int    `json:"index"`
	Tool   string `json:"tool"`
	Bytes  int    `json:"bytes"`
}

// Retrying says that a request failed and when it will be sent again.
type Retrying struct {
	Parent  string    `json:"parent,omitempty"`
	Reason  string    `json:"reason"`
	Attempt int       `json:"attempt"`
	Until   time.Time `json:"until"`
}

// ToolStarted says that a call runs from now on, its questions answered or none asked.
type ToolStarted struct {
	Call tools.ToolCall `json:"call"`
	Time time.Time      `json:"time"`
}

// ToolOutput is output of a running command, as it was written.
type ToolOutput struct {
	CallID string `json:"call_id"`
	Chunk  []byte `json:"chunk"`
}

// ToolSilent says that a running command printed nothing since a time, for long.
type ToolSilent struct {
	CallID string    `json:"call_id"`
	Since  time.Time `json:"since"`
}

// ToolProgress is how far a running call is, in the words of the MCP server that
// works on it.
type ToolProgress struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
}

// CommandsChanged lists the commands that MCP servers offer now, beside [App.Commands].
type CommandsChanged struct {
	List []Command `json:"list"`
}

// Asked is a question for permission. It is open until [Closed].
type Asked struct {
	ID      string
	Call    tools.ToolCall
	Request permissions.Request
	Change  *file.Change      // what the call would write, for a file tool
	Trace   permissions.Trace // how it was decided that it is asked
	Offers  []Offer           // what can be allowed from now on; none: always has no effect
	Remote  *Remote           // of a tool of an MCP server

	Reach bash.Reach   // that a command has when it is allowed as it is
	Wider []bash.Reach // that the person can give it instead, this once
	Lack  *bash.Lack   // the command ran and failed for want of this: may it run once more, with more?
}

// Remote is what an MCP server says of its tool.
type Remote struct {
	Server, Tool string
	Description  string
	Hints        []string // as "it only reads"; they allow nothing
}

// Questioned is a question of the model, or of the application itself.
type Questioned struct {
	ID     string
	Source string // who asks: the model is "", else a label
	Input  human.Input
	Secret bool // what is written as an answer is not shown
}

// Closed says that a question was answered, or that nobody waits for it any more.
type Closed struct{ ID string }

// Shells lists the background shells, whenever one starts or ends.
type Shells struct {
	List []bash.ShellInfo `json:"list"`
}

// Usage is how full the context window is.
type Usage struct {
	Last      session.Usage `json:"last"`                // of the newest request
	Window    int           `json:"window,omitempty"`    // tokens, 0 where it is not known
	Estimated bool          `json:"estimated,omitempty"` // the server counts nothing
	Cost      float64       `json:"cost_usd"`            // of the session so far, in dollars; 0 where prices are not known
}

// Compacting says that the conversation is being summed up; the zero value, that
// it no longer is.
type Compacting struct {
	Piece int `json:"piece,omitempty"`
	Of    int `json:"of,omitempty"`
}

// State is what the status line says of the workspace and the settings.
type State struct {
	Workspace string `json:"workspace"`        // absolute
	Branch    string `json:"branch,omitempty"` // "" outside of git
	Model     string `json:"model,omitempty"`
	Provider  string `json:"provider,omitempty"` // its host, or "script"
	Sandbox   string `json:"sandbox,omitempty"`  // "bwrap", "landlock", "seatbelt", "none" or "no commands"; "" while it is not known
	Network   bool   `json:"network,omitempty"`  // commands have the network in it
	Root      bool   `json:"root,omitempty"`     // the program runs as root
	Scripted  bool   `json:"scripted,omitempty"` // no model thinks: a script is played
	SetUp     string `json:"set_up,omitempty"`   // why there is no model and what to set, in some lines; "" where there is one
}

// ModeChanged says that the permission mode is another one without the person's
// key: an approved plan is carried out.
type ModeChanged struct{ Mode permissions.Mode }

// Restart asks for an App made anew: other settings hold now.
type Restart struct{}

// Notice is a line for the person.
type Notice struct {
	Level Level  `json:"level"`
	Text  string `json:"text"`
}

// Level says how loud a notice is.
type Level int

// The levels of notices.
const (
	Info Level = iota
	Warning
	Error
)

// MarshalText writes the level as "info", "warning" or "error".
func (l Level) MarshalText() ([]byte, error) {
	return []byte([]string{"info", "warning", "error"}[l]), nil
}

func (Opened) event()          {}
func (Committed) event()       {}
func (TurnStarted) event()     {}
func (TurnEnded) event()       {}
func (Queued) event()          {}
func (ReplyDelta) event()      {}
func (CallDelta) event()       {}
func (Retrying) event()        {}
func (ToolStarted) event()     {}
func (ToolOutput) event()      {}
func (ToolSilent) event()      {}
func (ToolProgress) event()    {}
func (CommandsChanged) event() {}
func (Asked) event()           {}
func (Questioned) event()      {}
func (Closed) event()          {}
func (Shells) event()          {}
func (Usage) event()           {}
func (Compacting) event()      {}
func (State) event()           {}
func (ModeChanged) event()     {}
func (Restart) event()         {}
func (Notice) event()          {}
