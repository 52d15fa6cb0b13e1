package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/human"
	"github.com/phero-agent/agent/ui/uitest"
)

// recorder is an application that keeps what the screen asks of it.
type recorder struct {
	mu       sync.Mutex
	asked    []string
	queue    []string
	mode     permissions.Mode
	sessions []app.SessionInfo
	hits     []session.Hit
	previews map[string]app.Preview
	prompts  []app.Prompt
	conflict bool // an undo is refused
	models   []app.ModelInfo
	plan     []session.Planned
	shells   []bash.ShellInfo
}

func (r *recorder) did(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, fmt.Sprintf(format, args...))
}

// log is what was asked so far.
func (r *recorder) log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.asked...)
}

func (r *recorder) Submit(text string)       { r.did("submit %q", text) }
func (r *recorder) Ran(c app.OwnCommand)     { r.did("ran %s: %q %d", c.Line, c.Output, c.ExitCode) }
func (r *recorder) Shells() []bash.ShellInfo { return r.shells }
func (r *recorder) Cancel()                  { r.did("cancel") }
func (r *recorder) Unqueue() (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.queue)
	if n == 0 {
		return "", false
	}
	s := r.queue[n-1]
	r.queue = r.queue[:n-1]
	r.asked = append(r.asked, "unqueue")
	return s, true
}
func (r *recorder) Answer(id string, a app.Answer) {
	with := ""
	if a.Reach != bash.Sandboxed {
		with = " " + a.Reach.String()
	}
	if a.Version != nil {
		with += fmt.Sprintf(" version %q", *a.Version)
	}
	r.did("answer %s {Allow:%v Always:%v Scope:%v Feedback:%v}%s", id, a.Allow, a.Always, a.Scope, a.Feedback, with)
}
func (r *recorder) Reply(id string, a map[string]human.Answer) { r.did("reply %s %v", id, a) }
func (r *recorder) PlanUndo(scope session.Scope, redo bool) ([]session.Planned, error) {
	r.did("plan %+v %v", scope, redo)
	if r.plan == nil {
		return nil, session.ErrNothingToUndo
	}
	return r.plan, nil
}
func (r *recorder) Undo(scope session.Scope, picks []session.Pick) bool {
	r.did("undo %+v %v", scope, picks)
	return !r.conflict
}
func (r *recorder) Redo(scope session.Scope, picks []session.Pick) {
	r.did("redo %+v %v", scope, picks)
}
func (r *recorder) Diff() ([]file.Change, error) {
	var changes []file.Change
	for _, p := range r.plan {
		changes = append(changes, p.Change)
	}
	return changes, nil
}
func (r *recorder) Mode() permissions.Mode {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mode
}
func (r *recorder) SetMode(m permissions.Mode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mode = m
}
func (r *recorder) SetModel(name string)             { r.did("model %s", name) }
func (r *recorder) Models() ([]app.ModelInfo, error) { return r.models, nil }
func (r *recorder) Effort() string                   { return "low" }
func (r *recorder) Efforts() []string                { return []string{"default", "low", "high"} }
func (r *recorder) SetEffort(level string) error {
	if level == "much" {
		return errors.New("no such level")
	}
	r.did("effort %s", level)
	return nil
}
func (r *recorder) Permissions(args string) (string, error) {
	if args == "" {
		return "allow  bash(make)  always, this session\nask    bash(git push)  --ask", nil
	}
	return "", fmt.Errorf("no answer %s", args)
}
func (r *recorder) Compact(keep string) { r.did("compact %q", keep) }
func (r *recorder) Context() (app.ContextReport, error) {
	return app.ContextReport{Window: 128_000, Cost: 0.1234, Parts: []app.ContextPart{
		{Name: "system prompt", Tokens: 1200}, {Name: "tools", Tokens: 2900}, {Name: "results of tools", Tokens: 40_000},
	}}, nil
}
func (r *recorder) New()                                 { r.did("new") }
func (r *recorder) Resume(id string)                     { r.did("resume %s", id) }
func (r *recorder) Sessions() ([]app.SessionInfo, error) { return r.sessions, nil }
func (r *recorder) SearchSessions(_ context.Context, text string) ([]session.Hit, error) {
	r.did("search %s", text)
	return r.hits, nil
}
func (r *recorder) PreviewSession(id string) (app.Preview, error) {
	p, ok := r.previews[id]
	if !ok {
		return p, errors.New("session " + id + " cannot be read")
	}
	p.ID = id
	return p, nil
}
func (r *recorder) Prompts() ([]app.Prompt, error) { return r.prompts, nil }
func (r *recorder) Rewind(to int64) error          { r.did("rewind %d", to); return nil }
func (r *recorder) Fork(before int64) error        { r.did("fork %d", before); return nil }
func (r *recorder) Rename(title string) error      { r.did("rename %s", title); return nil }
func (r *recorder) Export(name string) (string, error) {
	if name == "there" {
		return "", errors.New("there is there already")
	}
	return "/home/me/acme/" + name, nil
}
func (r *recorder) Background(id string) bool { r.did("background %s", id); return true }
func (r *recorder) RunCommand(name, arguments string) error {
	r.did("command %s %s", name, arguments)
	return nil
}
func (r *recorder) Kill(id string) { r.did("kill %s", id) }

// stage is a screen with a recorder behind it.
type stage struct {
	*uitest.Screen
	app   *recorder
	pump  *Pump
	model *Model
	tap   func(app.Event) // sees what is emitted
}

// newStage is a stage whose screen does not run yet.
func newStage(t *testing.T, opts Options) *stage {
	s := &stage{app: &recorder{}, pump: NewPump()}
	t.Cleanup(func() {
		s.pump.Close()
		time.Sleep(time.Minute) // timers that were set run out
	})
	s.model = New(s.app, s.pump, opts)
	s.model.clip = func(string) string { return "" }
	return s
}

// on runs a test on a screen of w by h cells, in fake time.
func on(t *testing.T, w, h int, opts Options, test func(t *testing.T, s *stage), options ...tea.ProgramOption) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, opts)
		s.Screen = uitest.Run(t, s.model, w, h, options...)
		s.emit(app.State{Workspace: "/home/me/acme", Branch: "main", Model: "gpt-5.1", Provider: "api.openai.com", Sandbox: "bwrap"}, app.Opened{})
		test(t, s)
	})
}

// emit hands events to the screen as one batch and lets it draw.
func (s *stage) emit(events ...app.Event) {
	s.pump.mu.Lock()
	for _, e := range events {
		if s.tap != nil {
			s.tap(e)
		}
		s.pump.add(e)
	}
	s.pump.mu.Unlock()
	s.pump.ready <- struct{}{}
	s.Wait(100 * time.Millisecond)
}

func committed(m session.Message) app.Event {
	return app.Committed{Entry: session.Entry{Kind: session.KindMessage, Message: &m}}
}

func userSays(text string) app.Event {
	return committed(session.Message{Role: session.RoleUser, Text: text})
}

func modelSays(text string, calls ...tools.ToolCall) app.Event {
	return committed(session.Message{Role: session.RoleAssistant, Text: text, Calls: calls})
}

func result(id string, status session.Status, text string) app.Event {
	return committed(session.Message{Role: session.RoleTool, CallID: id, Status: status, Text: text})
}

func aCall(id, name, arguments string) tools.ToolCall {
	return tools.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Key presses keys. A lone esc is only known as one after a while.
func (s *stage) Key(names ...string) {
	for _, name := range names {
		s.Screen.Key(name)
		if name == "esc" {
			s.Wait(50 * time.Millisecond)
		}
	}
}
