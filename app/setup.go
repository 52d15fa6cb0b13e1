package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/phero-agent/agent/tools/human"
)

// ErrNoModel says that neither a key nor a server is set, and none runs here.
var ErrNoModel = errors.New("no model yet")

// setUpSource is the title of the set-up's questions.
const setUpSource = "Set up a model"

// CanSetUp tells whether [App.SetUp] can be called.
func (a *App) CanSetUp() bool { return a.opts.SetUp != nil }

// SetUp lets the person choose a model's server and give its key, in some questions.
func (a *App) SetUp() {
	a.working.Go(func() {
		a.try("no set-up", func() error {
			a.aside(a.setUp)
			return nil
		})
	})
}

// setUp asks, and takes the model that comes of it. What is written meanwhile is sent
// to it.
func (a *App) setUp(ctx context.Context) {
	err := a.opts.SetUp(ctx, func(ctx context.Context, q human.Question, secret bool) (human.Answer, error) {
		got, err := a.questions.ask(ctx, func(id string) Event {
			return Questioned{ID: id, Source: setUpSource, Input: human.Input{Questions: []human.Question{q}}, Secret: secret}
		})
		answers, _ := got.(map[string]human.Answer)
		if err == nil && answers == nil {
			err = human.ErrDeclined
		}
		return answers[q.Header], err
	})
	switch {
	case errors.Is(err, human.ErrDeclined):
		a.emit(Notice{Text: "nothing was set up; /setup asks again, agent demo shows the program without a key"})
		return
	case ctx.Err() != nil:
		return
	case err != nil:
		a.emit(Notice{Level: Error, Text: fmt.Sprintf("nothing was set up: %v", err)})
		return
	}
	a.mu.Lock()
	a.model.provider, a.model.err, a.model.chosen = nil, nil, ""
	a.mu.Unlock()
	if p, err := a.provider(ctx); err == nil {
		a.emit(Notice{Text: "the model is " + p.Info().ID + "; it is used from now on"})
	}
}
