package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
)

// sandboxFlags are the flags that say what commands can reach.
func sandboxFlags(root *cobra.Command, flags *config.Flags) {
	f := root.PersistentFlags()
	f.StringVar(&flags.Sandbox, "sandbox", "", "what commands run in: auto, bwrap, landlock or none (default auto)")
	f.StringArrayVar(&flags.AddDirs, "add-dir", nil, "a `dir`ectory beside the workspace that tools and commands may read and write; repeatable")
	boolFlag(f, &flags.Network, "network", "let commands use the network, and with it everything that listens on localhost")
	f.StringArrayVar(&flags.NetworkFor, "network-for", nil, "a `pattern` of commands that use the network, as \"npm install *\"; repeatable (sandbox.network_for)")
}

func sandboxCommand(flags *config.Flags) *cobra.Command {
	explain := false
	cmd := &cobra.Command{
		Use:   "sandbox [--explain] [-- command…]",
		Short: "Run one command as the model's are run, or tell what they can reach",
		Long: `Runs one command exactly as a command of the model runs here: in the same
sandbox, with the same files, environment and network, and no terminal. Prints
what the model would get, and exits with the command's exit code. One argument is
taken as a line for bash, several as the words of a command.

  agent sandbox -- 'ls -A ~; curl https://example.com'
  agent sandbox --explain`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if explain == (len(args) > 0) {
				return usage(`give a command, as in agent sandbox -- ls -A, or --explain`)
			}
			settings, err := config.Load(*flags, os.Getenv)
			if err != nil {
				return usage("%v", err)
			}
			return trySandbox(cmd.Context(), options(settings), args)
		},
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "list what commands can reach, and why")
	return cmd
}

// trySandbox runs a command, or explains where there is none.
func trySandbox(ctx context.Context, opts app.Options, words []string) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	trial, err := app.NewTrial(ctx, opts)
	if err != nil {
		return usage("%v", err)
	}
	defer trial.Close()
	if notice := trial.Notice(); notice != "" {
		fmt.Fprintf(os.Stderr, "agent: %s\n", notice)
	}
	if len(words) == 0 {
		return trial.Explain(ctx, os.Stdout)
	}
	line, err := commandLine(words)
	if err != nil {
		return usage("%v", err)
	}
	code, err := trial.Run(ctx, line, os.Stdout)
	var exit app.ExitCause
	switch {
	case errors.As(context.Cause(ctx), &exit):
		return &exitError{code: int(exit)}
	case err != nil:
		return err
	case code != app.ExitOK:
		return &exitError{code: code}
	}
	return nil
}

// commandLine is one word as it is, and several as bash reads them again.
func commandLine(words []string) (string, error) {
	if len(words) == 1 {
		return words[0], nil
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			return "", fmt.Errorf("%q: %w", w, err)
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " "), nil
}
