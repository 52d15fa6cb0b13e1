package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/openai"
)

// probeTimeout is how long one request may take. A local server may have to load the model first.
const probeTimeout = 3 * time.Minute

// Server examines the server of a configuration: whether it answers, whether it
// offers the model, and what it can do. What it finds is kept in the configuration's store.
func Server(cfg openai.Config) Check {
	return func(ctx context.Context, tell func(Finding)) {
		p := &probe{ctx: ctx, tell: tell, plain: cfg, cfg: cfg, seen: &lastType{next: cfg.HTTPClient.Transport}}
		p.cfg.HTTPClient = &http.Client{Transport: p.seen}
		p.cfg.MaxTokens = maxReply
		p.cfg.Notice = nil // what the client learns is in the report
		p.run()
	}
}

// maxReply caps the replies, in tokens, with room for a little reasoning. The
// field that carries it is one of those that servers refuse.
const maxReply = 1024

// probe is an examination at work.
type probe struct {
	ctx    context.Context
	tell   func(Finding)
	plain  openai.Config // as it was given
	cfg    openai.Config // of the requests to the model
	seen   *lastType
	client *openai.Client
	traits openai.Traits
}

func (p *probe) say(s State, topic, text, do string) { p.tell(Finding{s, topic, text, do}) }

func (p *probe) run() {
	if !p.list() {
		return
	}
	var err error
	if p.client, err = openai.New(p.cfg); err != nil {
		p.say(Bad, "model", err.Error(), "")
		return
	}
	if !p.speaks() {
		return
	}
	p.calls()
	p.sees()
	p.learned()
	if err := p.client.Keep(func(t *openai.Traits) {
		images, effort := t.NoImages, t.NoEffort
		*t = p.traits
		t.NoImages, t.NoEffort = images, effort
	}); err != nil {
		p.say(Note, "profile", fmt.Sprintf("it is not kept: %v", err), "what the server refuses is found out again each time")
		return
	}
	p.say(OK, "profile", "kept in "+p.cfg.Store.Path(p.client.BaseURL()), "")
}

// list asks for the models, and chooses the first where none is named.
func (p *probe) list() bool {
	start := time.Now()
	models, err := openai.List(p.ctx, p.plain)
	var pe *app.ProviderError
	switch {
	case errors.As(err, &pe) && pe.Kind == app.ErrNotAnAPI && pe.Status != 0 && p.cfg.Model != "":
		p.say(Note, "models", "the server answers, and does not list its models", "")
		return true
	case errors.As(err, &pe):
		p.say(Bad, "server", withoutNext(pe), pe.Next)
		return false
	case err != nil:
		p.say(Bad, "server", err.Error(), "")
		return false
	}
	p.say(OK, "server", fmt.Sprintf("answers in %d ms and offers %s", time.Since(start).Milliseconds(), counted(len(models))), "")
	if p.cfg.Model == "" && len(models) == 0 {
		p.say(Bad, "model", "none is named, and the server offers none", "load one there, or name one with -m or AGENT_MODEL")
		return false
	}
	if p.cfg.Model == "" {
		p.cfg.Model = models[0].ID
	}
	if !slices.ContainsFunc(models, func(m openai.Model) bool { return m.ID == p.cfg.Model }) {
		p.say(Note, "model", p.cfg.Model+" is not in the server's list", "agent models lists what it offers")
		return true
	}
	p.say(OK, "model", p.cfg.Model, "")
	return true
}

func withoutNext(e *app.ProviderError) string {
	short := *e
	short.Next = ""
	return short.Error()
}

// lastType remembers the media type of the newest answer.
type lastType struct {
	next http.RoundTripper
	mu   sync.Mutex
	kind string
}

// RoundTrip implements http.RoundTripper.
func (l *lastType) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost {
		l.mu.Lock()
		l.kind = res.Header.Get("Content-Type")
		l.mu.Unlock()
	}
	return res, err
}

func (l *lastType) streamed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.kind, "event-stream")
}

// counted is a number of models in words.
func counted(n int) string {
	if n == 1 {
		return "1 model"
	}
	return fmt.Sprintf("%d models", n)
}
