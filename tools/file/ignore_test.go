package file

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitRepo makes a repository with no settings but its own.
func gitRepo(t testing.TB, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		needTool(t, "git")
	}
	git(t, dir, nil, "init", "-q")
}

// needTool skips a test that needs a program, except where all must be there.
func needTool(t testing.TB, name string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not here", name)
	}
	t.Skipf("%s is not here", name)
}

func git(t testing.TB, dir string, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok && (args[0] != "check-ignore" || exit.ExitCode() != 1) || err != nil && !ok {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// found lists the paths of a glob below dir, sorted.
func found(t testing.TB, dir, pattern string, opts ...Option) []string {
	t.Helper()
	out, err := glob(t, GlobInput{Pattern: pattern, Path: dir}, append(opts, WithMaxResults(0), WithMaxOutputChars(0))...)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, p := range out.Paths {
		paths = append(paths, must(filepath.Rel(dir, p)))
	}
	slices.Sort(paths)
	return paths
}

// FILE-79, FILE-80, FILE-81, FILE-82: the same files as git, on random trees with random rules.
func TestIgnoreLikeGit(t *testing.T) {
	rnd := rand.New(rand.NewSource(20))
	names := []string{"a", "b", "ab", "abc", "a.log", "b.log", "x", "build", "A", "a b", "[x]", "é", "!n", "#h", `c\d`, "foo.bar.log"}
	atoms := []string{"a", "b", "ab", "*", "**", "?", ".log", "/", "[ab]", "[!a]", "[^b]", "[a-c]", `\`, "x", "build", "***", "[[:alpha:]]", "[[:digit:]b]", " ", "é", "[]a]", "[x", `\*`, `[\]]`, "[a/b]", "A", "-", ".", `\!`, `\#`}
	rule := func() string {
		var b strings.Builder
		if rnd.Intn(5) == 0 {
			b.WriteString("!")
		}
		if rnd.Intn(5) == 0 {
			b.WriteString("/")
		}
		for range 1 + rnd.Intn(5) {
			b.WriteString(atoms[rnd.Intn(len(atoms))])
		}
		switch rnd.Intn(8) {
		case 0, 1:
			b.WriteString("/")
		case 2:
			b.WriteString("  ")
		case 3:
			b.WriteString(`\ `)
		case 4:
			b.WriteString("\r")
		}
		return b.String()
	}
	for round := range 30 {
		dir := tree(t, nil)
		gitRepo(t, dir)
		dirs := []string{dir}
		for range 6 {
			d := filepath.Join(dirs[rnd.Intn(len(dirs))], names[rnd.Intn(len(names))])
			if os.Mkdir(d, 0o755) == nil {
				dirs = append(dirs, d)
			}
		}
		var ruled strings.Builder
		for i, d := range dirs {
			for range 6 {
				_ = os.WriteFile(filepath.Join(d, names[rnd.Intn(len(names))]), []byte("x"), 0o644)
			}
			if i == 0 || rnd.Intn(3) == 0 {
				var rules []string
				for range 1 + rnd.Intn(6) {
					rules = append(rules, rule())
				}
				text := strings.Join(rules, "\n")
				fmt.Fprintf(&ruled, "%s: %q\n", strings.TrimPrefix(d, dir), rules)
				if err := os.WriteFile(filepath.Join(d, ".gitignore"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := strings.FieldsFunc(git(t, dir, nil, "ls-files", "-co", "--exclude-standard", "-z"), func(r rune) bool { return r == 0 })
		slices.Sort(want)
		if got := found(t, dir, "**"); !slices.Equal(got, want) {
			t.Fatalf("round %d\ngot  %q\ngit  %q\nrules\n%s", round, got, want, &ruled)
		}
	}
}

// FILE-78, FILE-79, FILE-80, FILE-81, FILE-82, FILE-83, FILE-84, FILE-85
func TestIgnore(t *testing.T) {
	files := map[string]string{
		".gitignore": "*.log\n!keep.log\nbuild/\n/dist\na/b\n# comment\n\n\\#file\n", "sub/.gitignore": "tmp\n!sub.log\n",
		"x.log": "", "keep.log": "", "sub/x.log": "", "sub/sub.log": "", "sub/tmp": "", "tmp": "", "build/x": "", "sub/build": "", "dist": "", "sub/dist": "",
		"a/b": "", "sub/a/b": "", "#file": "", ".github/w.yml": "", "ign/keep.log": "", "sub/deep/x.log": "", "sub/deep/y": "",
		// FILE-78
		"node_modules/m.js": "", "sub/node_modules/n/m.js": "", ".hg/h": "", "sub/.svn/s": "", "d/.git/config": "",
	}
	want := []string{".github/w.yml", ".gitignore", "ign/keep.log", "keep.log", "sub/.gitignore", "sub/a/b", "sub/build", "sub/deep/y", "sub/dist", "sub/sub.log", "tmp"}
	for _, repo := range []bool{true, false} { // FILE-83: without a repository the working directory is the root
		top := tree(t, map[string]string{".gitignore": "*\n"})
		ws := filepath.Join(top, "ws")
		if err := os.Rename(tree(t, files), ws); err != nil {
			t.Fatal(err)
		}
		if repo {
			gitRepo(t, ws)
		}
		opt := WithWorkingDirectory(ws)
		if got := found(t, ws, "**", opt); !slices.Equal(got, want) {
			t.Errorf("repository %t: got %q, want %q", repo, got, want)
		}
		if got := found(t, filepath.Join(ws, "sub"), "**", opt); !slices.Equal(got, []string{".gitignore", "a/b", "build", "deep/y", "dist", "sub.log"}) { // FILE-79
			t.Errorf("below sub: %q", got)
		}
		// FILE-84
		if got := found(t, filepath.Join(ws, "node_modules"), "**", opt); !slices.Equal(got, []string{"m.js"}) {
			t.Errorf("an ignored directory that is named: %q", got)
		}
		if got := found(t, filepath.Join(ws, "build"), "**", opt); !slices.Equal(got, []string{"x"}) {
			t.Errorf("an ignored directory that is named: %q", got)
		}
		if got := found(t, ws, "node_modules/*.js", opt); !slices.Equal(got, []string{"node_modules/m.js"}) {
			t.Errorf("an ignored directory that the pattern names: %q", got)
		}
		all := found(t, ws, "**", opt, WithNoIgnore()) // FILE-21
		if n := 0; repo {
			all = slices.DeleteFunc(all, func(p string) bool { n++; return strings.HasPrefix(p, ".git/") })
			if n == len(all) {
				t.Error("without rules .git is not searched")
			}
		}
		if len(all) != len(files) {
			t.Errorf("without rules %d of %d files: %q", len(all), len(files), all)
		}
	}
}

// F11
func TestIgnoreHostile(t *testing.T) {
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, "f%d*x\n", i)
	}
	for name, rules := range map[string]string{
		"many":      many.String(),
		"stars":     strings.Repeat("**/", 50) + "zz\n" + strings.Repeat("*a", 100) + "z\n",
		"broken":    "[\n[a\n\\\n!\n/\n//\n***\n[[:nope:]]\n",
		"utf16":     "\xff\xfef\x00o\x00o\x00\n\x00",
		"directory": "", "link": "",
	} {
		t.Run(name, func(t *testing.T) {
			deep := strings.Repeat("a/", 40)
			ws := tree(t, map[string]string{deep + "f": "", strings.Repeat("a", 200): ""})
			path := filepath.Join(ws, ".gitignore")
			err := error(nil)
			switch name {
			case "directory":
				err = os.Mkdir(path, 0o755)
			case "link":
				err = os.Symlink("/dev/zero", path)
			default:
				err = os.WriteFile(path, []byte(rules), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := found(t, ws, "**/{f,aaa*}", WithWorkingDirectory(ws)); len(got) != 2 && name != "broken" {
				t.Errorf("found %q", got)
			}
		})
	}
}

// A repository's .agentignore hides from searches what git tracks, and shows what it
// ignores.
func TestAgentIgnore(t *testing.T) {
	ws := tree(t, map[string]string{
		".gitignore": "gen/\n*.log\n", ".agentignore": "fixtures\n!gen/\n", "sub/.agentignore": "*.go\n!*.log\n",
		"a.go": "", "x.log": "", "fixtures/big": "", "gen/api.go": "", "sub/b.go": "", "sub/y.log": "", "sub/deep/c.go": "", "sub/deep/d": "",
	})
	gitRepo(t, ws)
	opt := WithWorkingDirectory(ws)
	want := []string{".agentignore", ".gitignore", "a.go", "gen/api.go", "sub/.agentignore", "sub/deep/d", "sub/y.log"}
	if got := found(t, ws, "**", opt); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := found(t, filepath.Join(ws, "sub/deep"), "**", opt); !slices.Equal(got, []string{"d"}) {
		t.Errorf("below sub/deep: %q", got)
	}
	if got := found(t, filepath.Join(ws, "fixtures"), "**", opt); !slices.Equal(got, []string{"big"}) {
		t.Errorf("named: %q", got)
	}
}
