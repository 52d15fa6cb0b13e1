package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/phero-agent/agent/tools"
	agenttool "github.com/phero-agent/agent/tools/agent"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/human"
	"github.com/phero-agent/agent/tools/skill"
	"github.com/phero-agent/agent/tools/todo"
	"github.com/phero-agent/agent/tools/web"
)

type noLLM struct{}

func (noLLM) RunAgent(context.Context, agenttool.Spec) (string, error) { return "", nil }

// builtin makes every tool of the packages (CORE-02, CORE-03).
func builtin(t *testing.T) []*tools.Tool {
	t.Helper()
	var all []*tools.Tool
	add := func(tool *tools.Tool, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tool)
	}
	dir := file.WithWorkingDirectory(t.TempDir())
	read, err := file.NewReadTool(dir)
	add(read.Tool(), err)
	write, err := file.NewWriteTool(dir)
	add(write.Tool(), err)
	edit, err := file.NewEditTool(dir)
	add(edit.Tool(), err)
	multi, err := file.NewMultiEditTool(dir)
	add(multi.Tool(), err)
	glob, err := file.NewGlobTool(dir)
	add(glob.Tool(), err)
	grep, err := file.NewGrepTool(dir)
	add(grep.Tool(), err)

	shell, err := bash.New(bash.WithWorkingDirectory(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shell.Close() })
	add(shell.Tool(), nil)
	add(shell.OutputTool(), nil)
	add(shell.KillTool(), nil)

	ask, err := human.New(human.WithInteractor(func(context.Context, *human.Input) (map[string]human.Answer, error) { return nil, nil }))
	add(ask.Tool(), err)
	sub, err := agenttool.New(noLLM{}, read.Tool(), write.Tool())
	add(sub.Tool(), err)
	skills, err := skill.New("")
	add(skills.Tool(), err)
	add(todo.New().Tool())
	add(web.New().Tool())
	return all
}

// CORE-04, CORE-15, LOOP-06: names, what must be given, and which calls are barriers.
func TestBuiltinTools(t *testing.T) {
	want := map[string][]string{
		"read": {"file_path"}, "write": {"file_path", "content"}, "edit": {"file_path", "old_string", "new_string"},
		"multi_edit": {"file_path", "edits"}, "glob": {"pattern"}, "grep": {"pattern"},
		"bash": {"command"}, "bash_output": {"bash_id"}, "kill_shell": {"shell_id"},
		"user_interaction": {"questions"}, "agent": {"name", "description", "input"}, "skill": {"command"},
		"todo_write": {"todos"}, "web_fetch": {"url"},
	}
	all := builtin(t)
	if len(all) != len(want) {
		t.Errorf("%d tools, want %d", len(all), len(want))
	}
	for _, tool := range all {
		required, known := want[tool.Name()]
		if got, _ := tool.InputSchema()["required"].([]string); !known || !slices.Equal(got, required) {
			t.Errorf("%s requires %v, want %v", tool.Name(), got, required)
		}
		exclusive := slices.Contains([]string{"write", "edit", "multi_edit"}, tool.Name())
		if tool.Exclusive() != exclusive {
			t.Errorf("%s: exclusive %v", tool.Name(), tool.Exclusive())
		}
	}
}

// CORE-15: each field is described to the model, and nothing in a schema is
// refused by one of the compatible servers.
func TestBuiltinSchemas(t *testing.T) {
	var check func(t *testing.T, path string, s map[string]any)
	check = func(t *testing.T, path string, s map[string]any) {
		for key := range s {
			if !slices.Contains([]string{"type", "description", "enum", "items", "properties", "required"}, key) {
				t.Errorf("%s: %s", path, key)
			}
		}
		if _, ok := s["type"].(string); !ok {
			t.Errorf("%s: type %v", path, s["type"])
		}
		if items, ok := s["items"].(map[string]any); ok {
			check(t, path+"[]", items)
		}
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			p := p.(map[string]any)
			if p["description"] == nil && p["enum"] == nil {
				t.Errorf("%s.%s has no description", path, name)
			}
			check(t, path+"."+name, p)
		}
	}
	for _, tool := range builtin(t) {
		check(t, tool.Name(), tool.InputSchema())
		if len(tool.Description()) < 40 {
			t.Errorf("%s is described by %q", tool.Name(), tool.Description())
		}
	}
}

// Decision 26: what every request carries is bounded, at 4 bytes a token.
func TestBuiltinToolsFitThePrompt(t *testing.T) {
	total := 0
	for _, tool := range builtin(t) {
		schema, err := json.Marshal(tool.InputSchema())
		if err != nil {
			t.Fatal(err)
		}
		total += len(tool.Name()) + len(tool.Description()) + len(schema)
	}
	if total > 3500*4 {
		t.Errorf("names, descriptions and schemas have %d bytes", total)
	}
}

// CORE-05, CORE-07, CORE-08: the reference's middleware that asks before a write.
func TestReferenceConfirmBeforeWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new.txt")
	arguments, err := json.Marshal(map[string]string{"FILE_PATH": path, "content": "hello"})
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"n", "y"} {
		writeTool, err := file.NewWriteTool(file.WithWorkingDirectory(dir))
		if err != nil {
			t.Fatal(err)
		}
		writeTool.Tool().Use(func(_ *tools.Tool, next tools.ToolHandler) tools.ToolHandler {
			return func(ctx context.Context, arguments string) (any, error) {
				var input file.WriteInput
				if err := json.Unmarshal([]byte(arguments), &input); err != nil {
					return nil, err
				}
				if input.FilePath != path {
					t.Errorf("write to %q", input.FilePath)
				}
				if !strings.EqualFold(answer, "y") {
					return nil, fmt.Errorf("write denied by user")
				}
				return next(ctx, arguments)
			}
		})
		_, err = writeTool.Tool().Handle(t.Context(), string(arguments))
		_, statErr := os.Stat(path)
		if answer == "y" && (err != nil || statErr != nil) || answer == "n" && (err == nil || !errors.Is(statErr, os.ErrNotExist)) {
			t.Errorf("%s: %v, %v", answer, err, statErr)
		}
	}
}

// The reference's tools for every sub-agent (AGENT-04).
func TestReferenceAgentTools(t *testing.T) {
	readTool, _ := file.NewReadTool()
	writeTool, _ := file.NewWriteTool()
	agentTool, err := agenttool.New(noLLM{}, readTool.Tool(), writeTool.Tool())
	if err != nil {
		panic(err)
	}
	if !strings.Contains(agentTool.Tool().Description(), "read, write") {
		t.Errorf("description %q", agentTool.Tool().Description())
	}
}
