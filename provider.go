package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/catalogue"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/openai"
)

// errNoModel is what a person reads who has no model yet.
var errNoModel = &exitError{code: app.ExitProvider, err: fmt.Errorf(`%w. Set one of these and start again:

  export OPENAI_API_KEY=…     or the key of another provider, as ANTHROPIC_API_KEY,
                              GEMINI_API_KEY, OPENROUTER_API_KEY, DEEPSEEK_API_KEY
  export OPENAI_BASE_URL=…    any other server, as http://gpu.lan:8000/v1
  ollama serve                or a server on this machine: Ollama, LM Studio, llama.cpp
                              and vLLM are found by themselves

agent doctor finds out what is wrong. Or look first, without a key: agent demo`, app.ErrNoModel)}

// modelChoice makes providers of the models that the settings and the person choose.
type modelChoice struct {
	store  *openai.Store
	client *http.Client // one transport for all requests
	notice func(text string)

	mu      sync.Mutex
	wish    catalogue.Wish
	environ func(string) string
}

// take changes what is wished, and the environment in which it is looked for.
func (m *modelChoice) take(wish catalogue.Wish, getenv func(string) string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wish, m.environ = wish, getenv
}

// wished is what holds now.
func (m *modelChoice) wished() (catalogue.Wish, func(string) string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wish, m.environ
}

func modelFor(s config.Settings, notice func(string)) *modelChoice {
	return &modelChoice{
		wish:    catalogue.Wish{Model: s.Model, BaseURL: s.BaseURL},
		store:   openai.NewStore(filepath.Join(s.StateDir, "servers")),
		client:  &http.Client{Transport: logged{openai.NewTransport()}},
		environ: s.Getenv,
		notice:  notice,
	}
}

// fill tells the application of the model. It sends nothing.
func (m *modelChoice) fill(opts *app.Options) error {
	opts.NewProvider, opts.Models = m.provider, m.models
	t, err := catalogue.Choose(m.wished())
	if errors.Is(err, catalogue.ErrNothing) {
		return nil // a server on this machine is looked for, behind the screen
	}
	if err != nil {
		return providerError(err)
	}
	u, err := url.Parse(t.BaseURL)
	if err != nil {
		return usage("the base URL %q: %v", t.BaseURL, err)
	}
	opts.Model, opts.Host = t.Model, u.Host
	return nil
}

// providerError ends the program as one that concerns the model's server or its key.
func providerError(err error) error { return &exitError{code: app.ExitProvider, err: err} }

// find looks for a server on this machine where neither key nor server is set.
func (m *modelChoice) find(ctx context.Context) error {
	_, err := m.target(ctx, "")
	return err
}

// target is where a model is; "" is the one of the settings.
func (m *modelChoice) target(ctx context.Context, model string) (catalogue.Target, error) {
	wish, getenv := m.wished()
	if model != "" {
		wish.Model = model
	}
	t, err := catalogue.Choose(wish, getenv)
	switch {
	case err == nil:
		return t, nil
	case !errors.Is(err, catalogue.ErrNothing):
		return t, providerError(err)
	}
	server, ok := catalogue.Local(ctx, m.client, getenv)
	if !ok {
		return t, errNoModel
	}
	return server.Target(wish.Model), nil
}

// provider implements app.Options.NewProvider.
func (m *modelChoice) provider(ctx context.Context, model string) (app.Provider, error) {
	t, err := m.target(ctx, model)
	if err != nil {
		return nil, err
	}
	client, err := m.open(ctx, t)
	if err != nil {
		return nil, err
	}
	return client, nil
}

// open makes a client for a target. Where no model is named, the first is taken
// that the server offers.
func (m *modelChoice) open(ctx context.Context, t catalogue.Target) (*openai.Client, error) {
	cfg := m.config(t)
	if cfg.Model == "" {
		models, err := openai.List(ctx, cfg)
		if err == nil && len(models) == 0 {
			err = errors.New("its list is empty")
		}
		if err != nil {
			return nil, fmt.Errorf("no model was named (-m, AGENT_MODEL), and %s does not list its models: %w", t.BaseURL, err)
		}
		cfg.Model = models[0].ID
	}
	return openai.New(cfg)
}

func (m *modelChoice) config(t catalogue.Target) openai.Config {
	info := t.Provider.Info(t.Model)
	if t.Provider.ID == "" {
		info = catalogue.Behind(t.Model)
	}
	return openai.Config{
		BaseURL: t.BaseURL, APIKey: t.Key, KeyName: t.KeyName, Model: t.Model,
		UserAgent: "agent/" + programVersion(), HTTPClient: m.client,
		Info: info, Azure: t.Provider.ID == "azure", Store: m.store, Notice: m.notice,
	}
}

// models implements app.Options.Models: what the server offers, and then what the
// catalogue knows of the other providers whose keys are set.
func (m *modelChoice) models(ctx context.Context) ([]app.ModelInfo, error) {
	t, err := m.target(ctx, "")
	if err != nil {
		return nil, err
	}
	list, err := m.offered(ctx, t)
	wish, getenv := m.wished()
	if wish.BaseURL != "" {
		return list, err
	}
	for i := range list { // so that Choose finds them, whatever their own names begin with
		list[i].ID = t.Provider.ID + t.Local + "/" + list[i].ID
	}
	for _, p := range catalogue.WithKeys(getenv) {
		if p.ID == t.Provider.ID && len(list) > 0 {
			continue
		}
		for _, info := range p.Models() {
			info.ID = p.ID + "/" + info.ID
			list = append(list, info)
		}
	}
	if len(list) > 0 {
		err = nil
	}
	return list, err
}

// offered is what a server offers, with what the catalogue knows of it.
func (m *modelChoice) offered(ctx context.Context, t catalogue.Target) ([]app.ModelInfo, error) {
	models, err := openai.List(ctx, m.config(t))
	var none *app.ProviderError
	if errors.As(err, &none) && none.Kind == app.ErrNotAnAPI && t.Provider.ID != "" {
		return t.Provider.Models(), nil
	}
	if err != nil {
		return nil, err
	}
	known := map[string]app.ModelInfo{}
	if t.Provider.ID != "" {
		for _, info := range t.Provider.Models() {
			known[info.ID] = info
		}
	}
	list := make([]app.ModelInfo, len(models))
	for i, o := range models {
		info, ok := known[o.ID]
		if !ok && t.Provider.ID == "" {
			info = catalogue.Behind(o.ID)
		}
		list[i] = o.Over(info)
	}
	return list, nil
}
