package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/catalogue"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/openai"
	"github.com/phero-agent/agent/ui"
)

// start begins a run of the application.
type start struct {
	settings config.Settings
	line     *line
}

// errNoModel is what a person reads who has no model yet.
var errNoModel = &exitError{code: app.ExitProvider, err: errors.New(`no model yet. Set one of these and start again:

  export OPENAI_API_KEY=…     the key of OpenAI, or of another provider …
  export OPENAI_BASE_URL=…    … with the URL of its server, as https://openrouter.ai/api/v1
  ollama serve                or a server on this machine: Ollama, LM Studio, llama.cpp
                              and vLLM are found by themselves

Or look first, without a key: agent demo`)}

// provider fills in where the model is.
func (s *start) provider(ctx context.Context, opts *app.Options) error {
	if s.settings.BaseURL == "" {
		server, ok := catalogue.Local(ctx, os.Getenv)
		if !ok {
			return errNoModel
		}
		s.settings.BaseURL = server.BaseURL
	}
	u, err := url.Parse(s.settings.BaseURL)
	if err != nil {
		return usage("the base URL %q: %v", s.settings.BaseURL, err)
	}
	opts.Host = u.Host
	opts.Model = s.settings.Model
	if opts.Model == "" && s.settings.BaseURL == config.DefaultBaseURL {
		opts.Model = config.DefaultModel
	}
	preset := opts.Model
	opts.NewProvider = func(ctx context.Context, model string) (app.Provider, error) {
		if model == "" {
			model = preset
		}
		cfg := openai.Config{
			BaseURL: s.settings.BaseURL, APIKey: s.settings.APIKey, KeyName: s.settings.KeyName,
			Model: model, UserAgent: "agent/" + programVersion(),
		}
		client, err := openai.New(cfg)
		if err != nil || model != "" {
			return client, err
		}
		// The server was named and no model: take the first that it offers.
		models, err := client.Models(ctx)
		if err == nil && len(models) == 0 {
			err = errors.New("its list is empty")
		}
		if err != nil {
			return nil, fmt.Errorf("no model was named (-m, AGENT_MODEL), and %s does not list its models: %w", u.Host, err)
		}
		cfg.Model = models[0].ID
		return openai.New(cfg)
	}
	return nil
}

// headless runs one prompt without a screen.
func (s *start) headless(ctx context.Context) error {
	run := app.NewHeadless(os.Stdout, os.Stderr)
	opts := options(s.settings)
	opts.Emit = run.Emit
	if err := s.provider(ctx, &opts); err != nil {
		return err
	}
	a, err := app.New(opts)
	if err != nil {
		return usage("%v", err)
	}
	defer a.Close()
	ctx, stop := untilSignal(ctx)
	defer stop()
	a.Start()
	if err := s.open(a); err != nil {
		return err
	}
	if code := run.Run(ctx, a, s.line.prompt); code != app.ExitOK {
		return &exitError{code: code}
	}
	return nil
}

// screen opens the screen.
func (s *start) screen(ctx context.Context) error {
	opts := options(s.settings)
	if err := s.provider(ctx, &opts); err != nil {
		return err
	}
	return show(ctx, opts, ui.Options{Prompt: s.line.prompt, Ask: s.line.resume == pick}, s.open)
}

// open resumes what the command line says.
func (s *start) open(a *app.App) error {
	if !s.line.resumed || s.line.resume == pick {
		return nil
	}
	if err := a.Open(s.line.resume); err != nil {
		return usage("%v", err)
	}
	return nil
}

// untilSignal ends a context when the program is told to stop, with the exit code as its cause.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			cancel(app.ExitCause(exitCode(s)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

func exitCode(s os.Signal) int {
	if s == os.Interrupt {
		return app.ExitInterrupted
	}
	return app.ExitTerminated
}
