package permissions

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/tools"
)

// FuzzBash compares the policy with the real bash: a line that the policy allows
// must never run the planted program. It is planted by its name, which no rule
// allows, and through PATH: in the working directory it has the names of the
// allowed programs, so that a line that changes PATH runs it.
//
// Each input is a line and a seed; from the seed the line is bent in a few ways.
func FuzzBash(f *testing.F) {
	trap := newTrap(f)
	for _, line := range fuzzSeeds(f) {
		f.Add(line, uint64(len(line)))
	}
	f.Fuzz(func(t *testing.T, line string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		for range 4 {
			trap.check(t, line)
			trap.check(t, bend(r, line))
			trap.check(t, bend(r, newGrammar(r).line()))
			line = bend(r, line)
		}
	})
}

// FuzzArguments: what rules see is what a tool's handler decodes (PERM-59).
func FuzzArguments(f *testing.F) {
	for _, c := range loadCases(f) {
		if c.Gen == nil && len(c.Arguments) < 2000 {
			f.Add(c.Arguments)
		}
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		seen, err := subjectOf(arguments, "command", true)
		if err != nil {
			return
		}
		var in struct {
			Command string `json:"command"`
		}
		if err := tools.DecodeArguments(arguments, &in); err == nil && in.Command != seen {
			t.Fatalf("the policy sees %q, the tool %q", seen, in.Command)
		}
	})
}

// trap is a directory with the planted program, and a policy of harmless commands.
type trap struct {
	policy *Policy
	bash   string
	dir    string
	sprung string // exists when the planted program ran
}

const planted = "zzplant"

// newTrap makes it, or skips the test where there is no bash.
func newTrap(tb testing.TB) *trap {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal("bash is missing")
		}
		tb.Skip("bash is missing")
	}
	dir := tb.TempDir()
	tr := &trap{bash: bash, dir: dir, sprung: filepath.Join(dir, "sprung")}
	bin, here := filepath.Join(dir, "bin"), filepath.Join(dir, "here")
	zero := filepath.Join(here, "0")
	for _, d := range []string{bin, here, zero} {
		if err := os.Mkdir(d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	script := func(dir, name, body string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!"+bash+"\n"+body+"\n"), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	spring := ": > '" + tr.sprung + "'"
	script(bin, planted, spring)
	script(bin, "cat", ":")
	script(bin, "ls", ":")
	for _, name := range []string{planted, "cat", "ls"} {
		script(here, name, spring)
		script(zero, name, spring)
	}
	rules := []string{"bash(:)", "bash(: *)"}
	for _, name := range []string{"echo", "true", "test", "[", "printf", "cat", "ls", "wait", "cd", "break", "shift", "type"} {
		rules = append(rules, "bash("+name+")", "bash("+name+" *)")
	}
	tr.policy, err = New(WithAllow(rules...), WithWorkingDir(here))
	if err != nil {
		tb.Fatal(err)
	}
	return tr
}

// check runs the line if the policy allows it.
func (tr *trap) check(t *testing.T, line string) {
	if strings.ContainsRune(line, 0) || !tr.allows(line) {
		return
	}
	if tr.springs(t, line) {
		t.Fatalf("the policy allows this line, and bash ran the planted program:\n%q", line)
	}
}

func (tr *trap) allows(line string) bool {
	arguments, err := json.Marshal(map[string]string{"command": line})
	return err == nil && tr.policy.Decide("bash", string(arguments)) == Allow
}

// springs runs a line in bash and tells whether the planted program ran.
func (tr *trap) springs(t testing.TB, line string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, tr.bash, "-c", line)
	cmd.Dir = filepath.Join(tr.dir, "here")
	cmd.Env = []string{"PATH=" + filepath.Join(tr.dir, "bin"), "HOME=" + tr.dir, "x=1", "http_proxy=a"}
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // how the line ends says nothing
	if _, err := os.Stat(tr.sprung); err != nil {
		return false
	}
	if err := os.Remove(tr.sprung); err != nil {
		t.Fatal(err)
	}
	return true
}

// fuzzSeeds are the lines of the table of cases, with the planted program in the
// place of dangerous ones, and every line in which parser and bash differed.
func fuzzSeeds(tb testing.TB) []string {
	plant := strings.NewReplacer("rm -rf", planted, "rm ", planted+" ", "reboot", planted, "git push", planted,
		"git", planted, "go test", "echo", "go build", "cat", "go", "ls", "id)", planted+")", "sudo", planted,
		"{{R}}", "r", "{{W}}", "w", "{{H}}", "h")
	lines := differences()
	for _, c := range loadCases(tb) {
		var in struct{ Command string }
		if c.Tool != "bash" || len(c.Arguments) > 2000 || json.Unmarshal([]byte(c.Arguments), &in) != nil {
			continue
		}
		lines = append(lines, plant.Replace(in.Command))
	}
	return lines
}

// bend changes a line in a random place or two.
func bend(r *rand.Rand, line string) string {
	for range 1 + r.IntN(2) {
		at := r.IntN(len(line) + 1)
		switch r.IntN(6) {
		case 0, 1, 2:
			line = line[:at] + pick(r, fragments) + line[at:]
		case 3:
			to := min(len(line), at+1+r.IntN(3))
			line = line[:at] + line[to:]
		case 4:
			to := min(len(line), at+1+r.IntN(12))
			line = line[:at] + line[at:to] + line[at:]
		case 5:
			if at < len(line) {
				line = line[:at] + pick(r, fragments) + line[at+1:]
			}
		}
	}
	return line
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// fragments are texts at which readers of shell text go wrong.
var fragments = []string{
	" ", "\t", "\n", "\r", "\v", "\f", "\\\n", " \\\n", "\\", "'", `"`, "`", "$", "$'", `$"`, "#", " # ", "!", "! ", "~", "*", "?",
	"(", ")", "{", "}", "{ ", "; }", "[", "]", "[[ ", " ]]", "((", "))", "$(", "${", "$[", "$((", "<(", ">(", "!(", "@(",
	";", ";;", ";&", "&", "&&", "|", "||", "|&", "&>", "&>/dev/null", ">/dev/null", "2>&1", "<&-", ">&-", "<&1", ">&1x", "<&3-", "3<&1", "{v}<here", "{PATH}<here",
	"<<E\n", "<<'E'\n", `<<"E"` + "\n", "<<\\E\n", "<<E\"O\"F\n", "<<-E\n\t", "\nE\n", "\nEOF\n", "\n\tE\n", "<<<", " <<< ",
	planted, " " + planted, "\n" + planted, ";" + planted, "./" + planted, "echo", "cat", "ls", "true", "test -v ", "[ -v ", "printf -v", "printf -vPATH ", "printf %n ", "%n", "cd ", "wait -p",
	"PATH=.", "PATH=. ", "PATH", "=", "+=", ":", "x", "a[0]", "'a[$(" + planted + ")]'", `a[\$\(` + planted + `\)]`, `$'a[\x24(` + planted + `)]'`, "-v", "-n", "--", "-p ",
	"time ", "time -p ", "coproc ", "coproc N ", "function f ", "f() ", "if ", "; then ", "; fi", "for x in ", "for PATH in . ", "select x in ", "; do ", "; done", "while ", "case x in ", "x) ", " esac", "in ",
	"${x:=", "${PATH:=.}", "${x@P}", "${!x}", "${x:0}", "${a[0]}", "$x", `"$x"`, "$@", "{a,b}", "{-v,PATH}", "\u00a0", "\u2028", "\xff", "\x01", "\x7f",
}

// grammar makes lines that are mostly well formed.
type grammar struct {
	r     *rand.Rand
	depth int
}

func newGrammar(r *rand.Rand) *grammar { return &grammar{r: r} }

func (g *grammar) line() string {
	var b strings.Builder
	for i := range 1 + g.r.IntN(3) {
		if i > 0 {
			b.WriteString(pick(g.r, []string{" && ", " || ", "; ", " | ", " & ", "\n", " |& ", ";", "|"}))
		}
		b.WriteString(g.command())
	}
	return b.String()
}

func (g *grammar) command() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 3 || g.r.IntN(3) > 0 {
		return g.simple()
	}
	switch g.r.IntN(10) {
	case 0:
		return "(" + g.line() + ")"
	case 1:
		return "{ " + g.line() + "; }"
	case 2:
		return "if " + g.command() + "; then " + g.line() + "; fi"
	case 3:
		return "for " + pick(g.r, []string{"x", "y", "PATH", "_", "http_proxy", "x1"}) + " in " + g.words() + "; do " + g.line() + "; done"
	case 4:
		return "case " + g.word() + " in " + g.word() + ") " + g.line() + " ;; esac"
	case 5:
		return "while " + g.command() + "; do " + g.line() + "; break; done"
	case 6:
		return pick(g.r, []string{"! ", "time ", "time -p ", "coproc "}) + g.command()
	case 7:
		return "f() { " + g.line() + "; }"
	case 8:
		return "cat <<" + pick(g.r, []string{"E", "'E'", "-E", `E"O"F`}) + "\n" + g.words() + "\n" + pick(g.r, []string{"E", "EOF", "\tE", "\\\nE"}) + "\n" + g.simple()
	}
	return "[[ " + g.word() + " ]]"
}

func (g *grammar) simple() string {
	name := pick(g.r, []string{"echo", "echo", "true", ":", "test", "[", "printf", "cat", "ls", "wait", "cd", "type", planted, "$x", "PATH=.", "PATH=. ls", "unset"})
	line := name + " " + g.words()
	if name == "[" {
		line += " ]"
	}
	if g.r.IntN(4) == 0 {
		line += pick(g.r, []string{" 2>&1", " >/dev/null", " </dev/null", " <&-", " # note", " >f", " <<< x", " {v}<&1"})
	}
	return line
}

func (g *grammar) words() string {
	var words []string
	for range g.r.IntN(4) {
		words = append(words, g.word())
	}
	return strings.Join(words, " ")
}

func (g *grammar) word() string {
	return pick(g.r, []string{"a", "-n", "-v", "-vPATH", `-"$x"`, `"""$x"`, "%n", "PATH", ".", "x", "=", "'a b'", `"a $x"`, "$x", `"$x"`, "${x:-a}", "${PATH:=.}", "$y", `"$y"`, "$x$y",
		"{-v,PATH}", "*", "a[0]", `a[\$\(` + planted + `\)]`, "'a[$(" + planted + ")]'", `$'a[\x24(` + planted + `)]'`, `"-v a[\$\(` + planted + `\)]"`,
		`a[\$`, `\(` + planted + `\)]`, "`" + planted + "`", "$(" + planted + ")", "'" + planted + "'", planted, "!", "-o", "-a", "]", "--", "-p", `\` + "\n"})
}
