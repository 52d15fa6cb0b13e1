package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/ui/text"
)

// The exit codes of "agent permissions check" (decision 8).
const (
	exitAsk  = 10
	exitDeny = 11
)

// policyFlags are the flags of what runs, is asked and is denied, of every command.
func policyFlags(root *cobra.Command, flags *config.Flags) {
	f := root.PersistentFlags()
	f.StringArrayVar(&flags.Allow, "allow", nil, "run calls of this `rule` unasked, as 'bash(go test *)'; can be given again")
	f.StringArrayVar(&flags.Ask, "ask", nil, "always ask about calls of this `rule`")
	f.StringArrayVar(&flags.Deny, "deny", nil, "deny calls of this `rule`, as 'bash(git push *)'")
	f.StringVar(&flags.Mode, "permission-mode", "", "the `mode` at the start: ask, accept-edits, auto or plan (default ask)")
	f.BoolVar(&flags.Yolo, "yolo", false, "run everything unasked, but for deny rules; needs the sandbox, or --sandbox=none spelled out")
}

func permissionsCommand(flags *config.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Show what runs, what is asked and what is denied, and why",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(checkCommand(flags), listCommand(flags), forgetCommand(flags))
	return cmd
}

// openPermissions makes the policy that a start with the same flags would have.
func openPermissions(cmd *cobra.Command, flags *config.Flags) (*app.Permissions, error) {
	settings, err := config.Load(*flags, os.Getenv)
	if err != nil {
		return nil, usage("%v", err)
	}
	p, err := app.OpenPermissions(cmd.Context(), options(settings))
	if err != nil {
		return nil, usage("%v", err)
	}
	for _, w := range p.Warnings() {
		fmt.Fprintf(cmd.ErrOrStderr(), "agent: %s\n", w)
	}
	return p, nil
}

func checkCommand(flags *config.Flags) *cobra.Command {
	var tool string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check command",
		Short: "Say what would happen to a command, or to a call of another tool",
		Long: `Decides a call as a start with the same flags would, says what each part of it
comes to and why, and runs nothing. With --tool the argument is what the call
touches: a path, an address; or all of its arguments as a JSON object.

Exit codes: 0 it runs unasked, 10 it is asked, 11 it is denied.`,
		Example: `  agent permissions check 'go test ./... && rm -rf x'
  agent permissions check --tool edit .envrc`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := callArguments(tool, args[0])
			if err != nil {
				return err
			}
			p, err := openPermissions(cmd, flags)
			if err != nil {
				return err
			}
			trace := p.Explain(tool, arguments)
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), trace)
			} else {
				err = printTrace(cmd.OutOrStdout(), trace)
			}
			code := map[permissions.Decision]int{permissions.Ask: exitAsk, permissions.Deny: exitDeny}[trace.Decision]
			if err == nil && code != 0 {
				return &exitError{code: code}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&tool, "tool", "bash", "the `name` of the tool that is called")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole trace as JSON")
	return cmd
}

// callArguments are the arguments of a call: as given, or an object with the
// tool's subject.
func callArguments(tool, given string) (string, error) {
	if tool != "bash" && strings.HasPrefix(strings.TrimSpace(given), "{") {
		return given, nil
	}
	known := permissions.KnownTools()
	i := slices.IndexFunc(known, func(k permissions.Known) bool { return k.Tool == tool })
	if i < 0 || known[i].Subject == "" {
		return "", usage("%s has no known subject: give its arguments as a JSON object", tool)
	}
	data, err := json.Marshal(map[string]string{known[i].Subject: given})
	return string(data), err
}

// printTrace prints a trace for a person: each part with what decided it, what
// makes a line opaque, and the verdict.
func printTrace(to io.Writer, t permissions.Trace) error {
	out := bufio.NewWriter(to)
	for _, s := range t.Steps {
		fmt.Fprintf(out, "%s\n    %s\n", visible(s.Subject), visible(s.Words()))
	}
	if t.Opaque != "" {
		fmt.Fprintf(out, "%s\n    %s\n", visible(t.Opaque), visible(t.Why))
	}
	fmt.Fprintf(out, "%s\n", visible(t.Verdict()))
	return out.Flush()
}

// visible shows every character of a text, and none that drives the terminal.
func visible(s string) string { return text.Visible(s, "") }

func printJSON(to io.Writer, v any) error {
	enc := json.NewEncoder(to)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func listCommand(flags *config.Flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every rule and every always answer, with where it comes from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := openPermissions(cmd, flags)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), p.List())
			}
			_, err = io.WriteString(cmd.OutOrStdout(), visible(app.RulesText(p.List())))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

func forgetCommand(flags *config.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "forget answer",
		Short:   "Drop an always answer of this workspace and its sessions",
		Long:    `Drops an always answer, named as "agent permissions list" shows it. It is asked again from the next start on.`,
		Example: `  agent permissions forget 'bash(go test *)'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := openPermissions(cmd, flags)
			if err != nil {
				return err
			}
			from, err := p.Forget(args[0])
			if err != nil {
				return err
			}
			if len(from) == 0 {
				return fmt.Errorf("there is no always answer %q; agent permissions list shows them", args[0])
			}
			for _, where := range from {
				fmt.Fprintf(cmd.OutOrStdout(), "forgotten: %s (%s)\n", visible(args[0]), where)
			}
			return nil
		},
	}
}
