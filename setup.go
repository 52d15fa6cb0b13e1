package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/catalogue"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/openai"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

// setUp is the set-up of a model: a provider and its key, or a server, tried and kept
// in the person's files.
//
//	who ─► key or URL ─► which model ─► one request ─► keys, config.toml
type setUp struct {
	settings config.Settings
	models   *modelChoice
	ask      func(ctx context.Context, q human.Question, secret bool) (human.Answer, error)
	kept     [][2]string // variables to keep: of the key and the server
}

// setUpFor makes the app.SetUp of the settings.
func setUpFor(s config.Settings, m *modelChoice) app.SetUp {
	return func(ctx context.Context, ask func(context.Context, human.Question, bool) (human.Answer, error)) error {
		u := &setUp{settings: s, models: m, ask: ask}
		return u.run(ctx)
	}
}

// notNow is the answer that ends the set-up.
const notNow = "Not now"

func (u *setUp) run(ctx context.Context) error {
	failed := ""
	for {
		u.kept = nil
		wish, err := u.choose(ctx, failed)
		if err != nil {
			return err
		}
		getenv := u.getenv()
		if wish.Model, err = u.model(ctx, wish, getenv); err == nil {
			err = u.try(ctx, wish, getenv)
		}
		switch {
		case errors.Is(err, human.ErrDeclined) || ctx.Err() != nil:
			return err
		case err != nil:
			failed = "That did not work: " + err.Error() + "\n"
			continue
		}
		return u.keep(wish, getenv)
	}
}

// choose asks for the provider and its key, or the server. failed says what went wrong before.
func (u *setUp) choose(ctx context.Context, failed string) (catalogue.Wish, error) {
	names := []string{"openai", "anthropic", "openrouter"}
	q := human.Question{Header: "Server", Question: failed + "Whose model do you want to use? With another provider's name, as groq, or the URL of a server, write it as the last answer. Esc leaves: agent demo shows the program without a key."}
	for _, id := range names {
		p, _ := catalogue.Find(id)
		q.Options = append(q.Options, human.Choice{Label: p.Name, Description: "with its key, " + p.Keys[0]})
	}
	q.Options = append(q.Options, human.Choice{Label: "This machine", Description: "look again for Ollama, LM Studio, llama.cpp or vLLM"})
	answer, err := u.ask(ctx, q, false)
	if err != nil {
		return catalogue.Wish{}, err
	}
	said := answer.Other
	if len(answer.Selections) > 0 {
		said = answer.Selections[0]
	}
	if said == "This machine" {
		server, ok := catalogue.Local(ctx, u.models.client, u.settings.Getenv)
		if !ok {
			return u.choose(ctx, "No server answers on this machine: start one, as with ollama serve.\n")
		}
		return catalogue.Wish{Model: server.ID + "/"}, nil
	}
	if strings.Contains(said, "://") {
		return u.server(ctx, said)
	}
	for _, p := range catalogue.Providers() {
		if strings.EqualFold(said, p.ID) || strings.EqualFold(said, p.Name) {
			return catalogue.Wish{Model: p.ID + "/" + p.Model}, u.key(ctx, p.Name, p.Keys[0])
		}
	}
	return u.choose(ctx, fmt.Sprintf("%q is no provider that is known here; a URL begins with http:// or https://.\n", said))
}

// server takes a server's URL, and asks for a key where it wants one.
func (u *setUp) server(ctx context.Context, base string) (catalogue.Wish, error) {
	base = strings.TrimRight(base, "/")
	parsed, err := url.Parse(base)
	if err != nil || parsed.Host == "" {
		return u.choose(ctx, fmt.Sprintf("%q is no URL of a server.\n", base))
	}
	u.kept = [][2]string{{"OPENAI_BASE_URL", base}}
	wish := catalogue.Wish{BaseURL: base}
	var refused *app.ProviderError
	if _, err := u.offered(ctx, wish, u.getenv()); errors.As(err, &refused) && refused.Kind == app.ErrAuth {
		return wish, u.key(ctx, parsed.Host, "OPENAI_API_KEY")
	}
	return wish, nil
}

// key asks for a key, unless the environment has it.
func (u *setUp) key(ctx context.Context, of, name string) error {
	if u.settings.Getenv(name) != "" {
		return nil
	}
	answer, err := u.ask(ctx, human.Question{
		Header:   "Key",
		Question: fmt.Sprintf("The key of %s? Paste it as the last answer: it is not shown, is kept in %s, which only you can read, and is sent to that server alone.", of, u.settings.KeysFile()),
		Options: []human.Choice{
			{Label: notNow, Description: "set " + name + " yourself and start again"},
			{Label: "No key", Description: "the server wants none"},
		},
	}, true)
	switch {
	case err != nil:
		return err
	case len(answer.Selections) > 0 && answer.Selections[0] == notNow:
		return human.ErrDeclined
	case answer.Other != "":
		u.kept = append(u.kept, [2]string{name, answer.Other})
	}
	return nil
}

// getenv is the environment with what was said so far.
func (u *setUp) getenv() func(string) string {
	kept := u.kept
	return func(name string) string {
		for _, v := range kept {
			if v[0] == name {
				return v[1]
			}
		}
		return u.settings.Getenv(name)
	}
}

func (u *setUp) offered(ctx context.Context, wish catalogue.Wish, getenv func(string) string) ([]app.ModelInfo, error) {
	t, err := catalogue.Choose(wish, getenv)
	if err != nil {
		return nil, err
	}
	return u.models.offered(ctx, t)
}

// model asks which model of the server is used, the wished one first.
func (u *setUp) model(ctx context.Context, wish catalogue.Wish, getenv func(string) string) (string, error) {
	list, err := u.offered(ctx, wish, getenv)
	if err != nil {
		return "", err
	}
	front, wished, _ := strings.Cut(wish.Model, "/")
	if front != "" {
		front += "/"
	}
	q := human.Question{Header: "Model", Question: fmt.Sprintf("Which model? %d are offered; write another one's name as the last answer, or change it later with /model.", len(list))}
	add := func(info app.ModelInfo) {
		if len(q.Options) < 4 {
			q.Options = append(q.Options, human.Choice{Label: info.ID, Description: info.Facts()})
		}
	}
	for _, info := range list {
		if info.ID == wished {
			add(info)
		}
	}
	for _, info := range list {
		if info.ID != wished {
			add(info)
		}
	}
	switch len(q.Options) {
	case 0:
		return "", errors.New("the server offers no model")
	case 1:
		return front + q.Options[0].Label, nil
	}
	answer, err := u.ask(ctx, q, false)
	if err != nil {
		return "", err
	}
	if len(answer.Selections) > 0 {
		return front + answer.Selections[0], nil
	}
	return front + strings.TrimPrefix(answer.Other, front), nil
}

// try sends one tiny request.
func (u *setUp) try(ctx context.Context, wish catalogue.Wish, getenv func(string) string) error {
	t, err := catalogue.Choose(wish, getenv)
	if err != nil {
		return err
	}
	client, err := openai.New(u.models.config(t))
	if err != nil {
		return err
	}
	_, err = client.Stream(ctx, app.Request{System: "You are tried out: answer in one word.", Messages: []session.Message{{Role: session.RoleUser, Text: "Say ok."}}}, func(app.Delta) {})
	return err
}

// keep writes what was said into the person's files, and lets it count from now on.
func (u *setUp) keep(wish catalogue.Wish, getenv func(string) string) error {
	if len(u.kept) > 0 {
		if err := u.settings.Keep(u.kept...); err != nil {
			return err
		}
	}
	if err := u.settings.KeepModel(wish.Model); err != nil {
		return err
	}
	u.models.take(wish, getenv)
	return nil
}
