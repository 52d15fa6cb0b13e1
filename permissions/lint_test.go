package permissions

import (
	"strings"
	"testing"
)

func lintOne(t *testing.T, d Decision, rule string) (Finding, bool) {
	t.Helper()
	found := Lint(d, []Rule{{rule, "settings.toml"}}, KnownTools())
	if len(found) > 1 {
		t.Errorf("%q: %d findings", rule, len(found))
	}
	if len(found) == 0 {
		return Finding{}, false
	}
	return found[0], true
}

// TestLint: rules that can never match, with what to write instead (section C of the cases).
func TestLint(t *testing.T) {
	for rule, instead := range map[string]string{
		"bash(a && b)":         "each command",
		"bash(a; b)":           "each command",
		"bash(a | b)":          "each command",
		"bash(a & b)":          "each command",
		"bash(a\nb)":           "each command",
		"bash(go  test *)":     "bash(go test *)",
		"bash(go\ttest)":       "bash(go test)",
		"bash( go test)":       "bash(go test)",
		"bash(git push )":      "bash(git push)",
		"bash(git push:*)":     "bash(git push) and bash(git push *)",
		"bash(cat * > *)":      "",
		"bash(ls # x)":         "",
		"bash(time rm *)":      "bash(rm *)",
		"bash(! rm *)":         "bash(rm *)",
		"bash(if *)":           "",
		"bash(a\x1bb)":         "",
		"Bash(x)":              "bash(x)",
		"Bash(git push:*)":     "bash(git push:*)",
		"Edit(/x/*)":           "edit(/x/*)",
		"Write":                "write",
		"WebFetch(http://x/*)": "web_fetch(http://x/*)",
		"edti(/repo/*)":        "edit(/repo/*)",
		"raed":                 "read",
		"nothing_like_it":      "",
		"todo_write(x)":        "todo_write",
		"user_interaction(*)":  "user_interaction",
		"read(/repo/secrets/)": "read(/repo/secrets/*)",
		"edit(/repo/*/)":       "edit(/repo/*/*)",
		"read(/repo/*/../x)":   "",
		"write(/repo/*//x)":    "",
		"edit(file:///x)":      "edit(/x)",
		"mcp_github_*(x)":      "mcp_github_*",
		"bash(":                "",
	} {
		f, ok := lintOne(t, Deny, rule)
		if !ok {
			t.Errorf("%q: nothing found", rule)
			continue
		}
		if !strings.Contains(f.Instead, instead) || instead == "" && f.Instead != "" {
			t.Errorf("%q: write %q, want %q", rule, f.Instead, instead)
		}
		if s := f.String(); !f.Fatal() || !strings.Contains(s, "settings.toml") || !strings.Contains(s, "deny") || f.Problem == "" {
			t.Errorf("%q: %s", rule, s)
		}
		if f, _ := lintOne(t, Allow, rule); f.Fatal() {
			t.Errorf("%q: a useless allow rule is a warning", rule)
		}
	}
	for _, rule := range []string{"bash(export *)", "bash(read x)", "bash(echo $(*))", "bash(x `y`)", `bash(\rm *)`, "bash('rm' *)", "bash(r? *)", "bash(X=*)", "bash(unset *)", "bash([[ *)"} {
		if f, ok := lintOne(t, Allow, rule); !ok || f.Problem == "" {
			t.Errorf("allow %q: nothing found", rule)
		}
		if f, ok := lintOne(t, Deny, rule); ok {
			t.Errorf("deny %q can match: %s", rule, f)
		}
	}
	for _, rule := range []string{"read", "bash", "bash(*)", "bash(go test *)", "bash(go test*)", "bash(echo 'a && b')", `bash(find * -exec * \;)`, "bash(npm run test:*)", "bash(docker run img:*)", "bash([ -f *)",
		"bash(X=* make *)", "bash(echo 'a  b')", `bash(echo "x | y")`, "bash(cat <<E)", "bash(echo a#b)", "bash(ls a\\ \\ b)", "bash(* --version)", "bash(echo (x))",
		"read(*/.env)", "read(~/.ssh/*)", "edit(src/*)", "glob(/repo/)", "web_fetch(https://go.dev/*)", "mcp_x_y", "mcp_x_*", "mcp_x_y(https://x/*)", "skill(review)", "agent"} {
		for _, d := range []Decision{Allow, Ask, Deny} {
			if f, ok := lintOne(t, d, rule); ok {
				t.Errorf("%v %q: %s", d, rule, f)
			}
		}
	}
}

// TestLintedRulesMatch: what Lint says to write is itself without findings.
func TestLintedRulesMatch(t *testing.T) {
	for _, rule := range []string{"bash(go  test *)", "bash( go test)", "Edit(/x/*)", "edti(/repo/*)", "read(/repo/secrets/)", "bash(time rm *)"} {
		f, _ := lintOne(t, Deny, rule)
		if again, ok := lintOne(t, Deny, f.Instead); ok {
			t.Errorf("%q → %q: %s", rule, f.Instead, again)
		}
	}
}
