package openai

import (
	"bytes"
	"slices"

	oai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/phero-agent/agent/app"
)

// body makes the JSON of a request: what the profile allows around the
// messages, which come from the conversation's memory.
func (c *Client) body(p Profile, req app.Request) ([]byte, error) {
	p.NoImages = p.NoImages || c.Info().Vision == app.No
	conv := c.take(req)
	defer c.give(conv)
	conv.begin(p, c.cfg.Model, req)
	rest, err := conv.around(req, func() any { return c.params(p, req) })
	if err != nil {
		return nil, err
	}
	messages, err := conv.write(req)
	if err != nil {
		return nil, err
	}
	// Join does not clear the megabytes that it is about to write.
	return bytes.Join([][]byte{[]byte(`{"messages":[`), messages, []byte("],"), rest[1:]}, nil), nil
}

// params is the request without its messages.
func (c *Client) params(p Profile, req app.Request) *oai.ChatCompletionNewParams {
	params := &oai.ChatCompletionNewParams{Model: c.cfg.Model, Tools: toolParams(p, req)}
	if !p.NoStreamOptions {
		params.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	if !p.NoEffort {
		params.ReasoningEffort = shared.ReasoningEffort(req.Effort)
	}
	if n := int64(c.cfg.MaxTokens); n > 0 {
		switch {
		case !p.NoMaxTokens:
			params.MaxTokens = param.NewOpt(n)
		case !p.NoMaxCompletionTokens:
			params.MaxCompletionTokens = param.NewOpt(n)
		}
	}
	extra := map[string]any{"stream": true}
	if p.CacheControl && !p.NoCacheControl {
		extra["cache_control"] = map[string]string{"type": "ephemeral"}
	}
	params.SetExtraFields(extra)
	return params
}

func toolParams(p Profile, req app.Request) []oai.ChatCompletionToolUnionParam {
	specs := req.Tools
	if len(specs) == 0 {
		specs = calledTools(req)
	}
	var out []oai.ChatCompletionToolUnionParam
	for _, t := range specs {
		schema := t.Schema
		if schema == nil {
			schema = map[string]any{"type": "object", "properties": map[string]any{}}
		} else if p.PlainSchemas {
			schema = plainSchema(schema)
		}
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: schema}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		out = append(out, oai.ChatCompletionFunctionTool(f))
	}
	return out
}

// calledTools stands in for the tools of a request that has none, because some
// servers refuse a history with calls where no tools are declared.
func calledTools(req app.Request) []app.ToolSpec {
	var specs []app.ToolSpec
	for _, m := range req.Messages {
		for _, call := range m.Calls {
			name := portableName(call.Name)
			if !slices.ContainsFunc(specs, func(t app.ToolSpec) bool { return t.Name == name }) {
				specs = append(specs, app.ToolSpec{Name: name, Description: "Cannot be called now. Answer with text."})
			}
		}
	}
	return specs
}
