package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/script"
	"github.com/phero-agent/agent/ui"
)

// demoPause lets the scripted words come at the speed of a quick model's.
const demoPause = 25 * time.Millisecond

func demoCommand(flags *config.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show a scripted model at work in a scratch repository",
		Long: `Opens the screen on a small repository with a failing test, made in the
temporary directory, with a model that plays a script. Everything but the model
is the real thing: its tools, the questions, the files, undo. Needs no key and no network.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
				return usage("the demo needs a terminal")
			}
			return demo(cmd.Context(), *flags)
		},
	}
}

func demo(ctx context.Context, flags config.Flags) error {
	dir, err := os.MkdirTemp("", "agent-demo-")
	if err != nil {
		return err
	}
	s, err := script.Demo(ctx, dir)
	if err != nil {
		return fmt.Errorf("the demo's repository in %s: %w", dir, err)
	}
	flags.Dir = dir
	settings, err := config.Load(flags, os.Getenv)
	if err != nil {
		return usage("%v", err)
	}
	logTo(settings.StateDir, false, settings.Getenv)
	opts := options(settings)
	opts.ShareCaches = true // its commands are ours, and nobody wants to wait for a standard library
	opts.Model, opts.Host, opts.Scripted = "script", "script", true
	pump := ui.NewPump()
	opts.Emit = pump.Emit
	opts.NewProvider = func(context.Context, string) (app.Provider, error) {
		return script.New(s, demoPause, script.DemoOver), nil
	}
	screen := screenOptions(settings.UI, os.Getenv)
	screen.Prompt = script.DemoPrompt
	err = show(ctx, opts, pump, screen, nil)
	fmt.Printf("The demo's repository is still in %s\n", dir)
	return err
}
