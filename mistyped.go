package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mistyped refuses a single word that is nearly a command (decision 31).
func mistyped(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || strings.ContainsAny(args[0], " \n") || cmd.ArgsLenAtDash() >= 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	for _, name := range cmd.SuggestionsFor(args[0]) {
		return usage("%q is no command; did you mean agent %s? As a prompt: agent -- %s", args[0], name, args[0])
	}
	return nil
}

// checkArgs makes wrong arguments of every command a wrong usage that names the
// nearest command.
func checkArgs(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		checkArgs(c)
	}
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err == nil {
			return nil
		}
		if len(args) > 0 {
			c.SuggestionsMinimumDistance = 2
			for _, name := range c.SuggestionsFor(args[0]) {
				return usage("%q is no command; did you mean %s %s?", args[0], c.CommandPath(), name)
			}
		}
		return usage("%v; see %s --help", err, c.CommandPath())
	}
}

// aliases gives a flag the second name that it has elsewhere.
func aliases(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "prompt" {
		name = "print"
	}
	return pflag.NormalizedName(name)
}

// elsewhere are flags of other agents, by their names, and what stands for them here.
func elsewhere() [][2]string {
	return [][2]string{
		{"session", "-r ID"},
		{"fork-session", "agent sessions fork, or /fork"},
		{"session-id", "-r ID; a new session makes its own id"},
		{"list-sessions", "agent sessions"},
		{"ephemeral", "--no-session"},
		{"approval-mode", "--permission-mode"},
		{"dangerously-skip-permissions", "--yolo, which is not short: it needs the sandbox, or --sandbox=none spelled out"},
		{"dangerously-bypass-approvals-and-sandbox", "--yolo --sandbox=none"},
		{"allowedTools", "--allow, with a rule"},
		{"disallowedTools", "--deny, with a rule"},
		{"tools", "--allow and --deny, with rules"},
		{"json", "-o stream-json"},
		{"format", "-o json"},
		{"max-session-turns", "--max-turns"},
		{"max-budget-usd", "--max-turns or --timeout: prices are not known of every server"},
		{"include-directories", "--add-dir"},
		{"cwd", "-C"},
		{"system-prompt", "--append-system-prompt, or an AGENTS.md: the tools rest on the system prompt"},
		{"verbose", "-o stream-json, or --debug"},
		{"color", "NO_COLOR=1"},
	}
}

// flagError tells of a wrong flag what was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usage("%v; see %s --help", err, cmd.CommandPath())
	}
	name := unknown.GetSpecifiedName()
	for _, e := range elsewhere() {
		if e[0] == name {
			return usage("there is no flag --%s: use %s", name, e[1])
		}
	}
	if near := nearestFlags(cmd, name); near != "" {
		return usage("%v; did you mean --%s?", err, near)
	}
	return usage("%v; see %s --help", err, cmd.CommandPath())
}

// nearestFlags are the flags that were probably meant, by the rule for commands.
func nearestFlags(cmd *cobra.Command, name string) string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return strings.Join(names.SuggestionsFor(name), " or --")
}
