//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// demoRun is `agent demo` on a terminal.
type demoRun struct {
	*terminal
	dir string // of its repository
}

// startDemo starts the demo; without Go its repository is a shell project.
func startDemo(t *testing.T, withGo bool) *demoRun {
	t.Helper()
	tmp := t.TempDir()
	cmd := program(t, tmp, t.TempDir(), "demo")
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp, "GOCACHE="+buildCache(t)) // warm, as after go run
	if !withGo {
		cmd.Env = append(cmd.Env, "PATH="+toolsWithoutGo(t))
	}
	d := &demoRun{terminal: onTerminal(t, cmd, 120, 40)}
	d.waitFor("Allow bash?")
	dirs, err := filepath.Glob(filepath.Join(tmp, "agent-demo-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("the demo's repository: %v, %v", dirs, err)
	}
	d.dir = dirs[0]
	return d
}

// buildCache is where Go keeps what it built.
func buildCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// toolsWithoutGo is a PATH with what the demo uses, but no Go.
func toolsWithoutGo(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"bash", "git", "bwrap", "dirname", "sh", "env"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// press answers the question that is open, once it takes answers.
func (d *demoRun) press(key string) {
	d.t.Helper()
	d.until("was armed", func(string) bool { return d.bright("[y]") })
	d.key(key)
}

func (d *demoRun) read(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

// The demo from its first screen to its end, and back with /undo.
func TestDemoToItsEnd(t *testing.T) {
	for _, tt := range []struct {
		name, file, fixed string
		withGo            bool
	}{
		{"shell", "total.sh", "discount / 100", false},
		{"go", "price/price.go", "discount/100", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := startDemo(t, tt.withGo)
			d.waitFor("scripted model")
			before := d.read(tt.file)
			d.press("y")
			d.waitFor("Allow edit?")
			d.waitFor(tt.fixed)
			d.press("y")
			d.waitFor("Allow bash?")
			d.press("y")
			d.waitFor("The tests pass.")
			d.waitFor("? keys") // the turn is over
			if after := d.read(tt.file); !strings.Contains(after, tt.fixed) {
				t.Fatalf("the file is %q", after)
			}
			d.send("/undo")
			d.waitFor("› /undo")
			d.key("enter")
			d.waitFor("Undo?")
			d.key("y")
			d.waitFor("undid")
			if got := d.read(tt.file); got != before {
				t.Fatalf("after undo the file is %q", got)
			}
			d.key("ctrl+d")
			if code := d.exit(); code != 0 {
				t.Fatalf("exit code %d", code)
			}
		})
	}
}

// A refused edit leaves the file, and the script goes another way.
func TestDemoRefused(t *testing.T) {
	d := startDemo(t, false)
	before := d.read("total.sh")
	d.press("n")
	d.waitFor("You did not want the tests to run")
	d.waitFor("Allow edit?")
	d.press("n")
	d.waitFor("I leave `total.sh` as it is.")
	if got := d.read("total.sh"); got != before {
		t.Fatalf("the file is %q", got)
	}
}

// A file that changes under the scripted edit stays, and the tool's own error is shown.
func TestDemoStale(t *testing.T) {
	d := startDemo(t, false)
	d.press("y")
	d.waitFor("Allow edit?")
	mine := d.read("total.sh") + "# my own line\n"
	if err := os.WriteFile(filepath.Join(d.dir, "total.sh"), []byte(mine), 0o644); err != nil {
		t.Fatal(err)
	}
	d.press("y")
	d.waitFor("The file is not as I read it")
	d.waitFor("changed")
	if got := d.read("total.sh"); got != mine {
		t.Fatalf("the file is %q", got)
	}
}
