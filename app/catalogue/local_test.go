package catalogue

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOllamaHost(t *testing.T) {
	for value, want := range map[string]string{
		"0.0.0.0":              "http://127.0.0.1:11434/v1",
		"0.0.0.0:8000":         "http://127.0.0.1:8000/v1",
		"box":                  "http://box:11434/v1",
		"https://box.lan:443/": "https://box.lan:443/v1",
		"[::1]:9":              "http://[::1]:9/v1",
		":1234":                "http://127.0.0.1:1234/v1",
		"http://a b":           "usual",
	} {
		if got := ollamaURL(value, "usual"); got != want {
			t.Errorf("OLLAMA_HOST=%s: %s, want %s", value, got, want)
		}
	}
}

func TestLocalFindsAServerThatListsModels(t *testing.T) {
	kind := "application/json"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.Header().Set("Content-Type", kind)
		w.Write([]byte(`{"object":"list","data":[]}`))
	}))
	defer srv.Close()
	getenv := func(name string) string {
		if name == "OLLAMA_HOST" {
			return strings.TrimPrefix(srv.URL, "http://")
		}
		return ""
	}
	if s, ok := Local(t.Context(), http.DefaultClient, getenv); !ok || s.BaseURL != srv.URL+"/v1" {
		t.Fatalf("found %+v, %v", s, ok)
	}
	// Something else that listens at such a port is no model server.
	kind = "text/html"
	if s, ok := Local(t.Context(), http.DefaultClient, getenv); ok && s.BaseURL == srv.URL+"/v1" {
		t.Fatalf("took a web page for a model server: %+v", s)
	}
}
