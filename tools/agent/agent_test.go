package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/agent"
)

// llmFunc is an LLM of one function.
type llmFunc func(ctx context.Context, spec agent.Spec) (string, error)

func (f llmFunc) RunAgent(ctx context.Context, spec agent.Spec) (string, error) { return f(ctx, spec) }

func newTool(t *testing.T, llm agent.LLM, ts ...*tools.Tool) *agent.Tool {
	t.Helper()
	tool, err := agent.New(llm, ts...)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func named(t *testing.T, name string) *tools.Tool {
	t.Helper()
	tool, err := tools.NewRawTool(name, "d", nil, func(context.Context, string) (any, error) { return name, nil })
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

const task = `{"name":"finder","description":"You find things.","input":"Find it."}`

// AGENT-03
func TestNew(t *testing.T) {
	if _, err := agent.New(nil); !errors.Is(err, agent.ErrLLMRequired) {
		t.Errorf("New(nil) = %v", err)
	}
	if _, err := agent.New(llmFunc(nil), named(t, "read"), nil); !errors.Is(err, agent.ErrNilTool) {
		t.Errorf("New with a nil tool = %v", err)
	}
}

// AGENT-06
func TestSchema(t *testing.T) {
	tool := newTool(t, llmFunc(nil)).Tool()
	if tool.Name() != "agent" || tool.Exclusive() {
		t.Errorf("name %q, exclusive %v: several sub-agents could not run at the same time", tool.Name(), tool.Exclusive())
	}
	s := tool.InputSchema()
	if d := cmp.Diff([]string{"name", "description", "input"}, s["required"]); d != "" {
		t.Error(d)
	}
	if n := len(s["properties"].(map[string]any)); n != 3 {
		t.Errorf("%d properties", n)
	}
}

// AGENT-01, AGENT-02, AGENT-04, AGENT-05, AGENT-07, AGENT-12, AGENT-13
func TestRun(t *testing.T) {
	read, write := named(t, "read"), named(t, "write")
	tests := []struct {
		name        string
		tools       []*tools.Tool
		description string
	}{
		{"with tools", []*tools.Tool{read, write}, "Its tools: read, write."},
		{"without tools", nil, "It has no tools"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got agent.Spec
			tool := newTool(t, llmFunc(func(ctx context.Context, spec agent.Spec) (string, error) {
				if call, ok := tools.ToolCallFromContext(ctx); !ok || call.ID != "call_7" {
					t.Errorf("the call in the context is %v", call)
				}
				got = spec
				return "42\n", nil
			}), tt.tools...)
			ctx := tools.ContextWithToolCall(t.Context(), tools.ToolCall{ID: "call_7"})
			answer, err := tool.Tool().Handle(ctx, `{"name":" test \n finder ","description":"You find things.\n","input":" Find it. "}`)
			if err != nil || answer != "42" {
				t.Errorf("result %q, %v", answer, err)
			}
			if len(got.Tools) != len(tt.tools) {
				t.Fatalf("the sub-agent has %d tools, want %d", len(got.Tools), len(tt.tools))
			}
			for i := range got.Tools {
				if got.Tools[i] != tt.tools[i] {
					t.Errorf("tool %d is not the one given, with its middleware", i)
				}
			}
			got.Tools = nil
			want := agent.Spec{Name: "test finder", Description: "You find things.\n", Input: " Find it. ", MaxIterations: 25}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			if !strings.Contains(tool.Tool().Description(), tt.description) {
				t.Errorf("the description does not say %q", tt.description)
			}
		})
	}
}

// AGENT-04: what a sub-agent does to its list of tools is its own business.
func TestEachSubAgentHasItsOwnTools(t *testing.T) {
	read := named(t, "read")
	tool := newTool(t, llmFunc(func(_ context.Context, spec agent.Spec) (string, error) {
		if spec.Tools[0] != read {
			t.Errorf("the sub-agent has %q", spec.Tools[0].Name())
		}
		spec.Tools[0] = nil
		return "done", nil
	}), read)
	for range 2 {
		if _, err := tool.Tool().Handle(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
}

// AGENT-08, AGENT-09, AGENT-10, AGENT-11, CORE-13
func TestInputIsCheckedFirst(t *testing.T) {
	tests := []struct {
		arguments string
		err       error
	}{
		{`null`, agent.ErrNilInput},
		{`{}`, agent.ErrNameRequired},
		{``, agent.ErrNameRequired},
		{`{"name":"","description":"","input":""}`, agent.ErrNameRequired},
		{`{"name":" ","description":"d","input":"i"}`, agent.ErrNameRequired},
		{`{"name":"n","description":"\n","input":""}`, agent.ErrDescriptionRequired},
		{`{"name":"n","description":"d","input":"\t"}`, agent.ErrInputRequired},
		{`{"name":"n","description":"d"}`, agent.ErrInputRequired},
	}
	tool := newTool(t, llmFunc(func(context.Context, agent.Spec) (string, error) {
		t.Error("a sub-agent ran")
		return "", nil
	}))
	for _, tt := range tests {
		if _, err := tool.Tool().Handle(t.Context(), tt.arguments); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.arguments, err, tt.err)
		}
	}
	var parse *tools.ArgumentParseError
	if _, err := tool.Tool().Handle(t.Context(), `{"name":`); !errors.As(err, &parse) {
		t.Errorf("cut JSON: %v", err)
	}
}

// AGENT-07
func TestEmptyAnswer(t *testing.T) {
	tool := newTool(t, llmFunc(func(context.Context, agent.Spec) (string, error) { return " \n", nil }))
	if got, err := tool.Tool().Handle(t.Context(), task); err != nil || got != `(the sub-agent "finder" ended without an answer)` {
		t.Errorf("result %q, %v", got, err)
	}
}

// AGENT-12, AGENT-15
func TestFailures(t *testing.T) {
	limit := errors.New("limit of 2 iterations reached")
	for _, partial := range []string{"", "I found a.go."} {
		tool := newTool(t, llmFunc(func(_ context.Context, spec agent.Spec) (string, error) {
			if spec.MaxIterations != 2 {
				t.Errorf("limit %d", spec.MaxIterations)
			}
			return partial, limit
		}))
		tool.SetMaxIterations(2)
		_, err := tool.Tool().Handle(t.Context(), task)
		if !errors.Is(err, limit) || !strings.Contains(err.Error(), "finder") ||
			strings.Contains(err.Error(), "so far") != (partial != "") || !strings.HasSuffix(err.Error(), partial) {
			t.Errorf("partial %q: err = %v", partial, err)
		}
	}
}

// AGENT-12: the sub-agent ends with the caller's context.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tool := newTool(t, llmFunc(func(ctx context.Context, _ agent.Spec) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}))
	if _, err := tool.Tool().Handle(ctx, task); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// The description is read by the model with every request.
func TestDescriptionIsShort(t *testing.T) {
	tool := newTool(t, llmFunc(nil)).Tool()
	schema, err := json.Marshal(tool.InputSchema())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tool.Description()) + len(schema); n > 2000 {
		t.Errorf("description and schema have %d bytes", n)
	}
}
