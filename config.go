package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/ui/text"
)

func configCommand(flags *config.Flags) *cobra.Command {
	var asJSON, every bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings and where each comes from",
		Long: `Shows every setting that holds here and the file and line, variable or flag that
says so. The files, later ones win, lists are added up:

  $XDG_CONFIG_HOME/phero/config.toml   yours
  .phero/config.toml                   the project's; can be committed
  .phero/local.toml                    your own for this project

Then the environment, then flags. What loosens anything in a project's file counts
after you accepted it: agent trust.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := config.Load(*flags, os.Getenv)
			if err != nil {
				return usage("%v", err)
			}
			tellSettings(cmd.ErrOrStderr(), settings)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), settings.List())
			}
			return printSettings(cmd.OutOrStdout(), settings, every)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all of them as JSON")
	cmd.Flags().BoolVar(&every, "all", false, "also the ones that nothing says")
	cmd.AddCommand(checkConfigCommand(flags), &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of a settings file, for editors",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	})
	return cmd
}

func printSettings(to io.Writer, settings config.Settings, every bool) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, v := range settings.List() {
		if v.Value == "" && !every {
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.Key, text.Line(v.Value), text.Line(strings.Join(v.Source, ", ")))
	}
	return table.Flush()
}

// tellSettings says what of the settings does not count, and why.
func tellSettings(to io.Writer, settings config.Settings) {
	for _, n := range settings.Notices {
		fmt.Fprintln(to, "agent: "+text.Line(n))
	}
	for _, item := range settings.Untrusted {
		tellUntrusted(to, item.Name)
	}
}

func tellUntrusted(to io.Writer, name string) {
	fmt.Fprintln(to, "agent: "+text.Line(name)+" is not trusted: what it loosens does not count; agent trust shows it and accepts it")
}

func checkConfigCommand(flags *config.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "check [file…]",
		Short: "Look for faults in the settings files",
		Long: `Reads the settings files, or the ones given, and says what is wrong in them: the
file, the line, the setting, and the one that was probably meant. Rules are read
as well, and those that can never match are named. The exit code is 2 when
something is wrong.`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			var faults []string
			for _, path := range paths {
				if err := config.Check(path); err != nil {
					faults = append(faults, err.Error())
				}
			}
			if len(paths) == 0 {
				p, err := openPermissions(cmd, flags)
				if err != nil {
					faults = append(faults, err.Error())
				} else {
					faults = append(faults, p.Warnings()...)
				}
			}
			if len(faults) > 0 {
				return usage("%s", strings.Join(faults, "\n"))
			}
			fmt.Fprintln(cmd.OutOrStdout(), "no faults")
			return nil
		},
	}
}
