package openai

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
)

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

// TestAzure: its key has a header of its own, also where a customer's name stands for the host.
func TestAzure(t *testing.T) {
	var head http.Header
	var body string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		head, body = r.Header.Clone(), string(data)
		_, _ = io.WriteString(w, sse(textChunk("Hi"), stopChunk, doneChunk))
	}))
	defer srv.Close()
	c, _ := newTestClient(t, Config{BaseURL: srv.URL + "/openai/v1", APIKey: "k-1234567", Azure: true, MaxTokens: 7})
	if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err != nil {
		t.Fatal(err)
	}
	if head.Get("Api-Key") != "k-1234567" || head.Get("Authorization") != "" || !strings.Contains(body, `"max_completion_tokens":7`) {
		t.Errorf("%v, %s", head, body)
	}
	if c, _ := newTestClient(t, Config{BaseURL: "https://me.openai.azure.com/openai/v1"}); !c.cfg.Azure || !c.profile.NoMaxTokens {
		t.Errorf("%+v", c.profile)
	}
}

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
