// Package tools is the floor of the house: what a tool is, what a call is, and
// how middleware wraps a handler. It imports nothing else of this module.
//
//	model ──arguments──► Tool.Handle ──► middleware … ──► handler ──► result
package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Handler runs one call. The arguments are the JSON text that the model sent.
//
// The result is a string, a [Result], or a value that is sent to the model as
// JSON (CORE-10).
type Handler func(ctx context.Context, arguments string) (any, error)

// ToolHandler is the reference's name of [Handler].
type ToolHandler = Handler

// Middleware wraps the handler of a tool (CORE-05).
type Middleware func(t *Tool, next Handler) Handler

// Tool is a named function that the model can call (CORE-01).
// It must not be changed (Use, SetExclusive) once calls run.
type Tool struct {
	name        string
	description string
	schema      map[string]any
	handler     Handler
	middleware  []Middleware
	exclusive   bool
}

// Errors of the constructors.
var (
	ErrToolNameRequired    = errors.New("a tool needs a name")
	ErrToolHandlerRequired = errors.New("a tool needs a handler")
)

// ArgumentParseError says that a call's arguments are not the JSON that the
// tool takes. Nothing was run (CORE-13).
type ArgumentParseError struct{ Err error }

func (e *ArgumentParseError) Error() string {
	return fmt.Sprintf("the arguments are not valid: %v", e.Err)
}

func (e *ArgumentParseError) Unwrap() error { return e.Err }

// NewTool makes a tool whose input is decoded into T and whose schema is made
// from T, see [Schema].
func NewTool[T, R any](name, description string, h func(context.Context, T) (R, error)) (*Tool, error) {
	if h == nil {
		return nil, ErrToolHandlerRequired
	}
	return NewRawTool(name, description, Schema[T](), func(ctx context.Context, arguments string) (any, error) {
		var in T
		if err := DecodeArguments(arguments, &in); err != nil {
			return nil, err
		}
		return h(ctx, in)
	})
}

// NewRawTool makes a tool from a JSON schema and a handler of the raw arguments.
func NewRawTool(name, description string, schema map[string]any, h Handler) (*Tool, error) {
	if strings.TrimSpace(name) == "" {
		return nil, ErrToolNameRequired
	}
	if h == nil {
		return nil, ErrToolHandlerRequired
	}
	return &Tool{name: name, description: description, schema: schema, handler: h}, nil
}

// Name is the name that the model calls.
func (t *Tool) Name() string { return t.name }

// Description is what the model is told about the tool.
func (t *Tool) Description() string { return t.description }

// InputSchema is the JSON schema of the arguments. It is not a copy.
func (t *Tool) InputSchema() map[string]any { return t.schema }

// Use adds middleware; the first one added is the outermost (CORE-06).
func (t *Tool) Use(mw ...Middleware) *Tool {
	t.middleware = append(t.middleware, mw...)
	return t
}

// Exclusive tells whether calls of the tool are barriers among the calls of one reply (LOOP-06).
func (t *Tool) Exclusive() bool { return t.exclusive }

// SetExclusive makes the tool's calls barriers, see [Tool.Exclusive].
func (t *Tool) SetExclusive(v bool) *Tool {
	t.exclusive = v
	return t
}

// Handle runs one call through the middleware to the handler.
func (t *Tool) Handle(ctx context.Context, arguments string) (any, error) {
	h := t.handler
	for i := len(t.middleware) - 1; i >= 0; i-- {
		h = t.middleware[i](t, h)
	}
	return h(ctx, arguments)
}

// DecodeArguments decodes arguments as encoding/json does: keys in any case, the
// last of two equal ones wins, unknown ones are ignored (CORE-08). An empty
// text is taken as {}; text after the value is an error.
func DecodeArguments(arguments string, into any) error {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	dec := json.NewDecoder(strings.NewReader(arguments))
	if err := dec.Decode(into); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the JSON ends early")
		}
		return &ArgumentParseError{Err: err}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return &ArgumentParseError{Err: errors.New("there is text after the JSON value")}
	}
	return nil
}

// Text is a result as the model gets it: strings as they are, everything else as
// JSON without HTML escapes (CORE-10).
func Text(result any) (string, error) {
	switch r := result.(type) {
	case nil:
		return "", nil
	case string:
		return r, nil
	case Result:
		return r.Text, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		return "", fmt.Errorf("the result cannot be sent to the model: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
