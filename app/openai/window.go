package openai

import (
	"context"
	"sync"
	"time"

	"github.com/phero-agent/agent/app"
)

// windowTimeout is how long the server may take to tell a model's window, after
// which the reply is not held back any more.
const windowTimeout = 2 * time.Second

// askWindow asks the server for the window of a model that nobody knows, once,
// beside its first reply: a local server has loaded the model then. The function
// that it returns waits for the answer.
func (c *Client) askWindow(ctx context.Context, emit func(app.Delta)) (func(app.Delta), func()) {
	c.mu.Lock()
	known := c.info.Window > 0 || c.asked
	c.mu.Unlock()
	if known {
		return emit, func() {}
	}
	var asking sync.WaitGroup
	begun := false
	return func(d app.Delta) {
		if !begun && d.Retry == nil {
			begun = true
			asking.Go(func() { c.findWindow(ctx) })
		}
		emit(d)
	}, asking.Wait
}

func (c *Client) findWindow(ctx context.Context) {
	short, cancel := context.WithTimeout(ctx, windowTimeout)
	defer cancel()
	models, err := c.Models(short)
	if ctx.Err() != nil {
		return // the person stopped it: it is asked again with the next request
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = true
	if err != nil {
		return // a server without a list
	}
	for _, m := range models {
		if m.ID == c.cfg.Model {
			c.info = m.Over(c.info)
		}
	}
}

// List asks the server of a configuration, whose model does not matter, for its models, see [Client.Models].
func List(ctx context.Context, cfg Config) ([]Model, error) {
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	return c.Models(ctx)
}

// Over puts what the server says over what was known of the model.
func (m Model) Over(info app.ModelInfo) app.ModelInfo {
	info.ID = m.ID
	if info.Name == "" {
		info.Name = m.Name
	}
	if m.Context > 0 {
		info.Window = m.Context
	}
	if m.MaxOutput > 0 {
		info.MaxOutput = m.MaxOutput
	}
	if m.Images != app.Unknown {
		info.Vision = m.Images
	}
	if m.Reasoning != app.Unknown {
		info.Reasoning = m.Reasoning
	}
	return info
}
