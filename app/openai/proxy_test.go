//go:build unix && !darwin

package openai

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/phero-agent/agent/app"
)

// modelURL tells the test program that it is the client of TestProxyAndCertificates.
const modelURL = "MODEL_URL"

// TestProxyAndCertificates asks a server whose certificate only SSL_CERT_FILE
// names, through the proxy of HTTPS_PROXY. The client is a process of its own,
// because Go reads certificates once.
func TestProxyAndCertificates(t *testing.T) {
	if base := os.Getenv(modelURL); base != "" {
		askAsChild(t, base)
		return
	}
	model := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-secret-key" {
			t.Errorf("the model got %v", r.Header)
		}
		_, _ = io.WriteString(w, sse(textChunk("Hi"), stopChunk, doneChunk))
	}))
	defer model.Close()
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method != http.MethodConnect || r.Host != "example.com:443" || r.Header.Get("Authorization") != "" {
			t.Errorf("the proxy got %s %s %v", r.Method, r.Host, r.Header)
		}
		connect(t, w, model.Listener.Addr().String())
	}))
	defer proxy.Close()
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: model.Certificate().Raw})
	if err := os.WriteFile(certificate, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyAndCertificates$", "-test.v")
	cmd.Env = append(os.Environ(), modelURL+"=https://example.com/v1", "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "SSL_CERT_FILE="+certificate, "SSL_CERT_DIR=/nonexistent")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") || asked.Load() == 0 {
		t.Errorf("%v, the proxy was asked %d times\n%s", err, asked.Load(), out)
	}
}

// connect joins the client of a proxy with an address.
func connect(t *testing.T, w http.ResponseWriter, addr string) {
	up, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer up.Close()
	w.WriteHeader(http.StatusOK)
	down, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer down.Close()
	go func() { _, _ = io.Copy(up, buffered) }()
	_, _ = io.Copy(down, up)
}

func askAsChild(t *testing.T, base string) {
	c, _ := newTestClient(t, Config{BaseURL: base, APIKey: "sk-secret-key"})
	got, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
	if err != nil || got.Message.Text != "Hi" {
		t.Errorf("%+v, %v", got, err)
	}
}

// ALL_PROXY stands for what HTTPS_PROXY and HTTP_PROXY do not name.
func TestAllProxy(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY"} {
		t.Setenv(name, "")
	}
	t.Setenv("all_proxy", "socks5://all.lan:1080")
	t.Setenv("HTTP_PROXY", "http://proxy.lan:3128")
	proxy := NewTransport().Proxy
	for url, want := range map[string]string{"https://api.openai.com/v1": "socks5://all.lan:1080", "http://gpu.example/v1": "http://proxy.lan:3128", "http://127.0.0.1:1/v1": "<nil>"} {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := proxy(r); err != nil || fmt.Sprint(p) != want {
			t.Errorf("%s goes through %v, %v", url, p, err)
		}
	}
}

func TestNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy.lan:3128")
	t.Setenv("HTTP_PROXY", "http://proxy.lan:3128")
	t.Setenv("NO_PROXY", ".corp.example,10.0.0.0/8")
	proxy := NewTransport().Proxy
	for url, through := range map[string]bool{
		"https://api.openai.com/v1":   true,
		"http://gpu.example/v1":       true,
		"https://llm.corp.example/v1": false,
		"http://10.1.2.3:8000/v1":     false,
		"http://127.0.0.1:11434/v1":   false,
		"http://localhost:1234/v1":    false,
	} {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := proxy(r)
		if err != nil || (p != nil) != through {
			t.Errorf("%s goes through %v, %v", url, p, err)
		}
	}
}
