package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// transcript is a scenario of testdata/replay: what a server answers, what it
// must be sent, and what the client makes of it.
type transcript struct {
	Name    string
	Compat  string
	Options struct {
		SystemRole      string  `json:"system_role"`
		MaxTokens       int     `json:"max_tokens"`
		ReasoningEffort string  `json:"reasoning_effort"`
		APIKey          *string `json:"api_key"`
	}
	Env   map[string]string
	Tools []struct {
		Name       string
		Parameters map[string]any
	}
	step
	Then        []step
	Expect      expectation
	FirstError  *errorExpectation `json:"first_error"`
	FinalText   *string           `json:"final_text"`
	MaxRequests int               `json:"max_requests"`
	MinWait     int               `json:"min_wait_ms"`
	Learn       struct {
		Window int `json:"context_window"`
	}
}

type step struct {
	Request struct {
		JSON          []check
		HeadersAbsent []string `json:"headers_absent"`
	} `json:"request_expectation"`
	Status  int `json:"http_status"`
	Headers map[string]string
	Body    string
	Close   string
	Chunk   int `json:"write_chunk_bytes"`
}

type check struct {
	Path        string
	Equals      any
	Absent      bool
	Present     bool
	Type        string
	CountWhere  map[string]any `json:"count_where"`
	AllWhere    map[string]any `json:"all_where"`
	ContentType string         `json:"content_type"`
}

type expectation struct {
	Text, Reasoning string
	ToolCalls       []struct {
		ID        string
		Name      string
		Args      any
		ArgsError bool   `json:"args_error"`
		ArgsRaw   string `json:"args_raw"`
	} `json:"tool_calls"`
	Finish    string
	Usage     *session.Usage
	Estimated bool `json:"usage_estimated"`
	Error     *errorExpectation
	IDs       string
	Trim      bool
}

type errorExpectation struct {
	Kind       app.ErrorKind
	Retryable  bool
	Contains   string `json:"message_contains"`
	RetryAfter int    `json:"retry_after_ms"`
}

func readTranscript(t testing.TB, path string) transcript {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var tr transcript
	if err := json.Unmarshal(data, &tr); err != nil {
		t.Fatal(path, err)
	}
	return tr
}

// TestReplay plays every transcript. // LOOP-10, LOOP-11, IMP-41
func TestReplay(t *testing.T) {
	paths, err := filepath.Glob("testdata/replay/*.json")
	if err != nil || len(paths) < 76 {
		t.Fatal(len(paths), "transcripts", err)
	}
	for _, path := range paths {
		tr := readTranscript(t, path)
		t.Run(tr.Name, func(t *testing.T) { replay(t, tr) })
	}
}

func replay(t *testing.T, tr transcript) {
	for key, value := range tr.Env {
		t.Setenv(key, value)
	}
	srv := play(t, append([]step{tr.step}, tr.Then...)...)
	cfg := Config{BaseURL: srv.URL + "/v1", APIKey: "sk-test-key", KeyName: "OPENAI_API_KEY", Model: "m", MaxTokens: tr.Options.MaxTokens}
	if tr.Options.APIKey != nil {
		cfg.APIKey = *tr.Options.APIKey
	}
	cfg.Profile.SystemRole = tr.Options.SystemRole
	if tr.Compat == "mistral" {
		cfg.Profile = KnownProfile("api.mistral.ai", "m")
	}
	c, waits := newTestClient(t, cfg)
	req := app.Request{
		System:   "You are a test.",
		Messages: []session.Message{{Role: session.RoleUser, Text: "go"}},
		Tools:    specsOf(tr),
		Effort:   tr.Options.ReasoningEffort,
	}
	var seen deltas
	first, err := c.Stream(context.Background(), req, seen.take(t))
	tr.Expect.verify(t, first, err)
	if seen.text.String() != first.Message.Text || seen.reasoning.String() != first.Message.Reasoning {
		t.Errorf("emitted %q and %q, replied %q and %q", &seen.text, &seen.reasoning, first.Message.Text, first.Message.Reasoning)
	}
	if tr.FirstError != nil {
		verifyFirst(t, c, tr)
	}
	var total time.Duration
	for _, w := range *waits {
		total += w
	}
	if total < time.Duration(tr.MinWait)*time.Millisecond {
		t.Errorf("waited %v, want at least %d ms", total, tr.MinWait)
	}
	last := first
	for len(last.Message.Calls) > 0 && srv.requests() < len(srv.steps) {
		req.Messages = append(req.Messages, last.Message)
		for _, call := range last.Message.Calls {
			req.Messages = append(req.Messages, session.Message{Role: session.RoleTool, CallID: call.ID, Text: "tool-output"})
		}
		if tr.Compat == "mistral" {
			req.Messages = append(req.Messages, session.Message{Role: session.RoleUser, Text: "now stop"})
		}
		if last, err = c.Stream(context.Background(), req, func(app.Delta) {}); err != nil {
			t.Fatal(err)
		}
	}
	if tr.FinalText != nil && last.Message.Text != *tr.FinalText {
		t.Errorf("the last text is %q, want %q", last.Message.Text, *tr.FinalText)
	}
	if n := srv.requests(); n < len(srv.steps) || tr.MaxRequests > 0 && n > tr.MaxRequests {
		t.Errorf("%d requests for %d answers, at most %d allowed", n, len(srv.steps), tr.MaxRequests)
	}
	if tr.Learn.Window > 0 {
		if pe := (*app.ProviderError)(nil); !errors.As(err, &pe) || pe.Window != tr.Learn.Window {
			t.Errorf("the window learned is not %d: %#v", tr.Learn.Window, err)
		}
	}
}

// specsOf are the tools of a transcript: its own, or those that it expects to be called.
func specsOf(tr transcript) []app.ToolSpec {
	var specs []app.ToolSpec
	for _, tool := range tr.Tools {
		specs = append(specs, app.ToolSpec{Name: tool.Name, Description: "A test.", Schema: tool.Parameters})
	}
	for _, call := range tr.Expect.ToolCalls {
		if call.Name != "terminalterminal" {
			specs = append(specs, app.ToolSpec{Name: call.Name, Schema: map[string]any{"type": "object", "properties": map[string]any{}}})
		}
	}
	return specs
}

// verifyFirst checks how the first answer is classified, though the request was mended after it.
func verifyFirst(t *testing.T, c *Client, tr transcript) {
	t.Helper()
	h := http.Header{}
	for key, value := range tr.Headers {
		h.Set(key, value)
	}
	tr.FirstError.verify(t, c.refused(&http.Response{StatusCode: tr.Status, Header: h}, []byte(tr.Body)))
}

func (e *errorExpectation) verify(t *testing.T, err error) {
	t.Helper()
	var pe *app.ProviderError
	if !errors.As(err, &pe) {
		t.Fatalf("the error is %v (%T)", err, err)
	}
	if pe.Kind != e.Kind || pe.Retryable != e.Retryable || !strings.Contains(pe.Error(), e.Contains) {
		t.Errorf("the error is %s, retryable %v: %v; want %+v", pe.Kind, pe.Retryable, pe, e)
	}
	if want := time.Duration(e.RetryAfter) * time.Millisecond; pe.RetryAfter != want && want > 0 {
		t.Errorf("the wait is %v, want %v", pe.RetryAfter, want)
	}
	if strings.Contains(pe.Error(), "sk-test-key") || strings.Contains(pe.Error(), "<html") {
		t.Errorf("the error shows too much: %v", pe)
	}
}

func (e expectation) verify(t *testing.T, got app.Reply, err error) {
	t.Helper()
	m := got.Message
	text, reasoning := m.Text, m.Reasoning
	if e.Trim {
		text, reasoning = strings.TrimSpace(text), strings.TrimSpace(reasoning)
	}
	if text != e.Text || reasoning != e.Reasoning {
		t.Errorf("text %q, reasoning %q; want %q, %q", text, reasoning, e.Text, e.Reasoning)
	}
	if m.Role != session.RoleAssistant || m.Cut != (err != nil) {
		t.Errorf("role %q, cut %v, error %v", m.Role, m.Cut, err)
	}
	if e.Error != nil {
		e.Error.verify(t, err)
	} else if err != nil {
		t.Errorf("error: %v", err)
	}
	if e.Finish != "error" && got.Finish != e.Finish {
		t.Errorf("finish %q, want %q", got.Finish, e.Finish)
	}
	if e.Usage != nil && (m.Usage == nil || *m.Usage != *e.Usage) || e.Estimated && m.Usage != nil {
		t.Errorf("usage %+v, want %+v", m.Usage, e.Usage)
	}
	e.verifyCalls(t, m)
}

func (e expectation) verifyCalls(t *testing.T, m session.Message) {
	t.Helper()
	if len(m.Calls) != len(e.ToolCalls) {
		t.Fatalf("%d calls, want %d: %+v", len(m.Calls), len(e.ToolCalls), m.Calls)
	}
	ids := map[string]bool{}
	for i, want := range e.ToolCalls {
		call := m.Calls[i]
		if call.Name != want.Name || want.ID != "" && call.ID != want.ID || call.ID == "" || ids[call.ID] {
			t.Errorf("call %d is %+v, want %+v", i, call, want)
		}
		ids[call.ID] = true
		if want.ArgsError {
			if call.Arguments != want.ArgsRaw {
				t.Errorf("arguments %q, want them as they came: %q", call.Arguments, want.ArgsRaw)
			}
			continue
		}
		var args any
		if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil || !reflect.DeepEqual(args, want.Args) {
			t.Errorf("arguments %.80q, want %.80v (%v)", call.Arguments, want.Args, err)
		}
	}
}

// newTestClient makes a client that does not wait. It returns how long it would have.
func newTestClient(t testing.TB, cfg Config) (*Client, *[]time.Duration) {
	t.Helper()
	if cfg.Model == "" {
		cfg.Model = "m"
	}
	if cfg.Info.Window == 0 {
		cfg.Info.Window = 100_000 // else the server is asked for it
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	waits := &[]time.Duration{}
	c.sleep = func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	}
	t.Cleanup(c.http.CloseIdleConnections)
	return c, waits
}
