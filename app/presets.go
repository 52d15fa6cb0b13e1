package app

import (
	"path/filepath"
	"strings"

	"github.com/phero-agent/agent/permissions"
)

const builtIn = "built in"

// presetRules are the rules that the application brings (IMP-17, IMP-18): what
// only looks into the workspace runs, what nobody names is asked. A sub-agent
// starts unasked, since each of its calls is decided as the model's own are.
func presetRules(roots ...string) (allow, ask, deny []permissions.Rule) {
	allow = builtInRules("read", "glob", "grep", "todo_write", "skill", "bash_output", "kill_shell", "user_interaction", "agent", "mcp_search")
	ask = builtInRules(append(secretRules(), startingRules()...)...)
	deny = builtInRules(reservedRules(roots...)...)
	return allow, ask, deny
}

func builtInRules(texts ...string) []permissions.Rule {
	rules := make([]permissions.Rule, len(texts))
	for i, text := range texts {
		rules[i] = permissions.Rule{Text: text, Source: builtIn}
	}
	return rules
}

// writers are the tools that write files.
func writers() []string { return []string{"write", "edit", "multi_edit"} }

// secretNames are files that usually hold secrets.
func secretNames() []string {
	return []string{".env", ".env.*", "id_rsa*", "id_ed25519*", "*.pem", "*/phero/keys"}
}

// secretRules ask before such a file is read. A grep over a directory can still
// show one: deny the directory, or keep secrets elsewhere (PERM-55).
func secretRules() (rules []string) {
	for _, tool := range []string{"read", "grep"} {
		for _, name := range secretNames() {
			if !strings.HasPrefix(name, "*") {
				name = "*/" + name
			}
			rules = append(rules, tool+"("+name+")")
		}
	}
	return rules
}

// startingRules ask before a file is written that shells, editors, CI, git and
// agents run or obey on their own, whatever an allow rule or a mode says.
func startingRules() (rules []string) {
	for _, tool := range writers() {
		for _, pattern := range []string{
			"*/.envrc", "*/.direnvrc", "*/.profile", "*/.bashrc", "*/.bash_*", "*/.zshrc", "*/.zshenv", "*/.zprofile", "*/.zlog*", "*/.kshrc", "*/.inputrc", "*/.config/fish/*", "*/.ssh/*",
			"*/.gitconfig", "*/.gitmodules", "*/.config/git/*", "*/.husky/*", "*/.githooks/*", "*/.pre-commit-config.yaml", "*/lefthook.yml", "*/.lefthook.yml",
			"*/.vscode/*", "*.code-workspace", "*/.idea/*", "*/.zed/*", "*/.fleet/*", "*/.devcontainer/*", "*/.devcontainer.json",
			"*/.vimrc", "*/.exrc", "*/.nvimrc", "*/.nvim.lua", "*/.config/nvim/*", "*/.emacs", "*/.emacs.d/*", "*/.dir-locals.el",
			"*/.github/workflows/*", "*/.github/actions/*", "*/.gitlab-ci.yml", "*/.gitlab/*", "*/.circleci/*", "*/.travis.yml", "*/Jenkinsfile", "*/azure-pipelines.yml",
			"*/bitbucket-pipelines.yml", "*/.buildkite/*", "*/.drone.yml", "*/.woodpecker*", "*/.forgejo/*", "*/.gitea/*", "*/cloudbuild.yaml", "*/appveyor.yml", "*/.appveyor.yml",
			"*/.npmrc", "*/.yarnrc*", "*/.cargo/config*",
			"*/AGENTS.md", "*/CLAUDE.md", "*/.mcp.json", "*/.claude/*", "*/.agents/*", "*/.codex/*", "*/.cursor/*", "*/.gemini/*",
		} {
			rules = append(rules, tool+"("+pattern+")")
		}
	}
	return rules
}

// reservedRules keep the file tools away from what git and the agent itself
// trust, in the workspace and below: a hook, a setting or a journal that the
// model could write (SAFE-10).
func reservedRules(roots ...string) (rules []string) {
	for _, tool := range writers() {
		for _, dir := range []string{".phero", ".git"} {
			rules = append(rules, tool+"(*/"+dir+")", tool+"(*/"+dir+"/*)")
		}
	}
	for _, root := range roots {
		phero := filepath.Join(root, ".phero")
		for _, tool := range []string{"read", "glob", "grep"} {
			rules = append(rules, tool+"("+phero+")", tool+"("+phero+"/*)")
		}
	}
	return rules
}

// reserved tells whether a path leads into .git or .phero, also in letters of the
// other case, which on some disks is the same.
func reserved(path string) bool {
	for _, name := range strings.Split(filepath.ToSlash(path), "/") {
		if strings.EqualFold(name, ".git") || strings.EqualFold(name, ".phero") {
			return true
		}
	}
	return false
}

// cover spells out what a rule for edit means in the application's settings: a
// deny or ask rule covers write and multi_edit too, an allow rule multi_edit.
func cover(d permissions.Decision, rules []permissions.Rule) (all []permissions.Rule) {
	for _, r := range rules {
		all = append(all, r)
		text := strings.TrimSpace(r.Text)
		rest, ok := strings.CutPrefix(text, "edit")
		if !ok || rest != "" && rest[0] != '(' {
			continue
		}
		also := []string{"multi_edit"}
		if d != permissions.Allow {
			also = []string{"write", "multi_edit"}
		}
		for _, tool := range also {
			all = append(all, permissions.Rule{Text: tool + rest, Source: r.Source + ", from " + text})
		}
	}
	return all
}
