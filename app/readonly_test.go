package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/permissions"
)

func decide(p *Permissions, line string) permissions.Decision {
	data, _ := json.Marshal(map[string]string{"command": line})
	return p.policy.Decide("bash", string(data))
}

// readingWorkspace is a repository with links that lead out of it.
func readingWorkspace(t *testing.T) string {
	dir := fatigueWorkspace(t)
	for link, to := range map[string]string{"out": "/etc", "passwd": "/etc/passwd", "parse/link": "/etc/passwd", "parse/in": "units.go", "secret": ".env"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("KEY=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Decision 7, SAFE-08: the lists of read-only commands. In the columns: with the
// sandbox; without it, after the one yes.
func TestReadOnlyLists(t *testing.T) {
	dir := readingWorkspace(t)
	boxed := testPermissions(t, "bwrap", Options{Workspace: dir}, nil)
	inside := testPermissions(t, "none", Options{Workspace: dir}, nil)
	unasked := testPermissions(t, "none", Options{Workspace: dir}, nil)
	landlock := testPermissions(t, "landlock", Options{Workspace: dir}, nil)
	unknown := testPermissions(t, "", Options{Workspace: dir}, nil) // the sandbox is still probed
	if err := inside.remember(WorkspaceScope, []Always{{Rule: ReadingRule}}); err != nil {
		t.Fatal(err)
	}
	const both, box, no = 2, 1, 0
	for line, lists := range map[string]int{
		// Both lists.
		"ls": both, "ls -la parse | head": both, "pwd && git status": both, "cd internal && ls": both, "cd parse && cat units.go": both,
		"wc -l parse/*.go": both, "cat README.md go.mod": both, "head -n 5 README.md": both, "tail -f README.md": both, "grep -rn 'a b' --include='*.go' . | sort -u": both,
		"rg -n x parse | wc -l": both, "sed -n '40,80p' parse/units.go": both, "sed -n -e 1p -e '/x/,/y/p' README.md": both, "sed 's/a/b/g; 3d' README.md": both,
		"find . -name '*.go' -not -path './vendor/*' -type f | sort | head -5": both, "git log --oneline -10 -- parse": both, "git diff HEAD~1 --stat": both, "git show HEAD:parse/units.go": both,
		"git blame -L 40,60 parse/units.go": both, "git branch --show-current": both, "git branch -a": both, "git branch --list 'x*'": both, "git stash list": both, "git remote -v": both, "git tag": both,
		"git rev-parse --show-toplevel": both, "git add -A -n": both, "git --no-pager log -3 --format='%h %s'": both, "git grep -n x -- parse": both, "git log -S foo -p": both,
		"diff -u go.mod go.sum": both, "du -sh parse": both, "file parse/units.go": both, "stat -c %s go.mod": both, "test -f Makefile && echo yes || echo no": both, "[ -d parse ] && true": both,
		"which go || echo none": both, "command -v go": both, "date -u +%F": both, "uname -a": both, "sleep 1; echo done": both, "cut -d, -f1 go.mod | uniq -c": both, "echo \"exit: $?\"": both,
		"wc -l < go.mod": both, "gofmt -l .": both, "cat go.mod 2>/dev/null >&2": both, "sort -t : -k 2 go.mod": both, "if ls; then echo ok; fi": both, "basename /a/b": both, "cat parse/in": both,
		// The long one: what shows more than the operands name.
		"cat /etc/passwd": box, "cat passwd": box, "ls out/": box, "cat parse/link": box, "cat parse/*": box, "cat ../x": box, "ls ..": box, "cd .. && ls": box, "cd out && ls": box, "cd /etc; cat passwd": box, "wc -l < /etc/passwd": box,
		"cat parse/[lx]ink": box, "cat */../go.mod": box, "git diff /etc/passwd /etc/group": box, "grep -e x /etc/passwd": box, "grep -ie x passwd": box, "cat $x": box, "for f in a b; do wc -c \"$f\"; done": no, "for f in a b; do cat \"$f\"; done": box,
		"cat ~/x": box, "cd; ls": box, "cd a && cd out && ls": box, "cd parse && cat link": box, "head -c 5 /dev/random": box, "find / -name x": box, "du -sh /": box,
		"env | sort": box, "ps aux": box, "jq . x.json": box, "tree -L 2 -I vendor": box, "awk -F: '{print $1}' go.mod": box, "go list ./...": box, "go env GOVERSION": box, "go doc fmt": box, "go mod why -m x": box, "go version": box,
		"node --version": box, "diff -r parse internal": box, "printenv PATH": box, "hostname": box,
		// None.
		"cat .env": no, "cat secret": no, "cat .env*": no, "cat .e*": no, "cat .*": no, "head go*": both, "grep x *.md": both, "wc -c *.md go.*": both, "head parse/../.env": no, "git show HEAD:.env": no, "git diff --cached -- .env": no, "grep KEY .env": no, "wc < .env": no, "cat id_rsa": no, "cat a.pem": no,
		"rm x": no, "touch x": no, "ls > f": no, "ls $(pwd)": no, "X=1 ls": no, "'ls'": no, "tee f": no, "sort -o f f": no, "sort --output=f f": no, "sort --outp=f f": no, "sort --compress-program=x f": no, "sort -T x f": no, "sort $x f": no, "sort *": no,
		"uniq a b": no, "uniq $x": no, "find . -delete": no, "find . -exec rm {} +": no, "find . -fprint f": no, "find -- . -delete": no, "find . -ok ls": no, "find *": no, "find $x": no, "rg --pre x y": no, "rg --pre=x y": no, "rg -z x": no, "rg --hostname-bin x y": no,
		"sed -i s/a/b/ f": no, "sed -n 'w f' x": no, "sed 's/a/b/w f' x": no, "sed 's/a/b/e' x": no, "sed e x": no, "sed '1e x' y": no, "sed -f s x": no, "sed -n p a* -e 'w f'": no, "sed -ne 'w f' x": no, "sed --expression='w f' x": no, "sed '/a/w f' x": no, "sed 's|a|b|;w f' x": no, "sed 's/[/]x/w f/' y": no, "sed p -ibak f": no,
		"sed 'y/a/b/' x": no, "sed \"s/a/$x/\" f": no, "sed": no, "sed 'r f' x": no, "sed '$!N;w f' x": no,
		"awk '{print > \"f\"}' x": no, "awk 'BEGIN{system(\"x\")}'": no, "awk '{print | \"sh\"}' x": no, "awk '\"x\" | getline' y": no, "awk -f s x": no, "awk \"$x\"": no, "awk -v f=x '@f()' y": no, "awk --file=s x": no, "awk": no, "gawk -i inplace '{print}' x": no,
		"git diff --output=f": no, "git diff --outp=f": no, "git log --output f": no, "git diff --ext-diff": no, "git diff --no-index a b": no, "git -c core.pager=x log": no, "git -C / status": no, "git --git-dir=x log": no, "git --exec-path=x log": no, "git grep -O x": no, "git grep --open-files-in-pager=x y": no,
		"git branch x": no, "git branch -d x": no, "git branch -D x": no, "git branch -m x": no, "git branch --sort --format x": no, "git branch --sort=x y": no, "git tag x": no, "git tag -d x": no, "git stash": no, "git stash pop": no, "git remote add x y": no, "git remote -v update": no, "git worktree add x": no,
		"git add -A": no, "git add -- -n": no, "git add x -n": no, "git commit -m x": no, "git push": no, "git fetch": no, "git checkout x": no, "git reflog expire --all": no, "git shortlog -n --output=f": no, "git bisect run x": no, "git config x y": no, "git x": no, "git": no, "git $x": no, "git status $x": no,
		"go test ./...": no, "go vet ./...": no, "go build": no, "go run .": no, "go env -w X=1": no, "go env -u X": no, "go list -export ./...": no, "go list -toolexec=x ./...": no, "go doc -http": no, "go mod tidy": no, "go generate": no, "go list -mod=mod": no, "go": no,
		"env ls": no, "env -i x": no, "command ls": no, "command rm x": no, "xargs rm": no, "date -s x": no, "date 01010000": no, "hostname x": no, "tree -o f": no, "file -C -m x": no, "gofmt -w .": no, "gofmt -cpuprofile=f .": no, "diff --from-file=x y": no, "diff -l a b": no, "du --files0-from=x": no, "wc --files0-from=x": no,
		"node x.js": no, "node -e 1": no, "python3 -V x": no, "bash x": no, "less f": no, "man ls": no, "vi f": no, "curl x": no, "make -n": no, "./ls": no, "/bin/ls": no, "$x": no, "history": no, "set -e; ls": no, "exec ls": no, "source f": no, "ls & rm x": no, "pushd parse; ls": no, "fc -s": no, "md5sum -c f": no,
	} {
		want := func(in bool) permissions.Decision {
			if in {
				return permissions.Allow
			}
			return permissions.Ask
		}
		if got := decide(boxed, line); got != want(lists >= box) {
			t.Errorf("in the sandbox %q: %v", line, got)
		}
		if got := decide(inside, line); got != want(lists == both) {
			t.Errorf("without one %q: %v", line, got)
		}
		for _, p := range []*Permissions{unasked, landlock, unknown} {
			if got := decide(p, line); got != permissions.Ask {
				t.Errorf("without a yes %q: %v", line, got)
			}
		}
	}
}

// A file whose name is an option is no operand.
func TestNamesThatAreOptions(t *testing.T) {
	dir := fatigueWorkspace(t)
	p := testPermissions(t, "bwrap", Options{Workspace: dir}, nil)
	for line, after := range map[string]permissions.Decision{"sort *.md": permissions.Ask, "sort ./*.md": permissions.Allow, "find *.md": permissions.Ask, "sort R*": permissions.Allow, "cd parse; cd x; sort *.md": permissions.Ask} {
		appendTo(t, dir, "README.md", "")
		if got := decide(p, line); got != permissions.Allow && !strings.HasPrefix(line, "cd") {
			t.Errorf("before %q: %v", line, got)
		}
		appendTo(t, dir, "--output=x.md", "")
		if got := decide(p, line); got != after {
			t.Errorf("after %q: %v", line, got)
		}
		remove(t, filepath.Join(dir, "--output=x.md"))
	}
}

// Without the sandbox git's commands are free only where reading runs nothing of
// the repository's settings.
func TestTameGit(t *testing.T) {
	for name, change := range map[string]func(dir string){
		"fsmonitor":  func(dir string) { appendTo(t, dir, ".git/config", "[core]\n\tfsmonitor = ./x\n") },
		"textconv":   func(dir string) { appendTo(t, dir, ".git/config", "[diff \"x\"]\n\ttextconv = ./x\n") },
		"external":   func(dir string) { appendTo(t, dir, ".git/config", "[diff]\n\tExternal = ./x\n") },
		"filter":     func(dir string) { appendTo(t, dir, ".git/config", "[filter \"x\"]\n\tclean = ./x\n") },
		"include":    func(dir string) { appendTo(t, dir, ".git/config", "[include]\n\tpath = ../x\n") },
		"hooks":      func(dir string) { appendTo(t, dir, ".git/config", "[core]\n\thooksPath = x\n") },
		"hook":       func(dir string) { appendTo(t, dir, ".git/hooks/post-index-change", "#!/bin/sh\n") },
		"worktree":   func(dir string) { appendTo(t, dir, ".git/config.worktree", "[core]\n\tfsmonitor = ./x\n") },
		"user":       func(string) { appendTo(t, os.Getenv("HOME"), ".gitconfig", "[diff]\n\texternal = x\n") },
		"submodules": func(dir string) { appendTo(t, dir, ".gitmodules", "") },
		"no git":     func(dir string) { remove(t, filepath.Join(dir, ".git")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := fatigueWorkspace(t)
			p := testPermissions(t, "none", Options{Workspace: dir}, nil)
			if err := p.remember(SessionScope, []Always{{Rule: ReadingRule}}); err != nil {
				t.Fatal(err)
			}
			if got := decide(p, "git status"); got != permissions.Allow {
				t.Fatalf("before: %v", got)
			}
			change(dir)
			if got := decide(p, "git status"); got != permissions.Ask {
				t.Errorf("after: %v", got)
			}
			if got := decide(p, "ls"); got != permissions.Allow {
				t.Errorf("ls: %v", got)
			}
			if got := decide(testPermissions(t, "bwrap", Options{Workspace: dir}, nil), "git status"); got != permissions.Allow {
				t.Errorf("in the sandbox: %v", got)
			}
		})
	}
	dir := fatigueWorkspace(t)
	p := testPermissions(t, "none", Options{Workspace: dir}, nil)
	if err := p.remember(SessionScope, []Always{{Rule: ReadingRule}}); err != nil {
		t.Fatal(err)
	}
	appendTo(t, dir, "bare/HEAD", "ref: refs/heads/x\n") // git would take it for a repository with settings of its own
	if got := decide(p, "cd bare && git status"); got != permissions.Ask {
		t.Errorf("in a bare repository: %v", got)
	}
	if got := decide(p, "cd parse && git status"); got != permissions.Allow {
		t.Errorf("in a directory: %v", got)
	}
}

// Where the shell stands counts: outside of the workspace nothing is free without the sandbox.
func TestReadOnlyFollowsTheShell(t *testing.T) {
	dir, at := fatigueWorkspace(t), ""
	p, err := newPermissions(Options{Workspace: dir, StateDir: t.TempDir()}, nil, func() string { return "none" }, func() string { return at })
	if err != nil {
		t.Fatal(err)
	}
	if err := p.remember(SessionScope, []Always{{Rule: ReadingRule}}); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]permissions.Decision{dir: permissions.Allow, dir + "/parse": permissions.Allow, "/etc": permissions.Ask, filepath.Dir(dir): permissions.Ask} {
		at = where
		for _, line := range []string{"ls", "cat passwd", "git status", "pwd"} {
			if got := decide(p, line); got != want {
				t.Errorf("in %s %q: %v", where, line, got)
			}
		}
	}
}

// Decision 7: without the sandbox the list holds after one yes, in the dialog of
// the first command of it.
func TestReadingIsOffered(t *testing.T) {
	p := testPermissions(t, "none", Options{Workspace: fatigueWorkspace(t)}, nil)
	offers := func(line string) []Offer {
		data, _ := json.Marshal(map[string]string{"command": line})
		trace := p.policy.Explain("bash", string(data))
		return p.offers(permissions.Request{Tool: "bash", Raw: line, Subjects: strings.Split(line, " && "), Reason: *trace.Reason}, trace)
	}
	got := offers("git status && make")
	if len(got) != 2 || len(got[0].Wider) != 1 || got[0].Wider[0].Rule != ReadingRule || len(got[1].Wider) != 0 {
		t.Fatalf("%+v", got)
	}
	if err := p.remember(WorkspaceScope, got[0].Wider); err != nil {
		t.Fatal(err)
	}
	if decide(p, "ls") != permissions.Allow || decide(p, "git status && make") != permissions.Ask {
		t.Error("the yes does not count")
	}
	if _, err := p.Forget(ReadingRule); err != nil || decide(p, "ls") != permissions.Ask {
		t.Error("the yes is not forgotten")
	}
}

func appendTo(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
