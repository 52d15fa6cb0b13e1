package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/phero-agent/agent/session"
)

// choiceTimeout is how long a server may take to say what it offers.
const choiceTimeout = 30 * time.Second

// errOneModel says that there is nothing to choose from.
var errOneModel = errors.New("the model is a script, and there is no other")

// model is the model that answers. But for the first and the last field it stands behind App.mu.
type model struct {
	making   chan struct{} // held while a provider is made
	chosen   string        // by the person or the session; "" leaves it to the settings
	provider Provider      // nil until it is made
	err      error         // why it could not be made
	stop     context.CancelFunc
	logged   string // the choice that the session's log says; belongs to the conversation
}

// provider is the provider of the model that was chosen, made when it is first needed.
func (a *App) provider(ctx context.Context) (Provider, error) {
	select {
	case a.model.making <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-a.model.making }()
	a.mu.Lock()
	p, name := a.model.provider, a.model.chosen
	a.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := a.opts.NewProvider(ctx, name)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	a.mu.Lock()
	a.model.provider, a.model.err = p, err
	a.mu.Unlock()
	a.emit(a.state())
	return p, err
}

// findModel makes the provider before the first turn asks for it, where it must
// be looked for.
func (a *App) findModel() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a.mu.Lock()
	a.model.stop = cancel
	closed := a.closed
	a.mu.Unlock()
	if closed {
		return
	}
	_, err := a.provider(ctx) // the state says what came of it
	if errors.Is(err, ErrNoModel) && a.opts.Interactive && a.opts.SetUp != nil {
		a.SetUp()
	}
}

// SetModel changes the model from the next request on, also while a turn runs.
// The choice goes into the session. One that cannot be made changes nothing.
func (a *App) SetModel(name string) {
	if a.opts.Models == nil {
		a.emit(Notice{Level: Warning, Text: errOneModel.Error()})
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), choiceTimeout)
	defer cancel()
	a.model.making <- struct{}{}
	defer func() { <-a.model.making }()
	p, err := a.opts.NewProvider(ctx, name)
	if err != nil {
		a.emit(Notice{Level: Error, Text: fmt.Sprintf("the model stays: %v", err)})
		return
	}
	a.mu.Lock()
	a.model.chosen, a.model.provider, a.model.err = name, p, nil
	a.mu.Unlock()
	a.emit(a.state())
	a.emit(Notice{Text: "the model is " + p.Info().ID + " from the next request on"})
}

// Models lists what SetModel can choose.
func (a *App) Models() ([]ModelInfo, error) {
	if a.opts.Models == nil {
		return nil, errOneModel
	}
	ctx, cancel := context.WithTimeout(context.Background(), choiceTimeout)
	defer cancel()
	return a.opts.Models(ctx)
}

// logModel writes the choice into the log, before the first reply that it makes.
func (a *App) logModel() {
	a.mu.Lock()
	chosen := a.model.chosen
	a.mu.Unlock()
	if chosen != a.model.logged {
		a.model.logged = chosen
		a.commit(session.Entry{Kind: session.KindModel, Model: chosen})
	}
}

// restoreModel takes the model that a resumed session was left with.
func (a *App) restoreModel(entries []session.Entry) {
	a.model.logged = ""
	for _, e := range entries {
		if e.Kind == session.KindModel {
			a.model.logged = e.Model
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.model.logged != "" && a.model.logged != a.model.chosen && !a.opts.KeepModel {
		a.model.chosen, a.model.provider = a.model.logged, nil
	}
}
