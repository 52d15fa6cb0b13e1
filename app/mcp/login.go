package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Login signs the person in at a remote server: show gets the address to open in a
// browser, which comes back to a port of this machine. The server is started anew.
func (s *Servers) Login(ctx context.Context, name string, show func(address string)) error {
	v, err := s.find(name)
	switch {
	case err != nil:
		return err
	case v.def.URL == "":
		return fmt.Errorf("the server %s is a program: nobody signs in there", v.def.Name)
	case v.authorized():
		return fmt.Errorf("the settings give %s the header Authorization: it is used as it is, and nobody signs in", v.def.Name)
	}
	back, err := listenBack(ctx, v.def.Port())
	if err != nil {
		return err
	}
	defer back.Close()
	back.show = show
	inner, err := v.signingIn(back)
	if err != nil {
		return err
	}
	handler := &once{OAuthHandler: inner, back: back}
	p := newPace()
	defer p.end()
	client, err := v.httpClient(p)
	if err != nil {
		return err
	}
	err = v.knock(ctx, client, handler)
	if failed := handler.failed(); failed != nil {
		err = failed // the connection tries in another way, and hides it
	}
	switch {
	case err != nil && strings.Contains(err.Error(), "no configured client registration"):
		return fmt.Errorf("who signs people in for %s registers no program by itself: register one there, with the address http://127.0.0.1:<port>/callback to come back to, and set client_id and callback_port in [mcp.%s]", v.def.Name, v.def.Name)
	case err != nil:
		return err
	case back.asked() == "":
		return fmt.Errorf("the server %s did not ask who you are", v.def.Name)
	}
	v.restart()
	return nil
}

// once asks the person once, however often the server refuses.
type once struct {
	auth.OAuthHandler
	back *backchannel

	mu  sync.Mutex
	err error // what became of it
}

// Authorize implements auth.OAuthHandler.
func (o *once) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err == nil && o.back.asked() != "":
		o.err = errors.New("it does not take the token that was given for it")
		fallthrough
	case o.err != nil:
		resp.Body.Close()
	default:
		o.err = o.OAuthHandler.Authorize(ctx, req, resp)
	}
	return o.err
}

func (o *once) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// knock asks a server something that it may want to know the person for.
func (v *server) knock(ctx context.Context, client *http.Client, handler auth.OAuthHandler) error {
	session, err := v.client().Connect(ctx, v.streamable(client, handler), nil)
	if err != nil {
		return err
	}
	_, err = session.ListTools(ctx, nil)
	return errors.Join(err, session.Close())
}

// authorized tells whether the settings say who the person is.
func (v *server) authorized() bool {
	for name := range v.def.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

func (v *server) signingIn(back *backchannel) (auth.OAuthHandler, error) {
	kept := v.tokenFile()
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:           back.address,
		RequestRefreshToken:   true,
		AcceptUnadvertisedIss: true,
		Client:                oauthClient(),
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "agent", RedirectURIs: []string{back.address}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}},
		AuthorizationCodeFetcher: back.fetch,
		NewTokenSource: func(_ context.Context, cfg *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			s := signed{Config: *cfg, Token: token}
			return kept.source(v.def.Name, s), kept.write(s)
		},
	}
	id, err := expand(v.def.ClientID, v.all.opts.Getenv)
	if err != nil {
		return nil, err
	}
	secret, err := expand(v.def.ClientSecret, v.all.opts.Getenv)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(id, "https://"):
		cfg.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: id}
	case id != "":
		cfg.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id}
		if secret != "" {
			cfg.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
		}
	}
	return auth.NewAuthorizationCodeHandler(cfg)
}

// backchannel is where the browser comes back to: a port of this machine, for as
// long as somebody signs in.
type backchannel struct {
	server  *http.Server
	address string
	show    func(address string)
	results chan url.Values

	mu    sync.Mutex
	state string
}

func listenBack(ctx context.Context, port int) (*backchannel, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	b := &backchannel{address: "http://" + l.Addr().String() + "/callback", results: make(chan url.Values, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", b.cameBack)
	b.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = b.server.Serve(l) }() // Close ends it
	return b, nil
}

// Close ends the listening.
func (b *backchannel) Close() { _ = b.server.Close() }

// cameBack takes what the browser brings. What does not bring the state that went
// out is somebody else's, and changes nothing.
func (b *backchannel) cameBack(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	q := req.URL.Query()
	if state := b.asked(); state == "" || q.Get("state") != state {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintln(w, "This is not the answer to the question that was asked. Begin again in the terminal.")
		return
	}
	select { // the first one counts
	case b.results <- q:
	default:
	}
	fmt.Fprintln(w, "You can close this page and go back to the terminal.")
}

// asked is the state that went out with the address; "" before.
func (b *backchannel) asked() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// fetch shows the address, and waits for what the browser brings.
func (b *backchannel) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.state = u.Query().Get("state")
	b.mu.Unlock()
	b.show(args.URL)
	select {
	case q := <-b.results:
		if code := q.Get("code"); code != "" {
			return &auth.AuthorizationResult{Code: code, State: q.Get("state"), Iss: q.Get("iss")}, nil
		}
		return nil, fmt.Errorf("signing in was refused: %s", plain(strings.TrimSpace(q.Get("error")+" "+q.Get("error_description"))))
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
