package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"mvdan.cc/sh/v3/syntax"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/ui"
)

// show runs the screen on an application, whose events go to the pump, until the
// person quits. open is done between the two, and returns a session that the screen
// asks about; nil for nothing.
func show(ctx context.Context, opts app.Options, pump *ui.Pump, screen ui.Options, open func(*app.App) (ask string, err error)) error {
	if err := screen.Check(); err != nil {
		return usage("%v", err)
	}
	opts.Interactive = true
	a, err := app.New(opts)
	if err != nil {
		return usage("%v", err)
	}
	defer a.Close()
	a.Start()
	if open != nil {
		if screen.Open, err = open(a); err != nil {
			return err
		}
	}
	screen.Version = programVersion()
	screen.Resume = resumeCommand(opts.Workspace)
	screen.StateDir = config.WorkspaceState(opts.StateDir, opts.Workspace)
	screen.Dir = opts.Dir
	screen.Files = a.Files
	screen.Drawn = a.Prepare
	screen.Commands = append(screen.Commands, commands(a)...)
	err = ui.Run(ctx, ui.New(a, pump, screen))
	var caught *ui.SignalError
	if errors.As(err, &caught) {
		return &exitError{code: exitCode(caught.Signal)}
	}
	return err
}

// commands are the slash commands that are no part of the screen: the skills and
// commands of the person and the repository, and what goes with them.
func commands(a *app.App) []ui.Command {
	list := []ui.Command{
		{Name: "skills", Help: "the skills and commands, where they are, and what was left out", Run: func(string) (string, error) { return a.Skills(), nil }},
		{Name: "mcp", Args: append([]string{"restart", "login"}, a.ServerNames()...), Help: "the MCP servers; /mcp <name>: one of them; /mcp restart <name>, /mcp login <name>", Run: a.Servers},
		{Name: "memory", Help: "what the model is always told: the AGENTS.md files", Run: func(string) (string, error) { return a.Memory(), nil }},
		{Name: "init", Help: "let the model write a first AGENTS.md", Run: func(hint string) (string, error) { a.WriteInstructions(hint); return "", nil }},
	}
	if a.CanSetUp() {
		list = append(list, ui.Command{Name: "setup", Help: "choose a model's server and give its key", Run: func(string) (string, error) { a.SetUp(); return "", nil }})
	}
	for _, c := range a.Commands() {
		help := c.Help
		if c.Hint != "" {
			help = c.Hint + " " + help
		}
		list = append(list, ui.Command{Name: c.Name, Help: help, Run: func(args string) (string, error) { return "", a.RunCommand(c.Name, args) }})
	}
	return list
}

// resumeCommand goes on with a session of the workspace from where the person stands.
func resumeCommand(workspace string) string {
	if here, err := os.Getwd(); err == nil {
		if here, err = filepath.EvalSymlinks(here); err == nil && config.FindWorkspace(here) == workspace {
			return "agent --resume"
		}
	}
	quoted, err := syntax.Quote(workspace, syntax.LangBash)
	if err != nil {
		quoted = workspace
	}
	return "agent -C " + quoted + " --resume"
}
