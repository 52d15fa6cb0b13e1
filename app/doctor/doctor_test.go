package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/openai"
)

const key = "sk-very-secret-key"

// server is a scripted model server. The zero value can do everything.
type server struct {
	refuses []string // words in a request, each answered with a 400 that names it
	whole   bool     // no streams, no usage
	noTools bool     // the model writes text where calls are asked for
	single  bool     // one call a reply
	blind   bool     // the model does not say what it sees
	list    string   // the answer for models
	status  int      // of every chat completion
	body    string
}

func (s server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		if s.list == "" {
			s.list = `{"data":[{"id":"m","max_model_len":32000}]}`
		}
		_, _ = io.WriteString(w, s.list)
		return
	}
	body, _ := io.ReadAll(r.Body)
	for _, word := range s.refuses {
		if bytes.Contains(body, []byte(word)) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"Unsupported parameter: %s is not supported with this model."}}`, strings.Trim(word, `"`))
			return
		}
	}
	if s.status != 0 {
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.body)
		return
	}
	s.reply(w, body)
}

func (s server) reply(w http.ResponseWriter, body []byte) {
	text, calls := "ok", []any(nil)
	switch {
	case bytes.Contains(body, []byte("image_url")) && !s.blind:
		text = "Red."
	case bytes.Contains(body, []byte(`"tool_call_id"`)), s.noTools:
	case bytes.Contains(body, []byte(`"add"`)):
		text = ""
		for i := range 2 {
			if i == 0 || !s.single {
				calls = append(calls, map[string]any{"index": i, "id": fmt.Sprint("c", i), "type": "function",
					"function": map[string]any{"name": "add", "arguments": `{"a":1,"b":2}`}})
			}
		}
	}
	said := map[string]any{"role": "assistant", "content": text, "reasoning_content": "Hm."}
	if calls != nil {
		said["tool_calls"] = calls
	}
	if s.whole {
		delete(said, "reasoning_content")
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "chat.completion", "choices": []any{map[string]any{"index": 0, "message": said, "finish_reason": "stop"}}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": said, "finish_reason": "stop"}},
		"usage": map[string]any{"prompt_tokens": 10, "completion_tokens": 2}})
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", chunk)
}

// examine runs the check of a server and returns its lines.
func examine(t *testing.T, s http.Handler, change func(*openai.Config)) (lines string, well bool, cfg openai.Config) {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	cfg = openai.Config{
		BaseURL: srv.URL + "/v1", APIKey: key, KeyName: "SOME_KEY", Model: "m", HTTPClient: &http.Client{Transport: openai.NewTransport()},
		Store: openai.NewStore(t.TempDir()), Notice: func(s string) { t.Error(s) },
	}
	if change != nil {
		change(&cfg)
	}
	well = Run(t.Context(), func(f Finding) { lines += f.String() + "\n" }, Server(cfg))
	if strings.Contains(lines, key) {
		t.Errorf("the key is in the report:\n%s", lines)
	}
	return lines, well, cfg
}

func has(t *testing.T, lines string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(lines, w) {
			t.Errorf("no %q in\n%s", w, lines)
		}
	}
}

func TestServerThatCanDoEverything(t *testing.T) {
	lines, well, cfg := examine(t, server{}, nil)
	if !well {
		t.Errorf("not well:\n%s", lines)
	}
	has(t, lines, "ok   server", "offers 1 model", "ok   model      m", "ok   streaming", "ok   usage", "ok   reasoning", "ok   tools", "ok   parallel",
		"ok   vision     the model sees images", "system prompt as system, cap of tokens as max_tokens\n", "ok   profile    kept in")
	c, err := openai.New(cfg)
	if err != nil || c.Info().Vision != app.Yes || c.Info().Reasoning != app.Yes || c.Profile() != (openai.Profile{}) {
		t.Errorf("%+v, %+v, %v", c.Info(), c.Profile(), err)
	}
}

// TestServerThatRefusesMuch: what is refused is left out, kept, and no fault.
func TestServerThatRefusesMuch(t *testing.T) {
	strict := server{whole: true, single: true, refuses: []string{"stream_options", "max_tokens", "reasoning_effort", "image_url", `"role":"system"`}}
	lines, well, cfg := examine(t, roleWords(strict), nil)
	if !well {
		t.Errorf("not well:\n%s", lines)
	}
	has(t, lines, "note streaming", "note usage", "none is seen", "note parallel", "images are refused", "system prompt as user, cap of tokens as max_completion_tokens",
		"left out: stream_options, reasoning_effort, images")
	want := openai.Profile{SystemRole: "user", NoMaxTokens: true, NoStreamOptions: true, NoEffort: true, NoImages: true}
	c, err := openai.New(cfg)
	if err != nil || c.Profile() != want {
		t.Errorf("kept %+v, want %+v, %v", c.Profile(), want, err)
	}
	cfg.Model = "another"
	if c, err = openai.New(cfg); err != nil || c.Profile().NoImages || c.Profile().NoEffort || !c.Profile().NoStreamOptions {
		t.Errorf("another model of the same server: %+v, %v", c.Profile(), err)
	}
}

// roleWords lets a server refuse a role in the words that servers have for it.
func roleWords(s server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		body := strings.Replace(rec.Body.String(), `role:system is not supported`, `role 'system' is not supported`, 1)
		body = strings.Replace(body, `role":"system is not supported`, `role 'system' is not supported`, 1)
		w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
		w.WriteHeader(rec.Code)
		_, _ = io.WriteString(w, body)
	})
}

func TestServerThatDoesNotDo(t *testing.T) {
	for name, c := range map[string]struct {
		server http.Handler
		change func(*openai.Config)
		want   []string
	}{
		"key": {server{status: 401, body: `{"error":{"message":"bad key ` + key + `"}}`}, nil, []string{"BAD  reply", "set a valid key in SOME_KEY"}},
		"page": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html><title>Login</title>") }),
			func(c *openai.Config) { c.Model = "" }, []string{"BAD  server"}},
		"no tools":      {server{noTools: true}, nil, []string{"BAD  tools", "choose another"}},
		"tools refused": {server{refuses: []string{`"tools"`}}, nil, []string{"BAD  tools", "choose a model that can call tools"}},
		"nothing there": {server{}, func(c *openai.Config) { c.BaseURL = "http://127.0.0.1:1/v1" }, []string{"BAD  server", "nothing listens there"}},
		"no model":      {server{list: `{"data":[]}`}, func(c *openai.Config) { c.Model = "" }, []string{"BAD  model", "name one with -m"}},
	} {
		lines, well, _ := examine(t, c.server, c.change)
		if well {
			t.Errorf("%s: well", name)
		}
		has(t, lines, c.want...)
	}
	lines, well, _ := examine(t, server{list: `{"data":[{"id":"other"}]}`, blind: true}, nil)
	if !well {
		t.Errorf("not well:\n%s", lines)
	}
	has(t, lines, "m is not in the server's list", `of a red square the model says "ok"`)
}

func TestHere(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	find := func(name string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return name, err }
	}
	t.Setenv("PATH", t.TempDir()) // without git
	for want, check := range map[string]Check{
		"ok   sandbox    commands run in bubblewrap": Sandbox("auto", find("bwrap", nil)),
		"note sandbox    commands run in Landlock":   Sandbox("auto", find("landlock", nil)),
		"note sandbox    off":                        Sandbox("none", find("none", nil)),
		"BAD  sandbox    no bwrap":                   Sandbox("auto", find("no commands", errors.New("no bwrap"))),
		"note terminal   there is none":              Terminal(false, env("TERM", "xterm")),
		`note terminal   TERM is "dumb"`:             Terminal(true, env("TERM", "dumb")),
		`BAD  terminal   TERM is ""`:                 Terminal(true, env()),
		"note terminal   xterm, and the locale":      Terminal(true, env("TERM", "xterm", "LANG", "C")),
		"ok   terminal   xterm":                      Terminal(true, env("TERM", "xterm", "LANG", "C.UTF-8")),
		"note git        it is not installed":        Git(true),
	} {
		check(t.Context(), func(f Finding) {
			if !strings.HasPrefix(f.String(), want) || f.State != OK && f.Do == "" && !strings.Contains(want, "off") {
				t.Errorf("%q, want %q", f, want)
			}
		})
	}
}

// What is found once the person has stopped the run is not told: it is the end's doing.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var told []string
	well := Run(ctx, func(f Finding) { told = append(told, f.Topic) },
		func(_ context.Context, tell func(Finding)) {
			tell(Finding{Topic: "first"})
			cancel()
			tell(Finding{State: Bad, Topic: "second"})
		},
		Git(true))
	if !well || len(told) != 1 {
		t.Errorf("well %v, told %q", well, told)
	}
}
