package tools

import (
	"context"
	"encoding/json"
)

// ToolCall is one call of a tool by the model.
type ToolCall struct {
	ID        string `json:"id"`        // unique in the session
	Name      string `json:"name"`      // the tool's name
	Arguments string `json:"arguments"` // JSON, as the model sent it

	WireID string          `json:"wire_id,omitempty"` // the id that goes back to the server, when it differs from ID
	Parent string          `json:"parent,omitempty"`  // the call whose sub-agent made this one
	Agent  string          `json:"agent,omitempty"`   // the sub-agent's path, outermost first: "review › tests"
	Extra  json.RawMessage `json:"extra,omitempty"`   // what the server wants back with the call

	Order int64 `json:"-"` // counts the calls of a conversation as the model made them; 0: not known
}

type callKey struct{}

// ContextWithToolCall returns a context of the given call.
func ContextWithToolCall(ctx context.Context, c ToolCall) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// ToolCallFromContext tells which call runs, inside handlers, middleware and hooks (CORE-12).
func ToolCallFromContext(ctx context.Context) (ToolCall, bool) {
	c, ok := ctx.Value(callKey{}).(ToolCall)
	return c, ok
}
