package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/script"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// model is a server of chat completions on loopback that plays a script. It
// checks that every request is what the strictest server takes.
type model struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	requests [][]wireMessage
	asked    string // the model of the newest request
	key      string // the only one that is taken; "" for any and none
	away     bool   // it answers nothing but that it is not there
}

// turnsAway answers a request that the server does not take.
func (m *model) turnsAway(w http.ResponseWriter, r *http.Request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.away:
		http.Error(w, "nobody is here", http.StatusServiceUnavailable)
		return true
	case m.key != "" && r.Header.Get("Authorization") != "Bearer "+m.key:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"this key is not known here","type":"invalid_request_error","code":"invalid_api_key"}}`)
		return true
	}
	return false
}

func (m *model) takesOnly(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.key = key
}

func (m *model) goAway(away bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away = away
}

func (m *model) lastModel() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// told is the text of the newest request.
func (m *model) told() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text strings.Builder
	if n := len(m.requests); n > 0 {
		for _, msg := range m.requests[n-1] {
			fmt.Fprintln(&text, msg.Content)
		}
	}
	return text.String()
}

type wireMessage struct {
	Role      string `json:"role"`
	Content   any    `json:"content"`
	ID        string `json:"tool_call_id"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func serveModel(t *testing.T, text string) *model {
	t.Helper()
	s, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{t: t}
	player := script.New(s, 0, "the script is over")
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.turnsAway(w, r) {
			return
		}
		if strings.HasSuffix(r.URL.Path, "/models") {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"object":"list","data":[{"id":"scripted","context_length":100000},{"id":"text-embedding-x"},{"id":"scripted-2","max_model_len":32000}]}`)
			return
		}
		m.play(w, r, player)
	}))
	t.Cleanup(m.Close)
	return m
}

// play answers one request with the script's next reply.
func (m *model) play(w http.ResponseWriter, r *http.Request, player *script.Provider) {
	var body struct {
		Model    string        `json:"model"`
		Messages []wireMessage `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		m.t.Errorf("a request is no JSON: %v", err)
	}
	m.mu.Lock()
	m.requests = append(m.requests, body.Messages)
	m.asked = body.Model
	m.mu.Unlock()
	m.check(body.Messages)

	started := false
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(v any) {
		started = true
		data, _ := json.Marshal(v)
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	reply, err := player.Stream(r.Context(), app.Request{Messages: understood(body.Messages)}, func(d app.Delta) {
		if d.Text != "" {
			event(chunk(map[string]any{"content": d.Text}, nil))
		}
	})
	var problem *app.ProviderError
	switch {
	case errors.As(err, &problem) && !started:
		w.WriteHeader(problem.Status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, problem.Text)
		return
	case err != nil:
		return
	}
	for i, c := range reply.Message.Calls {
		event(chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments},
		}}}, nil))
	}
	event(chunk(map[string]any{}, reply.Finish))
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func chunk(delta map[string]any, finish any) map[string]any {
	return map[string]any{"object": "chat.completion.chunk", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}
}

// check fails the test when calls and answers do not fit together.
func (m *model) check(messages []wireMessage) {
	open := map[string]bool{}
	for i, msg := range messages {
		if msg.Role == "system" != (i == 0) {
			m.t.Errorf("message %d is of the role %s", i, msg.Role)
		}
		if msg.Role == "tool" {
			if !open[msg.ID] {
				m.t.Errorf("message %d answers %q, which is not open", i, msg.ID)
			}
			delete(open, msg.ID)
			continue
		}
		if len(open) > 0 {
			m.t.Errorf("message %d comes before the answers to %v", i, open)
		}
		for _, c := range msg.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		m.t.Errorf("a request leaves calls open: %v", open)
	}
}

// understood is what a model can tell from the wire: results say in words how a call ended.
func understood(messages []wireMessage) []session.Message {
	var out []session.Message
	for _, w := range messages {
		text, _ := w.Content.(string)
		m := session.Message{Role: session.Role(w.Role), Text: text, CallID: w.ID}
		for _, c := range w.ToolCalls {
			m.Calls = append(m.Calls, tools.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		if m.Role == session.RoleTool {
			m.Status = statusOf(text)
		}
		out = append(out, m)
	}
	return out
}

func statusOf(text string) session.Status {
	switch {
	case strings.Contains(text, " was not run: "):
		return session.StatusDenied
	case strings.HasPrefix(text, "Error: "):
		return session.StatusFailed
	case strings.HasPrefix(text, "interrupted"):
		return session.StatusInterrupted
	}
	return session.StatusOK
}
