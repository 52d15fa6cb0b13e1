package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// Result is what a run without a screen came to: the object of --output-format
// json, and the last line of stream-json.
type Result struct {
	Type      string          `json:"type"` // "result"
	Version   int             `json:"version"`
	SessionID string          `json:"session_id"` // "" where it was not saved
	Outcome   session.Outcome `json:"outcome"`
	ExitCode  int             `json:"exit_code"`
	Answer    string          `json:"answer"`
	Error     string          `json:"error,omitempty"`
	Denials   []Denial        `json:"denials"`
	Files     []ChangedFile   `json:"files_changed"`
	Usage     RunUsage        `json:"usage"`
	Cost      float64         `json:"cost_usd"` // of the session so far, 0 where prices are not known
	Elapsed   int64           `json:"elapsed_ms"`
}

// Denial is a call that did not run because the policy denied it, or because
// nobody was there to be asked.
type Denial struct {
	CallID    string          `json:"call_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Reason    string          `json:"reason"`
}

// ChangedFile is a file that is another one than before the run.
type ChangedFile struct {
	Path   string `json:"path"`   // below the workspace, else absolute
	Change string `json:"change"` // "created", "modified" or "removed"
}

// RunUsage is what the requests of a run cost, in tokens, as the server counted.
type RunUsage struct {
	Requests int `json:"requests"`
	session.Usage
}

// account gathers a Result from the entries of a run. The zero value is ready.
type account struct {
	workspace string
	result    Result
	calls     map[string]tools.ToolCall
	begun     map[string]session.Change // by their id
	first     map[string]session.Change // the first change of each path
	last      map[string]session.Change
}

// entry takes an entry of the run, and returns the denial that it is.
func (a *account) entry(e session.Entry) *Denial {
	switch {
	case e.Head != nil:
		a.result.SessionID = e.Head.ID
	case e.Message != nil:
		return a.message(*e.Message)
	case e.Change != nil:
		put(&a.begun, e.Change.ID, *e.Change)
	case e.Done != "":
		if c, ok := a.begun[e.Done]; ok {
			a.changed(c)
		}
	case e.Found != nil:
		for _, c := range e.Found.Changes {
			a.changed(c)
		}
	case e.Compact != nil && e.Compact.Usage != nil:
		a.result.Usage.Usage = plus(a.result.Usage.Usage, *e.Compact.Usage)
	}
	return nil
}

func (a *account) message(m session.Message) *Denial {
	if m.Role == session.RoleAssistant {
		a.result.Usage.Requests++
		if m.Usage != nil {
			a.result.Usage.Usage = plus(a.result.Usage.Usage, *m.Usage)
		}
		for _, c := range m.Calls {
			put(&a.calls, c.ID, c)
		}
		if m.Parent == "" && len(m.Calls) == 0 && !m.Cut {
			a.result.Answer = m.Text
		}
	}
	if m.Role != session.RoleTool || m.Status != session.StatusDenied {
		return nil
	}
	call := a.calls[m.CallID]
	d := Denial{CallID: m.CallID, Tool: call.Name, Arguments: json.RawMessage(call.Arguments), Reason: m.Text}
	if !json.Valid(d.Arguments) {
		d.Arguments, _ = json.Marshal(call.Arguments) // a string: cannot fail
	}
	a.result.Denials = append(a.result.Denials, d)
	return &d
}

func (a *account) changed(c session.Change) {
	if c.IsDir() {
		return
	}
	if _, ok := a.first[c.Path]; !ok {
		put(&a.first, c.Path, c)
	}
	put(&a.last, c.Path, c)
}

func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

// files are the files that differ from before the run, by path.
func (a *account) files() []ChangedFile {
	list := []ChangedFile{}
	for path, first := range a.first {
		last := a.last[path]
		f := ChangedFile{Path: path, Change: "modified"}
		switch {
		case first.Before == last.After && last.Was == 0:
			continue
		case first.Before == "":
			f.Change = "created"
		case last.After == "":
			f.Change = "removed"
		}
		if rel, err := filepath.Rel(a.workspace, path); err == nil && filepath.IsLocal(rel) {
			f.Path = filepath.ToSlash(rel)
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(x, y ChangedFile) int { return strings.Compare(x.Path, y.Path) })
	return list
}

// line sums a result up for a person.
func (r Result) line() string {
	var parts []string
	if r.SessionID != "" {
		parts = append(parts, "session "+r.SessionID)
	}
	parts = append(parts, counted(len(r.Files), "file")+" changed")
	if n := len(r.Denials); n > 0 {
		parts = append(parts, counted(n, "call")+" denied")
	}
	if r.Usage.Input > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", r.Usage.Input, r.Usage.Output))
	}
	if r.Cost > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", r.Cost))
	}
	return strings.Join(parts, "; ")
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
