package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/trust"
	"github.com/phero-agent/agent/ui/text"
)

func trustCommand(flags *config.Flags) *cobra.Command {
	var yes, forget bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Show what this repository wants to loosen, and accept it",
		Long: `A repository's own settings can forbid more, but what loosens anything in them
(a model's server, rules that allow, the sandbox), its commands, its MCP servers, and what its
skills let run unasked count only after you accepted exactly that content. When it changes you are asked again. What you accepted is
kept in the state directory, out of the repository's reach.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := config.Load(*flags, os.Getenv)
			if err != nil {
				return usage("%v", err)
			}
			store := trust.Open(config.WorkspaceState(settings.StateDir, settings.Workspace))
			if forget {
				n, err := store.Forget()
				if err == nil {
					fmt.Fprintf(cmd.OutOrStdout(), "forgot %d\n", n)
				}
				return err
			}
			items, err := app.ProjectItems(options(settings))
			if err != nil {
				return err
			}
			return accept(cmd.InOrStdin(), cmd.OutOrStdout(), store, append(settings.Untrusted, items...), yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "accept it without a question")
	cmd.Flags().BoolVar(&forget, "forget", false, "trust nothing of this repository any more")
	return cmd
}

// accept shows what wants to be trusted and accepts it after a yes.
func accept(in io.Reader, out io.Writer, store *trust.Store, items []trust.Item, yes bool) error {
	if len(items) == 0 {
		fmt.Fprintln(out, "nothing here needs your trust")
		return nil
	}
	for _, item := range items {
		fmt.Fprintln(out, text.Line(item.Name)+" wants:")
		for _, effect := range item.Effects {
			fmt.Fprintln(out, "  "+text.Line(effect))
		}
	}
	if !yes {
		if f, ok := in.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
			return usage("nobody can be asked here: give --yes to accept it")
		}
		fmt.Fprint(out, "Accept this? [y/N] ")
		var answer string
		if _, err := fmt.Fscanln(in, &answer); err != nil || answer != "y" && answer != "yes" {
			return &exitError{code: 1, err: fmt.Errorf("nothing was accepted")}
		}
	}
	if err := store.Accept(items...); err != nil {
		return fmt.Errorf("this could not be kept: %w", err)
	}
	fmt.Fprintln(out, "accepted")
	return nil
}
