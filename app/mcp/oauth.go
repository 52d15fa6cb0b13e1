package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// signInError says that a server wants to know who the person is.
type signInError struct{ name string }

func (e *signInError) Error() string {
	return fmt.Sprintf("it wants you to sign in: agent mcp login %s", e.name)
}

// tokens is the file with what a server at an address gave the person at signing
// in. It is found by the address, so that no other server gets it.
type tokens struct {
	path string
	url  string
	mu   sync.Mutex
}

// signed is the content of the file.
type signed struct {
	URL    string        `json:"url"`
	Config oauth2.Config `json:"config"`
	Token  *oauth2.Token `json:"token"`
}

func (v *server) tokens() *tokens {
	sum := sha256.Sum256([]byte(v.def.URL))
	return &tokens{path: filepath.Join(v.all.opts.StateDir, "mcp", hex.EncodeToString(sum[:8])+".json"), url: v.def.URL}
}

// handler authorizes requests with the kept token, and says when there is none
// that counts.
func (t *tokens) handler(name string) (auth.OAuthHandler, error) {
	h := &keptToken{name: name}
	data, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	var s signed
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("the token cannot be read: %w; agent mcp login %s makes a new one", err, name)
	}
	if s.URL == t.url && s.Token != nil {
		h.source = t.source(oauthContext(context.Background()), &s.Config, s.Token)
	}
	return h, nil
}

// keptToken is the handler of a connection that asks nobody.
type keptToken struct {
	name   string
	source oauth2.TokenSource
}

// TokenSource implements auth.OAuthHandler.
func (k *keptToken) TokenSource(context.Context) (oauth2.TokenSource, error) { return k.source, nil }

// Authorize implements auth.OAuthHandler: signing in is the person's own act.
func (k *keptToken) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	resp.Body.Close()
	return &signInError{k.name}
}

// oauthContext bounds the requests to who gives the tokens.
func oauthContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, oauthClient())
}

func oauthClient() *http.Client {
	return &http.Client{Transport: &headed{next: plainTransport(), to: &url.URL{}}, Timeout: 30 * time.Second}
}

// source gives the token, renewed when it is old, and keeps what was renewed.
func (t *tokens) source(ctx context.Context, cfg *oauth2.Config, token *oauth2.Token) oauth2.TokenSource {
	return &keeping{tokens: t, cfg: cfg, next: cfg.TokenSource(ctx, token), last: token.AccessToken}
}

type keeping struct {
	tokens *tokens
	cfg    *oauth2.Config
	next   oauth2.TokenSource
	mu     sync.Mutex
	last   string
}

// Token implements oauth2.TokenSource.
func (k *keeping) Token() (*oauth2.Token, error) {
	token, err := k.next.Token()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if token.AccessToken != k.last {
		if err := k.tokens.keep(k.cfg, token); err != nil {
			return nil, err
		}
		k.last = token.AccessToken
	}
	return token, nil
}

// keep writes the file in one piece, readable for its owner alone.
func (t *tokens) keep(cfg *oauth2.Config, token *oauth2.Token) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	data, err := json.MarshalIndent(signed{URL: t.url, Config: *cfg, Token: token}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(t.path), ".token*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), t.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Logout forgets the token of a server; false where there was none.
func (s *Servers) Logout(name string) (bool, error) {
	v, err := s.find(name)
	if err != nil {
		return false, err
	}
	err = os.Remove(v.tokens().path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Login signs the person in at a remote server: show gets the address to open in a
// browser, which comes back to a port of this machine. The server is started anew.
func (s *Servers) Login(ctx context.Context, name string, show func(address string)) error {
	v, err := s.find(name)
	if err != nil {
		return err
	}
	if v.def.URL == "" {
		return fmt.Errorf("the server %s is a program: nobody signs in there", v.def.Name)
	}
	back, err := listenBack(ctx)
	if err != nil {
		return err
	}
	defer back.Close()
	handler, err := v.signingIn(back, show)
	if err != nil {
		return err
	}
	client, err := v.httpClient()
	if err != nil {
		return err
	}
	session, err := v.client().Connect(ctx, v.streamable(client, handler), nil)
	if err != nil {
		return err
	}
	if err := session.Close(); err != nil {
		return err
	}
	if !back.used {
		return fmt.Errorf("the server %s did not ask who you are", v.def.Name)
	}
	v.restart()
	return nil
}

func (v *server) signingIn(back *backchannel, show func(string)) (auth.OAuthHandler, error) {
	kept := v.tokens()
	return auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL:         back.address,
		RequestRefreshToken: true,
		Client:              oauthClient(),
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "agent", RedirectURIs: []string{back.address}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			back.used = true
			show(args.URL)
			select {
			case r := <-back.results:
				if r.Code == "" {
					return nil, errors.New("signing in was refused")
				}
				return &r, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
		NewTokenSource: func(ctx context.Context, cfg *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			return kept.source(ctx, cfg, token), kept.keep(cfg, token)
		},
	})
}

// backchannel is where the browser comes back to: a port of this machine, for as
// long as somebody signs in.
type backchannel struct {
	server  *http.Server
	address string
	results chan auth.AuthorizationResult
	used    bool
}

func listenBack(ctx context.Context) (*backchannel, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &backchannel{address: "http://" + l.Addr().String() + "/callback", results: make(chan auth.AuthorizationResult, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, req *http.Request) {
		q := req.URL.Query()
		select { // the first one counts; the state is checked by who waits
		case b.results <- auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}:
		default:
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "You can close this page and go back to the terminal.")
	})
	b.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = b.server.Serve(l) }() // Close ends it
	return b, nil
}

// Close ends the listening.
func (b *backchannel) Close() { _ = b.server.Close() }
