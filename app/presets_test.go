package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/phero-agent/agent/permissions"
)

func pathCall(path string) string {
	data, _ := json.Marshal(map[string]string{"file_path": path})
	return string(data)
}

// IMP-17: what only looks runs, secrets are asked, everything else is asked.
func TestPresets(t *testing.T) {
	dir := fatigueWorkspace(t)
	for _, sandbox := range []string{"bwrap", "none"} {
		p := testPermissions(t, sandbox, Options{Workspace: dir}, nil)
		for _, c := range []struct {
			tool, arguments string
			want            permissions.Decision
		}{
			{"read", pathCall("go.mod"), permissions.Allow}, {"glob", `{"pattern":"*"}`, permissions.Allow}, {"grep", `{"pattern":"x"}`, permissions.Allow},
			{"todo_write", `{"todos":[]}`, permissions.Allow}, {"skill", `{"command":"x"}`, permissions.Allow}, {"bash_output", `{"bash_id":"1"}`, permissions.Allow},
			{"kill_shell", `{"shell_id":"1"}`, permissions.Allow}, {"user_interaction", `{}`, permissions.Allow},
			{"write", pathCall("a.go"), permissions.Ask}, {"edit", pathCall("a.go"), permissions.Ask}, {"multi_edit", pathCall("a.go"), permissions.Ask},
			{"web_fetch", `{"url":"https://x/"}`, permissions.Ask}, {"agent", `{"name":"x"}`, permissions.Allow}, {"mcp_x_y", `{}`, permissions.Ask},
			{"read", pathCall(".env"), permissions.Ask}, {"read", pathCall("a/.env.local"), permissions.Ask}, {"read", pathCall("id_rsa"), permissions.Ask}, {"read", pathCall("x/id_rsa.pub"), permissions.Ask},
			{"read", pathCall("key.pem"), permissions.Ask}, {"grep", `{"pattern":"x","path":".env"}`, permissions.Ask}, {"read", pathCall("environment"), permissions.Allow},
		} {
			if got := p.policy.Decide(c.tool, c.arguments); got != c.want {
				t.Errorf("%s %s: %v, want %v", c.tool, c.arguments, got, c.want)
			}
		}
		// PERM-85, SAFE-08: nothing that writes or runs is allowed by default.
		for _, line := range []string{"make", "go test ./...", "xargs rm", "ssh h x", "find . -exec x {} +", "git -c alias.x='!rm' x", "go test -exec x", "trap 'rm x' EXIT", "eval ls", "alias x=y", "touch x"} {
			if got := decide(p, line); got != permissions.Ask {
				t.Errorf("%q: %v", line, got)
			}
		}
	}
}

// IMP-18, SAFE-10, D2: .git and .phero are never written by the file tools, nor
// files that run on their own without a question, whatever is allowed, in every mode.
func TestProtectedPaths(t *testing.T) {
	dir := fatigueWorkspace(t)
	if err := os.Symlink(".git", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	p := testPermissions(t, "bwrap", Options{Workspace: dir, Allow: []permissions.Rule{{Text: "write"}, {Text: "edit"}, {Text: "edit(" + dir + "/*)"}}}, nil)
	all := []permissions.Mode{permissions.ModeAsk, permissions.ModeAcceptEdits, permissions.ModeAuto, permissions.ModeYolo}
	for _, mode := range all {
		p.policy.SetMode(mode)
		for _, tool := range writers() {
			for _, path := range []string{".git", ".git/hooks/pre-commit", ".phero", ".phero/config.toml", "sub/.git/config", "sub/.git", "link/config", "./x/../.git/HEAD", ".phero/sessions/x"} {
				if got := p.policy.Decide(tool, pathCall(path)); got != permissions.Deny {
					t.Errorf("mode %v: %s %s: %v", mode, tool, path, got)
				}
			}
			for _, path := range []string{".envrc", ".bashrc", "sub/.zshrc", ".profile", ".bash_profile", ".vscode/settings.json", ".idea/x.xml", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml",
				"Jenkinsfile", ".vimrc", ".husky/pre-commit", ".pre-commit-config.yaml", ".devcontainer/devcontainer.json", "AGENTS.md", "CLAUDE.md", ".mcp.json", ".agents/skills/x/SKILL.md", ".gitconfig", ".ssh/config"} {
				want := permissions.Ask
				if mode == permissions.ModeYolo {
					want = permissions.Allow // it lifts ask rules
				}
				if got := p.policy.Decide(tool, pathCall(path)); got != want {
					t.Errorf("mode %v: %s %s: %v", mode, tool, path, got)
				}
			}
			if got := p.policy.Decide(tool, pathCall("a.go")); got != permissions.Allow {
				t.Errorf("mode %v: %s a.go: %v", mode, tool, got)
			}
		}
	}
	for path, want := range map[string]bool{".git/x": true, ".GIT/x": true, "a/.Phero/b": true, ".gitignore": false, "git/x": false} {
		if reserved(filepath.FromSlash(path)) != want {
			t.Errorf("reserved(%s) is %v", path, !want)
		}
	}
}

// In the application's settings a rule for edit covers what else edits.
func TestEditCovers(t *testing.T) {
	dir := fatigueWorkspace(t)
	rule := func(text, source string) []permissions.Rule {
		return []permissions.Rule{{Text: text, Source: source}}
	}
	p := testPermissions(t, "bwrap", Options{Workspace: dir, Deny: rule("edit(secret/*)", "--deny"), Ask: rule("edit(parse/*)", "--ask"), Allow: rule("edit", "--allow")}, nil)
	for _, c := range []struct {
		tool, path string
		want       permissions.Decision
	}{
		{"edit", "secret/k", permissions.Deny}, {"write", "secret/k", permissions.Deny}, {"multi_edit", "secret/k", permissions.Deny},
		{"edit", "parse/a", permissions.Ask}, {"write", "parse/a", permissions.Ask}, {"multi_edit", "parse/a", permissions.Ask},
		{"edit", "a", permissions.Allow}, {"multi_edit", "a", permissions.Allow}, {"write", "a", permissions.Ask},
	} {
		if got := p.policy.Decide(c.tool, pathCall(c.path)); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.tool, c.path, got, c.want)
		}
	}
	text := RulesText(p.List())
	for _, want := range []string{"deny   edit(secret/*)", "write, multi_edit (secret/*)", "--deny, from edit(secret/*)", "multi_edit  ", "--allow, from edit"} {
		if !strings.Contains(text, want) {
			t.Errorf("the list does not show %q:\n%s", want, text)
		}
	}
	if got := cover(permissions.Deny, rule("edits", "")); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// IMP-19: a page is asked with its whole address, exactly; the host is offered as a rule.
func TestWebFetchIsOffered(t *testing.T) {
	var offers []Offer
	var p *Permissions
	p = testPermissions(t, "bwrap", Options{Workspace: fatigueWorkspace(t), Interactive: true}, func(ctx context.Context, req permissions.Request) (permissions.Answer, error) {
		offers = p.offers(req, p.policy.ExplainIn(ctx, req.Tool, req.Arguments))
		return permissions.AllowOnce, nil
	})
	url := `{"url":"https://go.dev/doc?q=1"}`
	if err := p.policy.Authorize(context.Background(), "web_fetch", url); err != nil {
		t.Fatal(err)
	}
	if len(offers) != 1 || offers[0].Subject != "https://go.dev/doc?q=1" || len(offers[0].Wider) != 1 || offers[0].Wider[0].Rule != "web_fetch(https://go.dev/*)" {
		t.Fatalf("%+v", offers)
	}
	if err := p.remember(SessionScope, []Always{offers[0].Always}); err != nil {
		t.Fatal(err)
	}
	if p.policy.Decide("web_fetch", url) != permissions.Allow || p.policy.Decide("web_fetch", `{"url":"https://go.dev/doc?q=secret"}`) != permissions.Ask {
		t.Error("always is not that exact address")
	}
	if err := p.remember(SessionScope, offers[0].Wider); err != nil {
		t.Fatal(err)
	}
	if p.policy.Decide("web_fetch", `{"url":"https://go.dev/x"}`) != permissions.Allow || p.policy.Decide("web_fetch", `{"url":"https://go.dev.evil.example/x"}`) != permissions.Ask {
		t.Error("the host")
	}
}

// A deny or ask rule that can never match stops the start, and says what to write;
// an allow rule is a warning.
func TestRulesThatNeverMatchStopTheStart(t *testing.T) {
	dir := fatigueWorkspace(t)
	start := func(opts Options) (*Permissions, error) {
		opts.Workspace, opts.StateDir = dir, t.TempDir()
		return newPermissions(opts, nil, func() string { return "bwrap" }, func() string { return dir })
	}
	for text, instead := range map[string]string{
		"bash(a && b)": "each command", "bash(go  test *)": "bash(go test *)", "Bash(git push:*)": "bash(git push:*)", "bash(git push:*)": "bash(git push *)",
		"edti(/repo/*)": "edit(/repo/*)", "todo_write(x)": "todo_write", "bash(": "",
	} {
		rules := []permissions.Rule{{Text: text, Source: "--deny"}}
		for _, opts := range []Options{{Deny: rules}, {Ask: rules}} {
			if _, err := start(opts); err == nil || !strings.Contains(err.Error(), instead) || !strings.Contains(err.Error(), text) {
				t.Errorf("%q: %v", text, err)
			}
		}
		if text == "bash(" {
			continue // malformed: New refuses it for every decision
		}
		p, err := start(Options{Allow: rules})
		if err != nil || len(p.Warnings()) != 1 || !strings.Contains(p.Warnings()[0], text) {
			t.Errorf("allow %q: %v", text, err)
		}
	}
	// An MCP server's tools need not be known; the rule holds before its server is up.
	p, err := start(Options{Deny: []permissions.Rule{{Text: "mcp_github_*"}}})
	if err != nil || p.policy.Decide("mcp_github_x", "{}") != permissions.Deny {
		t.Error(err)
	}
	// The presets themselves have no such rule.
	allow, ask, deny := presetRules(dir)
	for d, rules := range map[permissions.Decision][]permissions.Rule{permissions.Allow: allow, permissions.Ask: ask, permissions.Deny: deny} {
		if found := permissions.Lint(d, rules, permissions.KnownTools()); len(found) > 0 {
			t.Errorf("%v", found)
		}
	}
	if !slices.ContainsFunc(deny, func(r permissions.Rule) bool { return r.Source == builtIn }) {
		t.Error("the presets have no source")
	}
}
