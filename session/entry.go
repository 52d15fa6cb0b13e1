package session

import (
	"encoding/json"
	"io/fs"
	"time"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/todo"
)

// Kind tells which field of an [Entry] is set.
type Kind string

// The kinds of entries. Readers pass over kinds that they do not know.
const (
	KindHead    Kind = "head"    // Head: the first entry of every log
	KindMessage Kind = "message" // Message
	KindNote    Kind = "note"    // Note: told to the model at the end of the message before it
	KindTodo    Kind = "todo"    // Todo: the whole list
	KindChange  Kind = "change"  // Change: about to be written
	KindDone    Kind = "done"    // Done: the change was written
	KindFound   Kind = "found"   // Found: what changed while commands ran
	KindUndo    Kind = "undo"    // Undo: changes were taken back or made again
	KindTurn    Kind = "turn"    // Turn: a turn ended
	KindTitle   Kind = "title"   // Title
	KindModel   Kind = "model"   // Model: another one answers from here on
	KindCompact Kind = "compact" // Compact: the history became shorter, the log keeps all of it
	KindRewind  Kind = "rewind"  // Rewind: the conversation went back, the log keeps what followed
	KindRepair  Kind = "repair"  // Repair: the log is what was good of a damaged one
)

// Entry is one line of a log. Exactly the field that its kind names is set.
type Entry struct {
	Seq  int64     `json:"seq"` // 1 for the first, set by Log.Append
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	Step int       `json:"turn,omitempty"` // the turn's number, from 1; 0 outside of turns

	Head    *Head       `json:"head,omitempty"`
	Message *Message    `json:"message,omitempty"`
	Note    string      `json:"note,omitempty"`
	Todo    []todo.Item `json:"todo,omitempty"`
	Change  *Change     `json:"change,omitempty"`
	Done    string      `json:"done,omitempty"` // Change.ID
	Found   *Found      `json:"found,omitempty"`
	Undo    *Undo       `json:"undo,omitempty"`
	Turn    *Turn       `json:"ended,omitempty"`
	Title   string      `json:"title,omitempty"`
	Model   string      `json:"model,omitempty"` // as the person chose it, provider/model
	Compact *Compaction `json:"compact,omitempty"`
	Rewind  *Rewind     `json:"rewind,omitempty"`
	Repair  *Repair     `json:"repair,omitempty"`
}

// Head says what a log is.
type Head struct {
	Version   int    `json:"version"` // of the log's format
	ID        string `json:"id"`      // of the session
	Workspace string `json:"workspace"`
	Agent     string `json:"agent"` // the program's version
	Fork      *Fork  `json:"fork,omitempty"`
}

// Fork says what session another one was copied from.
type Fork struct {
	ID     string `json:"id"`               // of the session
	Before int64  `json:"before,omitempty"` // the number of the message that it ends before; 0: all of it was copied
}

// Role is who said a message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Status is how a call ended.
type Status string

// The ends of a call.
const (
	StatusOK          Status = "ok"
	StatusFailed      Status = "failed"
	StatusDenied      Status = "denied"
	StatusInterrupted Status = "interrupted"
)

// Message is one message of the conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`

	// Of the assistant.
	Reasoning string           `json:"reasoning,omitempty"` // as a person reads it
	Echo      json.RawMessage  `json:"echo,omitempty"`      // fields of the reply that its server wants back as they came
	Calls     []tools.ToolCall `json:"calls,omitempty"`
	Model     string           `json:"model,omitempty"`
	Usage     *Usage           `json:"usage,omitempty"`
	Cut       bool             `json:"cut,omitempty"`     // the reply did not come to its end
	Thought   time.Duration    `json:"thought,omitempty"` // how long the reasoning took; nanoseconds

	// Of a tool.
	CallID  string        `json:"call_id,omitempty"`
	Status  Status        `json:"status,omitempty"`
	Elapsed time.Duration `json:"elapsed,omitempty"` // nanoseconds

	// Of the user or a tool.
	Images []Image `json:"images,omitempty"`

	// Parent is the call whose sub-agent said this; "" for the conversation itself.
	Parent string `json:"parent,omitempty"`
}

// Image is a picture kept as a blob.
type Image struct {
	MediaType string `json:"media_type"`
	Blob      string `json:"blob"` // its hash
}

// Usage is what one request cost, in tokens.
type Usage struct {
	Input     int `json:"input"` // of the whole prompt, cached tokens included
	Output    int `json:"output"`
	CacheRead int `json:"cache_read,omitempty"`
	Reasoning int `json:"reasoning,omitempty"`
}

// ByEditor is the tool of a change that the person wrote in their editor, in place of
// what the call proposed.
const ByEditor = "editor"

// Change is one write to a file, or what a command made of a path, with the
// contents kept as blobs.
//
// Before and After say what is at the path: the hash of a file's content, "link:"
// and the hash of its target for a link, "dir" for a directory, "" for nothing.
// Only commands make links and directories, and remove anything.
type Change struct {
	ID      string      `json:"id"` // unique in the session
	CallID  string      `json:"call_id,omitempty"`
	Tool    string      `json:"tool,omitempty"`     // of the call, or [ByEditor]
	Path    string      `json:"path"`               // absolute
	RawPath []byte      `json:"raw_path,omitempty"` // the path, where it is not UTF-8 and JSON would spoil it
	Existed bool        `json:"existed"`
	Before  string      `json:"before,omitempty"`
	After   string      `json:"after"`
	Perm    fs.FileMode `json:"perm"`
	Was     fs.FileMode `json:"was,omitempty"`  // what Perm was before a command, where it was another
	Dirs    []string    `json:"dirs,omitempty"` // directories that the write makes, outermost first
	Added   int         `json:"added"`          // lines
	Removed int         `json:"removed"`        // lines
	Hunks   []file.Hunk `json:"hunks,omitempty"`
}

// IsDir tells whether the change only makes or removes a directory, or its mode.
func (c *Change) IsDir() bool {
	return (c.Before == dirHash || c.Before == "") && (c.After == dirHash || c.After == "")
}

// Found is what changed in the workspace while commands ran (UNDO-09). For undo it
// is one change.
type Found struct {
	ID       string   `json:"id"` // unique in the session
	CallIDs  []string `json:"call_ids"`
	Commands []string `json:"commands"`          // the lines of the same calls
	Doubt    string   `json:"doubt,omitempty"`   // why it may be somebody else's doing, or not be all of it, in words
	Changes  []Change `json:"changes,omitempty"` // by path
	Lost     []Lost   `json:"lost,omitempty"`    // by path
}

// Lost is a path that a command changed and that cannot be taken back.
type Lost struct {
	Path string `json:"path"` // absolute
	Why  string `json:"why"`  // in words that follow the path
}

// Undo says that changes were taken back, or made again.
type Undo struct {
	Changes []string `json:"changes"` // their ids, in the order in which they were treated
	Redo    bool     `json:"redo,omitempty"`

	// Overwritten is what others had made of the files, kept when the person chose to go over it.
	Overwritten []Overwritten `json:"overwritten,omitempty"`
}

// Overwritten is a file's content that no change of the session made, kept as a blob.
type Overwritten struct {
	Path string `json:"path"`
	Blob string `json:"blob"` // its hash
}

// Outcome is how a turn ended.
type Outcome string

// The ends of a turn.
const (
	OutcomeDone        Outcome = "done"
	OutcomeInterrupted Outcome = "interrupted" // by the person
	OutcomeTimeout     Outcome = "timeout"     // at its deadline
	OutcomeLimit       Outcome = "limit"       // at a limit: too many requests, or the same call over and over
	OutcomeFailed      Outcome = "failed"      // by the model's server, or an error of ours
)

// Turn says how a turn ended.
type Turn struct {
	Outcome Outcome       `json:"outcome"`
	Error   string        `json:"error,omitempty"` // in words for a person
	Elapsed time.Duration `json:"elapsed"`         // nanoseconds
}
