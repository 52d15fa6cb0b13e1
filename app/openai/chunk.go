package openai

import (
	"bytes"
	"encoding/json"
	"errors"
)

var done = []byte("[DONE]")

// chunk is one piece of a reply, or a whole one, in every shape seen. What is
// null, missing or of a type that nobody expects counts as absent.
type chunk struct {
	Choices []choice                `json:"choices"`
	Usage   *usage                  `json:"usage"`
	Groq    *struct{ Usage *usage } `json:"x_groq"`
	Error   json.RawMessage         `json:"error"`
	Object  string                  `json:"object"`

	one [1]choice // room for what most chunks have
}

type choice struct {
	Delta        *delta `json:"delta"`
	Message      *delta `json:"message"` // of a reply that is no stream
	FinishReason string `json:"finish_reason"`
	Usage        *usage `json:"usage"` // Kimi puts it here
}

type delta struct {
	Content          any                          `json:"content"` // a string, or a list of parts
	Refusal          string                       `json:"refusal"`
	ReasoningContent *string                      `json:"reasoning_content"`
	Reasoning        string                       `json:"reasoning"`
	ReasoningText    string                       `json:"reasoning_text"`
	ReasoningDetails []map[string]json.RawMessage `json:"reasoning_details"`
	ToolCalls        []callPiece                  `json:"tool_calls"`
	FunctionCall     *functionPiece               `json:"function_call"` // the old form
}

type callPiece struct {
	Index    *int            `json:"index"`
	ID       string          `json:"id"`
	Function functionPiece   `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type functionPiece struct {
	Name      string       `json:"name"`
	Arguments argumentText `json:"arguments"`
}

// argumentText is a piece of a call's arguments: a string, or JSON that a
// server did not put into one.
type argumentText string

func (a *argumentText) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*a = argumentText(s)
	case 'n':
		*a = ""
	default:
		var out bytes.Buffer
		if err := json.Compact(&out, b); err != nil {
			return err
		}
		*a = argumentText(out.String())
	}
	return nil
}

// usage counts tokens. Numbers are floats because some gateways send them so.
type usage struct {
	Prompt        float64 `json:"prompt_tokens"`
	Completion    float64 `json:"completion_tokens"`
	CacheHit      float64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptDetails struct {
		Cached float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *usage) empty() bool { return u == nil || u.Prompt == 0 && u.Completion == 0 }

// decodeChunk reads a chunk. The error says that data is not JSON.
func decodeChunk(data []byte) (*chunk, error) {
	c := &chunk{}
	c.Choices = c.one[:0]
	if err := json.Unmarshal(data, c); err != nil {
		// A value of another type than usual leaves its field empty; the rest is read.
		if odd := (*json.UnmarshalTypeError)(nil); !errors.As(err, &odd) {
			return nil, err
		}
	}
	return c, nil
}

// failed tells whether the chunk, whose text is data, is an error and not a piece of a reply.
func (c *chunk) failed() bool {
	e := string(bytes.TrimSpace(c.Error))
	return c.Object == "error" || e != "" && e != "null" && e != `""` && e != "{}" && e != "false"
}

// contents divides a content into text and reasoning. A content that is a list
// mixes both, as Mistral's does.
func contents(content any) (text, reasoning string) {
	switch c := content.(type) {
	case string:
		return c, ""
	case []any:
		for _, part := range c {
			p, _ := part.(map[string]any)
			if thinking, ok := p["thinking"]; ok {
				t, r := contents(thinking)
				reasoning += t + r
			} else if s, ok := p["text"].(string); ok {
				text += s
			} else if s, ok := part.(string); ok {
				text += s
			}
		}
	}
	return text, reasoning
}

// reasoningOf is the reasoning of a delta, which servers name differently, and
// some send under two names.
func (d *delta) reasoningOf() string {
	if d.ReasoningContent != nil && *d.ReasoningContent != "" {
		return *d.ReasoningContent
	}
	if d.Reasoning != "" {
		return d.Reasoning
	}
	if d.ReasoningText != "" {
		return d.ReasoningText
	}
	var s string
	for _, detail := range d.ReasoningDetails {
		for _, key := range []string{"text", "summary"} {
			var part string
			if json.Unmarshal(detail[key], &part) == nil {
				s += part
			}
		}
	}
	return s
}
