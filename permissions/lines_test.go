package permissions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/phero-agent/agent/tools"
)

// TestCommandLines decides command lines, each for the requirement that it is named by.
func TestCommandLines(t *testing.T) {
	list := func(rules ...string) []string { return rules }
	for _, c := range []struct {
		requirement string
		allow, deny []string
		want        Decision
		lines       []string
	}{
		{"PERM-18", list("bash(go test *)"), nil, Ask, list("go test ./... && rm -rf /")},
		{"PERM-19", list("bash(go test *)"), nil, Ask, list("go test . && x", "go test . || x", "go test . ; x", "go test . | x", "go test . & x", "go test . |& x", "go test .\nx", "x && go test .")},
		{"PERM-19", list("bash(go test *)", "bash(x)"), nil, Allow, list("go test . && x", "go test . || x", "go test . ; x", "go test . | x", "go test . & x", "go test . |& x", "go test .\nx")},
		{"PERM-21", nil, list("bash(rm *)"), Deny, list("f(){ rm x; }; f", "function f { rm x; }")},
		{"PERM-21", list("bash(f)", "bash(rm *)"), nil, Ask, list("f(){ rm x; }; f")},
		{"PERM-23", list("bash(echo *)"), nil, Allow, list("echo 'a && b'", `echo "a; b | c"`, `echo a\;b`)},
		{"PERM-24", list("bash(go test *)"), nil, Allow, list("go   test\t./...", "go test \\\n ./...", " go test ./... # note")},
		{"PERM-24", list("bash(echo 'a b')"), nil, Ask, list("echo 'a  b'", `echo "a b"`)},
		{"PERM-27", list("bash(go test *)"), nil, Ask, list("CGO_ENABLED=0 go test ./...")},
		{"PERM-28", list("bash(CGO_ENABLED=0 go test *)"), nil, Allow, list("CGO_ENABLED=0 go test ./...")},
		{"PERM-29", list("bash(go test *)", "bash"), nil, Ask, list("GOFLAGS=-toolexec=/x go test .", "LD_PRELOAD=x go test .")},
		{"PERM-33", list("bash(cat *)", "bash(cat)", "bash"), nil, Ask, list("cat a >> ~/.bashrc", "cat a > f", "cat a >| f", "cat a &> f", "cat a &>> f", "cat a >&f", "cat a <> f", "cat a 2>f", ">f", "cat a > /dev/stdout", "cat a > /dev/stderr", "cat a > /dev/tcp/h/80", "cat a >&$fd")},
		{"PERM-34", nil, list("bash(rm *)"), Deny, list("rm x > f", "echo $(ls) && rm x", "[[ -f a ]] && rm x")},
		{"PERM-37", list("bash"), nil, Ask, list("echo $(ls)", "echo `ls`", `echo "$(ls)"`, "echo 'x $(ls)'", "cat <(ls)", "tee >(ls)", "test -v 'a[$(ls)]'", "cat <<'E'\n$(ls)\nE", "echo ${ ls; }", "echo ${|ls;}")},
		{"PERM-38", list("bash"), nil, Ask, list("echo $((1+1))", "((x=1))", "echo $[1+1]", "let x=1", "for ((i=0;i<3;i++)); do ls; done", "echo ${x:1:2}")},
		{"PERM-39", list("bash", "bash(go test *)"), nil, Ask, list("[[ -f a ]] && go test .")},
		{"PERM-40", list("bash"), nil, Ask, list("echo ${a[i]}", "echo ${!a}", "echo ${a[@]}", "echo ${!p*}", "echo ${x@P}", "echo ${#a[i]}", "echo ${x:=v}")},
		{"PERM-40", list("bash"), nil, Allow, list("echo $x", "echo ${x}", "echo ${x:-d}", "echo ${x#p}")},
		{"PERM-42", list("bash"), nil, Ask, list("PATH=.", "export", "export A=1", "declare -x B=2", "readonly X", "local", "typeset", "PATH=. ; go test .")},
		{"PERM-43", list("bash"), nil, Ask, list("$CMD x", `"$CMD" x`, "~/x", "{rm,-rf,/}", "r?", "/bin/r*")},
		{"PERM-44", list("bash"), nil, Ask, list(`\rm -rf x`, "r''m x", "'rm' x", "$'rm' x")},
		{"PERM-85", list("bash(find *)", "bash(trap *)", "bash(xargs *)"), nil, Allow, list(`find . -exec rm {} \;`, "trap 'rm x' EXIT", "xargs rm")}, // only arguments: who allows them allows what they run
	} {
		p := newPolicy(t, WithAllow(c.allow...), WithDeny(c.deny...))
		for _, line := range c.lines {
			if got := p.Decide("bash", command(line)); got != c.want {
				t.Errorf("%s: %q: %v, want %v", c.requirement, line, got, c.want)
			}
		}
	}
}

// TestDecisions: PERM-02, PERM-12: run, deny, or ask, and Decide asks nobody.
func TestDecisions(t *testing.T) {
	p := newPolicy(t, WithAllow("read"), WithDeny("write"), WithAsker(func(context.Context, Request) (Answer, error) {
		t.Error("asked")
		return Reject, nil
	}))
	for tool, want := range map[string]Decision{"read": Allow, "write": Deny, "edit": Ask} {
		if got := p.Decide(tool, args("file_path", "x")); got != want {
			t.Errorf("%s: %v", tool, got)
		}
	}
	if Ask == Allow || Allow == Deny || Ask != Decision(0) {
		t.Error("the decisions are not three, or the safe one is not zero")
	}
}

// PERM-16, PERM-17: the subject of any tool can be named; file_path and path are paths.
func TestSubjectsOfOtherTools(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := newPolicy(t, WithWorkingDir(dir), WithSubject("mcp_get", "url"), WithSubject("mcp_cat", "path"), WithAllow("mcp_get(https://x/*)", "mcp_cat("+dir+"/a)"))
	for arguments, want := range map[[2]string]Decision{
		{"mcp_get", args("url", "https://x/y")}: Allow, {"mcp_get", args("url", "https://z/y")}: Ask, {"mcp_get", args("other", "https://x/y")}: Ask,
		{"mcp_cat", args("path", "b/../a")}: Allow, {"mcp_cat", args("path", "../a")}: Ask,
	} {
		if got := p.Decide(arguments[0], arguments[1]); got != want {
			t.Errorf("%v: %v", arguments, got)
		}
	}
	if _, err := New(WithSubject("", "x")); err == nil {
		t.Error("a subject without a tool")
	}
}

// PERM-75, PERM-76: the request carries the arguments as they came, and the subject for a person.
func TestRequestSubject(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	asker := &answers{give: []Answer{AllowOnce}}
	p := newPolicy(t, WithAsker(asker.ask), WithWorkingDir(dir))
	for _, c := range [][3]string{
		{"bash", `{ "command" : "a && b" }`, "a && b"}, {"edit", `{"file_path":"./link"}`, dir + "/real"}, {"glob", `{"pattern":"*"}`, dir},
	} {
		if err := p.Authorize(context.Background(), c[0], c[1]); err != nil {
			t.Error(err)
		}
		if r := asker.last(); r.Tool != c[0] || r.Arguments != c[1] || r.Subject != c[2] {
			t.Errorf("%+v", r)
		}
	}
}

// PERM-49: rules on bash are advice: the package says so, and what a script runs
// is not seen.
func TestBashRulesAreAdvice(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil || !containsAll(string(doc), "Rules on bash are advice, not a wall", "The sandbox is the wall") {
		t.Errorf("the package does not say it: %v", err)
	}
	p := newPolicy(t, WithDeny("bash(rm *)"), WithUnwrap(), WithDefault(Allow))
	for _, line := range []string{"./clean.sh", "make clean", "python3 -c 'import os; os.remove(\"x\")'"} {
		if got := p.Decide("bash", command(line)); got != Allow {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// B5, B7: a sub-agent has its parent's policy: what it calls is decided by the
// same rules, and a call made inside a question cannot wait for that question.
func TestSubAgentHasTheSamePolicy(t *testing.T) {
	var runs atomic.Int32
	p := newPolicy(t, WithDeny("bash(rm *)"), WithAllow("agent"))
	bash := tool(t, "bash", &runs)
	agent, err := tools.NewRawTool("agent", "", nil, func(ctx context.Context, _ string) (any, error) {
		return bash.Handle(ctx, command("rm x"))
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Apply(bash, agent)
	if _, err := agent.Handle(context.Background(), "{}"); !errors.Is(err, ErrDenied) || runs.Load() != 0 {
		t.Errorf("%v, %d runs", err, runs.Load())
	}
}

// TestPossible: that rules are looked for in the whole line first drops none that
// matches a part, however the part is written.
func TestPossible(t *testing.T) {
	var rules []string
	for i := range 40 {
		rules = append(rules, fmt.Sprintf("bash(*--danger%d=*)", i))
	}
	rules = append(rules, "bash(* -rf *)", "bash(*)x)")
	rest := strings.Repeat("ls a 'b c' | ", 8)
	deny := newPolicy(t, WithAllow("bash"), WithDeny(rules...), WithUnwrap())
	ask := newPolicy(t, WithAllow("bash"), WithAsk(rules...), WithUnwrap())
	for i := range 40 {
		for _, form := range []string{"x --danger%d=1", "x '--danger%d=1'", `x --dan"ger"%d=1`, "sudo x --danger%d=1", "sh -c 'x --danger%d=1'", "(x --danger%d=1)", "echo $(x --danger%d=1)", "A=1 x --danger%d=1", "x --danger%d=1 > f", "!(x --danger%d=1)"} {
			part := fmt.Sprintf(form, i)
			if got := deny.Decide("bash", command(rest+part)); got != Deny {
				t.Errorf("%q: %v", part, got)
			}
			if tr := ask.Explain("bash", command(rest+part)); tr.Decision != Ask || tr.By != ByAskRule || tr.Rule.Text != rules[i] {
				t.Errorf("%q: %s", part, shown(tr))
			}
		}
	}
	if got := deny.Decide("bash", command(rest+"rm -rf x")); got != Deny {
		t.Error(got)
	}
	if got := deny.Decide("bash", command(rest+"wc")); got != Allow {
		t.Error(got)
	}
}
