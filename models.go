package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/ui/text"
)

func modelsCommand() *cobra.Command {
	var flags config.Flags
	cmd := &cobra.Command{
		Use:   "models [part of a name]",
		Short: "List the models that the server offers",
		Long: `Asks the server of the settings for its models and lists them, with the context
window, the prices of a million tokens, and what they can do, as far as the
server or the catalogue knows. The one that is used is marked with a *.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return listModels(cmd.Context(), os.Stdout, flags, strings.Join(args, ""))
		},
	}
	modelFlags(cmd, &flags)
	return cmd
}

// modelFlags are the flags that say which model is asked.
func modelFlags(cmd *cobra.Command, flags *config.Flags) {
	cmd.Flags().StringVarP(&flags.Model, "model", "m", "", "the `model`, or provider/model")
	cmd.Flags().StringVar(&flags.BaseURL, "base-url", "", "the `url` of the model's server, up to and with /v1")
}

func listModels(ctx context.Context, out io.Writer, flags config.Flags, part string) error {
	settings, err := config.Load(flags, os.Getenv)
	if err != nil {
		return usage("%v", err)
	}
	m := modelFor(settings, func(text string) { fmt.Fprintln(os.Stderr, "agent: "+text) })
	t, err := m.target(ctx, "")
	if err != nil {
		return err
	}
	list, err := m.offered(ctx, t)
	if err != nil {
		return providerError(err)
	}
	fmt.Fprintf(out, "%s; prices are for a million tokens\n", t.BaseURL)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, info := range list {
		if !strings.Contains(strings.ToLower(info.ID), strings.ToLower(part)) {
			continue
		}
		sign := " "
		if info.ID == t.Model {
			sign = "*"
		}
		fmt.Fprintf(table, "%s %s\t%s\n", sign, text.Line(info.ID), info.Facts())
	}
	return table.Flush()
}
