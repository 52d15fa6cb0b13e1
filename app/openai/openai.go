// Package openai is a model behind a server that speaks OpenAI's streaming chat
// completions, as OpenAI, its imitators and local servers do. What is sent suits
// the strictest of them; what comes back is read as any of them writes it.
//
//	Request ─► conversation ─► body ─► attempt ─► server
//	              (writer)        ▲       │
//	       Profile ◄─ adapt ──────┴─ classify ◄─ error
//	                                      │
//	Delta ◄─ reply ◄─ chunk ◄─ eventReader ◄─ stream
//
// One place retries: [Client.Stream], before the first delta. The same place
// learns from a refused field, see [Profile].
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	oai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/phero-agent/agent/app"
)

// Defaults of [Config].
const (
	DefaultBaseURL          = "https://api.openai.com/v1"
	DefaultUserAgent        = "phero-agent"
	DefaultIdleTimeout      = 5 * time.Minute
	DefaultLocalIdleTimeout = 30 * time.Minute // of a server on loopback, which may read a long prompt slowly
)

// Config says which model is asked and how.
type Config struct {
	BaseURL   string // "" is [DefaultBaseURL]; its query goes with every request
	APIKey    string // "": no key is sent
	KeyName   string // the variable that holds the key, for messages
	Model     string
	MaxTokens int           // of a reply; 0 leaves it to the server
	Info      app.ModelInfo // what is known of the model beforehand
	Azure     bool          // Azure serves it, under a name of the customer; hosts of azure.com are known

	UserAgent   string        // "" is [DefaultUserAgent]
	HTTPClient  *http.Client  // nil: one of its own with [NewTransport]; an overall timeout does not count
	IdleTimeout time.Duration // without a byte from the server; 0 is [DefaultIdleTimeout] or [DefaultLocalIdleTimeout]
	Profile     Profile       // what is known of the server; the zero value is replaced by [KnownProfile] and what Store has
	Store       *Store        // keeps what is learned of the server; nil: nothing is kept
	Notice      func(string)  // takes a line for the person; nil: nobody reads it
}

// Client asks one model. It is safe for use by several goroutines.
type Client struct {
	cfg   Config
	base  *url.URL
	chat  oai.ChatCompletionService
	http  *http.Client
	sleep func(context.Context, time.Duration) error

	mu            sync.Mutex
	profile       Profile
	info          app.ModelInfo
	asked         bool // the server for the model's window
	conversations []*conversation
}

var _ app.Provider = (*Client)(nil)

// New makes a client. It sends nothing. The errors name the setting that is wrong.
func New(cfg Config) (*Client, error) {
	if strings.TrimSpace(cfg.Model) == "" {
		return nil, errors.New("no model is chosen; name one with --model, AGENT_MODEL or in the settings")
	}
	return newClient(cfg)
}

func newClient(cfg Config) (*Client, error) {
	base, err := baseURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	if strings.ContainsFunc(cfg.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("the key in %s has characters that no key has; set it again", keyName(cfg))
	}
	if cfg.Notice == nil {
		cfg.Notice = func(string) {}
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = DefaultUserAgent
	}
	if cfg.IdleTimeout == 0 {
		cfg.IdleTimeout = DefaultIdleTimeout
		if isLoopback(base.Hostname()) {
			cfg.IdleTimeout = DefaultLocalIdleTimeout
		}
	}
	cfg.Azure = cfg.Azure || within(base.Hostname(), "azure.com")
	if cfg.Profile == (Profile{}) {
		known := KnownProfile(base.Host, cfg.Model)
		known.NoMaxTokens = known.NoMaxTokens || cfg.Azure
		var traits Traits
		cfg.Profile, traits = cfg.Store.load(base.String(), cfg.Model, known, cfg.Notice)
		cfg.Info = traits.over(cfg.Info)
	}
	c := &Client{cfg: cfg, base: base, http: httpClient(cfg.HTTPClient), profile: cfg.Profile, info: cfg.Info, sleep: sleep}
	c.info.ID, c.info.Host = cfg.Model, base.Host
	c.chat = oai.NewChatCompletionService(
		option.WithBaseURL(base.String()),
		option.WithHTTPClient(c.http),
		option.WithMaxRetries(0),
		option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			c.dress(r)
			return next(r)
		}),
	)
	return c, nil
}

// baseURL checks the URL and takes off an endpoint that was copied with it.
func baseURL(s string) (*url.URL, error) {
	if s = strings.TrimSpace(s); s == "" {
		s = DefaultBaseURL
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("the base URL cannot be read: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the base URL %q needs a scheme and a host, as in %s", s, DefaultBaseURL)
	}
	u.Path = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"), "/") + "/"
	u.Fragment = ""
	return u, nil
}

// Profile is what is known of the server by now.
func (c *Client) Profile() Profile {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.profile
}

// Info implements [app.Provider].
func (c *Client) Info() app.ModelInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

// BaseURL is the server's, as the store knows it.
func (c *Client) BaseURL() string { return c.base.String() }

// Host is the server's host and port.
func (c *Client) Host() string { return c.base.Host }

// Stream implements [app.Provider]. A request that fails before its first delta
// is sent again: at once when the server refused a field that it can do without,
// else after a wait that is emitted, when the error may pass.
func (c *Client) Stream(ctx context.Context, req app.Request, emit func(app.Delta)) (app.Reply, error) {
	emit, asked := c.askWindow(ctx, emit)
	defer asked()
	learned := false
	for attempt := 1; ; {
		p := c.Profile()
		reply, begun, err := c.attempt(ctx, p, req, emit)
		if err == nil {
			if learned {
				c.remember()
			}
			return reply, nil
		}
		if ctx.Err() != nil {
			return reply, ctx.Err()
		}
		var pe *app.ProviderError
		if begun || !errors.As(err, &pe) {
			return reply, err
		}
		if c.learn(p, pe) {
			learned = true
			continue
		}
		wait, again := backoff(attempt, pe)
		if !again {
			return reply, err
		}
		attempt++
		emit(app.Delta{Retry: &app.Retry{Reason: reason(pe), Attempt: attempt, Wait: wait}})
		if err := c.sleep(ctx, wait); err != nil {
			return reply, err
		}
	}
}

// learn changes the profile after a request that was sent with p was refused.
// It tells whether the request is worth sending again. It ends: each lesson is learned once.
func (c *Client) learn(sent Profile, e *app.ProviderError) bool {
	again, blind := c.adapt(sent, e)
	if blind {
		c.cfg.Notice(c.cfg.Model + " takes no images: it is only told that one is there")
	}
	return again
}

// adapt is learn, and tells whether the lesson is that the model takes no images.
func (c *Client) adapt(sent Profile, e *app.ProviderError) (again, blind bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Window > 0 {
		c.info.Window = e.Window
	}
	if c.profile != sent {
		return true, false // another request learned meanwhile
	}
	again = c.profile.adapt(e)
	if blind = c.profile.NoImages && !sent.NoImages; blind {
		c.info.Vision = app.No
	}
	return again, blind
}
