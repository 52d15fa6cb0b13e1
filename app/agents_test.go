//go:build unix

package app_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// several is a model that leads several conversations: each is known by its first
// message, and gets its replies in order.
type several struct {
	mu      sync.Mutex
	replies map[string][]session.Message
	asked   map[string][]app.Request
	gate    func(first string, n int) // called before a reply, outside of the lock
}

func (s *several) Info() app.ModelInfo {
	return app.ModelInfo{ID: "several", Window: 100_000, Prices: app.Prices{Input: 1, Output: 1}}
}

func (s *several) Stream(ctx context.Context, req app.Request, emit func(app.Delta)) (app.Reply, error) {
	first, _, _ := strings.Cut(req.Messages[0].Text, "\n")
	s.mu.Lock()
	n := len(s.asked[first])
	s.asked[first] = append(s.asked[first], req)
	list := s.replies[first]
	s.mu.Unlock()
	if s.gate != nil {
		s.gate(first, n)
	}
	if ctx.Err() != nil {
		return app.Reply{}, ctx.Err()
	}
	if n >= len(list) {
		return app.Reply{}, fmt.Errorf("%q has no reply %d", first, n)
	}
	m := list[n]
	m.Role, m.Usage = session.RoleAssistant, &session.Usage{Input: 1000, Output: 100}
	emit(app.Delta{Text: m.Text})
	return app.Reply{Message: m}, nil
}

func (s *several) of(first string) []app.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[first]
}

func aCall(id, name, arguments string) tools.ToolCall {
	return tools.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func calls(calls ...tools.ToolCall) session.Message { return session.Message{Calls: calls} }

func saying(text string) session.Message { return session.Message{Text: text} }

func delegate(id, name, input string) tools.ToolCall {
	return aCall(id, "agent", fmt.Sprintf(`{"name":%q,"description":"You are %s.","input":%q}`, name, name, input))
}

func withSeveral(s *several) func(*app.Options) {
	s.asked = map[string][]app.Request{}
	return func(o *app.Options) {
		o.NewProvider = func(context.Context, string) (app.Provider, error) { return s, nil }
	}
}

// AGENT-01, AGENT-02, AGENT-12, AGENT-14: sub-agents have a conversation of their
// own, on the same model, run at the same time, and start no others.
func TestSubAgents(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	s := &several{replies: map[string][]session.Message{
		"go":       {calls(delegate("a", "one", "task one"), delegate("b", "two", "task two")), saying("Both done.")},
		"task one": {calls(aCall("x", "read", `{"file_path":"f"}`)), saying("One found it.")},
		"task two": {calls(aCall("x", "read", `{"file_path":"f"}`)), saying("Two found it.")},
	}, gate: func(first string, n int) {
		if first != "go" && n == 0 { // each waits until both are there
			both.Done()
			both.Wait()
		}
	}}
	r := newRig(t, "== not used\nx\n", map[string]string{"f": "content\n"}, withSeveral(s))
	if ended := r.turn("go"); ended.Outcome != session.OutcomeDone {
		t.Fatalf("%+v", ended)
	}
	for first, who := range map[string]string{"task one": "one", "task two": "two"} {
		reqs := s.of(first)
		if len(reqs) != 2 {
			t.Fatalf("%s: %d requests", first, len(reqs))
		}
		if !strings.HasPrefix(reqs[0].System, "You are "+who+".\n") || len(reqs[0].Messages) != 1 || reqs[0].Messages[0].Role != session.RoleUser {
			t.Errorf("%q, %+v", reqs[0].System, reqs[0].Messages)
		}
		for _, spec := range reqs[0].Tools {
			switch spec.Name {
			case "agent", "user_interaction", "todo_write":
				t.Errorf("a sub-agent has %s", spec.Name)
			}
		}
		checkValid(t, reqs[1].Messages)
		if m := reqs[1].Messages[2]; m.Status != session.StatusOK || !strings.Contains(m.Text, "content") {
			t.Errorf("%+v", m)
		}
	}
	last := s.of("go")[1].Messages
	checkValid(t, last)
	if len(last) != 4 || last[2].Text != "One found it." || last[3].Text != "Two found it." {
		t.Errorf("the session's own conversation: %+v", last)
	}
	// Tokens and cost count to the parent's turn: six requests of 1,100 tokens at a dollar a million.
	u, _ := await(r, 0, func(u app.Usage) bool { return u.Cost > 0.005 })
	if u.Cost < 0.0065 || u.Cost > 0.0067 || u.Last.Input != 1000 {
		t.Errorf("%+v", u)
	}
	delta, _ := await(r, 0, func(d app.ReplyDelta) bool { return d.Text == "One found it." })
	if delta.Parent != "a" {
		t.Errorf("%+v", delta)
	}
}

// AGENT-13, IMP-23, UNDO-13: what a sub-agent changes is asked as the model's own changes
// are, names the sub-agent, is journaled, and can be undone.
func TestSubAgentIsAsked(t *testing.T) {
	s := &several{replies: map[string][]session.Message{
		"go":   {calls(delegate("a", "writer", "task")), saying("Done.")},
		"task": {calls(aCall("w", "write", `{"file_path":"new","content":"x\n"}`)), calls(aCall("v", "write", `{"file_path":"other","content":"y\n"}`)), saying("Wrote it.")},
	}}
	r := newRig(t, "== not used\nx\n", nil, withSeveral(s))
	r.answer = func(q app.Asked) (app.Answer, bool) { return app.Answer{Allow: q.Call.ID == "w"}, true }
	r.turn("go")
	q, _ := await[app.Asked](r, 0, nil)
	if q.Call.Agent != "writer" || q.Call.Parent != "a" || q.Change == nil {
		t.Errorf("%+v", q.Call)
	}
	if r.file("new") != "x\n" || !strings.Contains(r.file("other"), "no such file") {
		t.Errorf("%q, %q", r.file("new"), r.file("other"))
	}
	steps, err := r.app.PlanUndo(session.Scope{Turn: true}, false)
	if err != nil || len(steps) != 1 || steps[0].Change.Path != filepath.Join(r.dir, "new") {
		t.Fatalf("%+v, %v", steps, err)
	}
	r.app.Undo(session.Scope{Turn: true}, []session.Pick{steps[0].Pick()})
	if !strings.Contains(r.file("new"), "no such file") {
		t.Error("the undo left what the sub-agent wrote")
	}
	if changes, err := r.app.Diff(); err != nil || len(changes) != 0 {
		t.Errorf("after undo: %+v, %v", changes, err)
	}
}

// AGENT-15: one that fails is a failed call with what it said so far.
func TestSubAgentFails(t *testing.T) {
	s := &several{replies: map[string][]session.Message{
		"go":   {calls(delegate("a", "one", "task")), saying("Then not.")},
		"task": {{Text: "Half of it is clear.", Calls: []tools.ToolCall{aCall("x", "read", `{"file_path":"f"}`)}}},
	}}
	r := newRig(t, "== not used\nx\n", map[string]string{"f": "content\n"}, withSeveral(s))
	r.turn("go")
	if m := s.of("go")[1].Messages[2]; m.Status != session.StatusFailed || !strings.Contains(m.Text, "Half of it is clear.") || !strings.Contains(m.Text, "has no reply 1") {
		t.Errorf("%+v", m)
	}
}

// Esc stops all of them, and the history stays valid.
func TestSubAgentsAreStopped(t *testing.T) {
	s := &several{replies: map[string][]session.Message{
		"go":       {calls(delegate("a", "one", "task one"), delegate("b", "two", "task two"))},
		"task one": {calls(aCall("x", "bash", `{"command":"read x < gate"}`))},
		"task two": {calls(aCall("y", "bash", `{"command":"read x < gate"}`))},
		"more":     {saying("Ready.")},
	}}
	r := newRig(t, "== not used\nx\n", nil, withSeveral(s))
	mkfifo(t, r.dir+"/gate")
	from := r.seen()
	r.app.Submit("go")
	for range 2 {
		_, from = await(r, from, func(e app.ToolStarted) bool { return e.Call.Name == "bash" })
	}
	r.app.Cancel()
	ended, _ := await[app.TurnEnded](r, from, nil)
	if ended.Outcome != session.OutcomeInterrupted {
		t.Errorf("%+v", ended)
	}
	s.mu.Lock()
	s.replies["go"] = append(s.replies["go"], saying("Ready."))
	s.mu.Unlock()
	r.turn("and now")
	last := s.of("go")
	messages := last[len(last)-1].Messages
	checkValid(t, messages)
	if m := messages[2]; m.Status != session.StatusInterrupted {
		t.Errorf("%+v", m)
	}
}

// A sub-agent whose conversation comes near the window leaves out old results.
func TestSubAgentMakesRoom(t *testing.T) {
	big := strings.Repeat("0123456789abcdef 0123456789abcdef\n", 800)
	replies := []session.Message{}
	for i := range 16 {
		replies = append(replies, calls(aCall(fmt.Sprint("x", i), "read", fmt.Sprintf(`{"file_path":"f%d"}`, i))))
	}
	files := map[string]string{}
	for i := range 16 {
		files[fmt.Sprint("f", i)] = big
	}
	s := &several{replies: map[string][]session.Message{
		"go":   {calls(delegate("a", "one", "task")), saying("Done.")},
		"task": append(replies, saying("Read all.")),
	}}
	r := newRig(t, "== not used\nx\n", files, withSeveral(s))
	r.turn("go")
	reqs := s.of("task")
	if len(reqs) != 17 {
		t.Fatalf("%d requests: %+v", len(reqs), s.of("go")[1].Messages)
	}
	size := 0
	for _, m := range reqs[16].Messages {
		size += len(m.Text)
	}
	if size > 100_000*4 {
		t.Errorf("the last request has %d bytes", size)
	}
	checkValid(t, reqs[16].Messages)
}
