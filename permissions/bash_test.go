//go:build unix

package permissions

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// FuzzBash compares the policy with the real bash: a line that the policy allows
// must never run the planted program. It is planted by its name, which neither a
// rule nor a judge of read-only commands allows, and through PATH: in the working directory it has the names of the
// allowed programs, so that a line that changes PATH runs it. Any other command
// that bash does not find counts as well: the policy did not see it.
//
// Each input is a line and a seed; from the seed the line is bent in a few ways.
// Inputs need not be made small: run it with -fuzzminimizetime=1x.
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

// trap is a directory with the planted program, and a policy of harmless commands.
type trap struct {
	policy *Policy // of rules
	judged *Policy // of a judge of read-only commands
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
	rules, harmless := []string{"bash(:)", "bash(: *)"}, map[string]bool{":": true}
	for _, name := range []string{"echo", "true", "test", "[", "printf", "cat", "ls", "wait", "cd", "break", "shift", "type"} {
		rules, harmless[name] = append(rules, "bash("+name+")", "bash("+name+" *)"), true
	}
	if tr.policy, err = New(WithAllow(rules...), WithWorkingDir(here)); err != nil {
		tb.Fatal(err)
	}
	if tr.judged, err = New(WithReadOnly(func(c Command) bool { return harmless[c.Words[0].Text] }), WithWorkingDir(here)); err != nil {
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
		t.Fatalf("the policy allows this line, and bash ran another program:\n%q", line)
	}
}

func (tr *trap) allows(line string) bool {
	arguments, err := json.Marshal(map[string]string{"command": line})
	return err == nil && (tr.policy.Decide("bash", string(arguments)) == Allow || tr.judged.Decide("bash", string(arguments)) == Allow)
}

// springs runs a line in bash and tells whether the planted program ran.
func (tr *trap) springs(t testing.TB, line string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, tr.bash, "-c", line)
	cmd.Dir = filepath.Join(tr.dir, "here")
	cmd.Env = []string{"PATH=" + filepath.Join(tr.dir, "bin"), "HOME=" + tr.dir, "x=1",
		"BASH_FUNC_command_not_found_handle%%=() { : > '" + tr.sprung + "'; }"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	killAll := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = killAll
	if err := cmd.Run(); cmd.Process == nil {
		t.Fatal(err)
	}
	_ = killAll() // what it left running in the background; mostly nothing
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
