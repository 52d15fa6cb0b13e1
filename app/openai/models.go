package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/phero-agent/agent/app"
)

// Model is a model that a server offers. A number that the server does not tell is 0.
type Model struct {
	ID           string
	Name         string // as a person reads it, "" where there is none
	Context      int    // of the prompt, in tokens
	ContextTrain int    // what the model was trained for; what is loaded may be less
	MaxOutput    int    // of a reply, in tokens
	Tools        app.Ability
	Images       app.Ability
	Reasoning    app.Ability
}

const (
	modelsTimeout = 20 * time.Second
	maxModels     = 16 << 20 // bytes of the list
)

// Models asks the server for its models (GET /models). Models that do not
// chat are left out. Of local servers the windows that are loaded are asked too.
// The errors are of type *app.ProviderError; a server
// without a list is ErrNotAnAPI, and its models can be used all the same.
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	res, err := c.get(ctx, c.base.ResolveReference(&url.URL{Path: "models"}))
	if err != nil {
		if ctx.Err() == context.Canceled {
			return nil, ctx.Err()
		}
		return nil, c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxModels))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusMethodNotAllowed {
		return nil, c.noList(res.StatusCode)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, c.refused(res, data)
	}
	models, err := readModels(data)
	if within(c.base.Hostname(), "openai.com") {
		models = slices.DeleteFunc(models, func(m Model) bool { return responsesOnly(m.ID) })
	}
	if err != nil {
		if f := readFailure(data); f.shaped {
			return nil, c.failed(res, f)
		}
		return nil, c.noList(res.StatusCode)
	}
	c.addLoaded(ctx, models)
	return models, nil
}

func (c *Client) noList(status int) error {
	return &app.ProviderError{
		Kind: app.ErrNotAnAPI, Status: status, Host: c.base.Host,
		Text: "there is no model list", Next: "the model's name in the settings is used as it is",
	}
}

// get asks the server for u.
func (c *Client) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	if within(c.base.Hostname(), "anthropic.com") {
		u.RawQuery = "limit=1000"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	c.dress(r)
	r.Header.Set("Accept", "application/json")
	if within(c.base.Hostname(), "anthropic.com") && c.cfg.APIKey != "" {
		// The list is not part of its compatible endpoint.
		r.Header.Set("X-Api-Key", c.cfg.APIKey)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Del("Authorization")
	}
	return c.http.Do(r)
}

// listed is a model in every shape seen.
type listed struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Type        string `json:"type"`
	Active      *bool  `json:"active"`

	ContextLength   float64 `json:"context_length"`        // OpenRouter, Together
	ContextWindow   float64 `json:"context_window"`        // Groq
	MaxModelLen     float64 `json:"max_model_len"`         // vLLM
	MaxContext      float64 `json:"max_context_length"`    // Mistral, LM Studio
	LoadedContext   float64 `json:"loaded_context_length"` // LM Studio
	MaxCompletion   float64 `json:"max_completion_tokens"` // Groq
	MaxOutputTokens float64 `json:"max_output_tokens"`

	Meta struct {
		Train float64 `json:"n_ctx_train"` // llama.cpp
	} `json:"meta"`
	TopProvider struct {
		MaxCompletion float64 `json:"max_completion_tokens"`
	} `json:"top_provider"`
	Architecture struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"`
	Parameters   []string     `json:"supported_parameters"`
	Capabilities capabilities `json:"capabilities"`
}

// capabilities are Mistral's and Copilot's; LM Studio has a list of words instead.
type capabilities struct {
	Type            string `json:"type"`
	CompletionChat  *bool  `json:"completion_chat"`
	FunctionCalling *bool  `json:"function_calling"`
	Vision          *bool  `json:"vision"`
	Limits          struct {
		Window float64 `json:"max_context_window_tokens"`
		Prompt float64 `json:"max_prompt_tokens"`
		Output float64 `json:"max_output_tokens"`
	} `json:"limits"`
	Supports struct {
		Tools  *bool `json:"tool_calls"`
		Vision *bool `json:"vision"`
	} `json:"supports"`
}

// UnmarshalJSON passes over capabilities that are no object.
func (c *capabilities) UnmarshalJSON(b []byte) error {
	type plain capabilities
	if b[0] != '{' {
		return nil
	}
	return json.Unmarshal(b, (*plain)(c))
}

// readModels reads a list: {"data": [...]}, {"data": null}, {"models": [...]} or a bare array.
func readModels(data []byte) ([]Model, error) {
	var all []listed
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		if err := json.Unmarshal(data, &all); err != nil {
			return nil, err
		}
	} else {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(data, &object); err != nil {
			return nil, err
		}
		list, ok := object["data"]
		if !ok {
			if list, ok = object["models"]; !ok {
				return nil, fmt.Errorf("no list of models")
			}
		}
		if err := json.Unmarshal(list, &all); err != nil {
			return nil, err
		}
	}
	models := make([]Model, 0, len(all))
	for i := range all {
		if m := &all[i]; m.chats() {
			models = append(models, m.model())
		}
	}
	return models, nil
}

// silent are words in the names of models that do not chat, for servers that
// list them without saying so.
var silent = []string{
	"embed", "embedding", "embeddings", "bge", "minilm", "rerank", "reranker", "moderation",
	"whisper", "tts", "transcribe", "realtime", "audio", "sora", "veo", "imagen", "image", "dall", "lyria", "aqa",
	"babbage", "davinci",
}

// namedSilent tells whether a model's name says that it does not chat.
func namedSilent(id string) bool {
	words := strings.FieldsFunc(strings.ToLower(id), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(silent, w) })
}

// responsesOnly tells whether OpenAI offers a model in its other API only.
func responsesOnly(id string) bool {
	return strings.Contains(id, "-codex") || strings.Contains(id, "-pro") || strings.Contains(id, "deep-research") || strings.HasPrefix(id, "codex-")
}

// chats tells whether the model speaks chat completions, as far as the server says.
func (m *listed) chats() bool {
	if m.ID == "" && m.Name == "" || namedSilent(m.ID) || m.Active != nil && !*m.Active {
		return false
	}
	if c := m.Capabilities.CompletionChat; c != nil && !*c {
		return false
	}
	for _, kind := range []string{m.Type, m.Capabilities.Type} {
		switch kind {
		case "embedding", "embeddings", "image", "audio", "moderation", "rerank", "transcription", "video":
			return false
		}
	}
	return true
}

func (m *listed) model() Model {
	out := Model{
		ID:           strings.TrimPrefix(m.ID, "models/"), // Gemini
		Name:         m.DisplayName,
		ContextTrain: int(m.Meta.Train),
	}
	if out.ID == "" {
		out.ID = m.Name
	} else if out.Name == "" && m.Name != m.ID {
		out.Name = m.Name
	}
	limits := m.Capabilities.Limits
	// What limits most comes first: a prompt's own limit, and what is loaded.
	out.Context = firstOf(limits.Prompt, limits.Window, m.LoadedContext, m.ContextLength, m.ContextWindow, m.MaxModelLen, m.MaxContext)
	out.MaxOutput = firstOf(limits.Output, m.TopProvider.MaxCompletion, m.MaxCompletion, m.MaxOutputTokens)
	out.Tools = ability(m.Capabilities.FunctionCalling, m.Capabilities.Supports.Tools, m.Parameters, "tools")
	out.Reasoning = ability(nil, nil, m.Parameters, "reasoning")
	out.Images = ability(m.Capabilities.Vision, m.Capabilities.Supports.Vision, m.Architecture.Input, "image")
	return out
}

func firstOf(numbers ...float64) int {
	for _, n := range numbers {
		if n > 0 {
			return int(n)
		}
	}
	return 0
}

// ability is what one of two flags says, or whether a list that is there has the word.
func ability(a, b *bool, words []string, word string) app.Ability {
	for _, flag := range []*bool{a, b} {
		if flag != nil && *flag {
			return app.Yes
		} else if flag != nil {
			return app.No
		}
	}
	if len(words) == 0 {
		return app.Unknown
	}
	for _, w := range words {
		if w == word {
			return app.Yes
		}
	}
	return app.No
}
