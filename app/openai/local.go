package openai

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
)

// addLoaded fills in the context windows that local servers have loaded, which
// their compatible list does not tell: llama.cpp's properties, LM Studio's own
// list, Ollama's running models. A server that has none of these keeps its list.
func (c *Client) addLoaded(ctx context.Context, models []Model) {
	trained := false
	for i := range models {
		if models[i].Context > 0 {
			return
		}
		trained = trained || models[i].ContextTrain > 0
	}
	if trained {
		c.addProps(ctx, models)
		return
	}
	if len(models) > 0 && isLoopback(c.base.Hostname()) {
		if !c.addStudio(ctx, models) {
			c.addRunning(ctx, models)
		}
	}
}

func (c *Client) addProps(ctx context.Context, models []Model) {
	var props struct {
		Settings struct {
			Window float64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if c.getJSON(ctx, "/props", &props) {
		for i := range models {
			models[i].Context = int(props.Settings.Window)
		}
	}
}

func (c *Client) addStudio(ctx context.Context, models []Model) bool {
	var raw json.RawMessage
	if !c.getJSON(ctx, "/api/v0/models", &raw) {
		return false
	}
	own, err := readModels(raw)
	if err != nil {
		return false
	}
	windows := map[string]int{}
	for _, m := range own {
		windows[m.ID] = m.Context
	}
	for i := range models {
		models[i].Context = windows[models[i].ID]
	}
	return true
}

func (c *Client) addRunning(ctx context.Context, models []Model) {
	var running struct {
		Models []struct {
			Name   string  `json:"name"`
			Window float64 `json:"context_length"`
		} `json:"models"`
	}
	if !c.getJSON(ctx, "/api/ps", &running) {
		return
	}
	for _, r := range running.Models {
		for i := range models {
			if models[i].ID == r.Name {
				models[i].Context = int(r.Window)
			}
		}
	}
}

// getJSON asks the server for something beside the base URL, and tells whether it came.
func (c *Client) getJSON(ctx context.Context, path string, into any) bool {
	res, err := c.get(ctx, c.base.ResolveReference(&url.URL{Path: path}))
	if err != nil {
		return false
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return false
	}
	return json.NewDecoder(io.LimitReader(res.Body, maxModels)).Decode(into) == nil
}
