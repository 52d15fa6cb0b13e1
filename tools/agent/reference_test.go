package agent_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/phero-agent/agent/tools"
	agenttool "github.com/phero-agent/agent/tools/agent"
)

// The reference's snippets, as they stand there.

type adder struct{ added []*tools.Tool }

func (a *adder) AddTool(t *tools.Tool) error {
	a.added = append(a.added, t)
	return nil
}

func referenceTool(llmClient agenttool.LLM, a *adder) {
	// Pass the same LLM client used by the orchestrator.
	agentTool, err := agenttool.New(llmClient)
	if err != nil {
		panic(err)
	}
	if err := a.AddTool(agentTool.Tool()); err != nil {
		panic(err)
	}
}

// CORE-03
var _ func(*agenttool.Tool) *tools.Tool = (*agenttool.Tool).Tool

func TestReferenceTool(t *testing.T) {
	a := &adder{}
	referenceTool(llmFunc(nil), a)
	if len(a.added) != 1 || a.added[0].Name() != "agent" {
		t.Errorf("added %v", a.added)
	}
}

func Example() {
	var llm agenttool.LLM = llmFunc(func(_ context.Context, spec agenttool.Spec) (string, error) {
		// The application runs its loop here.
		fmt.Printf("%s has %d tools and is asked: %s\n", spec.Name, len(spec.Tools), spec.Input)
		return "There are 12 tests.", nil
	})
	read, err := tools.NewTool("read", "Reads a file.", func(context.Context, struct{}) (string, error) { return "", nil })
	if err != nil {
		panic(err)
	}
	agentTool, err := agenttool.New(llm, read)
	if err != nil {
		panic(err)
	}
	fmt.Println(agentTool.Tool().Handle(context.Background(),
		`{"name":"test-finder","description":"You look for tests.","input":"How many tests are there?"}`))
	// Output:
	// test-finder has 1 tools and is asked: How many tests are there?
	// There are 12 tests. <nil>
}
