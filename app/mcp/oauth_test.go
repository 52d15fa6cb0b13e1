//go:build unix

package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/mcp"
)

// guarded is an MCP server that wants a token, and the server that gives it.
func guarded(t *testing.T) *httptest.Server {
	good := goodServer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return good }, nil)
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer the-token" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+web.URL+`/.well-known/oauth-protected-resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, req)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"resource": web.URL + "/mcp", "authorization_servers": []string{web.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": web.URL, "authorization_endpoint": web.URL + "/authorize", "token_endpoint": web.URL + "/token", "registration_endpoint": web.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, req *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		in["client_id"] = "the-client"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		if err := json.NewEncoder(w).Encode(in); err != nil {
			t.Error(err)
		}
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, req *http.Request) {
		q := req.URL.Query()
		http.Redirect(w, req, q.Get("redirect_uri")+"?"+url.Values{"code": {"the-code"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, req *http.Request) {
		if req.FormValue("code") != "the-code" || req.FormValue("code_verifier") == "" {
			t.Errorf("%v", req.Form)
		}
		answer(w, map[string]any{"access_token": "the-token", "token_type": "Bearer", "expires_in": 3600})
	})
	return web
}

// A server that wants to know who the person is asks nobody by itself; after the
// person signed in, the token is kept for its address alone, also for the next start.
func TestSignIn(t *testing.T) {
	web := guarded(t)
	state := t.TempDir()
	def := config.Server{Name: "far", URL: web.URL + "/mcp"}
	r := newRigIn(t, state, nil, quick, def)
	r.ready()
	if s := r.status("far"); s.State != mcp.SignIn || !strings.Contains(s.Why, "agent mcp login far") {
		t.Fatalf("%+v", s)
	}
	err := r.Login(t.Context(), "far", func(address string) {
		go func() { // the browser
			resp, err := http.Get(address)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
	r.until("ready", func() bool { return r.status("far").State == mcp.Ready })
	if got, err := r.call(t.Context(), "mcp_far_echo", `{"text":"x"}`); err != nil || got.Text != "you said x" {
		t.Errorf("%+v, %v", got, err)
	}
	files, err := filepath.Glob(filepath.Join(state, "mcp", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	again := newRigIn(t, state, nil, quick, def, config.Server{Name: "other", URL: fmt.Sprintf("%s/mcp?x", web.URL)})
	again.ready()
	if s := again.status("far"); s.State != mcp.Ready {
		t.Errorf("the token is not kept: %+v", s)
	}
	if s := again.status("other"); s.State != mcp.SignIn {
		t.Errorf("the token goes to another address: %+v", s)
	}
	if had, err := again.Logout("far"); !had || err != nil {
		t.Errorf("%v, %v", had, err)
	}
	if had, err := again.Logout("far"); had || err != nil {
		t.Errorf("%v, %v", had, err)
	}
}
