package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// sse joins chunks to a stream.
func sse(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

func textChunk(s string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, s)
}

const (
	stopChunk = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	doneChunk = `[DONE]`
)

// answer is a step that answers with text.
func answer(text string) step {
	return step{Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"}, Body: sse(textChunk(text), stopChunk, doneChunk)}
}

func failure500() step {
	return step{Status: 500, Body: `{"error":{"message":"engine fell over"}}`}
}

func userSays(text string) app.Request {
	return app.Request{System: "s", Messages: []session.Message{{Role: session.RoleUser, Text: text}}}
}

func providerError(t *testing.T, err error) *app.ProviderError {
	t.Helper()
	var pe *app.ProviderError
	if !errors.As(err, &pe) {
		t.Fatalf("%v (%T)", err, err)
	}
	return pe
}

// TestRetries answers 500, 500, 200. // LOOP-11
// TestRetryAfter reads every place where a server says how long to wait.
// TestWaitCanBeCancelled ends a wait with the context, without another request. // LOOP-11
// TestBadKeyNamesTheVariable answers 401. // LOOP-11
// TestBrokenAfterTheFirstDelta keeps the text, runs no call and is not sent again.
func TestBrokenAfterTheFirstDelta(t *testing.T) {
	call := `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{}"}}]}}]}`
	for name, st := range map[string]step{
		"abrupt":  {Status: 200, Body: sse(textChunk("Half"), call), Close: "abrupt"},
		"clean":   {Status: 200, Body: sse(textChunk("Half"), call)},
		"stray":   {Status: 200, Body: sse(textChunk("Half"), call) + `{"error":{"message":"gone","code":502}}`},
		"garbled": {Status: 200, Body: sse(textChunk("Half"), call, `{"choices":[{"delta":`)},
		"error":   {Status: 200, Body: sse(textChunk("Half"), call, `{"error":{"message":"gone","code":502}}`, doneChunk)},
		"finish":  {Status: 200, Body: sse(textChunk("Half"), call, `{"choices":[{"delta":{},"finish_reason":"network_error"}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			srv := play(t, st)
			c, _ := newTestClient(t, Config{BaseURL: srv.URL})
			got, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
			pe := providerError(t, err)
			if m := got.Message; m.Text != "Half" || !m.Cut || m.Calls != nil || m.Echo != nil || !pe.Retryable || srv.requests() != 1 {
				t.Errorf("%+v, %v, %d requests", got, err, srv.requests())
			}
			if want := map[string]app.ErrorKind{"error": app.ErrServer, "finish": app.ErrServer, "stray": app.ErrServer}[name]; want == "" && pe.Kind != app.ErrTruncated || want != "" && pe.Kind != want {
				t.Errorf("kind %s", pe.Kind)
			}
		})
	}
}

// TestCancelKeepsTheText stops a reply that is coming in.
func TestCancelKeepsTheText(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, sse(textChunk("Half")))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	c, _ := newTestClient(t, Config{BaseURL: srv.URL})
	ctx, cancel := context.WithCancel(context.Background())
	got, err := c.Stream(ctx, userSays("go"), func(app.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) || got.Message.Text != "Half" || !got.Message.Cut {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestStreams receives each piece before the next one is sent. // LOOP-10
func TestStreams(t *testing.T) {
	next := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 5 {
			_, _ = io.WriteString(w, sse(textChunk(fmt.Sprint(i))))
			w.(http.Flusher).Flush()
			select {
			case <-next: // the client has seen it
			case <-r.Context().Done():
				return
			}
		}
		_, _ = io.WriteString(w, sse(stopChunk, doneChunk))
	}))
	defer srv.Close()
	c, _ := newTestClient(t, Config{BaseURL: srv.URL})
	got, err := c.Stream(context.Background(), userSays("go"), func(d app.Delta) { next <- struct{}{} })
	if err != nil || got.Message.Text != "01234" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSilentServer ends a stream in which nothing comes; comments are signs of life.
// TestReadsToTheEndOfTheBody reads on after [DONE], but not for long, because a
// connection whose body was not read to its end is not used again.
func TestReadsToTheEndOfTheBody(t *testing.T) {
	w := newWatch(time.Hour, func(error) {})
	defer w.stop()
	body := &endWatcher{in: strings.NewReader(sse(textChunk("Hi"), doneChunk))}
	s := &stream{reply: newReply(nil, func(app.Delta) {}), watch: w, body: body}
	if err := s.read(); err != nil || !body.ended || w.limit != afterDone {
		t.Errorf("%v, read to the end %v, limit %v", err, body.ended, w.limit)
	}
}

type endWatcher struct {
	in    io.Reader
	ended bool
}

func (r *endWatcher) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.ended = r.ended || err == io.EOF
	return n, err
}

// TestOpenEndAfterFinish takes a reply as complete whose server leaves the connection open.
func TestOpenEndAfterFinish(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, sse(textChunk("Hi"), stopChunk, doneChunk))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	c, _ := newTestClient(t, Config{BaseURL: srv.URL})
	got, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
	if err != nil || got.Message.Text != "Hi" || got.Message.Cut {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestKeyStaysWithItsHost follows no redirect to another server, with the key or without.
// TestLearnsOnce drops a refused field, and never sends it again.
// TestConcurrentStreams has sub-agents ask at once while the server teaches them.
func TestConcurrentStreams(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "stream_options") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"Unknown parameter: 'stream_options'."}}`)
			return
		}
		_, _ = io.WriteString(w, sse(textChunk("Hi"), stopChunk, doneChunk))
	}))
	defer srv.Close()
	c, err := New(Config{BaseURL: srv.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.http.CloseIdleConnections()
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			req := userSays(fmt.Sprint("task ", i%3))
			for range 5 {
				got, err := c.Stream(context.Background(), req, func(app.Delta) {})
				if err != nil || got.Message.Text != "Hi" {
					t.Errorf("%+v, %v", got, err)
					return
				}
				req.Messages = append(req.Messages, got.Message, session.Message{Role: session.RoleUser, Text: "more"})
			}
		})
	}
	wg.Wait()
	if n := len(c.conversations); n == 0 || n > maxConversations {
		t.Errorf("%d conversations remembered", n)
	}
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	for want, cfg := range map[string]Config{
		"scheme":     {BaseURL: "api.openai.com/v1", Model: "m"},
		"base URL":   {BaseURL: "http://[::1", Model: "m"},
		"GROQ_KEY":   {APIKey: "a\nb", KeyName: "GROQ_KEY", Model: "m"},
		"no model":   {},
		"and a host": {BaseURL: "https:///v1", Model: "m"},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
	c, err := New(Config{Model: "m"})
	if err != nil || c.Host() != "api.openai.com" || c.cfg.IdleTimeout != DefaultIdleTimeout || c.cfg.UserAgent != DefaultUserAgent {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = New(Config{Model: "m", BaseURL: "http://127.0.0.1:11434/v1/"}); err != nil || c.cfg.IdleTimeout != DefaultLocalIdleTimeout {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestProxyIsNamed sends the request through a proxy that refuses it.
