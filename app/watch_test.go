//go:build unix

package app_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// shell runs a line in a directory, as somebody else than the agent does.
func shell(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// snapshot is everything in a workspace that undo restores: what is where, the
// modes, and every byte.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Name() == ".git" || e.Name() == ".phero" {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
		}
		all[path] = fmt.Sprint(info.Mode(), " ", content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for path, w := range want {
		if got[path] != w {
			t.Errorf("%s: %s is %q, want %q", what, path, got[path], w)
		}
	}
	for path, g := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s: %s is there: %q", what, path, g)
		}
	}
}

func bashCall(command string) string {
	arguments, _ := json.Marshal(map[string]string{"command": command})
	return "> bash " + string(arguments) + "\n"
}

// ticked are the picks of what is ticked in the dialog.
func (r *rig) ticked(scope session.Scope, redo bool) (picks []session.Pick) {
	r.t.Helper()
	plan, err := r.app.PlanUndo(scope, redo)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range plan {
		if p.Conflict == "" && (p.Found == nil || p.Found.Doubt == "") {
			picks = append(picks, p.Pick())
		}
	}
	return picks
}

// What a command did to files that nobody read is undone to the byte, and done
// again. UNDO-09, users.md 33
func TestUndoOfCommands(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("git is not installed")
	}
	for _, c := range []struct{ name, prepare, command string }{
		{"sed over 500 files", "for i in $(seq 500); do printf 'one\\r\\ntwo %s' $i > f$i; done; git add .; git commit -qm files", "sed -i s/two/three/ f*"},
		{"rm -r of a tracked directory", "mkdir -p d/e; echo 1 > d/a; echo 2 > d/e/b; chmod 750 d/e; chmod 755 d/a; ln -s a d/l; git add .; git commit -qm d", "rm -r d"},
		{"gofmt of all", "for i in 1 2 3; do printf 'package p\\nfunc  F%s( ) { }\\n' $i > g$i.go; done; git add .; git commit -qm go; printf 'package p\\nvar  X=1\\n' > dirty.go", "gofmt -w ."},
		{"a checkout over dirty files", "echo 1 > a; printf '\\377\\000' > b; git add .; git commit -qm a; echo mine > a; printf '\\376\\000' > b", "git checkout -q -- ."},
		{"new files", "echo 1 > a", "mkdir -p x/y/z; echo 1 > x/y/f; echo 2 > x/g; ln -s g x/l; mkdir empty"},
		{"modes and links", "echo 1 > a; mkdir d; ln -s a l; git add .; git commit -qm a", "chmod 600 a; chmod 700 d; ln -sfn d l"},
		{"kinds", "echo 1 > a; mkdir d; echo 2 > d/f; ln -s a l; git add .; git commit -qm a", "rm a; mkdir a; echo x > a/x; rm -r d; echo y > d; rm l; echo z > l"},
		{"a move", "mkdir d; echo 1 > d/f; git add .; git commit -qm a", "mv d e; mv e/f e/g"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			shell(t, dir, "git init -q .; "+c.prepare)
			dir, _ = filepath.EvalSymlinks(dir)
			r := rigIn(t, dir, "== a\n"+bashCall(c.command)+"== b\ndone\n")
			before := snapshot(t, dir)
			r.turn("go")
			if got := r.result(0); got.Status != session.StatusOK || !strings.Contains(got.Text, `"exit_code":0`) {
				t.Fatalf("the command: %+v", got)
			}
			after := snapshot(t, dir)
			if reflect.DeepEqual(before, after) {
				t.Fatal("the command changed nothing")
			}
			for range 2 {
				r.app.Undo(session.Scope{}, r.ticked(session.Scope{}, false))
				same(t, "undone", snapshot(t, dir), before)
				r.app.Redo(session.Scope{}, r.ticked(session.Scope{}, true))
				same(t, "done again", snapshot(t, dir), after)
			}
			// A file at a time comes to the same.
			for left := 1; left > 0; {
				plan, err := r.app.PlanUndo(session.Scope{}, false)
				if err != nil && left != 1 {
					t.Fatalf("%d paths are left, and then: %v", left, err)
				}
				if left = len(plan); left == 0 {
					break
				}
				picks := []session.Pick{plan[left/2].Pick()}
				if left > 20 {
					picks = r.ticked(session.Scope{}, false)[:left-3]
				}
				from := r.seen()
				r.app.Undo(session.Scope{}, picks)
				if n, _ := await[app.Notice](r, from, nil); n.Level == app.Error {
					t.Fatalf("%d paths are left: %s", left, n.Text)
				}
			}
			same(t, "undone one by one", snapshot(t, dir), before)
		})
	}
}

// What a person changed before, between commands, or since, is never taken back
// unasked; what a command changed and nobody kept is said at once. It needs no git.
// UNDO-09, users.md 31 and 32
func TestUndoOfCommandsLeavesOthersAlone(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	shell(t, dir, "echo a > a; echo b > b; echo c > c; head -c 2000000 /dev/zero > big; truncate -s 1G huge")
	r := rigIn(t, dir, "== 1\n"+bashCall("echo 1 >> a; echo 1 >> b; echo 1 >> big; echo 1 >> huge")+"== 2\ndone\n== 3\n"+bashCall("echo 2 >> a")+"== 4\ndone\n")
	r.turn("one")
	e, _ := await(r, 0, func(e app.Committed) bool { return e.Entry.Kind == session.KindFound })
	var lost []string
	for _, l := range e.Entry.Found.Lost {
		lost = append(lost, filepath.Base(l.Path)+" "+l.Why)
	}
	if want := []string{"big was changed: 1 MB, too large", "huge was changed: 1.0 GB, too large"}; !slices.Equal(lost, want) {
		t.Errorf("lost: %q, want %q", lost, want)
	}
	shell(t, dir, "echo mine >> b; echo mine >> c") // between the commands
	r.turn("two")
	if n := len(r.ticked(session.Scope{}, false)); n != 1 {
		t.Fatalf("%d files are ticked", n)
	}
	r.app.Undo(session.Scope{}, r.ticked(session.Scope{}, false))
	if got := r.file("a"); got != "a\n1\n" {
		t.Errorf("a holds %q", got)
	}
	from := r.seen()
	r.app.Undo(session.Scope{}, nil)
	if n, _ := await[app.Notice](r, from, nil); n.Level != app.Error || !strings.Contains(n.Text, "b was changed since") {
		t.Errorf("the undo says %+v", n)
	}
	r.app.Undo(session.Scope{}, r.ticked(session.Scope{}, false))
	if r.file("a") != "a\n" || r.file("b") != "b\n1\nmine\n" || r.file("c") != "c\nmine\n" {
		t.Errorf("a %q, b %q, c %q", r.file("a"), r.file("b"), r.file("c"))
	}
}

// What commands at the same time, or one in the background, changed is theirs, and in
// doubt; it does not stand before what is certain. What a tool writes meanwhile is the
// tool's. UNDO-09
func TestUndoOfCommandsAtTheSameTime(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	shell(t, dir, "echo a > a; mkfifo go ready")
	r := rigIn(t, dir, `
== 1
> bash {"command":"echo 1 > served; echo > ready; read < go; echo 2 > served; echo > ready; read < go","run_in_background":true}
> bash {"command":"read < ready"}
== 2
> write {"file_path":"new","content":"new\n"}
== 3
done
== 4
> bash {"command":"echo > go; read < ready; echo x > a"}
== 5
done
`)
	r.turn("one")
	plan, err := r.app.PlanUndo(session.Scope{}, false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range plan {
		doubt := "certain"
		if p.Found != nil {
			doubt = strings.Join(p.Found.Commands, " and ") + ": " + p.Found.Doubt
		}
		got = append(got, filepath.Base(p.Change.Path)+" "+doubt)
	}
	if len(got) != 1 || got[0] != "new certain" {
		t.Errorf("the first plan: %q", got)
	}
	r.turn("two")
	if picks := r.ticked(session.Scope{}, false); len(picks) != 1 || filepath.Base(picks[0].Path) != "new" {
		t.Errorf("ticked: %v", picks)
	}
	plan, err = r.app.PlanUndo(session.Scope{}, false)
	if err != nil || len(plan) != 3 {
		t.Fatalf("%d files in the plan, %v", len(plan), err)
	}
	r.app.Undo(session.Scope{}, []session.Pick{plan[0].Pick(), plan[1].Pick(), plan[2].Pick()})
	if r.file("a") != "a\n" || r.file("served") != "1\n" {
		t.Errorf("a %q, served %q", r.file("a"), r.file("served"))
	}
}

// /diff shows what commands changed; the changes survive a resume. UNDO-05, UNDO-09
func TestCommandsInTheDiff(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	shell(t, dir, "echo a > a; echo b > b")
	state := t.TempDir()
	in := func(o *app.Options) { o.StateDir = state }
	r := rigIn(t, dir, "== 1\n"+bashCall("echo x > a; rm b; echo n > n")+"== 2\ndone\n", in)
	r.turn("go")
	if err := r.app.Close(); err != nil {
		t.Fatal(err)
	}
	r = rigIn(t, dir, "== 1\ndone\n", in)
	if err := r.app.Open(""); err != nil {
		t.Fatal(err)
	}
	list, err := r.app.Diff()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		got = append(got, fmt.Sprintf("%s %v %q %q", filepath.Base(c.Path), c.Existed, c.Before, c.After))
	}
	if want := []string{`a true "a\n" "x\n"`, `b true "b\n" ""`, `n false "" "n\n"`}; !slices.Equal(got, want) {
		t.Errorf("the diff: %q, want %q", got, want)
	}
	r.app.Undo(session.Scope{}, nil)
	if r.file("a") != "a\n" || r.file("b") != "b\n" {
		t.Errorf("a %q, b %q", r.file("a"), r.file("b"))
	}
	r.turn("on")
	if text := r.last()[len(r.last())-1].Text; !strings.Contains(text, "undid") || !strings.Contains(text, "n (removed)") { // UNDO-07
		t.Errorf("the model is told %q", text)
	}
}
