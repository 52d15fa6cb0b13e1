package app

import (
	"path/filepath"

	"github.com/phero-agent/agent/permissions"
)

// newPolicy is the policy of the application (IMP-17, IMP-18): what only looks
// into the workspace runs, what writes or runs is asked, and .git and .phero are
// out of reach of the file tools. Without a person an asked call is denied.
func newPolicy(opts Options, asker permissions.Asker) (*permissions.Policy, error) {
	settings := []permissions.Option{
		permissions.WithWorkingDir(opts.Workspace),
		permissions.WithUnwrap(),
		permissions.WithRules(permissions.Allow, presets("read", "glob", "grep", "todo_write", "bash_output", "kill_shell")...),
		permissions.WithRules(permissions.Ask, presets(secretRules()...)...),
		permissions.WithRules(permissions.Deny, presets(reservedRules(opts.Workspace)...)...),
	}
	if opts.Interactive {
		settings = append(settings, permissions.WithAsker(asker))
	}
	return permissions.New(settings...)
}

func presets(rules ...string) []permissions.Rule {
	list := make([]permissions.Rule, len(rules))
	for i, text := range rules {
		list[i] = permissions.Rule{Text: text, Source: "built in"}
	}
	return list
}

// secretRules ask before a file is read that often holds secrets. A grep over a
// directory can still show one: deny the directory, or keep secrets elsewhere (PERM-55).
func secretRules() (rules []string) {
	for _, tool := range []string{"read", "grep"} {
		for _, pattern := range []string{"*/.env", "*/.env.*", "*/id_rsa*", "*/id_ed25519*", "*.pem"} {
			rules = append(rules, tool+"("+pattern+")")
		}
	}
	return rules
}

// reservedRules keep the file tools away from what git and the agent itself
// trust: a hook, a setting or a journal that the model could write (SAFE-10).
func reservedRules(workspace string) (rules []string) {
	phero, git := filepath.Join(workspace, ".phero"), filepath.Join(workspace, ".git")
	for _, tool := range []string{"write", "edit", "multi_edit"} {
		for _, dir := range []string{phero, git} {
			rules = append(rules, tool+"("+dir+")", tool+"("+dir+"/*)")
		}
	}
	for _, tool := range []string{"read", "glob", "grep"} {
		rules = append(rules, tool+"("+phero+")", tool+"("+phero+"/*)")
	}
	return rules
}
