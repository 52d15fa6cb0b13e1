package app

import (
	"context"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/human"
)

// interaction is the tool with which the model asks the person (HUMAN-01). The
// turn's clock stands still meanwhile.
func (a *App) interaction() (*tools.Tool, error) {
	t, err := human.New(human.WithInteractor(func(ctx context.Context, in *human.Input) (map[string]human.Answer, error) {
		return a.question(ctx, "", *in)
	}))
	if err != nil {
		return nil, err
	}
	return t.Tool(), nil
}
