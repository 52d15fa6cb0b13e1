package tools_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/skill"
)

// SKILL-19, decision 18, file-tool-cases K5: what is beside a user's SKILL.md
// can be read, and its scripts run in the sandbox, but nothing of it can be
// written, and nothing outside of the skill can be read through it.
func TestFilesOfASkill(t *testing.T) {
	user, workspace := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"x/SKILL.md":       "---\nname: x\ndescription: d\n---\nRead ref.md and ../other/file, run scripts/hello.sh.",
		"x/ref.md":         "the reference",
		"x/scripts/say.sh": "#!/bin/sh\necho \"the script says $1\"\n",
		"other/file":       "not of the skill",
	} {
		path := filepath.Join(user, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	skills, err := skill.New(user)
	if err != nil || len(skills.Skills()) != 1 {
		t.Fatal(err, skills.Skipped())
	}
	dir := skills.Skills()[0].RootPath
	call := func(tool *tools.Tool, arguments map[string]string) (string, error) {
		t.Helper()
		b, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		result, err := tool.Handle(t.Context(), string(b))
		if err != nil {
			return "", err
		}
		return tools.Text(result)
	}

	opts := []file.Option{file.WithWorkingDirectory(workspace), file.WithReadOnlyRoots(dir)}
	readTool, err := file.NewReadTool(opts...)
	if err != nil {
		t.Fatal(err)
	}
	writeTool, err := file.NewWriteTool(opts...)
	if err != nil {
		t.Fatal(err)
	}
	ref := filepath.Join(dir, "ref.md")
	if got, err := call(readTool.Tool(), map[string]string{"file_path": ref}); err != nil || !strings.Contains(got, "the reference") {
		t.Errorf("read: %q, %v", got, err)
	}
	if got, err := call(readTool.Tool(), map[string]string{"file_path": dir + "/../other/file"}); !errors.Is(err, file.ErrPathOutsideWorkingDirectory) {
		t.Errorf("read outside of the skill: %q, %v", got, err)
	}
	if got, err := call(writeTool.Tool(), map[string]string{"file_path": ref, "content": "x"}); !errors.Is(err, file.ErrPathOutsideWorkingDirectory) {
		t.Errorf("write: %q, %v", got, err)
	}

	runner, err := bash.NewBubblewrapRunner(workspace, bash.WithReadOnlyPaths(dir))
	if err == nil {
		err = runner.Probe(t.Context())
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must have a sandbox:", err)
		}
		t.Skip("no sandbox:", err)
	}
	shell, err := bash.New(bash.WithRunner(runner), bash.WithWorkingDirectory(workspace))
	if err != nil {
		t.Fatal(err)
	}
	defer shell.Close()
	if got, err := call(shell.Tool(), map[string]string{"command": dir + "/scripts/say.sh hello"}); err != nil || !strings.Contains(got, "the script says hello") {
		t.Errorf("script: %q, %v", got, err)
	}
	got, err := call(shell.Tool(), map[string]string{"command": "echo changed > " + ref + "; cat " + filepath.Join(user, "other", "file")})
	if data, readErr := os.ReadFile(ref); string(data) != "the reference" || strings.Contains(got, "not of the skill") {
		t.Errorf("from the sandbox: %q, %v; the reference is %q, %v", got, err, data, readErr)
	}
}
