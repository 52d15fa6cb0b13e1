//go:build unix

package app_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/script"
	"github.com/phero-agent/agent/session"
)

// fullIn is the variable that makes the test binary a program at work in a
// directory whose disk becomes full.
const fullIn = "AGENT_TEST_FULL_IN"

const fullScript = `
== a
> read {"file_path":"f"}
== b
done
== c
> edit {"file_path":"f","old_string":"A","new_string":"B"}
> write {"file_path":"big","content":"%s"}
> bash {"command":"echo 1 > g"}
== d
done
== e
> write {"file_path":"h","content":"h"}
== f
done
`

// workOnFullDisk limits the size of files during the second turn, which fails a
// write in its middle as a full disk does.
func workOnFullDisk(dir string) {
	s, err := script.Parse(fmt.Sprintf(fullScript, strings.Repeat("x", 100_000)))
	if err != nil {
		panic(err)
	}
	ended := make(chan struct{})
	var a0 atomic.Pointer[app.App]
	a, err := app.New(app.Options{
		Workspace: dir, Dir: dir, StateDir: dir + ".state", Sandbox: "none", Interactive: true,
		NewProvider: func(context.Context, string) (app.Provider, error) { return script.New(s, 0, ""), nil },
		Emit: func(e app.Event) {
			switch e := e.(type) {
			case app.Committed:
				if m := e.Entry.Message; m != nil && m.Role == session.RoleTool {
					fmt.Printf("result %s %.60q\n", m.Status, m.Text)
				}
			case app.Notice:
				fmt.Println("notice", e.Text)
			case app.Asked:
				go a0.Load().Answer(e.ID, app.Answer{Allow: true})
			case app.TurnEnded:
				fmt.Println("ended", e.Outcome)
				ended <- struct{}{}
			}
		},
	})
	if err != nil {
		panic(err)
	}
	a0.Store(a)
	a.Start()
	a.Prepare()
	turn := func(prompt string) {
		a.Submit(prompt)
		<-ended
	}
	turn("one")
	logs, err := filepath.Glob(filepath.Join(dir, ".phero/sessions/*/log.jsonl"))
	if err != nil || len(logs) != 1 {
		panic(fmt.Sprint(logs, err))
	}
	info, err := os.Stat(logs[0])
	if err != nil {
		panic(err)
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		panic(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	full := old
	full.Cur = uint64(info.Size()) + 20
	limit := func(l *syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, l); err != nil {
			panic(err)
		}
	}
	limit(&full)
	turn("two")
	if after, err := os.Stat(logs[0]); err != nil || after.Size() != info.Size() {
		fmt.Println("half a line is in the log:", after.Size(), info.Size(), err)
	}
	limit(&old)
	turn("three")
	if err := a.Close(); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// A full disk stops neither the work nor undo: what fits is written, what does not
// fails whole, the person is told, and the log is complete once there is room.
func TestFullDisk(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "ws")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("A"), 0o644); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), fullIn+"="+dir)
	out, err := cmd.CombinedOutput()
	said := string(out)
	if err != nil || strings.Contains(said, "half a line") || strings.Count(said, "ended done") != 3 ||
		strings.Count(said, "notice the session is not saved") != 1 || !strings.Contains(said, "result failed \"Error: ") ||
		strings.Count(said, "result ok") != 4 {
		t.Fatalf("%v:\n%s", err, said)
	}
	for _, e := range entriesOf(t, dir) {
		if strings.HasPrefix(e, ".phero-tmp-") || e == "big" {
			t.Errorf("%s is left", e)
		}
	}
	r := rigIn(t, dir, "== a\ndone\n", func(o *app.Options) { o.StateDir = dir + ".state" })
	if err := r.app.Open(""); err != nil {
		t.Fatal(err)
	}
	if list, err := r.app.Diff(); err != nil || len(list) != 3 {
		t.Errorf("the diff has %d files, %v", len(list), err)
	}
	for range 3 {
		r.app.Undo(session.Scope{}, nil)
	}
	if got := strings.Join(entriesOf(t, dir), " "); got != ".phero f" || r.file("f") != "A" {
		t.Errorf("after undo: %s, f %q", got, r.file("f"))
	}
	r.turn("on")
	checkValid(t, r.last())
}

func entriesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A .phero that cannot be written any more, or that somebody takes away while the
// program runs, stops neither the work nor undo. SESS-11
func TestStoreThatGoesAway(t *testing.T) {
	for _, c := range []struct{ name, line, told string }{
		{"read-only", "rm -rf .phero/blobs && touch .phero/blobs", "the session is not saved: contents cannot be kept"},
		{"vanished", "rm -rf .phero", "the session's log was removed while the session was open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _ := filepath.EvalSymlinks(t.TempDir())
			r := rigIn(t, dir, "== 1\n> write {\"file_path\":\"f\",\"content\":\"1\"}\n== 2\ndone\n== 3\n> write {\"file_path\":\"g\",\"content\":\"1\"}\n"+bashCall("echo 2 > f")+"== 4\ndone\n")
			r.turn("one")
			shell(t, dir, c.line)
			from := r.seen()
			if ended := r.turn("two"); ended.Outcome != session.OutcomeDone {
				t.Errorf("ended %+v", ended)
			}
			await(r, from, func(n app.Notice) bool { return strings.Contains(n.Text, c.told) })
			if r.file("g") != "1" || r.file("f") != "2\n" {
				t.Errorf("f %q, g %q", r.file("f"), r.file("g"))
			}
			r.app.Undo(session.Scope{}, nil)
			r.app.Undo(session.Scope{}, nil)
			if got := r.file("f"); got != "1" {
				t.Errorf("after undo f is %q", got)
			}
			if _, err := os.Stat(filepath.Join(dir, "g")); !os.IsNotExist(err) {
				t.Errorf("g is left: %v", err)
			}
			if err := r.app.Close(); err != nil {
				t.Error(err)
			}
			again := rigIn(t, dir, "== a\ndone\n")
			if err := again.app.Open(""); err != nil {
				t.Fatal(err)
			}
			again.turn("on")
			checkValid(t, again.last())
			if n := len(again.last()); n < 9 {
				t.Errorf("%d messages are left", n)
			}
		})
	}
}
