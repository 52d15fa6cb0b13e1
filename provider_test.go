package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/catalogue"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/session"
)

// wires stands for the network: it answers as every provider does and keeps which
// keys went to which host.
type wires struct{ sent map[string][]string }

// RoundTrip implements http.RoundTripper.
func (w *wires) RoundTrip(r *http.Request) (*http.Response, error) {
	keys := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Api-Key") + r.Header.Get("Api-Key")
	w.sent[r.URL.Host] = append(w.sent[r.URL.Host], keys)
	kind, body := "text/event-stream", `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`+"\n\n"
	if r.Method == http.MethodGet {
		kind, body = "application/json", `{"data":[{"id":"claude-sonnet-4-6","type":"model"},{"id":"claude-new","type":"model"}]}`
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// TestEachProviderGetsItsOwnKey chooses models of every provider whose key is set.
func TestEachProviderGetsItsOwnKey(t *testing.T) {
	for _, p := range catalogue.Providers() {
		for _, k := range p.Keys {
			t.Setenv(k, "")
		}
	}
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("ANTHROPIC_API_KEY", "key-of-anthropic")
	t.Setenv("GROQ_API_KEY", "key-of-groq")
	net := &wires{sent: map[string][]string{}}
	m := modelFor(config.Settings{StateDir: t.TempDir(), Getenv: os.Getenv}, func(s string) { t.Error(s) })
	m.client = &http.Client{Transport: net}

	var opts app.Options
	if err := m.fill(&opts); err != nil || opts.Model != "claude-sonnet-4-6" || opts.Host != "api.anthropic.com" || len(net.sent) > 0 {
		t.Fatalf("%+v, %v, sent %v", opts, err, net.sent)
	}
	list, err := opts.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	windows := map[string]int{}
	for _, info := range list {
		windows[info.ID] = info.Window
	}
	if windows["anthropic/claude-sonnet-4-6"] != 200_000 || windows["groq/qwen/qwen3-32b"] != 131_072 {
		t.Errorf("%v", windows)
	}
	if w, ok := windows["anthropic/claude-new"]; !ok || w != 0 {
		t.Errorf("a model that only the server knows is missing: %v", windows)
	}
	for _, info := range list {
		if info.ID != "anthropic/claude-new" {
			ask(t, opts, info.ID)
		}
	}
	for host, keys := range net.sent {
		own := "key-of-" + strings.TrimSuffix(strings.TrimPrefix(host, "api."), ".com")
		for _, key := range keys {
			if key != own {
				t.Errorf("%s got %q", host, key)
			}
		}
	}
	if len(net.sent) != 2 {
		t.Errorf("sent %v", net.sent)
	}
}

// TestAzureUnderAnotherName: an endpoint of the customer's own is Azure all the same.
func TestAzureUnderAnotherName(t *testing.T) {
	for _, p := range catalogue.Providers() {
		for _, k := range p.Keys {
			t.Setenv(k, "")
		}
	}
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("AZURE_OPENAI_API_KEY", "key-of-azure")
	t.Setenv("AZURE_OPENAI_ENDPOINT", "https://ai.corp.example")
	m := modelFor(config.Settings{StateDir: t.TempDir(), Getenv: os.Getenv}, func(s string) { t.Error(s) })
	target, err := m.target(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if cfg := m.config(target); !cfg.Azure || cfg.BaseURL != "https://ai.corp.example/openai/v1" || cfg.APIKey != "key-of-azure" {
		t.Errorf("%+v", cfg)
	}
}

func ask(t *testing.T, opts app.Options, model string) {
	t.Helper()
	p, err := opts.NewProvider(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	req := app.Request{Messages: []session.Message{{Role: session.RoleUser, Text: "go"}}}
	if _, err := p.Stream(context.Background(), req, func(app.Delta) {}); err != nil {
		t.Fatal(err)
	}
	if info := p.Info(); info.Host == "" || !strings.HasSuffix(model, "/"+info.ID) {
		t.Errorf("%s is %+v", model, info)
	}
}
