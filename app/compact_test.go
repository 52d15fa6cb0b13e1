package app_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// unused is a script for a rig with another model.
const unused = "== unused\nhello\n"

// thinker is a model whose replies are made by a function of the request. A
// request for a summary is one without tools.
type thinker struct {
	info  app.ModelInfo
	think func(req app.Request, summary bool) (session.Message, error)

	mu       sync.Mutex
	requests []app.Request
}

func (m *thinker) Info() app.ModelInfo { return m.info }

func (m *thinker) Stream(ctx context.Context, req app.Request, _ func(app.Delta)) (app.Reply, error) {
	m.mu.Lock()
	m.requests = append(m.requests, req)
	m.mu.Unlock()
	if ctx.Err() != nil {
		return app.Reply{}, context.Cause(ctx)
	}
	msg, err := m.think(req, len(req.Tools) == 0)
	msg.Role = session.RoleAssistant
	return app.Reply{Message: msg, Finish: "stop"}, err
}

func (m *thinker) all() []app.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]app.Request(nil), m.requests...)
}

func (m *thinker) use(o *app.Options) {
	o.NewProvider = func(context.Context, string) (app.Provider, error) { return m, nil }
}

// size is a request as the model's server would count it: four bytes a token.
func size(req app.Request) int {
	n := len(req.System)
	for _, s := range req.Tools {
		n += len(s.Name) + len(s.Description) + len(fmt.Sprint(s.Schema))
	}
	for _, m := range req.Messages {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	return n / 4
}

func text(s string) (session.Message, error) { return session.Message{Text: s}, nil }

func calling(name, arguments string) (session.Message, error) {
	return session.Message{Calls: []tools.ToolCall{{Name: name, Arguments: arguments}}}, nil
}

func compactions(r *rig) (list []session.Compaction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if c, ok := e.(app.Committed); ok && c.Entry.Compact != nil {
			list = append(list, *c.Entry.Compact)
		}
	}
	return list
}

// A long session is compacted twice: the user's words, the task list and the
// changed paths stand in the request word for word, call and result are never
// apart, and the request is small (IMP-16).
func TestLongSessionIsCompacted(t *testing.T) {
	const window, turns = 32_000, 100 // 400 messages of the user, the model and tools
	m := &thinker{info: app.ModelInfo{Window: window}}
	var paths []string
	m.think = func(req app.Request, summary bool) (session.Message, error) {
		if size(req) > window {
			return session.Message{}, &app.ProviderError{Kind: app.ErrContextOverflow, Text: "too long"}
		}
		checkValid(t, req.Messages)
		if summary {
			return text("Goal: the summary.")
		}
		if req.Messages[len(req.Messages)-1].Role == session.RoleUser {
			return calling("read", `{"file_path":"big.txt"}`)
		}
		switch before := req.Messages[len(req.Messages)-2]; {
		case before.Calls[0].Name != "read":
			return text("Done with that. " + strings.Repeat("And more words on it. ", 40))
		case len(paths) == 0:
			paths = append(paths, "")
			return calling("todo_write", `{"todos":[{"content":"keep this item","status":"in_progress","active_form":"keeping"}]}`)
		}
		paths = append(paths, fmt.Sprintf("out/%d.txt", len(paths)))
		return calling("write", fmt.Sprintf(`{"file_path":%q,"content":"x"}`, paths[len(paths)-1]))
	}
	r := newRig(t, unused, map[string]string{"big.txt": strings.Repeat("a line of a large file\n", 400)}, m.use)
	var said []string
	for i := range turns {
		said = append(said, fmt.Sprintf("message number %d of the user, with a limit: never touch file %d", i, i))
		if ended := r.turn(said[i]); ended.Outcome != session.OutcomeDone {
			t.Fatalf("turn %d: %+v", i, ended)
		}
	}
	texts := 0
	for _, c := range compactions(r) {
		if c.Text != "" {
			texts++
			if c.After >= window/2 || c.Before < window/2 {
				t.Errorf("a compaction from %d to %d tokens", c.Before, c.After)
			}
		}
	}
	if texts < 2 {
		t.Fatalf("%d compactions with a summary", texts)
	}
	requests := m.all()
	newest := requests[len(requests)-1]
	all := ""
	for _, msg := range newest.Messages {
		all += msg.Text + "\n"
		for _, c := range msg.Calls {
			all += c.Arguments + "\n"
		}
	}
	for _, s := range said {
		if !strings.Contains(all, s) {
			t.Errorf("lost: %s", s)
		}
	}
	for _, want := range append(paths, "keep this item", "Goal: the summary.", "big.txt") {
		if !strings.Contains(all, want) {
			t.Errorf("lost: %s", want)
		}
	}
	// What a resumed session sends is what this one would have sent.
	id := ""
	if list, err := r.app.Sessions(); err == nil && len(list) == 1 {
		id = list[0].ID
	}
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}
	again := rigIn(t, r.dir, "== unused\n", m.use)
	if err := again.app.Open(id); err != nil {
		t.Fatal(err)
	}
	again.turn("and now?")
	requests = m.all()
	resumed := requests[len(requests)-1]
	for i := range newest.Messages[:3] {
		if newest.Messages[i].Text != resumed.Messages[i].Text {
			t.Errorf("message %d is another one after a resume", i)
		}
	}
}

// Every changed path stands in the request.
func TestCompactKeepsPaths(t *testing.T) {
	n := 0
	m := &thinker{info: app.ModelInfo{Window: 100_000}}
	m.think = func(req app.Request, summary bool) (session.Message, error) {
		if summary {
			return text("S")
		}
		if n++; n%2 == 1 && n < 16 {
			return calling("write", fmt.Sprintf(`{"file_path":"f%d","content":"x"}`, n))
		}
		return text("ok")
	}
	r := newRig(t, unused, nil, m.use)
	for range 9 {
		r.turn("next")
	}
	from := r.seen()
	r.app.Compact("the colour of the sky")
	await(r, from, func(c app.Committed) bool { return c.Entry.Compact != nil })
	r.turn("last")
	requests := m.all()
	sum, newest := requests[len(requests)-2], requests[len(requests)-1].Messages[0].Text
	if !strings.Contains(sum.Messages[0].Text, "the colour of the sky") {
		t.Errorf("the model was not told what to keep: %s", sum.Messages[0].Text)
	}
	for n := 1; n < 16; n += 2 {
		if !strings.Contains(newest, fmt.Sprintf("- f%d\n", n)) {
			t.Errorf("f%d is lost in %s", n, newest)
		}
	}
}

// Results of old calls are left out first; that needs no model.
func TestOldResultsAreLeftOutFirst(t *testing.T) {
	m := &thinker{info: app.ModelInfo{Window: 20_000}}
	n := 0
	m.think = func(_ app.Request, summary bool) (session.Message, error) {
		if summary {
			t.Error("a summary was asked for")
		}
		if n++; n < 12 {
			return calling("read", fmt.Sprintf(`{"file_path":"big.txt","limit":%d}`, 1000+n))
		}
		return text("done")
	}
	r := newRig(t, unused, map[string]string{"big.txt": strings.Repeat("0123456789 0123456789\n", 300)}, m.use)
	if ended := r.turn("go"); ended.Outcome != session.OutcomeDone {
		t.Fatalf("%+v", ended)
	}
	list := compactions(r)
	if len(list) == 0 || len(list[0].Cleared) == 0 || list[0].Text != "" {
		t.Fatalf("compactions: %+v", list)
	}
	requests := m.all()
	messages := requests[len(requests)-1].Messages
	checkValid(t, messages)
	if last := messages[len(messages)-1]; !strings.Contains(last.Text, "0123456789") {
		t.Errorf("the newest result is gone: %q", last.Text)
	}
}

// A server that finds the prompt too long: compacted once and sent once more;
// then the person is told what to do.
func TestOverflow(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   int // in tokens, of the server
		summary error
		want    session.Outcome
		says    string
	}{
		{"fits after a compaction", 9_000, nil, session.OutcomeDone, ""},
		{"no summary", 9_000, errors.New("no such model"), session.OutcomeDone, ""},
		{"never", 1_000, nil, session.OutcomeFailed, "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &thinker{} // the window is not known
			n := 0
			m.think = func(req app.Request, summary bool) (session.Message, error) {
				if summary && c.summary != nil {
					return session.Message{}, c.summary
				}
				if size(req) > c.limit {
					return session.Message{}, &app.ProviderError{Kind: app.ErrContextOverflow, Text: "too long", Window: c.limit}
				}
				if summary {
					return text("S")
				}
				if n++; n < 9 {
					return calling("read", fmt.Sprintf(`{"file_path":"big.txt","limit":%d}`, 1000+n))
				}
				return text("done")
			}
			r := newRig(t, unused, map[string]string{"big.txt": strings.Repeat("0123456789 0123456789\n", 250)}, m.use)
			ended := r.turn("go")
			if ended.Outcome != c.want || !strings.Contains(ended.Error, c.says) {
				t.Fatalf("%+v", ended)
			}
			// What the server said of its window counts from then on.
			if c.want == session.OutcomeDone {
				await(r, 0, func(u app.Usage) bool { return u.Window == c.limit && u.Last.Output > 0 })
			}
			if len(m.all()) > 40 {
				t.Errorf("%d requests", len(m.all()))
			}
		})
	}
}

func TestCompactThatIsStopped(t *testing.T) {
	m := &thinker{info: app.ModelInfo{Window: 100_000}}
	var r *rig
	m.think = func(_ app.Request, summary bool) (session.Message, error) {
		if summary {
			r.app.Cancel()
			return session.Message{}, errors.New("cancelled")
		}
		return text("ok")
	}
	r = newRig(t, unused, nil, m.use)
	r.app.Compact("")
	await(r, 0, func(n app.Notice) bool { return strings.Contains(n.Text, "nothing to compact") })
	for range 8 {
		r.turn("next")
	}
	from := r.seen()
	r.app.Compact("")
	await(r, from, func(n app.Notice) bool { return strings.Contains(n.Text, "interrupted by the user") })
	if list := compactions(r); len(list) != 0 {
		t.Errorf("compacted: %+v", list)
	}
	r.turn("after")
	requests := m.all()
	if got := requests[len(requests)-1].Messages; len(got) != 17 {
		t.Errorf("%d messages", len(got))
	}
}

// What a server counts, or does not count, is on the screen, with the cost.
func TestUsageAndCost(t *testing.T) {
	m := &thinker{info: app.ModelInfo{Window: 10_000, Prices: app.Prices{Input: 2, Output: 10, CacheRead: 1}}}
	usage := &session.Usage{Input: 1000, Output: 100, CacheRead: 500}
	m.think = func(app.Request, bool) (session.Message, error) {
		return session.Message{Text: "ok", Usage: usage}, nil
	}
	r := newRig(t, unused, nil, m.use)
	r.turn("a")
	u, from := await[app.Usage](r, 0, nil)
	if u.Last != *usage || u.Window != 10_000 || u.Estimated || fmt.Sprintf("%.4f", u.Cost) != "0.0025" {
		t.Errorf("%+v", u)
	}
	usage = nil
	r.turn("b")
	if u, _ = await[app.Usage](r, from, nil); !u.Estimated || u.Last.Input < 1000 || fmt.Sprintf("%.4f", u.Cost) != "0.0025" {
		t.Errorf("%+v", u)
	}
	report, err := r.app.Context()
	if err != nil || report.Window != 10_000 || report.Used() < 1000 || len(report.Parts) != 6 {
		t.Errorf("%+v, %v", report, err)
	}
	for _, p := range report.Parts {
		if p.Tokens == 0 && p.Name != "instructions (AGENTS.md)" && p.Name != "results of tools" {
			t.Errorf("%s is 0", p.Name)
		}
	}
}

// A server that cuts the front of a prompt without a word is found out, once.
func TestServerThatCutsTheFront(t *testing.T) {
	m := &thinker{}
	m.think = func(app.Request, bool) (session.Message, error) {
		return session.Message{Text: "ok", Usage: &session.Usage{Input: 2048, Output: 1}}, nil
	}
	r := newRig(t, unused, nil, m.use)
	r.turn(strings.Repeat("many words ", 4000))
	n, from := await(r, 0, func(n app.Notice) bool { return n.Level == app.Warning })
	if !strings.Contains(n.Text, "2048") || !strings.Contains(n.Text, "OLLAMA_CONTEXT_LENGTH") {
		t.Errorf("%q", n.Text)
	}
	r.turn("more")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events[from:] {
		if n, ok := e.(app.Notice); ok {
			t.Errorf("told again: %q", n.Text)
		}
	}
}
