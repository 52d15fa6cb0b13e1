package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/script"
	"github.com/phero-agent/agent/session"
)

// rig is an application at work in a directory of its own, with a scripted
// model that keeps its requests, and a person who answers by rule.
type rig struct {
	t        *testing.T
	app      *app.App
	dir      string
	provider *recorder
	answer   func(app.Asked) (app.Answer, bool) // false: the question stays open
	decline  bool                               // the application's own questions

	mu     sync.Mutex
	events []app.Event
	more   chan struct{} // closed and made anew at each event

	patience time.Duration // how long a wait for an event may take
}

// recorder keeps what the model was told.
type recorder struct {
	app.Provider
	mu       sync.Mutex
	requests []app.Request
}

func (r *recorder) Stream(ctx context.Context, req app.Request, emit func(app.Delta)) (app.Reply, error) {
	kept := req
	kept.Messages = append([]session.Message(nil), req.Messages...)
	r.mu.Lock()
	r.requests = append(r.requests, kept)
	r.mu.Unlock()
	return r.Provider.Stream(ctx, req, emit)
}

func (r *recorder) all() []app.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]app.Request(nil), r.requests...)
}

func yes(app.Asked) (app.Answer, bool)  { return app.Answer{Allow: true}, true }
func no(app.Asked) (app.Answer, bool)   { return app.Answer{}, true }
func open(app.Asked) (app.Answer, bool) { return app.Answer{}, false }

// newRig starts an application on files, each "name: content".
func newRig(t *testing.T, text string, files map[string]string, change ...func(*app.Options)) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return rigIn(t, dir, text, change...)
}

func rigIn(t *testing.T, dir, text string, change ...func(*app.Options)) *rig {
	t.Helper()
	s, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, answer: yes, more: make(chan struct{}), patience: 30 * time.Second, provider: &recorder{Provider: script.New(s, 0, "the script is over")}}
	opts := app.Options{
		Workspace: dir, Dir: dir, Version: "test", StateDir: dir + ".state", // beside the workspace: who resumes has the same one
		NewProvider: func(context.Context, string) (app.Provider, error) { return r.provider, nil },
		Sandbox:     "none", Interactive: true, Timeout: 30 * time.Minute, Emit: r.emit,
	}
	for _, c := range change {
		c(&opts)
	}
	if r.app, err = app.New(opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.app.Close(); err != nil {
			t.Error(err)
		}
	})
	r.app.Start()
	r.app.Prepare()
	return r
}

func (r *rig) emit(e app.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	close(r.more)
	r.more = make(chan struct{})
	if q, ok := e.(app.Questioned); ok && r.decline {
		go r.app.Reply(q.ID, nil)
	}
	if q, ok := e.(app.Asked); ok {
		if a, ok := r.answer(q); ok {
			go r.app.Answer(q.ID, a)
		}
	}
}

// await returns the first event from the index on that is wanted, and the index after it.
func await[E app.Event](r *rig, from int, want func(E) bool) (E, int) {
	r.t.Helper()
	deadline := time.After(r.patience)
	for {
		r.mu.Lock()
		more := r.more
		for i := from; i < len(r.events); i++ {
			if e, ok := r.events[i].(E); ok && (want == nil || want(e)) {
				r.mu.Unlock()
				return e, i + 1
			}
		}
		r.mu.Unlock()
		select {
		case <-more:
		case <-deadline:
			r.t.Fatalf("no such event came; events: %#v", r.events)
		}
	}
}

func (r *rig) seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

// turn sends a prompt and waits for the end of the turn.
func (r *rig) turn(prompt string) app.TurnEnded {
	r.t.Helper()
	from := r.seen()
	r.app.Submit(prompt)
	ended, _ := await[app.TurnEnded](r, from, nil)
	return ended
}

// last is the newest request.
func (r *rig) last() []session.Message {
	r.t.Helper()
	all := r.provider.all()
	if len(all) == 0 {
		r.t.Fatal("the model was asked nothing")
	}
	return all[len(all)-1].Messages
}

// result is the result of the named call in the newest request.
func (r *rig) result(n int) session.Message {
	r.t.Helper()
	for _, m := range r.last() {
		if m.Role == session.RoleTool {
			if n == 0 {
				return m
			}
			n--
		}
	}
	r.t.Fatalf("no such result in %+v", r.last())
	return session.Message{}
}

func (r *rig) file(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(data)
}

// checkValid fails when a history is not what the strictest server takes: every
// call answered exactly once, right behind its reply (LOOP-09).
func checkValid(t *testing.T, messages []session.Message) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range messages {
		switch m.Role {
		case session.RoleTool:
			if !open[m.CallID] {
				t.Errorf("message %d answers %q, which is not open", i, m.CallID)
			}
			delete(open, m.CallID)
		default:
			if len(open) > 0 {
				t.Errorf("message %d comes before the answers to %v", i, open)
			}
			if m.Role == session.RoleAssistant && strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
				t.Errorf("message %d is an empty reply", i)
			}
			for _, c := range m.Calls {
				open[c.ID] = true
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("no answers to %v", open)
	}
}
