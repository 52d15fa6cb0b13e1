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
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/mcp"
)

// guarded is an MCP server that wants a token, and the server that gives it. Its
// tokens are numbered: token-1, and after each renewal the next.
type guarded struct {
	*httptest.Server
	t *testing.T

	client   string // that is registered already; "": each that comes is
	secret   string
	document bool // it reads the documents of clients
	expires  int  // seconds; 0: an hour

	mu      sync.Mutex
	n       int  // of the token that counts; 0: none
	refresh bool // a token can be renewed
	refused string
	grants  []string // what was asked of the token endpoint
}

func (g *guarded) valid() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return fmt.Sprintf("Bearer token-%d", g.n)
}

func (g *guarded) with(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

func newGuarded(t *testing.T, change func(*guarded)) *guarded {
	good := goodServer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return good }, nil)
	mux := http.NewServeMux()
	g := &guarded{Server: httptest.NewServer(mux), t: t, refresh: true}
	t.Cleanup(g.Close)
	change(g)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != g.valid() {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+`/.well-known/oauth-protected-resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, req)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource", func(w http.ResponseWriter, _ *http.Request) {
		g.answer(w, http.StatusOK, map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		about := map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_post"},
		}
		if g.client == "" {
			about["registration_endpoint"] = g.URL + "/register"
		}
		about["client_id_metadata_document_supported"] = g.document
		g.answer(w, http.StatusOK, about)
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, req *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		in["client_id"] = "registered"
		g.answer(w, http.StatusCreated, in)
	})
	mux.HandleFunc("/authorize", g.authorize)
	mux.HandleFunc("/token", g.token)
	return g
}

func (g *guarded) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		g.t.Error(err)
	}
}

func (g *guarded) id() string {
	if g.client == "" {
		return "registered"
	}
	return g.client
}

func (g *guarded) authorize(w http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	if q.Get("client_id") != g.id() || q.Get("code_challenge_method") != "S256" || q.Get("resource") != g.URL+"/mcp" {
		g.t.Errorf("%v", q)
	}
	back := url.Values{"code": {"the-code"}, "state": {q.Get("state")}, "iss": {g.URL}}
	if g.refused != "" {
		back = url.Values{"error": {g.refused}, "state": {q.Get("state")}}
	}
	http.Redirect(w, req, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (g *guarded) token(w http.ResponseWriter, req *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	grant := req.FormValue("grant_type")
	g.grants = append(g.grants, grant)
	if _, _, ok := req.BasicAuth(); ok { // a client without a secret has none to show
		g.answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	if req.FormValue("client_id") != g.id() || req.FormValue("client_secret") != g.secret {
		g.t.Errorf("%v", req.Form)
	}
	switch {
	case grant == "authorization_code" && req.FormValue("code") == "the-code" && req.FormValue("code_verifier") != "":
	case grant == "refresh_token" && g.refresh && req.FormValue("refresh_token") == fmt.Sprintf("refresh-%d", g.n):
	default:
		g.answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	g.n++
	expires := g.expires
	if expires == 0 {
		expires = 3600
	}
	g.answer(w, http.StatusOK, map[string]any{"access_token": fmt.Sprintf("token-%d", g.n), "token_type": "Bearer", "expires_in": expires, "refresh_token": fmt.Sprintf("refresh-%d", g.n)})
}

// browse is the person's browser.
func browse(t *testing.T) func(address string) {
	return func(address string) {
		go func() {
			resp, err := http.Get(address)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
		}()
	}
}

// A server that wants to know who the person is asks nobody by itself; after the
// person signed in, the token is kept for its address alone, also for the next start.
func TestSignIn(t *testing.T) {
	web := newGuarded(t, func(*guarded) {})
	state := t.TempDir()
	def := config.Server{Name: "far", URL: web.URL + "/mcp"}
	r := newRigIn(t, state, nil, quick, def)
	r.ready()
	if s := r.status("far"); s.State != mcp.SignIn || !strings.Contains(s.Why, "agent mcp login far") {
		t.Fatalf("%+v", s)
	}
	if err := r.Login(t.Context(), "far", browse(t)); err != nil {
		t.Fatal(err)
	}
	r.until("ready", func() bool { return r.status("far").State == mcp.Ready })
	if got, err := r.call(t.Context(), "mcp_far_echo", `{"text":"x"}`); err != nil || got.Text != "you said x" {
		t.Errorf("%+v, %v", got, err)
	}
	files, err := filepath.Glob(filepath.Join(state, "mcp", "*"))
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

// Servers that register nobody take the client of the settings, with its secret, or
// the document that it stands for.
func TestRegisteredClient(t *testing.T) {
	web := newGuarded(t, func(g *guarded) { g.client, g.secret = "mine", "s3cret" })
	far := config.Server{Name: "far", URL: web.URL + "/mcp"}
	r := newRig(t, nil, quick, far)
	if err := r.Login(t.Context(), "far", browse(t)); err == nil || !strings.Contains(err.Error(), "set client_id and callback_port in [mcp.far]") {
		t.Errorf("%v", err)
	}
	far.ClientID, far.ClientSecret = "mine", "${SECRET}"
	r = newRig(t, nil, quick, far)
	if err := r.Login(t.Context(), "far", browse(t)); err != nil {
		t.Error(err)
	}
	r.until("ready", func() bool { return r.status("far").State == mcp.Ready })

	const document = "https://client.example/agent.json"
	web = newGuarded(t, func(g *guarded) { g.client, g.document = document, true })
	r = newRig(t, nil, quick, config.Server{Name: "far", URL: web.URL + "/mcp", ClientID: document})
	if err := r.Login(t.Context(), "far", browse(t)); err != nil {
		t.Error(err)
	}
}

// A token that is too old, or that the server no longer takes, is renewed once and
// kept; what cannot be renewed is the person's to sign in for again, at the start and
// in the middle of a session.
func TestTokensAreRenewed(t *testing.T) {
	web := newGuarded(t, func(g *guarded) { g.expires = 1 }) // old at once
	state := t.TempDir()
	r := newRigIn(t, state, nil, quick, config.Server{Name: "far", URL: web.URL + "/mcp"})
	r.ready()
	if err := r.Login(t.Context(), "far", browse(t)); err != nil {
		t.Fatal(err)
	}
	r.until("ready", func() bool { return r.status("far").State == mcp.Ready })
	web.with(func() {
		if len(web.grants) < 2 || web.grants[1] != "refresh_token" {
			t.Errorf("%q", web.grants)
		}
		web.expires = 3600
	})
	echo := func() error { _, err := r.call(t.Context(), "mcp_far_echo", `{"text":"x"}`); return err }
	if err := echo(); err != nil {
		t.Error(err)
	}
	files, err := filepath.Glob(filepath.Join(state, "mcp", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	kept, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(kept), strings.TrimPrefix(web.valid(), "Bearer ")) {
		t.Errorf("%s, %v", kept, err)
	}

	// Another session renewed it: what it kept is taken.
	other := newRigIn(t, state, nil, quick, config.Server{Name: "far", URL: web.URL + "/mcp"})
	other.ready()
	web.with(func() { web.n++ }) // the token counts no more, the renewal neither
	newer := strings.NewReplacer(fmt.Sprintf("-%d\"", web.n-1), fmt.Sprintf("-%d\"", web.n)).Replace(string(kept))
	if err := os.WriteFile(files[0], []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := echo(); err != nil {
		t.Error(err)
	}

	web.with(func() { web.n, web.refresh = web.n+1, false }) // revoked
	if err := echo(); err == nil || !strings.Contains(err.Error(), "agent mcp login far") {
		t.Errorf("%v", err)
	}
	r.until("signing in again", func() bool { return r.status("far").State == mcp.SignIn })
}

// What goes wrong at signing in is said, the person is asked once, and nobody else's
// answer counts.
func TestSignInRefused(t *testing.T) {
	web := newGuarded(t, func(g *guarded) { g.refused = "access_denied" })
	r := newRig(t, nil, quick, config.Server{Name: "far", URL: web.URL + "/mcp"}, config.Server{Name: "key", URL: web.URL + "/mcp", Headers: map[string]string{"authorization": "Bearer mine"}})
	shown := 0
	err := r.Login(t.Context(), "far", func(address string) { shown++; browse(t)(address) })
	if err == nil || !strings.Contains(err.Error(), "signing in was refused: access_denied") || shown != 1 {
		t.Errorf("%v, shown %d times", err, shown)
	}
	web.refused = ""
	err = r.Login(t.Context(), "far", func(address string) {
		u, err := url.Parse(address)
		if err != nil {
			t.Error(err)
			return
		}
		q := u.Query()
		resp, err := http.Get(q.Get("redirect_uri") + "?code=another&state=wrong")
		if err != nil || resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%v, %v", resp, err)
		}
		browse(t)(address)
	})
	if err != nil {
		t.Error(err)
	}
	r.ready()
	if s := r.status("key"); s.State != mcp.Failed || !strings.Contains(s.Why, "it refuses the header Authorization of the settings with 401") {
		t.Errorf("%+v", s)
	}
	if err := r.Login(t.Context(), "key", browse(t)); err == nil || !strings.Contains(err.Error(), "nobody signs in") {
		t.Errorf("%v", err)
	}
}
