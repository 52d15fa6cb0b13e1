//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

// workflow is what a document's workflow of GitHub Actions may hold; a key that is
// not here is an error.
type workflow struct {
	Name, On    string
	Permissions map[string]string
	Jobs        map[string]struct {
		RunsOn  string `yaml:"runs-on"`
		Minutes int    `yaml:"timeout-minutes"`
		Steps   []step
	}
}

type step struct {
	Name, Uses, Run string
	With, Env       map[string]string
}

var (
	secret  = regexp.MustCompile(`^\$\{\{ secrets\.(\w+) \}\}$`)
	pinned  = regexp.MustCompile(`^[\w-]+/[\w-]+@v\d+$`)
	minorGo = regexp.MustCompile(`(?m)^go (\d+\.\d+)`)
)

// checkWorkflow reads a workflow as GitHub does, holds what it installs against this
// module, and runs the step that uses agent, with a scripted model.
func checkWorkflow(t *testing.T, b block) {
	var w workflow
	if err := yaml.NewDecoder(strings.NewReader(b.text), yaml.Strict()).Decode(&w); err != nil {
		t.Errorf("%s: %v", b.doc, err)
		return
	}
	if w.On != "pull_request" || len(w.Jobs) == 0 {
		t.Errorf("%s: the workflow never runs: %+v", b.doc, w)
	}
	// The job may do no more than the text says.
	if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		t.Errorf("%s: the job has the rights %v", b.doc, w.Permissions)
	}
	ran := 0
	for name, job := range w.Jobs {
		if job.RunsOn == "" || job.Minutes == 0 {
			t.Errorf("%s: the job %s has no machine or no limit", b.doc, name)
		}
		for _, s := range job.Steps {
			if err := checkStep(t, s); err != nil {
				t.Errorf("%s: the step %q: %v", b.doc, s.Name+s.Uses+s.Run, err)
			}
			if agentIn.MatchString(s.Run) {
				ran++
				runStep(t, s)
			}
		}
	}
	if ran != 1 {
		t.Errorf("%s: %d steps use agent", b.doc, ran)
	}
}

var agentIn = regexp.MustCompile(`(?m)(^|\|)\s*agent `)

func checkStep(t *testing.T, s step) error {
	version := minorGo.FindStringSubmatch(document(t, "go.mod"))[1]
	switch {
	case s.Uses != "" && !pinned.MatchString(s.Uses):
		return fmt.Errorf("it uses %s", s.Uses)
	case strings.HasPrefix(s.Uses, "actions/setup-go@") && s.With["go-version"] != version:
		return fmt.Errorf("go.mod says %s", version)
	case strings.HasPrefix(s.Run, "go install "):
		return checkOther(t, s.Run)
	}
	for name, value := range s.Env {
		if m := secret.FindStringSubmatch(value); m == nil || m[1] != name {
			return fmt.Errorf("%s is %s", name, value)
		}
		if err := knownVariable(t, name); err != nil {
			return err
		}
	}
	return nil
}

// runStep runs a step as GitHub does, on a pull request with a change.
func runStep(t *testing.T, s step) {
	m := serveModel(t, "== review\nThe change is fine.\n")
	base := t.TempDir()
	summary := filepath.Join(base, "summary")
	env := []string{"OPENAI_BASE_URL=" + m.URL + "/v1", "AGENT_MODEL=scripted", "GITHUB_BASE_REF=main", "GITHUB_STEP_SUMMARY=" + summary, "CI=true"}
	for name := range s.Env {
		env = append(env, name+"=sk-of-the-job")
	}
	shell := withAgent(t, base, t.TempDir(), env...)
	const pull = `git init -q -b main . && git config user.name me && git config user.email me@example.com
echo one >f && git add f && git commit -qm one && git update-ref refs/remotes/origin/main HEAD
git checkout -qb change && echo 'a line of the change' >f && git commit -qam two`
	for _, script := range []string{pull, s.Run} {
		if out, err := shell(script).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
			return
		}
	}
	if said, err := os.ReadFile(summary); err != nil || string(said) != "The change is fine.\n" {
		t.Errorf("the summary is %q, %v", said, err)
	}
	if told := m.told(); !strings.Contains(told, "+a line of the change") {
		t.Errorf("the model was told %q", told)
	}
}

// parses tells what is wrong with a command line of the program, which is not run.
func parses(line string) error {
	root := newCommand()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	var parsed error
	var unrun func(c *cobra.Command)
	unrun = func(c *cobra.Command) {
		c.PersistentPreRunE, c.PreRunE, c.Run = nil, nil, nil
		c.RunE = func(cmd *cobra.Command, args []string) error { parsed = mistyped(cmd, args); return nil }
		if !c.HasSubCommands() {
			c.Args = cobra.ArbitraryArgs // a text may leave them out
		}
		for _, sub := range c.Commands() {
			unrun(sub)
		}
	}
	unrun(root)
	args := words(line)
	if len(args) == 0 || args[0] != "agent" {
		return fmt.Errorf("%q is no line of agent", line)
	}
	root.SetArgs(slices.Clone(args[1:]))
	if err := root.ExecuteContext(context.Background()); err != nil {
		return err
	}
	return parsed
}
