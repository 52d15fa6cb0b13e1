package permissions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func newPolicy(t testing.TB, opts ...Option) *Policy {
	t.Helper()
	p, err := New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// args is the JSON of one argument.
func args(name, value string) string {
	data, _ := json.Marshal(map[string]string{name: value})
	return string(data)
}

func command(line string) string { return args("command", line) }

// TestMalformedRules: New names what it refuses (PERM-01, section C of the cases).
func TestMalformedRules(t *testing.T) {
	for _, rule := range []string{"bash(", "bash)", "bash)x", "(x)", "", " ", "bash()", " bash (x)", "bash(go test *) extra",
		"bash(a\x00b)", "b*sh(x)", "mcp_*", "*", "ba sh"} {
		for _, opt := range []Option{WithAllow(rule), WithAsk(rule), WithDeny(rule)} {
			_, err := New(opt)
			if !errors.Is(err, ErrInvalidRule) || !strings.Contains(err.Error(), fmt.Sprintf("%q", rule)) {
				t.Errorf("%q: %v", rule, err)
			}
		}
	}
	if _, err := New(WithRules(7, Rule{Text: "read"})); err == nil {
		t.Error("rules of no decision")
	}
	p := newPolicy(t, WithAllow(" read ", "bash(echo (x))", "mcp_git_*")) // PERM-03
	if d := p.Decide("read", args("file_path", "x")); d != Allow {
		t.Error("blanks around a rule:", d)
	}
	if err := p.AddAllow(Rule{Text: "glob"}, Rule{Text: "bash("}); !errors.Is(err, ErrInvalidRule) || p.Decide("glob", "{}") != Ask {
		t.Error("a malformed rule must add none:", err)
	}
}

// TestOrder: deny beats ask beats allow beats the default (PERM-06, PERM-07).
func TestOrder(t *testing.T) {
	for bits := range 8 {
		for _, def := range []Decision{Ask, Allow, Deny} {
			opts := []Option{WithDefault(def)}
			want := def
			if bits&1 != 0 {
				opts = append(opts, WithAllow("bash(x *)"))
				want = Allow
			}
			if bits&2 != 0 {
				opts = append(opts, WithAsk("bash(x *)"))
				want = Ask
			}
			if bits&4 != 0 {
				opts = append(opts, WithDeny("bash(x *)"))
				want = Deny
			}
			for range 2 {
				slices.Reverse(opts)
				if got := newPolicy(t, opts...).Decide("bash", command("x y")); got != want {
					t.Errorf("%03b default %v: %v, want %v", bits, def, got, want)
				}
			}
		}
	}
}

// TestReferenceExample is the reference's example (PERM-13, PERM-05).
func TestReferenceExample(t *testing.T) {
	p := newPolicy(t,
		WithAllow("read", "grep", "glob", "bash(go test *)", "bash(go build *)", "edit(/repo/*)"),
		WithAsk("edit(/repo/go.mod)"),
		WithDeny("bash(git push *)", "edit(/repo/secrets/*)"),
		WithWorkingDir("/repo"))
	for _, c := range []struct {
		tool, arguments string
		want            Decision
	}{
		{"edit", args("file_path", "/repo/go.mod"), Ask},
		{"edit", args("file_path", "/repo/a.go"), Allow},
		{"edit", args("file_path", "/repo/secrets/k"), Deny},
		{"bash", command("git push origin"), Deny},
		{"bash", command("go test ./..."), Allow},
		{"grep", "{}", Allow},
	} {
		if got := p.Decide(c.tool, c.arguments); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.tool, c.arguments, got, c.want)
		}
	}
}

// decisions is a table of bash lines under one set of rules.
type decisions struct {
	name             string
	allow, ask, deny []string
	unwrap           bool
	want             map[string]Decision
}

func (d decisions) run(t *testing.T) {
	t.Helper()
	opts := []Option{WithAllow(d.allow...), WithAsk(d.ask...), WithDeny(d.deny...)}
	if d.unwrap {
		opts = append(opts, WithUnwrap())
	}
	p := newPolicy(t, opts...)
	for line, want := range d.want {
		if tr := p.Explain("bash", command(line)); tr.Decision != want {
			t.Errorf("%s: %q: %v, want %v (%s)", d.name, line, tr.Decision, want, shown(tr))
		}
	}
}

// TestLines holds what the table of cases does not.
func TestLines(t *testing.T) {
	for _, d := range []decisions{
		{name: "PERM-26 quotes of arguments", allow: []string{"bash(git *)"}, deny: []string{"bash(git push *)", "bash(rm -rf *)"}, want: map[string]Decision{
			`git "push" origin`: Deny, `git pu"sh" o`: Deny, `git $'pu\x73h' o`: Deny, `git pu\sh o`: Deny,
			`\rm -rf x`: Ask, `git log`: Allow,
		}},
		{name: "PERM-26 allow sees text as written", allow: []string{"bash(git push *)"}, want: map[string]Decision{`git "push" o`: Ask, "git push o": Allow}},
		{name: "PERM-30 PERM-31 assignments", allow: []string{"bash(*)", "bash(X=1 *)", "bash(Y=* ls)", "bash(A=* B=* make *)"}, deny: []string{"bash(git push *)", "bash(LD_PRELOAD=*)"}, want: map[string]Decision{
			"X=1 git push o": Deny, "X=1 ls": Allow, "X=2 ls": Ask, "Y=3 ls": Allow, "Y=3 rm x ls": Ask, "Y=1 Z=2 ls": Ask,
			"A=1 B=2 make x": Allow, "A=1 make x": Ask, "LD_PRELOAD=x ls": Deny, "ls": Allow, "X+=1 ls": Ask,
		}},
		{name: "PERM-31 a bare rule spells no assignment", allow: []string{"bash"}, want: map[string]Decision{"ls": Allow, "PATH=. ls": Ask}},
		{name: "PERM-32 redirections", allow: []string{"bash(cat)", "bash(go test *)"}, want: map[string]Decision{
			"cat <<E\nx\nE": Allow, "cat <<< x": Allow, "cat < f": Allow, "go test ./... 2>&1 >/dev/null": Allow, "cat x": Ask,
			"cat </dev/tcp/h/1": Ask, "cat {v}<f": Ask,
		}},
		{name: "decision 3 variables", allow: []string{"bash(*)"}, want: map[string]Decision{
			"for x in a; do ls; done": Allow, "for PATH in a; do ls; done": Ask, "for http_proxy in a; do ls; done": Ask, "for Ab in a; do ls; done": Ask, "for npm_config_x in a; do ls; done": Ask,
			"read x": Ask, "mapfile x": Ask, "readarray x": Ask, "getopts a x": Ask, "unset x": Ask, "printf -v x y": Ask, "printf %s x": Allow, `printf "%s\n" "$x"`: Allow, `printf "$x"`: Ask, "printf %n PATH": Ask, "printf 'a%-3ln' x": Ask, "printf %%n x": Allow, `printf "a$x"`: Ask, "printf -- %n x": Ask, "printf -- a": Allow, `printf -"$x" PATH .`: Ask, `printf """$x" PATH .`: Ask,
			"echo ${x:=y}": Ask, "echo ${x=y}": Ask, "ls {fd}</dev/null": Ask, "coproc ls": Ask, "select x in a; do ls; done": Allow,
			"wait": Allow, "wait $!": Allow, "wait -n": Allow, "wait -p x": Ask, "wait $x": Ask,
		}},
		{name: "PERM-41 names that are evaluated", allow: []string{"bash(*)"}, want: map[string]Decision{
			"test -v x": Allow, "test -v 'a[0]'": Ask, `test -v "$x"`: Ask, "[ -v x ]": Allow, `[ -v $x ]`: Ask,
			`[ -n "$x" ]`: Allow, `[ "$x" = y ]`: Allow, `[ $? -eq 0 ]`: Allow, "[ $x = y ]": Ask, `test "$a" "$b"`: Ask, `[ -f go.mod -a -n "$x" ]`: Allow, `test "$@"`: Ask, `test -"$x" "$y"`: Ask, `test """$x" 'a[0]'`: Ask, `[ "a$x" = b ]`: Allow, "[ a$x = b ]": Ask, `[ -d "$x/y" ]`: Allow,
			"test -n 'x[0]'": Allow, `[ "$x" != "$y" ]`: Allow, "eval ls": Allow,
		}},
		{name: "PERM-35, PERM-36, PERM-41, PERM-45: opaque", allow: []string{"bash", "bash(*)"}, want: map[string]Decision{
			"echo ${ ls; }": Ask, "echo ${|ls;}": Ask, "let x=1": Ask, "echo ${x@P}": Ask, "echo ${a[@]}": Ask, "echo ${!p*}": Ask, "echo ${#a[i]}": Ask, "$CMD x": Ask, `"$CMD" x`: Ask, "~/x": Ask, "r? x": Ask,
			"/bin/r* x": Ask, "export": Ask, "local x": Ask, `echo \$(rm x)`: Ask, `echo \$\(rm\)`: Ask, `echo $"x"`: Ask, "f() { ls; }": Ask, "ls; ls &": Allow, "a | time b": Ask, "for x in a; { ls; }": Ask,
		}},
		{name: "PERM-83", allow: []string{"bash(*)"}, deny: []string{"bash(rm *)"}, want: map[string]Decision{"!(rm x)": Deny, "ls !(a)": Ask, "@(ls|rm) x": Ask, "@(ls|cp) x": Ask}},
		{name: "PERM-84", allow: []string{"bash(go test *)"}, want: map[string]Decision{"go\rtest x": Ask, "go test \x1b[2K": Ask, "go test \x7f": Ask, "go\ttest\tx": Allow}},
		{name: "PERM-36 rough deny", deny: []string{"bash(rm *)"}, want: map[string]Decision{"echo 'x; rm y": Deny, "(rm y": Deny, "if rm y": Deny, "echo 'x": Ask, "rm x 'a": Deny, "coproc N rm x )": Deny, "time -p -- rm x": Deny, "<&-rm x": Deny}},
		{name: "PERM-20, PERM-21, PERM-22: nested", deny: []string{"bash(rm *)"}, want: map[string]Decision{
			"f(){ rm x; }; f": Deny, "echo $(rm x)": Deny, `echo "${x:-$(rm y)}"`: Deny, "cat <(rm x)": Deny, "cat <<E\n$(rm x)\nE": Deny, "if rm x; then :; fi": Deny, "while :; do rm x; done": Deny, "case x in x) rm x;; esac": Deny, "(( $(rm x) ))": Deny,
		}},
		{name: "PERM-46", allow: []string{"bash(go test *)"}, deny: []string{"bash(rm *)"}, want: map[string]Decision{"time rm x": Deny, "! go test .": Allow, "time go test .": Allow, "coproc go test .": Ask}},
		{name: "PERM-47", want: map[string]Decision{"": Ask, "# x": Ask, " \n": Ask}},
		{name: "PERM-25 advisory", deny: []string{"bash(rm -rf *)"}, want: map[string]Decision{"rm -rf": Ask, "rm -fr x": Ask, "/bin/rm -rf x": Ask, `\rm -rf x`: Ask, "sh -c 'rm -rf x'": Ask, "rm -rf x": Deny}},
		{name: "SAFE-02", allow: []string{"bash(rm *)", "bash(go test *)", "bash(*)"}, want: map[string]Decision{`\rm x`: Ask, "r''m x": Ask, "$(echo rm) x": Ask, "X=1 go test": Ask}},
		{name: "PERM-04 other characters are literal", allow: []string{"bash(ls a?c[1].x)"}, want: map[string]Decision{"ls a?c[1].x": Allow, "ls abc1.x": Ask}},
	} {
		d.run(t)
	}
}

// TestWhy: the trace names what makes a line opaque.
func TestWhy(t *testing.T) {
	long := strings.Repeat("a", maxLine)
	for _, c := range []struct{ line, part, why string }{
		{"ls a\\\nb", "ls a\\\nb", "continued in the middle"},
		{"ls # x \\\nls", " # x ", "skipped"},
		{"# x \\\nls", "# x ", "comment"},
		{"ls a\rb", "ls a\rb", "control character"},
		{"for x in $(ls) b; do ls; done", "$(ls)", "substitution"},
		{"cat <(ls) b", "<(ls)", "process substitution"},
		{"cat <<E\n$(ls)\nE", "$(ls)", "substitution"},
		{"cat <<$x\na\n$x", "cat", "cannot read"},
		{"cat <<-E\n\ta \\\nE\nE", "<<-E", "two ways"},
		{"X+= ls", "=", "skipped"},
		{"ls | time ls", "time ls", "pipe"},
		{"ls " + long, "ls aaa", "too long"},
		{"ls " + strings.Repeat("(", maxBrackets+1), "ls (((", "too long"},
		{strings.Repeat("( ", 101) + "ls" + strings.Repeat(" )", 101), "( ( (", "too deep"},
		{"echo ${x@P}", "${x@P}", "value"},
		{"ls >&x", ">&x", "writes a file"},
		{"ls 2>&-x", "2>&-x", "differently"},
		{"ls {v}<x", "{v}<x", "descriptor"},
		{"ls </dev/tcp/h/1", "</dev/tcp/h/1", "network"},
		{"read x", "read x", "sets variables"},
		{"A=1", "A=1", "only sets"},
		{"m=(a b)", "m=(a b)", "only sets"},
		{"echo 'x", "echo 'x", "cannot read"},
	} {
		tr := newPolicy(t, WithAllow("bash(*)", "bash(X+=* *)")).Explain("bash", command(c.line))
		if tr.Decision != Ask || !strings.HasPrefix(tr.Opaque, c.part) || !strings.Contains(tr.Why, c.why) {
			t.Errorf("%.60q: %v, %.60q, %s", c.line, tr.Decision, tr.Opaque, tr.Why)
		}
	}
	// A limit only makes a verdict stricter.
	if d := newPolicy(t, WithAllow("bash(*)"), WithDeny("bash(rm *)")).Decide("bash", command("ls "+long+"; rm x")); d != Deny {
		t.Error("a deny rule behind the limit:", d)
	}
}

// TestUnwrap: deny and ask rules see behind wrappers, allow rules do not.
func TestUnwrap(t *testing.T) {
	denied := map[string]Decision{}
	for _, line := range []string{
		"rm -rf x", "rm -fr x", "rm -r -f x", "rm -f x -r", "rm --recursive --force x", "rm -rfv x", "rm -Rf x", "rm x -rf", "/bin/rm -rf x", `\rm -rf x`, "'rm' -rf x",
		"env rm -rf x", "env -i A=1 rm -rf x", "env -u A rm -rf x", "env -S 'rm -rf x'", "command rm -rf x", "command -p rm -rf x", "exec rm -rf x", "exec -a y rm -rf x",
		"builtin rm -rf x", "nohup rm -rf x &", "nice rm -rf x", "nice -n 5 rm -rf x", "nice -5 rm -rf x", "timeout 5 rm -rf x", "timeout -k 1 5s rm -rf x", "timeout --signal=KILL 5 rm -rf x", "time rm -rf x",
		"stdbuf -oL rm -rf x", "stdbuf -o L rm -rf x", "sudo rm -rf x", "sudo -u root -E rm -rf x", "sudo A=1 rm -rf x", "sudo -- rm -rf x", "doas -u root rm -rf x",
		"ls | xargs rm -rf x", "xargs -0 -n 1 rm -rf x", "xargs -I{} rm -rf {}", "xargs -I {} rm -rf {}", "find . -exec rm -rf {} ';'", `find . -name x -execdir rm -rf {} \; -print`, "find . -exec rm -rf {} +",
		"sh -c 'rm -rf x'", "bash -lc 'rm -rf x'", "bash -c 'ls; rm -rf x'", "zsh -c \"rm -rf x\"", "dash -e -c 'rm -rf x'", "bash -o pipefail -c 'rm -rf x'", "/bin/sh -c 'rm -rf x'", "eval rm -rf x", "eval 'rm -rf x'",
		"sudo env A=1 nice -n 3 sh -c 'timeout 3 /bin/rm -fr x'", "bash -c \"sh -c 'rm -rf x'\"",
		"git push origin", "git -C x push origin", "git -c a.b=c push origin", "git --git-dir=x push o", "git --git-dir x push o", "git --no-pager push o",
		"git reset --hard HEAD", "git reset HEAD --hard", "git -C y reset -q --hard HEAD",
	} {
		denied[line] = Deny
	}
	decisions{name: "deny", unwrap: true, deny: []string{"bash(rm -rf *)", "bash(git push *)", "bash(git reset --hard *)"}, want: denied}.run(t)
	asked := map[string]Decision{}
	for line := range denied {
		asked[line] = Ask
	}
	decisions{name: "ask", unwrap: true, ask: []string{"bash(rm -rf *)", "bash(git push *)", "bash(git reset --hard *)"}, want: asked}.run(t)

	decisions{name: "others", unwrap: true, allow: []string{"bash(ls *)", "bash(rm *)"}, deny: []string{"bash(rm -rf *)"}, want: map[string]Decision{
		"rm -r x": Allow, "rm -f x": Allow, "env ls x": Ask, "sudo ls x": Ask, "/bin/ls x": Ask, "sh -c 'ls x'": Ask, "rm x-rf": Allow, "rm -- -rf x": Allow,
		"command -v rm": Ask, "ls rm -rf x": Allow, "sh -c": Ask, "env": Ask, "find . -exec": Ask,
	}}.run(t)
}

// TestArguments: what gives a subject twice or is no JSON object is denied, and nobody is asked.
func TestArguments(t *testing.T) {
	p := newPolicy(t, WithAllow("bash", "read", "glob", "mcp_x"), WithDefault(Allow), WithDeny("bash(rm *)"), WithSubject("mcp_task", "task"))
	for _, c := range []struct {
		tool, arguments string
		want            Decision
	}{
		{"bash", `{"command":"go test","COMMAND":"rm -rf ~"}`, Deny},     // PERM-58
		{"bash", `{"COMMAND":"go test","command":"go test"}`, Deny},      // PERM-58
		{"bash", `{"command":"go test","command":"go test"}`, Deny},      // PERM-58
		{"bash", `{"command":"go test","comm\u0061nd":"go test"}`, Deny}, // PERM-59
		{"bash", `{"command":"go test","command":null}`, Deny},           // PERM-59
		{"bash", `{"COMMAND":"rm -rf ~"}`, Deny},                         // PERM-59
		{"bash", `{"x":{"command":"a"},"command":"go test"}`, Allow},     // PERM-59: only the top level counts
		{"mcp_task", `{"taſk":"x","task":"y"}`, Deny},                    // PERM-59: folded as encoding/json does
		{"bash", `[]`, Deny}, {"bash", `{"command":1}`, Deny}, // PERM-60
		{"bash", `{"command":"x"} y`, Deny}, {"bash", ``, Deny}, // PERM-60
		{"bash", `{"command":"x"`, Deny}, {"bash", `null`, Deny}, // PERM-60
		{"glob", `{}`, Allow}, {"glob", `{"path":null}`, Allow}, // PERM-60
		{"mcp_x", ``, Allow}, {"mcp_x", `{}`, Allow}, {"mcp_x", `x`, Deny}, // no subject: no arguments are needed
	} {
		if got := p.Decide(c.tool, c.arguments); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.tool, c.arguments, got, c.want)
		}
	}
}

// TestSubjects is the table of PERM-14, and PERM-15, PERM-16, PERM-17.
func TestSubjects(t *testing.T) {
	for tool, argument := range map[string]string{"bash": "command", "web_fetch": "url", "skill": "command", "agent": "name", "bash_output": "bash_id", "kill_shell": "shell_id", "mcp_get": "uri"} {
		p := newPolicy(t, WithAllow(tool+"(abc *)"), WithSubject("mcp_get", "uri"))
		if p.Decide(tool, args(argument, "abc d")) != Allow || p.Decide(tool, args(argument, "abd d")) != Ask || p.Decide(tool, args("other", "abc d")) != Ask {
			t.Error(tool)
		}
	}
	for _, tool := range []string{"todo_write", "user_interaction", "mcp_unknown"} {
		p := newPolicy(t, WithAllow(tool+"(*)"), WithDeny(tool+"(*)"))
		if d := p.Decide(tool, "{}"); d != Ask {
			t.Errorf("%s has no subject, and a pattern matched: %v", tool, d)
		}
		if d := newPolicy(t, WithAllow(tool)).Decide(tool, `{"x":1}`); d != Allow {
			t.Error(tool, d)
		}
	}
	dir := t.TempDir()
	p := newPolicy(t, WithSubject("mcp_cat", "path"), WithDeny("mcp_cat("+dir+"/x)"), WithWorkingDir(dir)) // PERM-17
	if d := p.Decide("mcp_cat", args("path", "a/../x")); d != Deny {
		t.Error("path of another tool:", d)
	}
	p = newPolicy(t, WithSubject("sh", "command"), WithAllow("sh(go test *)")) // PERM-48
	if d := p.Decide("sh", command("go test && rm x")); d != Allow {
		t.Error("a shell of another name:", d)
	}
	p = newPolicy(t, WithDeny("mcp_git_*"), WithAllow("mcp_git_log", "mcp_gitx")) // decision 5
	if p.Decide("mcp_git_log", "{}") != Deny || p.Decide("mcp_gitx", "{}") != Allow || p.Decide("mcp_git_", "{}") != Ask {
		t.Error("the rule for a server's tools")
	}
	if _, err := New(WithSubject("", "x")); err == nil {
		t.Error("a subject without a tool")
	}
}

// TestPaths: PERM-50, PERM-51, PERM-52, PERM-53, PERM-54, PERM-55, PERM-56, PERM-57.
func TestPaths(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(root, "repo")
	for _, d := range []string{"repo/secrets", "repo/src", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"l": "secrets", "out": root + "/elsewhere", "dangling": "secrets/new", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(repo, from)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", repo)
	p := newPolicy(t, WithWorkingDir(repo), WithAllow("read("+repo+"/*)", "write"), WithDeny("read(~/secrets/*)", "read("+repo+"/*/.env)"))
	for path, want := range map[string]Decision{
		"src/../secrets/k": Deny, "./secrets/k": Deny, "~/secrets/k": Deny, repo + "//secrets/k": Deny, // PERM-50
		"l/k": Deny, "dangling": Deny, "l/new/deeper": Deny, // PERM-52
		"out/.env": Deny, "out/x": Ask, "src/x": Allow, // PERM-54
		"loop": Deny, "loop/x": Deny, // PERM-57
	} {
		if got := p.Decide("read", args("file_path", path)); got != want {
			t.Errorf("read %s: %v, want %v", path, got, want)
		}
	}
	if d := p.Decide("write", args("file_path", "loop")); d != Ask { // PERM-57: without a patterned deny rule
		t.Error("a loop is asked:", d)
	}
	// PERM-53: patterns are resolved at each decision.
	p = newPolicy(t, WithWorkingDir(repo), WithDeny("read(later/*)"), WithDefault(Allow))
	target := args("file_path", "src/x")
	if d := p.Decide("read", target); d != Allow {
		t.Error(d)
	}
	if err := os.Symlink("src", filepath.Join(repo, "later")); err != nil {
		t.Fatal(err)
	}
	if d := p.Decide("read", target); d != Deny {
		t.Error("a link made later does not count:", d)
	}
	// PERM-55: the working directory is the subject of a search without a path.
	p = newPolicy(t, WithWorkingDir(repo), WithDeny("glob("+repo+"/secrets*)", "grep("+repo+")"), WithDefault(Allow))
	if p.Decide("glob", "{}") != Allow || p.Decide("grep", "{}") != Deny || p.Decide("grep", args("path", "src")) != Allow {
		t.Error("search without a path")
	}
	if runtime.GOOS == "linux" { // PERM-56: no folding
		if d := newPolicy(t, WithDeny("read(/r/Secret/*)"), WithDefault(Allow)).Decide("read", args("file_path", "/r/secret/k")); d != Allow {
			t.Error("folded:", d)
		}
	}
	p = newPolicy(t, WithAllow("read(rel/*)")) // PERM-51: the process's directory
	if d := p.Decide("read", args("file_path", "rel/x")); d != Allow {
		t.Error(d)
	}
}

// TestModes: decision 1.
func TestModes(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	extra := t.TempDir()
	p := newPolicy(t, WithWorkingDir(dir), WithRoots(extra), WithAllow("read", "bash(go vet *)", "write(/etc/*)"),
		WithAsk("edit(*/.envrc)", "bash(git push *)"), WithDeny("bash(rm *)", "edit("+dir+"/.git/*)"))
	edit := func(path string) [2]string { return [2]string{"edit", args("file_path", path)} }
	bash := func(line string) [2]string { return [2]string{"bash", command(line)} }
	const n = Ask
	for _, c := range []struct {
		call [2]string
		want [5]Decision // ask, accept edits, auto, plan, yolo
	}{
		{edit("a.go"), [5]Decision{n, Allow, Allow, Deny, Allow}},
		{edit(extra + "/a"), [5]Decision{n, Allow, Allow, Deny, Allow}},
		{edit("../x"), [5]Decision{n, n, n, Deny, Allow}},
		{edit(dir), [5]Decision{n, n, n, Deny, Allow}},
		{edit(".envrc"), [5]Decision{n, n, n, Deny, Allow}},
		{edit(".git/config"), [5]Decision{Deny, Deny, Deny, Deny, Deny}},
		{[2]string{"write", args("file_path", "/etc/x")}, [5]Decision{Allow, Allow, Allow, Deny, Allow}},
		{bash("make"), [5]Decision{n, n, Allow, n, Allow}},
		{bash("go vet ./..."), [5]Decision{Allow, Allow, Allow, Allow, Allow}},
		{bash("echo $(ls) "), [5]Decision{n, n, Allow, n, Allow}},
		{bash("make > log"), [5]Decision{n, n, Allow, Deny, Allow}},
		{bash("make 2>/dev/null"), [5]Decision{n, n, Allow, n, Allow}},
		{bash("git push o"), [5]Decision{n, n, n, n, Allow}},
		{bash("ls $(rm x)"), [5]Decision{Deny, Deny, Deny, Deny, Deny}},
		{[2]string{"read", args("file_path", "/etc/x")}, [5]Decision{Allow, Allow, Allow, Allow, Allow}},
		{[2]string{"web_fetch", args("url", "http://x")}, [5]Decision{n, n, n, n, Allow}},
		{[2]string{"bash", "nonsense"}, [5]Decision{Deny, Deny, Deny, Deny, Deny}},
	} {
		for i, want := range c.want {
			p.SetMode(Mode(i))
			if got := p.Decide(c.call[0], c.call[1]); got != want {
				t.Errorf("%s in mode %v: %v, want %v", c.call, Mode(i), got, want)
			}
		}
	}
	p.SetMode(ModeYolo)
	if p.Mode() != ModeYolo || newPolicy(t, WithMode(ModePlan)).Mode() != ModePlan {
		t.Error("Mode")
	}
}

// TestRulesList: Rules, RulesOf and Remove know the source.
func TestRulesList(t *testing.T) {
	user, project := Rule{"bash(make)", "user"}, Rule{"bash(make)", "project"}
	p := newPolicy(t, WithRules(Allow, user), WithRules(Ask, project), WithDeny("read(/x)"))
	want := []Rule{{Text: "read(/x)"}, project, user}
	if got := p.Rules(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := p.RulesOf(Ask); !slices.Equal(got, []Rule{project}) {
		t.Errorf("%v", got)
	}
	if p.Decide("bash", command("make")) != Ask || !p.Remove(project) || p.Remove(project) || p.Decide("bash", command("make")) != Allow {
		t.Error("Remove")
	}
	if err := p.AddAllow(Rule{"read", "session"}); err != nil || p.Decide("read", args("file_path", "/y")) != Allow || p.Decide("read", args("file_path", "/x")) != Deny {
		t.Error("AddAllow", err)
	}
}

// TestManyRules: a hundred thousand rules are read and looked up.
func TestManyRules(t *testing.T) {
	rules := make([]string, 100_000)
	for i := range rules {
		rules[i] = fmt.Sprintf("bash(tool%d run *)", i)
	}
	p := newPolicy(t, WithAllow(rules...), WithDeny("bash(tool7 run x)"))
	if p.Decide("bash", command("tool99999 run x | tool5 run y")) != Allow || p.Decide("bash", command("tool7 run x")) != Deny {
		t.Error("wrong decision")
	}
}

// TestExplain: the trace tells the subjects, the rules with their sources, and what makes a line opaque.
func TestExplain(t *testing.T) {
	p := newPolicy(t, WithRules(Allow, Rule{"bash(go test *)", "user"}), WithRules(Deny, Rule{"bash(rm *)", "project"}), WithAsk("bash(git push *)"))
	p.Grant(Grant{"bash", "make lint"})

	tr := p.Explain("bash", command("go test ./... && make lint && npm ci; npm ci"))
	if tr.Decision != Ask || *tr.Reason != ReasonNoRule || tr.By != ByDefault || tr.Opaque != "" {
		t.Error(shown(tr))
	}
	want := []Step{
		{"go test ./...", Allow, ByAllowRule, Rule{"bash(go test *)", "user"}},
		{"make lint", Allow, ByAlways, Rule{}},
		{"npm ci", Ask, ByDefault, Rule{}},
		{"npm ci", Ask, ByDefault, Rule{}},
	}
	if a, b := shown(Trace{Steps: tr.Steps}), shown(Trace{Steps: want}); a != b {
		t.Errorf("steps\n%s\n%s", a, b)
	}
	if u := tr.Uncovered(); !slices.Equal(u, []string{"npm ci"}) {
		t.Error("uncovered:", u)
	}
	tr = p.Explain("bash", command("go test ./... && rm -rf x"))
	if tr.Decision != Deny || tr.Rule != (Rule{"bash(rm *)", "project"}) {
		t.Error(shown(tr))
	}
	tr = p.Explain("bash", command("go test > log; go test ./x"))
	if tr.Decision != Ask || *tr.Reason != ReasonOpaque || tr.Opaque != "> log" || tr.Why != "it writes a file" || tr.By != ByOpaque {
		t.Error(shown(tr))
	}
	tr = p.Explain("bash", command("git push o > log; make")) // decision 2: the ask rule is the more specific reason
	if *tr.Reason != ReasonAskRule || tr.Rule.Text != "bash(git push *)" || tr.Opaque == "" {
		t.Error(shown(tr))
	}
	tr = p.Explain("bash", `{"command":"a","command":"b"}`)
	if tr.Decision != Deny || tr.By != ByArguments || tr.Why == "" {
		t.Error(shown(tr))
	}
	data, err := json.Marshal(p.Explain("bash", command("x > y")))
	if err != nil || !strings.Contains(string(data), `"decision":"ask"`) || !strings.Contains(string(data), `"reason":"opaque"`) || !strings.Contains(string(data), `"mode":"ask"`) {
		t.Errorf("%s %v", data, err)
	}
	if Decision(7).String() == "" || Reason(2).String() != "opaque" || ModeAcceptEdits.String() != "accept-edits" {
		t.Error("names")
	}
}

// TestTraceWords: a trace in words, as the dialog and the command line show it.
func TestTraceWords(t *testing.T) {
	p := newPolicy(t, WithRules(Allow, Rule{"bash(go test *)", "user"}), WithDeny("bash(rm *)"), WithAsk("bash(git push *)"),
		WithReadOnly(func(c Command) bool { return c.Words[0].Text == "ls" }))
	p.Grant(Grant{"bash", "make lint"})
	var steps []string
	for _, s := range p.Explain("bash", command("go test x; make lint; ls; npm ci; git push o; rm x")).Steps {
		steps = append(steps, s.Words())
	}
	want := []string{"allowed by the allow rule bash(go test *) (user)", "allowed by an always answer", "allowed by the list of read-only commands",
		"asked: no rule for it", "asked by the ask rule bash(git push *)", "denied by the deny rule bash(rm *)"}
	if !slices.Equal(steps, want) {
		t.Errorf("%q", steps)
	}
	for line, want := range map[string]string{
		"rm x":           "deny: by the deny rule bash(rm *)",
		"npm ci":         "ask: no rule allows all of it",
		"echo $(x)":      "ask: this line cannot be split: it holds the text of a command substitution",
		"git push o > x": "ask: by the ask rule bash(git push *)",
		"go test x":      "allow: by the allow rule bash(go test *) (user)",
		"ls":             "allow: by the list of read-only commands",
		"make lint":      "allow: by an always answer",
	} {
		if got := p.Explain("bash", command(line)).Verdict(); got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
	p.SetMode(ModePlan)
	if got := p.Explain("write", args("file_path", "x")).Verdict(); !strings.HasPrefix(got, "deny: plan mode") {
		t.Error(got)
	}
	p.SetMode(ModeAuto)
	if got := p.Explain("bash", command("npm ci")).Verdict(); got != "allow: by the mode auto" {
		t.Error(got)
	}
	if got := p.Explain("bash", "x").Verdict(); !strings.Contains(got, "arguments") {
		t.Error(got)
	}
	if got := newPolicy(t, WithDefault(Allow)).Explain("x", "{}").Verdict(); got != "allow: no rule forbids it" {
		t.Error(got)
	}
}
