package app

import (
	"context"
	"fmt"
	"time"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// Provider is a model behind a server, or a script that plays one.
type Provider interface {
	// Stream sends one request and returns the whole reply. Meanwhile it calls
	// emit, from one goroutine, with what arrives. When the context ends or the
	// stream breaks, the reply holds what had come, with Message.Cut set and no
	// calls, beside the error. An error that came from a server is a *ProviderError.
	Stream(ctx context.Context, req Request, emit func(Delta)) (Reply, error)

	// Info is what is known of the model by now. It sends nothing; a request may
	// teach more, as a server's true window.
	Info() ModelInfo
}

// Request is all that a model is told.
type Request struct {
	System   string
	Messages []session.Message // valid: every call answered once, notes already in the texts
	Tools    []ToolSpec
	Images   func(blob string) ([]byte, error) // reads an image of a message
	Effort   string                            // of the reasoning: "low", "medium", "high" …; "" is the server's default
}

// ToolSpec is a tool as the model sees it.
type ToolSpec struct {
	Name, Description string
	Schema            map[string]any
}

// Delta is a piece of a reply. Exactly one of its parts is set.
type Delta struct {
	Text      string
	Reasoning string
	Call      *CallProgress
	Retry     *Retry
}

// CallProgress says that a call is arriving.
type CallProgress struct {
	Index int // among the calls of the reply
	Name  string
	Bytes int // of the arguments so far
}

// Retry says that a request failed and will be sent again.
type Retry struct {
	Reason  string // in words
	Attempt int    // of the request to come, from 2
	Wait    time.Duration
}

// Reply is a whole reply of the model.
type Reply struct {
	Message session.Message // Role assistant; the ids of its calls are the server's, in ID
	Finish  string          // "stop", "tool_calls", "length", "content_filter"
}

// ErrorKind says what went wrong between us and a model, and so what can be done.
type ErrorKind string

// The kinds of errors of a provider.
const (
	ErrContextOverflow  ErrorKind = "context_overflow"
	ErrRateLimit        ErrorKind = "rate_limit"
	ErrQuota            ErrorKind = "quota"
	ErrOverloaded       ErrorKind = "overloaded"
	ErrServer           ErrorKind = "server"
	ErrAuth             ErrorKind = "auth"
	ErrUnsupported      ErrorKind = "unsupported_parameter"
	ErrSchema           ErrorKind = "schema_unsupported"
	ErrToolsUnsupported ErrorKind = "tools_unsupported"
	ErrToolUseFailed    ErrorKind = "tool_use_failed"
	ErrTruncated        ErrorKind = "truncated_stream"
	ErrContentFilter    ErrorKind = "content_filter"
	ErrNotAnAPI         ErrorKind = "not_an_api"
	ErrInvalidRequest   ErrorKind = "invalid_request"
	ErrUnreachable      ErrorKind = "unreachable"
)

// ProviderError is an error of a model's server, in words with the next step.
type ProviderError struct {
	Kind       ErrorKind
	Status     int           // HTTP, 0 where there was none
	Host       string        // whom we asked
	Text       string        // the server's own words
	Next       string        // what the person can do
	Retryable  bool          // the same request may succeed later
	RetryAfter time.Duration // the server's wish; 0: none
	Window     int           // of an overflow: the true context window in tokens; 0: not said
	Err        error
}

func (e *ProviderError) Error() string {
	s := e.Text
	if s == "" && e.Err != nil {
		s = e.Err.Error()
	}
	who := e.Host
	if who != "" && e.Status != 0 {
		who = fmt.Sprintf("%s (HTTP %d)", who, e.Status)
	}
	if who != "" {
		s = who + ": " + s
	}
	if e.Next != "" {
		s += " — " + e.Next
	}
	return s
}

func (e *ProviderError) Unwrap() error { return e.Err }

// Specs lists tools as a request names them.
func Specs(ts []*tools.Tool) []ToolSpec {
	specs := make([]ToolSpec, len(ts))
	for i, t := range ts {
		specs[i] = ToolSpec{Name: t.Name(), Description: t.Description(), Schema: t.InputSchema()}
	}
	return specs
}
