package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mistyped refuses a single word that is nearly a command, or a command of
// other agents (decision 31): as a prompt it would only cost a request.
func mistyped(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || strings.ContainsAny(args[0], " \n") || cmd.ArgsLenAtDash() >= 0 {
		return nil
	}
	for _, w := range wordsElsewhere() {
		if w[0] == args[0] {
			return usage("%q is no command: use %s. As a prompt: agent -- %s", args[0], w[1], args[0])
		}
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
	if cmd.HasSubCommands() && !cmd.Runnable() { // without arguments it is its help
		cmd.Args = cobra.NoArgs
		cmd.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
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
		if len(args) > 0 && c.HasSubCommands() {
			return noCommand(c, args[:1])
		}
		if strings.HasPrefix(err.Error(), "unknown command") { // as cobra says that there are none
			return usage("%s takes no arguments, and %q is one; see %s --help", c.CommandPath(), args[0], c.CommandPath())
		}
		return usage("%v; see %s --help", err, c.CommandPath())
	}
}

// helpCommand shows the help of a command; what is none is a wrong usage.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show what a command does, and its flags",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) (names []string, _ cobra.ShellCompDirective) {
			at, _, err := c.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, sub := range at.Commands() {
				if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), word) {
					names = append(names, sub.Name()+"\t"+sub.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			at, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(at, args)
			}
			at.InitDefaultHelpFlag()
			at.InitDefaultVersionFlag()
			return at.Help()
		},
	}
}

// noCommand says that the last of some words is no command below another one.
func noCommand(at *cobra.Command, words []string) error {
	at.SuggestionsMinimumDistance = 2
	word := words[len(words)-1]
	for _, name := range at.SuggestionsFor(word) {
		return usage("%q is no command; did you mean %s %s?", word, at.CommandPath(), name)
	}
	return usage("%q is no command; see %s --help", word, at.CommandPath())
}

// aliases gives a flag the second name that it has elsewhere.
func aliases(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "prompt" {
		name = "print"
	}
	return pflag.NormalizedName(name)
}

// wordsElsewhere are commands of other agents, and what stands for them here.
func wordsElsewhere() [][2]string {
	return [][2]string{
		{"resume", "agent -r"},
		{"continue", "agent -c"},
		{"exec", `agent -p "prompt"`},
		{"run", `agent -p "prompt"`},
		{"chat", "agent"},
		{"session", "agent sessions"},
		{"login", "/setup on the screen, or set the provider's key"},
		{"auth", "/setup on the screen, or set the provider's key"},
		{"logout", "an editor: the keys are lines of ~/.config/phero/keys"},
		{"init", "/init on the screen"},
		{"update", "go install, or the release's docs/install.sh: agent does not change itself"},
		{"upgrade", "go install, or the release's docs/install.sh: agent does not change itself"},
	}
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
		{"full-auto", "--permission-mode auto"},
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
		if !f.Hidden && (len(name) > 1 || strings.HasPrefix(f.Name, name)) {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return strings.Join(names.SuggestionsFor(name), " or --")
}
