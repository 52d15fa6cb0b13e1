//go:build unix

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/mcp"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/human"
	mcptools "github.com/phero-agent/agent/tools/mcp"
)

// rig is some servers, each played by this test program in a role.
type rig struct {
	*mcp.Servers
	t *testing.T

	mu       sync.Mutex
	told     []string
	progress []string
	asked    []human.Input
	starts   int
	more     chan struct{} // closed and made anew at each of those
}

func (r *rig) note(add func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add()
	close(r.more)
	r.more = make(chan struct{})
}

// until waits until cond holds. It is called with r.mu held.
func (r *rig) until(what string, cond func() bool) {
	r.t.Helper()
	patience := time.After(30 * time.Second)
	for {
		r.mu.Lock()
		ok, more := cond(), r.more
		told := slices.Clone(r.told)
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-more:
		case <-patience:
			r.t.Fatalf("%s did not come; told: %q; %+v", what, told, r.Status())
		}
	}
}

func server(name, role string) config.Server {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	off := false
	return config.Server{Name: name, Command: self, Env: map[string]string{playVar: role}, Sandbox: &off}
}

func newRig(t *testing.T, answer func(human.Input) (map[string]human.Answer, error), limits mcp.Limits, servers ...config.Server) *rig {
	t.Helper()
	return newRigIn(t, t.TempDir(), answer, limits, servers...)
}

func newRigIn(t *testing.T, state string, answer func(human.Input) (map[string]human.Answer, error), limits mcp.Limits, servers ...config.Server) *rig {
	t.Helper()
	r := &rig{t: t, more: make(chan struct{})}
	r.Servers = mcp.Open(mcp.Options{
		Servers: servers, Version: "test", Workspace: t.TempDir(), StateDir: state, Getenv: func(name string) string { return map[string]string{"SECRET": "s3cret"}[name] },
		Launch: func(ctx context.Context, s config.Server, argv, env []string) (*bash.Program, error) {
			r.note(func() { r.starts++ })
			return bash.StartProgram(ctx, bash.LocalRunner{}, argv, bash.RunOptions{ExtraEnv: env})
		},
		Walled: func(s config.Server) bool { return s.Sandboxed() },
		Image:  file.Image,
		Ask: func(ctx context.Context, source string, in human.Input) (map[string]human.Answer, error) {
			r.note(func() { r.asked = append(r.asked, in) })
			if answer == nil {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			return answer(in)
		},
		Sample: func(_ context.Context, server string, s mcp.Sample) (mcp.Sampled, error) {
			if s.System != "be short" || len(s.Messages) != 1 || s.Messages[0].Text != "2+2?" {
				t.Errorf("%+v", s)
			}
			return mcp.Sampled{Model: "m", Text: "4"}, nil
		},
		Tell:     func(_ bool, text string) { r.note(func() { r.told = append(r.told, text) }) },
		Progress: func(_, text string) { r.note(func() { r.progress = append(r.progress, text) }) },
		Changed:  func() { r.note(func() {}) },
		Limits:   limits,
	})
	t.Cleanup(r.Close)
	r.Start()
	return r
}

func (r *rig) definition(name string) mcptools.Definition {
	r.t.Helper()
	all := r.Tools()
	i := slices.IndexFunc(all, func(d mcptools.Definition) bool { return d.Name == name })
	if i < 0 {
		r.t.Fatalf("there is no %s: %+v", name, r.Status())
	}
	return all[i]
}

func (r *rig) call(ctx context.Context, name, arguments string) (tools.Result, error) {
	r.t.Helper()
	ctx = tools.ContextWithToolCall(ctx, tools.ToolCall{ID: "c1"})
	return r.Call(ctx, r.definition(name), json.RawMessage(arguments))
}

// ready waits until all servers were ready or failed.
func (r *rig) ready() {
	r.t.Helper()
	if late := r.Wait(r.t.Context(), 30*time.Second); len(late) > 0 {
		r.t.Fatalf("%q are late: %+v", late, r.Status())
	}
}

func (r *rig) status(name string) mcp.Status {
	all := r.Status()
	return all[slices.IndexFunc(all, func(s mcp.Status) bool { return s.Name == name })]
}

func TestGoodServer(t *testing.T) {
	def := server("good", "good")
	def.Env["TOKEN"] = "${SECRET}-${NONE:-x}"
	r := newRig(t, nil, mcp.Limits{}, def)
	r.ready()
	if s := r.status("good"); s.State != mcp.Ready || len(s.Tools) < 8 || len(s.Prompts) != 1 || len(s.Resources) != 1 {
		t.Fatalf("%+v", s)
	}
	if d := r.definition("mcp_good_echo"); !slices.Equal(d.Hints, []string{"it only reads"}) || d.Schema["type"] != "object" {
		t.Errorf("%+v", d)
	}
	got, err := r.call(t.Context(), "mcp_good_echo", `{"text":"hello"}`)
	if err != nil || got.Text != "you said hello" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = r.call(t.Context(), "mcp_good_fail", "{}"); err == nil || err.Error() != "it went wrong" {
		t.Errorf("%v", err)
	}
	if got, err = r.call(t.Context(), "mcp_good_structured", "{}"); err != nil || got.Text != "see below\n{\"n\":1}" {
		t.Errorf("%+v, %v", got, err)
	}
	t.Setenv("OPENAI_API_KEY", "key") // the child was started before, so look at what it has
	got, err = r.call(t.Context(), "mcp_good_env", "{}")
	if err != nil || !strings.Contains(got.Text, "TOKEN=s3cret-x") || strings.Contains(got.Text, "API_KEY") {
		t.Errorf("%+v, %v", got, err)
	}
	if text, err := r.Prompted(t.Context(), "good", "greet", "Ann  very warmly"); err != nil || text != "Greet Ann very warmly" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := r.Prompted(t.Context(), "good", "greet", ""); err == nil || !strings.Contains(err.Error(), "<who> [how]") {
		t.Errorf("%v", err)
	}
	if got, err := r.Read(t.Context(), "good", "demo://readme"); err != nil || !strings.HasSuffix(got.Text, "read me") {
		t.Errorf("%+v, %v", got, err)
	}
}

// A server gets no variable beside the allowed ones and its own.
func TestServerEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	r := newRig(t, nil, mcp.Limits{}, server("good", "good"))
	r.ready()
	got, err := r.call(t.Context(), "mcp_good_env", "{}")
	if err != nil || strings.Contains(got.Text, "API_KEY") || !strings.Contains(got.Text, "PATH=") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestUnsetVariable(t *testing.T) {
	def := server("x", "good")
	def.Env["TOKEN"] = "${NOT_SET}"
	r := newRig(t, nil, mcp.Limits{}, def)
	r.ready()
	if s := r.status("x"); s.State != mcp.Failed || !strings.Contains(s.Why, "the variable NOT_SET is not set") {
		t.Errorf("%+v", s)
	}
}

func TestListChanges(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{}, server("good", "good"))
	r.ready()
	if _, err := r.call(t.Context(), "mcp_good_more", "{}"); err != nil {
		t.Fatal(err)
	}
	r.until("the change", func() bool {
		return slices.ContainsFunc(r.told, func(s string) bool { return strings.Contains(s, "new later, without fail") })
	})
	if got, err := r.call(t.Context(), "mcp_good_later", "{}"); err != nil || got.Text != "late" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Progress gives a call its time anew, and is shown.
func TestProgress(t *testing.T) {
	def := server("good", "good")
	limit := config.Duration(time.Second)
	def.Timeout = &limit
	r := newRig(t, nil, mcp.Limits{}, def)
	r.ready()
	if got, err := r.call(t.Context(), "mcp_good_steps", "{}"); err != nil || got.Text != "stepped" {
		t.Errorf("%+v, %v", got, err)
	}
	r.until("progress", func() bool { return slices.Contains(r.progress, "1/3 step") })
	if _, err := r.call(t.Context(), "mcp_good_wait", "{}"); err == nil || !strings.Contains(err.Error(), "no sign of progress for 1s") {
		t.Errorf("%v", err)
	}
}

// A cancelled call returns at once, and the server hears of it.
func TestCancel(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{}, server("good", "good"))
	r.ready()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	cancel(stop)
	if _, err := r.call(ctx, "mcp_good_wait", "{}"); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) }) // the call has begun, or not: both end
	if _, err := r.call(ctx, "mcp_good_wait", "{}"); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	if got, err := r.call(t.Context(), "mcp_good_echo", `{"text":"x"}`); err != nil || got.Text != "you said x" {
		t.Errorf("the server is gone: %+v, %v", got, err)
	}
}

// quick are limits for servers that fail.
var quick = mcp.Limits{Retry: time.Millisecond, Goodbye: 50 * time.Millisecond}

func TestServersThatFail(t *testing.T) {
	for role, why := range map[string]string{
		"silent":    "it did not answer within 1s",
		"crash":     "panic: no",
		"long-line": "",
		"garbage":   "",
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			limits := quick
			if role == "silent" {
				limits.Start = time.Second
			}
			r := newRig(t, nil, limits, server("bad", role))
			r.ready()
			r.until("giving up", func() bool {
				return slices.ContainsFunc(r.told, func(s string) bool { return strings.Contains(s, "/mcp restart bad") })
			})
			s := r.status("bad")
			if s.State != mcp.Failed || !strings.Contains(s.Why, why) || r.starts != 5 {
				t.Errorf("%d starts: %+v", r.starts, s)
			}
			if err := r.Restart("bad"); err != nil {
				t.Error(err)
			}
			r.until("another start", func() bool { return r.starts > 5 })
		})
	}
}

// A server that says nothing to how newer clients begin is spoken to as older ones
// did, within the same start.
func TestOlderServer(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{Begin: 50 * time.Millisecond}, server("old", "no-discover"))
	r.ready()
	if s := r.status("old"); s.State != mcp.Ready || r.starts != 1 {
		t.Fatalf("%d starts: %+v", r.starts, s)
	}
	if got, err := r.call(t.Context(), "mcp_old_go", "{}"); err != nil || got.Text != "done" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestHostileCalls(t *testing.T) {
	short := config.Duration(300 * time.Millisecond)
	hang := server("hang", "hang")
	hang.Timeout = &short
	r := newRig(t, func(human.Input) (map[string]human.Answer, error) { return nil, human.ErrDeclined }, quick, hang, server("die", "die"), server("flood", "flood"), server("image", "bad-image"), server("nothing", "nothing"))
	r.ready()
	if _, err := r.call(t.Context(), "mcp_hang_go", "{}"); err == nil || !strings.Contains(err.Error(), "no sign of progress") {
		t.Errorf("%v", err)
	}
	if _, err := r.call(t.Context(), "mcp_die_go", "{}"); err == nil || !strings.Contains(err.Error(), "ended in the middle of the call") {
		t.Errorf("%v", err)
	}
	// The next call waits for the new start.
	if _, err := r.call(t.Context(), "mcp_die_go", "{}"); err == nil || !strings.Contains(err.Error(), "(calling \"tools/call\": EOF)") {
		t.Errorf("%v", err)
	}
	got, err := r.call(t.Context(), "mcp_flood_go", "{}")
	if err != nil || len(got.Text) > 31_000 || !strings.Contains(got.Text, "bytes left out]") {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	r.mu.Lock()
	if n := len(r.told); n > 30 {
		t.Errorf("the person is told %d lines", n)
	}
	r.mu.Unlock()
	if n := len(r.status("flood").Said); n > 100 {
		t.Errorf("%d lines are kept", n)
	}
	if got, err = r.call(t.Context(), "mcp_image_go", "{}"); err != nil || len(got.Images) != 0 || !strings.Contains(got.Text, "is left out") || !strings.Contains(got.Text, "audio/wav") {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = r.call(t.Context(), "mcp_nothing_go", "{}"); err != nil || got.Text != "(the result is empty)" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a server lists can break nothing.
func TestOddTools(t *testing.T) {
	r := newRig(t, nil, mcp.Limits{}, server("odd", "odd"))
	r.ready()
	s := r.status("odd")
	names := map[string]bool{}
	for _, d := range s.Tools {
		if len(d.Name) > 64 || names[d.Name] || len(d.Description) > 1100 {
			t.Errorf("%+v", d)
		}
		names[d.Name] = true
	}
	if len(s.Tools) != 6 || len(s.LeftOut) != 5 {
		t.Errorf("%d tools, left out %+v", len(s.Tools), s.LeftOut)
	}
	r.definition("mcp_odd_a_b")
	wrong, err := json.Marshal(r.definition("mcp_odd_wrong").Schema)
	if err != nil || string(wrong) != `{"properties":{"x":{}},"type":"object"}` {
		t.Errorf("%s, %v", wrong, err)
	}
}

func TestWantedTools(t *testing.T) {
	def := server("good", "good")
	def.Tools = []string{"e*", "*le"}
	r := newRig(t, nil, mcp.Limits{}, def)
	r.ready()
	var names []string
	for _, d := range r.Tools() {
		names = append(names, d.Tool)
	}
	if !slices.Equal(names, []string{"echo", "env", "sample"}) {
		t.Errorf("%q", names)
	}
}

func TestRemoteServer(t *testing.T) {
	good := goodServer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return good }, nil)
	var headers sync.Map
	var ill atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		headers.Store(req.Header.Get("X-Key"), true)
		if ill.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		handler.ServeHTTP(w, req)
	}))
	t.Cleanup(web.Close)
	r := newRig(t, nil, mcp.Limits{}, config.Server{Name: "far", URL: web.URL, Headers: map[string]string{"X-Key": "${SECRET}"}})
	r.ready()
	if got, err := r.call(t.Context(), "mcp_far_echo", `{"text":"hello"}`); err != nil || got.Text != "you said hello" {
		t.Errorf("%+v, %v: %+v", got, err, r.Status())
	}
	// What it cannot take now loses that call alone.
	ill.Store(true)
	if _, err := r.call(t.Context(), "mcp_far_echo", `{"text":"hello"}`); err == nil {
		t.Error("a server that is ill answers")
	}
	ill.Store(false)
	if got, err := r.call(t.Context(), "mcp_far_echo", `{"text":"hello"}`); err != nil || got.Text != "you said hello" {
		t.Errorf("%+v, %v: %+v", got, err, r.Status())
	}
	headers.Range(func(key, _ any) bool {
		if key != "s3cret" {
			t.Errorf("a request with the header %q", key)
		}
		return true
	})
}

// A header goes to the server's address and to no other.
func TestHeadersStayAtHome(t *testing.T) {
	got := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { got <- req.Header.Get("X-Key") }))
	t.Cleanup(other.Close)
	web := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(web.Close)
	r := newRig(t, nil, quick, config.Server{Name: "far", URL: web.URL, Headers: map[string]string{"X-Key": "${SECRET}"}})
	r.ready()
	if s := r.status("far"); !strings.Contains(s.Why, "redirects to") || len(got) > 0 {
		t.Errorf("%d requests: %+v", len(got), s)
	}
}

// A server at an address that is none says so in few words.
func TestRemoteErrors(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		status, err := strconv.Atoi(strings.TrimPrefix(req.URL.Path, "/"))
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(web.Close)
	want := map[string]string{
		"404": "Not Found: is it the address for streamable HTTP? Servers of the older kind, sse, are not spoken to", "405": "Method Not Allowed: is it", "403": "Forbidden",
		"500": "Internal Server Error", "401": "it wants you to sign in: agent mcp login 401",
	}
	var defs []config.Server
	for name := range want {
		defs = append(defs, config.Server{Name: name, URL: web.URL + "/" + name})
	}
	r := newRig(t, nil, quick, append(defs, config.Server{Name: "none", URL: "http://127.0.0.1:1/"})...)
	r.ready()
	want["none"] = `Post "http://127.0.0.1:1/": dial tcp`
	for name, words := range want {
		r.until(name, func() bool { return r.status(name).Why != "" })
		if s := r.status(name); !strings.HasPrefix(s.Why, words) {
			t.Errorf("%s: %q, not %q", name, s.Why, words)
		}
	}
}
