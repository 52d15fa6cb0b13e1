package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
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
func TestRetries(t *testing.T) {
	srv := play(t, failure500(), failure500(), answer("Hello"))
	c, waits := newTestClient(t, Config{BaseURL: srv.URL})
	var seen deltas
	got, err := c.Stream(context.Background(), userSays("go"), seen.take(t))
	if err != nil || got.Message.Text != "Hello" || got.Message.Model != "m" {
		t.Fatalf("%+v, %v", got, err)
	}
	if len(seen.retries) != 2 || seen.retries[0].Attempt != 2 || seen.retries[1].Attempt != 3 {
		t.Fatalf("retries %+v", seen.retries)
	}
	for i, r := range seen.retries {
		if !strings.Contains(r.Reason, "engine fell over") || !strings.Contains(r.Reason, "500") || r.Wait != (*waits)[i] {
			t.Errorf("retry %d: %+v, waited %v", i, r, (*waits)[i])
		}
	}
	if (*waits)[0] < firstWait/2 || (*waits)[0] > firstWait || (*waits)[1] < firstWait || (*waits)[1] > 2*firstWait {
		t.Errorf("waits %v", *waits)
	}
}

func TestRetriesEnd(t *testing.T) {
	for name, row := range map[string]struct {
		step step
		want int
	}{
		"server error":       {failure500(), 8},
		"bad call":           {step{Status: 500, Body: `{"error":"error parsing tool call: raw='{'"}`}, 3},
		"wish too long":      {step{Status: 429, Headers: map[string]string{"Retry-After": "3600"}, Body: `{}`}, 1},
		"quota":              {step{Status: 429, Body: `{"error":{"message":"x","code":"insufficient_quota"}}`}, 1},
		"payment":            {step{Status: 402, Body: `{"error":{"message":"Insufficient Balance"}}`}, 1},
		"server says no":     {step{Status: 500, Headers: map[string]string{"x-should-retry": "false"}, Body: `{}`}, 1},
		"empty body":         {step{Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"}}, 4},
		"more than a minute": {step{Status: 429, Body: `{"error":{"message":"Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000."}}`}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			srv := play(t, row.step)
			c, _ := newTestClient(t, Config{BaseURL: srv.URL})
			_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
			if pe := providerError(t, err); pe.Next == "" || pe.Host != strings.TrimPrefix(srv.URL, "http://") {
				t.Errorf("%+v", pe)
			}
			if n := srv.requests(); n != row.want {
				t.Errorf("%d requests, want %d", n, row.want)
			}
		})
	}
}

// TestRetryAfter reads every place where a server says how long to wait.
func TestRetryAfter(t *testing.T) {
	date := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	for name, row := range map[string]struct {
		headers  map[string]string
		body     string
		min, max time.Duration
	}{
		"seconds":      {map[string]string{"Retry-After": "2"}, `{}`, 2 * time.Second, 2 * time.Second},
		"milliseconds": {map[string]string{"Retry-After": "2", "retry-after-ms": "150"}, `{}`, 150 * time.Millisecond, 150 * time.Millisecond},
		"date":         {map[string]string{"Retry-After": date}, `{}`, 80 * time.Second, 90 * time.Second},
		"gemini": {nil, `[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED",
			"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`, 34 * time.Second, 34 * time.Second},
		"words":            {nil, `{"error":{"message":"Rate limit reached. Please try again in 7.66s. Visit x"}}`, 7660 * time.Millisecond, 7660 * time.Millisecond},
		"seconds in words": {nil, `{"error":{"message":"Please retry after 20 seconds."}}`, 20 * time.Second, 20 * time.Second},
		"nothing":          {nil, `{}`, firstWait / 2, firstWait},
	} {
		t.Run(name, func(t *testing.T) {
			srv := play(t, step{Status: 429, Headers: row.headers, Body: row.body}, answer("x"))
			c, waits := newTestClient(t, Config{BaseURL: srv.URL})
			if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err != nil {
				t.Fatal(err)
			}
			if w := (*waits)[0]; w < row.min || w > row.max {
				t.Errorf("waited %v, want %v to %v", w, row.min, row.max)
			}
		})
	}
}

// TestWaitCanBeCancelled ends a wait with the context, without another request. // LOOP-11
func TestWaitCanBeCancelled(t *testing.T) {
	srv := play(t, step{Status: 429, Headers: map[string]string{"Retry-After": "240"}, Body: `{}`})
	c, err := New(Config{BaseURL: srv.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = c.Stream(ctx, userSays("go"), func(d app.Delta) {
		if d.Retry != nil && d.Retry.Wait == 240*time.Second {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || srv.requests() != 1 {
		t.Errorf("%v after %d requests", err, srv.requests())
	}
}

// TestBadKeyNamesTheVariable answers 401. // LOOP-11
func TestBadKeyNamesTheVariable(t *testing.T) {
	srv := play(t, step{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-very-secret."}}`})
	for _, key := range []string{"sk-very-secret", ""} {
		c, _ := newTestClient(t, Config{BaseURL: srv.URL, APIKey: key, KeyName: "DEEPSEEK_API_KEY"})
		_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
		pe := providerError(t, err)
		if pe.Kind != app.ErrAuth || !strings.Contains(pe.Error(), "set ") || !strings.Contains(pe.Error(), "DEEPSEEK_API_KEY") ||
			!strings.Contains(pe.Error(), "401") || key != "" && strings.Contains(pe.Error(), key) {
			t.Errorf("%v", pe)
		}
	}
	if srv.requests() != 2 {
		t.Errorf("%d requests", srv.requests())
	}
}

// TestBrokenAfterTheFirstDelta keeps the text, runs no call and is not sent again.
func TestBrokenAfterTheFirstDelta(t *testing.T) {
	call := `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{}"}}]}}]}`
	for name, st := range map[string]step{
		"abrupt":  {Status: 200, Body: sse(textChunk("Half"), call), Close: "abrupt"},
		"clean":   {Status: 200, Body: sse(textChunk("Half"), call)},
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
			if want := map[string]app.ErrorKind{"error": app.ErrServer, "finish": app.ErrServer}[name]; want == "" && pe.Kind != app.ErrTruncated || want != "" && pe.Kind != want {
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
func TestSilentServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, ": hello\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	c, waits := newTestClient(t, Config{BaseURL: srv.URL, IdleTimeout: 30 * time.Millisecond})
	_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
	pe := providerError(t, err)
	if pe.Kind != app.ErrTruncated || !strings.Contains(pe.Error(), "nothing for too long") || len(*waits) != 1 {
		t.Errorf("%v, %d retries", pe, len(*waits))
	}
}

func TestServerThatNeverAnswers(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer srv.Close()
	c, _ := newTestClient(t, Config{BaseURL: srv.URL, IdleTimeout: 30 * time.Millisecond})
	_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
	if pe := providerError(t, err); pe.Kind != app.ErrUnreachable || !strings.Contains(pe.Error(), "nothing for too long") {
		t.Errorf("%v", pe)
	}
}

func TestCommentsKeepAStreamAlive(t *testing.T) {
	w := newWatch(time.Hour, func(error) {})
	defer w.stop()
	w.timer.Stop()
	if _, err := w.reader(strings.NewReader(": x\n")).Read(make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	if !w.timer.Stop() {
		t.Error("bytes did not start the timer again")
	}
	w.shorten(time.Hour)
	w.timer.Stop()
	if _, err := w.reader(strings.NewReader(": x\n")).Read(make([]byte, 9)); err != nil || w.timer.Stop() {
		t.Error("bytes prolong a reply that is complete")
	}
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

func TestConnectionIsUsedAgain(t *testing.T) {
	var conns atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, sse(textChunk("Hi"), stopChunk, doneChunk))
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	c, _ := newTestClient(t, Config{BaseURL: srv.URL})
	for range 5 {
		if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err != nil {
			t.Fatal(err)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections for 5 requests", n)
	}
}

func TestHeaders(t *testing.T) {
	var head http.Header
	var asked string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head, asked = r.Header.Clone(), r.URL.String()
		_, _ = io.WriteString(w, sse(textChunk("Hi"), stopChunk, doneChunk))
	}))
	defer srv.Close()
	c, _ := newTestClient(t, Config{BaseURL: srv.URL + "/v1/chat/completions?api-version=7", APIKey: " k-1234567 \n", UserAgent: "agent/1"})
	if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err != nil {
		t.Fatal(err)
	}
	if asked != "/v1/chat/completions?api-version=7" {
		t.Errorf("asked for %s", asked)
	}
	if head.Get("Authorization") != "Bearer k-1234567" || head.Get("User-Agent") != "agent/1" {
		t.Errorf("%v", head)
	}
	for name := range head {
		if strings.HasPrefix(name, "X-Stainless") || strings.HasPrefix(name, "Openai") {
			t.Errorf("header %s", name)
		}
	}
}

// TestKeyStaysWithItsHost follows no redirect to another server, with the key or without.
func TestKeyStaysWithItsHost(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		}))
		c, _ := newTestClient(t, Config{BaseURL: srv.URL, APIKey: "sk-secret-key"})
		_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
		pe := providerError(t, err)
		if pe.Kind != app.ErrNotAnAPI || !strings.Contains(pe.Error(), other.URL) || !strings.Contains(pe.Error(), "base URL") {
			t.Errorf("%d: %v", status, pe)
		}
		if _, err := c.Models(context.Background()); err == nil {
			t.Errorf("%d: the model list was redirected", status)
		}
		srv.Close()
	}
	if reached.Load() != 0 {
		t.Errorf("%d requests reached the other host", reached.Load())
	}
}

func TestRedirectOnTheSameServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			http.Redirect(w, r, r.URL.Path+"/", http.StatusTemporaryRedirect)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"go"`) || r.Header.Get("Authorization") == "" {
			t.Errorf("body %.80s, headers %v", body, r.Header)
		}
		_, _ = io.WriteString(w, sse(textChunk("Hi"), stopChunk, doneChunk))
	}))
	defer srv.Close()
	c, _ := newTestClient(t, Config{BaseURL: srv.URL, APIKey: "sk-secret-key"})
	if got, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err != nil || got.Message.Text != "Hi" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLearnsOnce drops a refused field, and never sends it again.
func TestLearnsOnce(t *testing.T) {
	refusal := step{Status: 400, Body: `{"error":{"message":"Unknown parameter: 'stream_options'."}}`}
	without := answer("x")
	without.Request.JSON = []check{{Path: "stream_options", Absent: true}}
	srv := play(t, refusal, without, without)
	c, waits := newTestClient(t, Config{BaseURL: srv.URL})
	for range 2 {
		var seen deltas
		if _, err := c.Stream(context.Background(), userSays("go"), seen.take(t)); err != nil || len(seen.retries) != 0 {
			t.Fatalf("%v, %+v", err, seen.retries)
		}
	}
	if srv.requests() != 3 || len(*waits) != 0 || !c.Profile().NoStreamOptions {
		t.Errorf("%d requests, waits %v, %+v", srv.requests(), *waits, c.Profile())
	}
	// A new client that is given the profile knows it too.
	c, _ = newTestClient(t, Config{BaseURL: srv.URL, Profile: c.Profile()})
	if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err != nil || srv.requests() != 4 {
		t.Errorf("%v, %d requests", err, srv.requests())
	}
}

func TestLearningEnds(t *testing.T) {
	srv := play(t, step{Status: 400, Body: `{"error":{"message":"Unsupported: max_tokens, max_completion_tokens, stream_options, reasoning_effort, image_url"}}`})
	c, _ := newTestClient(t, Config{BaseURL: srv.URL, MaxTokens: 5})
	_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
	if pe := providerError(t, err); pe.Retryable || srv.requests() > 8 {
		t.Errorf("%v after %d requests", pe, srv.requests())
	}
}

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

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	tlsServer := httptest.NewUnstartedServer(http.NotFoundHandler())
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0) // it would complain of us
	tlsServer.StartTLS()
	defer tlsServer.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, row := range map[string]struct {
		url, want string
		tries     int
	}{
		"nothing listens": {closed, "start the server", 0},
		"certificate":     {tlsServer.URL, "SSL_CERT_FILE", 0},
		"http, not https": {strings.Replace(plain.URL, "http:", "https:", 1), "http://", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c, waits := newTestClient(t, Config{BaseURL: row.url})
			_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
			pe := providerError(t, err)
			if pe.Kind != app.ErrUnreachable || !strings.Contains(pe.Error(), row.want) || pe.Host == "" || len(*waits) != row.tries {
				t.Errorf("%v, %d retries", pe, len(*waits))
			}
		})
	}
}

// TestProxyIsNamed sends the request through a proxy that refuses it.
func TestProxyIsNamed(t *testing.T) {
	var asked atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(true)
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u)}}
	c, _ := newTestClient(t, Config{BaseURL: "http://model.invalid/v1", HTTPClient: client})
	_, err = c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
	if pe := providerError(t, err); pe.Kind != app.ErrAuth || !strings.Contains(pe.Error(), "proxy") || !asked.Load() {
		t.Errorf("%v", pe)
	}
	proxy.Close()
	_, err = c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
	if pe := providerError(t, err); pe.Kind != app.ErrUnreachable || !strings.Contains(pe.Next, "through the proxy "+strings.TrimPrefix(proxy.URL, "http://")) {
		t.Errorf("%v", pe)
	}
}
