//go:build unix

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// said is a sentence of docs/permissions.md with calls that show it.
type said struct {
	text  string // stands in the document
	flags string // of agent, beside the call
	tool  string
	code  int // of agent permissions check, or 2: the start is refused
	calls []string
}

const runs = 0

// saidOfPermissions is what docs/permissions.md says of rules and modes.
var saidOfPermissions = []said{
	{"| ask | what rules and answers allow |", "", "edit", exitAsk, []string{"f"}},
	{"| accept edits | also edits in the workspace |", "--permission-mode accept-edits", "edit", runs, []string{"f", "sub/f"}},
	{"| accept edits | also edits in the workspace |", "--permission-mode accept-edits", "write", runs, []string{"f"}},
	{"| auto | also every command;", "--permission-mode auto", "bash", runs, []string{"make x", "rm -rf x", "x=$(date); $x"}},
	{"| plan | nothing is written;", "--permission-mode plan", "edit", exitDeny, []string{"f"}},
	{"| yolo | everything but what a deny rule denies.", "--yolo", "bash", runs, []string{"rm -rf x"}},
	{"| yolo | everything but what a deny rule denies.", `--yolo --deny "bash(rm *)"`, "bash", exitDeny, []string{"rm -rf x"}},
	{"`*` is any run of characters", `--allow "bash(go test *)"`, "bash", runs, []string{"go test ./...", "go test -run 'A B' ./ui"}},
	{"`*` is any run of characters, nothing else\nis special", `--allow "bash(go test ./u?)"`, "bash", exitAsk, []string{"go test ./ui"}},
	{"every command in it must be allowed", `--allow "bash(go test *)"`, "bash", exitAsk, []string{"go test ./... && make x", "go test ./... | sh"}},
	{"A line that substitutes, calculates, sets variables, writes a file or names", `--allow "bash(go test *)" --allow "bash(echo *)"`, "bash", exitAsk,
		[]string{"go test $(ls)", "go test $((1+1))", "x=1", "go test ./... > f", "$x ./..."}},
	{"`bash(git push *)` does not match `git push` without more", `--deny "bash(git push *)"`, "bash", exitAsk, []string{"git push"}},
	{"give both where you mean both", `--deny "bash(git push *)" --deny "bash(git push)"`, "bash", exitDeny, []string{"git push", "git push origin"}},
	{"An assignment in front is matched only by a rule that spells it", `--allow "bash(make *)"`, "bash", exitAsk, []string{"X=1 make all"}},
	{"An assignment in front is matched only by a rule that spells it", `--allow "bash(X=1 make *)"`, "bash", runs, []string{"X=1 make all"}},
	{"Deny and ask rules also see the command behind `sudo`, `env`, `sh -c '…'`, `xargs`, `find -exec` and their kind, behind a path (`/bin/rm`), and with its options in\n  another order (`rm -fr`)",
		`--deny "bash(rm -rf *)"`, "bash", exitDeny, []string{"sudo rm -rf x", "env A=b rm -rf x", "sh -c 'rm -rf x'", "ls | xargs rm -rf x", "find . -exec rm -rf {} +", "/bin/rm -rf x", "rm -fr x"}},
	{"Allow rules never do.", `--allow "bash(make *)"`, "bash", exitAsk, []string{"sudo make x", "env make x", "sh -c 'make x'", "/usr/bin/make x"}},
	{"letters of the other case are other letters", `--deny "read(secrets/*)"`, "read", runs, []string{"Secrets/a"}},
	{"letters of the other case are other letters", `--deny "read(secrets/*)"`, "read", exitDeny, []string{"secrets/a", "./x/../secrets/a"}},
	{"A deny or ask rule for `edit` also covers `write` and `multi_edit`", `--deny "edit(go.mod)"`, "write", exitDeny, []string{"go.mod"}},
	{"A deny or ask rule for `edit` also covers `write` and `multi_edit`", `--deny "edit(go.mod)"`, "multi_edit", exitDeny, []string{"go.mod"}},
	{"an allow rule for `edit` also `multi_edit`", `--allow "edit(go.mod)"`, "multi_edit", runs, []string{"go.mod"}},
	{"an allow rule for `edit` also `multi_edit`", `--allow "edit(go.mod)"`, "write", exitAsk, []string{"go.mod"}},
	{"`mcp_<server>_*` is every tool of a server", `--allow "mcp_github_*"`, "mcp_github_issue", runs, []string{`{"title":"x"}`}},
	{"A deny or ask rule that can never match (`bash(a && b)`", `--deny "bash(a && b)"`, "bash", 2, []string{"ls"}},
	{"`Bash(x:*)`", `--ask "Bash(x:*)"`, "bash", 2, []string{"ls"}},
	{"such an allow rule is a warning", `--allow "bash(a && b)"`, "bash", exitAsk, []string{"make"}},
	{"`read`, `glob` and `grep` in the workspace, the todo list and the like run", "", "read", runs, []string{"f"}},
	{"`read`, `glob` and `grep` in the workspace, the todo list and the like run", "", "grep", runs, []string{`{"pattern":"x"}`}},
	{"`.git/` and `.phero/` are never written by the file tools, whatever you answer", "--yolo --allow write", "write", exitDeny, []string{".git/config", ".phero/config.toml"}},
	{"(`.env`, `id_rsa`, `*.pem`) are asked before they are read", "", "read", exitAsk, []string{".env", "id_rsa", "x.pem", "sub/.env"}},
	{"Shell rc files, `.envrc`, the\nsettings of editors, CI, git hooks and agents are asked before the file tools write them, whatever an allow rule or a mode says",
		"--allow edit --permission-mode accept-edits", "edit", exitAsk,
		[]string{".bashrc", ".envrc", ".vscode/settings.json", ".github/workflows/ci.yml", ".husky/pre-commit", ".claude/settings.json"}},
	{"(yolo excepted)", "--yolo", "edit", runs, []string{".envrc"}},
	{"an allow rule for `go test *` allows what the tests do", `--allow "bash(go test *)"`, "bash", runs, []string{"go test -exec ./evil ./..."}},
	{"`bash(rm -rf *)` does not see `rm` that a script", `--deny "bash(rm -rf *)" --allow "bash(python *)"`, "bash", runs, []string{"python clean.py"}},
	{"An allow rule for `find *`, `xargs *`, `ssh *` or `make *` allows everything that those run", `--allow "bash(find *)" --allow "bash(xargs *)" --allow "bash(ssh *)" --allow "bash(make *)"`,
		"bash", runs, []string{"find . -exec rm {} +", "find . | xargs rm", "ssh host rm x", "make clean"}},
	{"`web_fetch(https://go.dev*)`, without the\nslash, also allows `https://go.dev.evil.example/`", `--allow "web_fetch(https://go.dev*)"`, "web_fetch", runs, []string{"https://go.dev.evil.example/"}},
	{"`web_fetch(https://go.dev*)`, without the\nslash", `--allow "web_fetch(https://go.dev/*)"`, "web_fetch", exitAsk, []string{"https://go.dev.evil.example/"}},
}

// readOnly are lines for the names of commands that only read, as docs/permissions.md
// lists them; hostToo run without the sandbox as well.
var readOnly = map[string]string{
	"ls": "ls -la sub", "cat": "cat f", "head": "head -n 3 f", "tail": "tail f", "wc": "wc -l f", "grep": "grep -rn x .", "rg": "rg x", "find": "find . -name f",
	"sort": "sort f", "uniq": "uniq f", "cut": "cut -d: -f1 f", "tr": "cat f | tr a b", "sed": "sed -n 1,3p f", "awk": "awk '{print $1}' f", "diff": "diff f sub/f",
	"stat": "stat f", "file": "file f", "du": "du -sh .", "tree": "tree -L 2", "jq": "jq .a f", "ps": "ps aux", "env": "env", "date": "date", "echo": "echo hello",
	"test": "test -f f", "which": "which go", "cd": "cd sub && ls", "gofmt -l": "gofmt -l .", "--version": "python3 --version",
	"git status|diff|log|show|blame|grep|branch|…": "git status && git diff && git log --oneline && git show && git blame f && git grep x && git branch",
	"go list|doc|env|mod why|version":              "go list ./... && go doc fmt && go env && go mod why x && go version", "go": "go version",
}

// TestDocsPermissions shows every rule of docs/permissions.md with calls.
func TestDocsPermissions(t *testing.T) {
	doc := document(t, "docs/permissions.md")
	base, home := t.TempDir(), t.TempDir()
	shell := withAgent(t, base, home)
	if out, err := shell("git init -q . && mkdir sub && echo a >f && echo b >sub/f").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	check := func(t *testing.T, s said, call string) {
		t.Parallel()
		args := append([]string{"permissions", "check"}, words(s.flags)...)
		cmd := program(t, base+"/ws", home, append(args, "--tool", s.tool, "--", call)...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != s.code {
			t.Errorf("%s %s: exit code %d, not %d: %s", s.flags, call, code, s.code, out)
		}
	}
	for _, s := range saidOfPermissions {
		if !strings.Contains(doc, s.text) {
			t.Errorf("docs/permissions.md does not say %q", s.text)
		}
		for _, call := range s.calls {
			if !sandboxWorks() && (strings.Contains(s.flags, "auto") || s.tool == "bash" && strings.Contains(call, "find")) {
				continue // the sandbox is a part of the sentence
			}
			t.Run(s.tool+" "+call, func(t *testing.T) { check(t, s, call) })
		}
	}
	names := readOnlyNames(t, doc)
	for _, name := range names {
		call, ok := readOnly[name]
		if !ok {
			t.Errorf("docs/permissions.md says that %s only reads, and no call shows it", name)
		}
		if sandboxWorks() {
			t.Run(name, func(t *testing.T) { check(t, said{tool: "bash", code: runs}, call) })
		}
	}
	if len(names) < 25 {
		t.Errorf("%d commands only read", len(names))
	}
}

// readOnlyNames are the commands of the paragraph on those that only read.
func readOnlyNames(t *testing.T, doc string) (names []string) {
	t.Helper()
	_, after, found := strings.Cut(doc, "**Commands that only read**")
	list, _, whole := strings.Cut(after, "\n\n")
	if !found || !whole {
		t.Fatal("docs/permissions.md has no paragraph on commands that only read")
	}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}
