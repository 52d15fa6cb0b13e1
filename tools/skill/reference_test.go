package skill_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/phero-agent/agent/tools"
	skilltool "github.com/phero-agent/agent/tools/skill"
)

// The reference's snippets, as they stand there.

type adder struct{ added []*tools.Tool }

func (a *adder) AddTool(t *tools.Tool) error {
	a.added = append(a.added, t)
	return nil
}

func referenceTool(a *adder) {
	dispatcher, err := skilltool.New("./skills")
	if err != nil {
		panic(err)
	}
	if err := a.AddTool(dispatcher.Tool()); err != nil {
		panic(err)
	}
}

// CORE-03
var (
	_ func(*skilltool.Tool) *tools.Tool                          = (*skilltool.Tool).Tool
	_ func(*skilltool.Tool) []skilltool.Skipped                  = (*skilltool.Tool).Skipped
	_ func(string, ...skilltool.Option) (*skilltool.Tool, error) = skilltool.New
)

func TestReferenceTool(t *testing.T) {
	t.Chdir(t.TempDir())
	a := &adder{}
	referenceTool(a)
	if len(a.added) != 1 || a.added[0].Name() != "skill" {
		t.Errorf("added %v", a.added)
	}
}

// SKILL-01, SKILL-12
func Example() {
	root, err := os.MkdirTemp("", "skills")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	_ = os.Mkdir(filepath.Join(root, "review"), 0o700)
	_ = os.WriteFile(filepath.Join(root, "review", "SKILL.md"), []byte(`---
name: review
description: Reviews a change before it is committed.
allowed-tools: bash(git diff *)
---
Look at $ARGUMENTS and name what is wrong.
`), 0o600)

	dispatcher, err := skilltool.New(root, skilltool.WithOnLoad(func(_ context.Context, s skilltool.Skill) {
		fmt.Println("wants to use:", s.AllowedTools) // a policy allows them for the run
	}))
	if err != nil {
		panic(err)
	}
	for _, s := range dispatcher.Skills() {
		fmt.Printf("%s: %s\n", s.Name, s.Description)
	}
	if _, err := dispatcher.Tool().Handle(context.Background(), `{"command":"review","arguments":"main.go"}`); err != nil {
		panic(err)
	}
	_, err = dispatcher.Tool().Handle(context.Background(), `{"command":"deploy"}`)
	fmt.Println(err)
	// Output:
	// review: Reviews a change before it is committed.
	// wants to use: [bash(git diff *)]
	// there is no skill "deploy"; the skills are: review
}
