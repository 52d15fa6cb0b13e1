//go:build unix

package permissions

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// commandsOf are the commands of a line as a judge sees them.
func commandsOf(line string) (list []Command) {
	l := splitLine(line, false)
	if l.opaque != "" {
		return nil
	}
	for _, p := range l.parts {
		if p.command != nil {
			if c := p.command(); c != nil {
				list = append(list, *c)
			}
		}
	}
	return list
}

// TestWords: the words that a judge sees.
func TestWords(t *testing.T) {
	for line, want := range map[string][]Word{
		`ls -l "a b"/c 'd'e\ f`:         {{"ls", Literal}, {"-l", Literal}, {"a b/c", Literal}, {"de f", Literal}},
		`cat *.go a[0] "x*"`:            {{"cat", Literal}, {"*.go", Pattern}, {"a[0]", Pattern}, {"x*", Literal}},
		`cat $x "$x" ~/a {a,b} a=~/b`:   {{"cat", Literal}, {"$x", Varies}, {"$x", Varies}, {"~/a", Varies}, {"{a,b}", Varies}, {"a=~/b", Varies}},
		`echo $'a\tb' "e $?" '~' \~`:    {{"echo", Literal}, {"a\tb", Varies}, {"e $?", Varies}, {"~", Literal}, {"~", Literal}},
		`wc -l 2>/dev/null <in -c 2>&1`: {{"wc", Literal}, {"-l", Literal}, {"-c", Literal}},
	} {
		got := commandsOf(line)
		if len(got) != 1 || !slices.Equal(got[0].Words, want) {
			t.Errorf("%s: %v", line, got)
		}
	}
	if got := commandsOf("wc <in")[0].Inputs; !slices.Equal(got, []Word{{"in", Literal}}) {
		t.Error(got)
	}
	for line, want := range map[string]string{"ls": "", "ls; cd a/b && ls": "a/b", "cd a | ls": "a", "(cd /x; ls)": "/x", "ls && cd a 2>/dev/null": "a", "command -v x && ls": ""} {
		if got := commandsOf(line)[0]; got.Into != want || got.Moves {
			t.Errorf("%s: into %q, moves %v", line, got.Into, got.Moves)
		}
	}
	for _, line := range []string{"ls; cd a; cd b", "for x in a b; do cd a; done; ls", "while cd a; do ls; done", "ls; cd", "ls; cd -", "ls; cd ~/x", "ls; cd $x", "ls; cd 'a b'", "ls; pushd a", "ls; cd -P a", "builtin cd a; ls", "command cd a; ls", "eval cd a; ls", ". x; ls"} {
		if got := commandsOf(line); !got[len(got)-1].Moves || got[0].Into != "" {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if got := commandsOf("A=1 ls; $x y; 'ls'"); got != nil {
		t.Error(got)
	}
}

// TestLiteralWords: a word that a judge is told to be literal is what a program
// gets from the real bash.
func TestLiteralWords(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is missing")
	}
	r := rand.New(rand.NewPCG(7, 8))
	checked := 0
	for range 1500 {
		word := newGrammar(r).word() + newGrammar(r).word()
		if r.IntN(2) == 0 {
			word = bend(r, word)
		}
		line := "printf %s, " + word
		list := commandsOf(line)
		if len(list) != 1 || slices.ContainsFunc(list[0].Words, func(w Word) bool { return w.Kind != Literal }) || strings.ContainsRune(line, 0) {
			continue
		}
		want := ""
		for _, w := range list[0].Words[2:] {
			want += w.Text + ","
		}
		if len(list[0].Words) == 2 {
			want = ","
		}
		cmd := exec.Command(bash, "-c", line)
		cmd.Env = []string{"PATH=" + t.TempDir()}
		if got, err := cmd.Output(); err != nil || string(got) != want {
			t.Errorf("%q: bash makes it %q, we %q (%v)", line, got, want, err)
		}
		checked++
	}
	if checked < 200 {
		t.Errorf("only %d lines were checked", checked)
	}
}

// TestReadOnly: the judge lets commands run that no rule covers, and loosens nothing else.
func TestReadOnly(t *testing.T) {
	p := newPolicy(t, WithDeny("bash(cat secret)"), WithAsk("bash(cat asked)"), WithAllow("bash(make)"), WithReadOnly(func(c Command) bool {
		return c.Words[0].Text == "cat" || c.Words[0].Text == "ls"
	}))
	for line, want := range map[string]Decision{
		"cat a | ls && make": Allow, "cat a; rm b": Ask, "cat secret": Deny, "cat asked": Ask, "cat a > f": Ask,
		"cat $(ls)": Ask, "X=1 cat a": Ask, "'cat' a": Ask, "cat a &": Allow, "cat 2>&1 <f >/dev/null": Allow, "PATH=. ; cat a": Ask,
	} {
		if got := p.Decide("bash", command(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	tr := p.Explain("bash", command("cat a; rm b"))
	if tr.Steps[0].By != ByReadOnly || !slices.Equal(tr.Uncovered(), []string{"rm b"}) {
		t.Error(shown(tr))
	}
	if p.Decide("sh", command("cat a")) != Ask {
		t.Error("only a tool named bash has commands")
	}
}

// TestWider: what may be proposed instead of an exact answer.
func TestWider(t *testing.T) {
	dir := t.TempDir()
	p := newPolicy(t, WithWorkingDir(dir))
	real, _, err := newPaths(dir).resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, subject string
		want          []string
	}{
		{"bash", "go test ./ui", []string{"bash(go test *)"}},
		{"bash", "go test", []string{"bash(go test *)"}},
		{"bash", "golangci-lint run ./...", []string{"bash(golangci-lint *)"}},
		{"bash", "npm run build -- --x", []string{"bash(npm run build *)"}},
		{"bash", "cargo test -p x", []string{"bash(cargo test *)"}},
		{"bash", "git add a b", []string{"bash(git add *)"}},
		{"bash", "./gen.sh x", []string{"bash(./gen.sh *)"}},
		{"web_fetch", "https://go.dev/doc?q=1", []string{"web_fetch(https://go.dev/*)"}},
		{"edit", below(real, "a/b.go"), []string{"edit(" + below(real, "a/*") + ")", "edit(" + below(real, "*") + ")"}},
		{"edit", below(real, "b.go"), []string{"edit(" + below(real, "*") + ")"}},
	} {
		if got := p.Wider(c.tool, c.subject); !slices.Equal(got, c.want) {
			t.Errorf("%s(%s): %q", c.tool, c.subject, got)
		}
		for _, rule := range c.want {
			if f := Lint(Allow, []Rule{{Text: rule}}, KnownTools()); len(f) > 0 {
				t.Errorf("%s: %v", rule, f)
			}
		}
	}
	for _, subject := range []string{"rm a", "rm -rf x", "/bin/rm a", "sudo ls", "bash x", "sh -c ls", "python3 a.py", "node a.js", "env ls", "xargs ls", "find . -delete", "sed -i s/a/b/ f",
		"go run ./x", "go generate", "go mod edit x", "go env -w x", "go install x", "cd x", "git push origin", "git reset --hard", "git checkout .", "git -C x status", "npm exec x", "npm run", "cargo publish", "cargo run x", "uv run x", "poetry run x", "deno run x", "dotnet run x", "npm install x", "pip install x", "java -jar x", "curl https://x", "make test", "docker run x",
		"A=1 go test", "a && b", "echo $(x)", "$x y", "ls *.go", "python3 <<E\nx\nE", "", "go -C x test", "npx x"} {
		if got := p.Wider("bash", subject); got != nil {
			t.Errorf("%q: %q is proposed", subject, got)
		}
	}
	for _, c := range [][2]string{{"edit", "/etc/passwd"}, {"web_fetch", "https://u:p@go.dev/"}, {"web_fetch", "file:///x"}, {"web_fetch", "HTTPS://go.dev/"}, {"todo_write", ""}, {"mcp_x", "y"}, {"skill", "review"}} {
		if got := p.Wider(c[0], c[1]); got != nil {
			t.Errorf("%v: %q is proposed", c, got)
		}
	}
}

func below(dir, rest string) string { return dir + "/" + rest }
