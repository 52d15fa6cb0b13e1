package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/catalogue"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/ui/text"
)

// complete tells the shells' completion what the flags and arguments of all commands
// can be. Files are offered only where one is meant.
func complete(cmd *cobra.Command, flags *config.Flags) {
	for _, c := range cmd.Commands() {
		complete(c, flags)
	}
	sessions := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return sessionIDs(*flags), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	offers := map[string]cobra.CompletionFunc{
		"sandbox":         valuesOf("sandbox.runner"),
		"permission-mode": valuesOf("permissions.mode"),
		"output-format":   cobra.FixedCompletions(formats(), cobra.ShellCompDirectiveNoFileComp),
		"format":          cobra.FixedCompletions([]string{"md", "json"}, cobra.ShellCompDirectiveNoFileComp),
		"cd":              cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"add-dir":         cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"output":          cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"model": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return modelNames(*flags), cobra.ShellCompDirectiveNoFileComp
		},
		"resume":  sessions,
		"session": sessions,
	}
	register := func(f *pflag.Flag) {
		offer := offers[f.Name]
		if offer == nil {
			offer = cobra.NoFileCompletions
		}
		if f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, offer) // fails only where there is one already
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(register)
	cmd.PersistentFlags().VisitAll(register)
	switch {
	case !cmd.HasParent():
		cmd.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if c.Flags().Changed("resume") && len(args) == 0 {
				return sessions(c, args, word)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	case cmd.Parent().Name() == "sessions":
		cmd.ValidArgsFunction = sessions
	case cmd.CommandPath() != "agent config check":
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// valuesOf are those that a setting can have. They are looked up when they are asked
// for: it takes a part of a millisecond, of every start.
func valuesOf(setting string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return config.Values(setting), cobra.ShellCompDirectiveNoFileComp
	}
}

// sessionIDs are the sessions of the workspace, newest first, with their titles.
func sessionIDs(flags config.Flags) (list []string) {
	settings, err := config.Load(flags, os.Getenv)
	if err != nil {
		return nil
	}
	store, err := app.OpenSessions(options(settings))
	if err != nil {
		return nil
	}
	found, err := store.List()
	if err != nil {
		return nil
	}
	for _, s := range found {
		list = append(list, s.ID+"\t"+text.Line(s.Title))
	}
	return list
}

// modelNames are the models that the catalogue knows of the providers whose keys are
// set. No server is asked: a completion must not wait.
func modelNames(flags config.Flags) (list []string) {
	settings, err := config.Load(flags, os.Getenv)
	if err != nil {
		return nil
	}
	for _, p := range catalogue.WithKeys(settings.Getenv) {
		for _, m := range p.Models() {
			list = append(list, p.ID+"/"+m.ID+"\t"+m.Facts())
		}
	}
	return list
}
