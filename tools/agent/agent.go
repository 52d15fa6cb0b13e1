// Package agent lets the model hand a task to a sub-agent that is made for it.
// Who runs it, with which model and which loop, is the [LLM]'s business.
//
//	model ──agent{name, description, input}──► check ──Spec──► LLM.RunAgent
//	      ◄────────────the final text──────────────────────────────┘
package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools"
)

// DefaultMaxIterations is how many model requests a sub-agent may make unless
// [Tool.SetMaxIterations] says otherwise.
const DefaultMaxIterations = 25

const description = `Hand a task to a sub-agent, which works on its own in a context of its own, and get its final answer.

Use it for open-ended work whose details would only fill this conversation, such as a search through many files, and for independent parts of a task: call it several times in one reply and they run at the same time. Do what one or two calls settle yourself.
- The sub-agent knows nothing of this conversation: put the goal, the paths, the constraints and what to report into the input.
- Sub-agents that run at the same time must not change the same files.
- Only you see the answer; tell the user what matters of it.
`

// LLM runs one agent to its end: the application implements it with its own
// provider and loop.
type LLM interface {
	// RunAgent starts a conversation with an empty history and returns the
	// agent's final text. When it fails, at a limit too, it returns what the
	// agent said so far beside the error. It ends when the context does.
	RunAgent(ctx context.Context, spec Spec) (string, error)
}

// Spec is the agent to run.
type Spec struct {
	Name          string // short, one line
	Description   string // its system prompt
	Input         string // its first user message
	Tools         []*tools.Tool
	MaxIterations int // model requests, 0: no limit
}

// Input is what the model sends.
type Input struct {
	Name        string `json:"name" description:"a short name, shown to the user: test-finder"`
	Description string `json:"description" description:"the sub-agent's system prompt: its role and how it should work"`
	Input       string `json:"input" description:"the task, with everything that the sub-agent needs to know"`
}

// What a call, or [New], can fail with.
var (
	ErrLLMRequired         = errors.New("an LLM is required")
	ErrNilTool             = errors.New("a tool is nil")
	ErrNilInput            = errors.New("the input is missing")
	ErrNameRequired        = errors.New("a name is required")
	ErrDescriptionRequired = errors.New("a description is required")
	ErrInputRequired       = errors.New("an input is required")
)

// Tool is the tool agent.
type Tool struct {
	llm           LLM
	tools         []*tools.Tool
	maxIterations int
	tool          *tools.Tool
}

// New makes the tool. Every sub-agent has the tools ts, as they are, middleware
// included; whether they can start sub-agents is for the caller to decide.
// A nil llm is [ErrLLMRequired].
func New(llm LLM, ts ...*tools.Tool) (*Tool, error) {
	if llm == nil {
		return nil, ErrLLMRequired
	}
	if slices.Contains(ts, nil) {
		return nil, ErrNilTool
	}
	t := &Tool{llm: llm, tools: slices.Clone(ts), maxIterations: DefaultMaxIterations}
	var err error
	t.tool, err = tools.NewTool("agent", description+toolNames(ts), t.run)
	return t, err
}

// Tool returns what the model calls.
func (t *Tool) Tool() *tools.Tool { return t.tool }

// SetMaxIterations sets how many model requests a sub-agent may make; 0 means
// no limit. It must not be called once calls run.
func (t *Tool) SetMaxIterations(n int) { t.maxIterations = n }

func (t *Tool) run(ctx context.Context, in *Input) (string, error) {
	if err := in.check(); err != nil {
		return "", err
	}
	name := strings.Join(strings.Fields(in.Name), " ")
	answer, err := t.llm.RunAgent(ctx, Spec{
		Name:          name,
		Description:   in.Description,
		Input:         in.Input,
		Tools:         slices.Clone(t.tools),
		MaxIterations: t.maxIterations,
	})
	answer = strings.TrimSpace(answer)
	switch {
	case err != nil && answer != "":
		return "", fmt.Errorf("the sub-agent %q did not finish: %w\nWhat it said so far:\n%s", name, err, answer)
	case err != nil:
		return "", fmt.Errorf("the sub-agent %q did not finish: %w", name, err)
	case answer == "":
		return fmt.Sprintf("(the sub-agent %q ended without an answer)", name), nil
	}
	return answer, nil
}

func (in *Input) check() error {
	switch {
	case in == nil:
		return ErrNilInput
	case strings.TrimSpace(in.Name) == "":
		return ErrNameRequired
	case strings.TrimSpace(in.Description) == "":
		return ErrDescriptionRequired
	case strings.TrimSpace(in.Input) == "":
		return ErrInputRequired
	}
	return nil
}

// toolNames tells the model what a sub-agent can do, so that it gives it no
// task that needs something else.
func toolNames(ts []*tools.Tool) string {
	if len(ts) == 0 {
		return "- It has no tools: it can only think about what the input says."
	}
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = t.Name()
	}
	return "- Its tools: " + strings.Join(names, ", ") + "."
}
