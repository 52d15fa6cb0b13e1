package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools"
)

type greeting struct {
	Name  string `json:"name" description:"whom to greet"`
	Times int    `json:"times,omitempty"`
}

func greeter(t *testing.T, h func(context.Context, greeting) (string, error)) *tools.Tool {
	t.Helper()
	tool, err := tools.NewTool("greet", "greets", h)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func echoName(_ context.Context, in greeting) (string, error) { return in.Name, nil }

// CORE-01
func TestNewTool(t *testing.T) {
	tool := greeter(t, echoName)
	if tool.Name() != "greet" || tool.Description() != "greets" || tool.InputSchema()["type"] != "object" {
		t.Errorf("got %q, %q, %v", tool.Name(), tool.Description(), tool.InputSchema())
	}
	got, err := tool.Handle(t.Context(), `{"name":"Ada"}`)
	if err != nil || got != "Ada" {
		t.Errorf("Handle = %v, %v", got, err)
	}
}

// CORE-01
func TestToolNeedsNameAndHandler(t *testing.T) {
	raw := func(context.Context, string) (any, error) { return nil, nil }
	for _, name := range []string{"", " \t"} {
		if _, err := tools.NewTool(name, "d", echoName); !errors.Is(err, tools.ErrToolNameRequired) {
			t.Errorf("NewTool(%q) = %v", name, err)
		}
		if _, err := tools.NewRawTool(name, "d", nil, raw); !errors.Is(err, tools.ErrToolNameRequired) {
			t.Errorf("NewRawTool(%q) = %v", name, err)
		}
	}
	if _, err := tools.NewTool[greeting, string]("x", "d", nil); !errors.Is(err, tools.ErrToolHandlerRequired) {
		t.Errorf("NewTool without handler = %v", err)
	}
	if _, err := tools.NewRawTool("x", "d", nil, nil); !errors.Is(err, tools.ErrToolHandlerRequired) {
		t.Errorf("NewRawTool without handler = %v", err)
	}
}

// CORE-05, CORE-06, CORE-07
func TestMiddlewareOrderAndArguments(t *testing.T) {
	const arguments = `{ "name": "Ada" }`
	var order []string
	note := func(name string) tools.Middleware {
		return func(tool *tools.Tool, next tools.ToolHandler) tools.ToolHandler {
			return func(ctx context.Context, got string) (any, error) {
				order = append(order, name+":"+tool.Name())
				var in greeting
				if err := json.Unmarshal([]byte(got), &in); err != nil || got != arguments || in.Name != "Ada" {
					t.Errorf("%s: arguments %q, %v", name, got, err)
				}
				return next(ctx, got)
			}
		}
	}
	tool := greeter(t, func(_ context.Context, in greeting) (string, error) {
		order = append(order, "handler")
		return in.Name, nil
	})
	if tool.Use(note("first"), note("second")).Use(note("third")) != tool {
		t.Error("Use does not return its tool")
	}
	if _, err := tool.Handle(t.Context(), arguments); err != nil {
		t.Fatal(err)
	}
	if want := []string{"first:greet", "second:greet", "third:greet", "handler"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// CORE-05: a middleware that refuses keeps the handler from running.
func TestMiddlewareRefuses(t *testing.T) {
	refused, ran := errors.New("denied by user"), false
	tool := greeter(t, func(context.Context, greeting) (string, error) { ran = true; return "", nil })
	tool.Use(func(_ *tools.Tool, next tools.Handler) tools.Handler {
		return func(context.Context, string) (any, error) { return nil, refused }
	})
	if _, err := tool.Handle(t.Context(), `{"name":"Ada"}`); !errors.Is(err, refused) || ran {
		t.Errorf("err %v, handler ran: %v", err, ran)
	}
}

// CORE-08, CORE-13
func TestArguments(t *testing.T) {
	tests := []struct {
		name, arguments string
		want            greeting
		err             string // "" when the handler runs
	}{
		{name: "plain", arguments: `{"name":"Ada","times":2}`, want: greeting{"Ada", 2}},
		{name: "keys in any case", arguments: `{"NAME":"Ada","Times":2}`, want: greeting{"Ada", 2}},
		{name: "the last duplicate wins", arguments: `{"name":"Ada","name":"Bob"}`, want: greeting{"Bob", 0}},
		{name: "the last duplicate wins in any case", arguments: `{"name":"Ada","NAME":"Bob"}`, want: greeting{"Bob", 0}},
		{name: "unknown keys are ignored", arguments: `{"name":"Ada","mood":"good"}`, want: greeting{"Ada", 0}},
		{name: "empty is {}", arguments: "", want: greeting{}},
		{name: "blank is {}", arguments: " \n", want: greeting{}},
		{name: "null", arguments: "null", want: greeting{}},
		{name: "blanks around it", arguments: "\n {\"name\":\"Ada\"}\n", want: greeting{"Ada", 0}},
		{name: "cut in a key", arguments: `{"name":`, err: "the JSON ends early"},
		{name: "cut in a string", arguments: `{"name":"A`, err: "the JSON ends early"},
		{name: "wrong type", arguments: `{"name":1}`, err: "name"},
		{name: "no object", arguments: `[]`, err: "array"},
		{name: "no JSON", arguments: `name=Ada`, err: "invalid character"},
		{name: "two values", arguments: `{"name":"Ada"}{"name":"Bob"}`, err: "text after"},
		{name: "text after it", arguments: `{"name":"Ada"} ok`, err: "text after"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ran := false
			tool := greeter(t, func(_ context.Context, in greeting) (string, error) {
				ran = true
				if in != tt.want {
					t.Errorf("got %+v, want %+v", in, tt.want)
				}
				return "", nil
			})
			_, err := tool.Handle(t.Context(), tt.arguments)
			if ran != (tt.err == "") {
				t.Errorf("handler ran: %v", ran)
			}
			if tt.err == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var parse *tools.ArgumentParseError
			if !errors.As(err, &parse) || parse.Unwrap() == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("err = %v, want one with %q", err, tt.err)
			}
		})
	}
}

// CORE-10
func TestText(t *testing.T) {
	tests := []struct {
		result any
		want   string
	}{
		{nil, ""},
		{"     1\t<a> & \"b\"\n", "     1\t<a> & \"b\"\n"},
		{tools.Result{Text: "a <picture>", Images: []tools.Image{{MediaType: "image/png"}}}, "a <picture>"},
		{map[string]any{"a": "<b> & c\u2028"}, `{"a":"<b> & c\u2028"}`},
		{[]string{"x"}, `["x"]`},
		{struct {
			N int `json:"n"`
		}{3}, `{"n":3}`},
	}
	for _, tt := range tests {
		if got, err := tools.Text(tt.result); err != nil || got != tt.want {
			t.Errorf("Text(%#v) = %q, %v, want %q", tt.result, got, err, tt.want)
		}
	}
	if got, err := tools.Text(func() {}); err == nil || !strings.Contains(err.Error(), "cannot be sent") {
		t.Errorf("Text(func) = %q, %v", got, err)
	}
}

// CORE-12
func TestToolCallInContext(t *testing.T) {
	if c, ok := tools.ToolCallFromContext(t.Context()); ok {
		t.Errorf("outside of a call: %+v", c)
	}
	want := tools.ToolCall{ID: "call_7", Name: "greet", Arguments: `{"name":"Ada"}`}
	var inMiddleware, inHandler tools.ToolCall
	tool := greeter(t, func(ctx context.Context, _ greeting) (string, error) {
		inHandler, _ = tools.ToolCallFromContext(ctx)
		return "", nil
	}).Use(func(_ *tools.Tool, next tools.Handler) tools.Handler {
		return func(ctx context.Context, arguments string) (any, error) {
			inMiddleware, _ = tools.ToolCallFromContext(ctx)
			return next(ctx, arguments)
		}
	})
	if _, err := tool.Handle(tools.ContextWithToolCall(t.Context(), want), want.Arguments); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]tools.ToolCall{want, want}, []tools.ToolCall{inMiddleware, inHandler}); d != "" {
		t.Error(d)
	}
}

func TestExclusive(t *testing.T) {
	tool := greeter(t, echoName)
	if tool.Exclusive() || !tool.SetExclusive(true).Exclusive() || tool.SetExclusive(false).Exclusive() {
		t.Error("SetExclusive does not hold")
	}
}
