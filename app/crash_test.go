//go:build unix

package app_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/script"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/bash"
)

// crashIn is the variable that makes the test binary a program at work in a
// directory, until somebody kills it.
const crashIn = "AGENT_TEST_CRASH_IN"

// crashPoints is the variable that says at how many points the work is killed.
const crashPoints = "AGENT_TEST_CRASH_POINTS"

func TestMain(m *testing.M) {
	bash.MaybeHelper()
	if dir := os.Getenv(crashIn); dir != "" {
		workUntilKilled(dir)
	}
	if dir := os.Getenv(fullIn); dir != "" {
		workOnFullDisk(dir)
	}
	if role := os.Getenv(serverRole); role != "" {
		serve(role)
	}
	// The private caches of workspaces go where they can be removed.
	cache, err := os.MkdirTemp("", "app-test-cache-")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CACHE_HOME", cache)
	code := m.Run()
	os.RemoveAll(cache)
	os.Exit(code)
}

// crashFiles are the files before the work, crashScript is the work: every way
// in which the file tools change files, and commands between them.
var crashFiles = map[string]string{
	"a.txt": "A one\r\nA two\nA three", "b.bin": "B\x00\xff\xfe one\nB two\n", "c/d.sh": "#!/bin/sh\necho C\n",
}

const crashScript = `
== 1
> read {"file_path":"a.txt"}
> read {"file_path":"c/d.sh"}
== 2
> edit {"file_path":"a.txt","old_string":"one","new_string":"1"}
> write {"file_path":"new/deep/file.txt","content":"new\n"}
> edit {"file_path":"c/d.sh","old_string":"echo C","new_string":"echo D"}
== 3
> bash {"command":"echo done > by-command"}
> multi_edit {"file_path":"a.txt","edits":[{"old_string":"two","new_string":"2"},{"old_string":"three","new_string":"3"}]}
== 4
> write {"file_path":"new/deep/file.txt","content":"newer\n"}
> edit {"file_path":"a.txt","old_string":"A 1","new_string":"A I"}
> write {"file_path":"new/other.txt","content":"x"}
== 5
> todo_write {"todos":[{"content":"all","status":"completed"}]}
> edit {"file_path":"c/d.sh","old_string":"echo D","new_string":"echo E"}
== 6
All done.
`

func crashPerm(name string) os.FileMode {
	if strings.HasSuffix(name, ".sh") {
		return 0o750
	}
	return 0o640
}

// workUntilKilled does the work, and says on stdout what was committed.
func workUntilKilled(dir string) {
	s, err := script.Parse(crashScript)
	if err != nil {
		panic(err)
	}
	ended := make(chan struct{})
	var a *app.App
	a, err = app.New(app.Options{
		Workspace: dir, Dir: dir, StateDir: dir + ".state", Sandbox: "none", Interactive: true,
		NewProvider: func(context.Context, string) (app.Provider, error) { return script.New(s, 0, ""), nil },
		Emit: func(e app.Event) {
			switch e := e.(type) {
			case app.Committed:
				fmt.Println(e.Entry.Seq)
			case app.Asked:
				go a.Answer(e.ID, app.Answer{Allow: true})
			case app.TurnEnded:
				close(ended)
			}
		},
	})
	if err != nil {
		panic(err)
	}
	a.Start()
	a.Prepare()
	fmt.Println("begun")
	a.Submit("go")
	<-ended
	fmt.Println("ended")
	select {}
}

// A program that is killed at any point leaves a session that goes on: what it
// said was committed is there, the next request is valid, and every file that
// the file tools changed can be restored to the byte (SESS-01, SESS-05, SESS-06, UNDO-05).
func TestKilledAtAnyPoint(t *testing.T) {
	points := 20
	if os.Getenv("CI") != "" {
		points = 100
	}
	if n, err := strconv.Atoi(os.Getenv(crashPoints)); err == nil {
		points = n
	}
	whole := crashRun(t, time.Hour)
	workers, n := 4, atomic.Int64{}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for n.Add(1) <= int64(points) && !t.Failed() {
				crashRun(t, rand.N(whole+whole/10))
			}
		})
	}
	group.Wait()
}

// crashRun kills the work after a time and checks what is left. It returns how
// long the work took.
func crashRun(t *testing.T, after time.Duration) time.Duration {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Error(err)
		return 0
	}
	dir, err := os.MkdirTemp(base, "ws")
	if err != nil {
		t.Error(err)
		return 0
	}
	for name, content := range crashFiles {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(content), crashPerm(name)); err != nil {
			t.Error(err)
		}
		os.Chmod(path, crashPerm(name)) // whatever the umask is
	}
	committed, took := killAfter(t, dir, after)
	checkCrash(t, dir, committed, after)
	return took
}

// killAfter starts the work and kills it; the count is of the entries that it said were committed.
func killAfter(t *testing.T, dir string, after time.Duration) (committed int64, took time.Duration) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), crashIn+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	kill := func() { cmd.Process.Kill() }
	lines := bufio.NewScanner(out)
	var begun time.Time
	for lines.Scan() {
		switch line := lines.Text(); line {
		case "begun":
			begun = time.Now()
			timer := time.AfterFunc(after, kill)
			defer timer.Stop()
		case "ended":
			kill()
		default:
			fmt.Sscan(line, &committed)
		}
	}
	took = time.Since(begun)
	cmd.Wait()
	return committed, took
}

func checkCrash(t *testing.T, dir string, committed int64, after time.Duration) {
	s, err := script.Parse("== a\nGoing on.\n")
	if err != nil {
		t.Error(err)
		return
	}
	var mu sync.Mutex
	var entries []session.Entry
	var notices []app.Notice
	ended := make(chan struct{}, 1)
	provider := &recorder{Provider: script.New(s, 0, "Going on.")}
	a, err := app.New(app.Options{
		Workspace: dir, Dir: dir, StateDir: dir + ".state", Sandbox: "none", Interactive: true,
		NewProvider: func(context.Context, string) (app.Provider, error) { return provider, nil },
		Emit: func(e app.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch e := e.(type) {
			case app.Opened:
				entries = e.Entries
			case app.Notice:
				notices = append(notices, e)
			case app.TurnEnded:
				ended <- struct{}{}
			}
		},
	})
	if err != nil {
		t.Error(err)
		return
	}
	defer a.Close()
	fail := func(format string, args ...any) {
		t.Errorf("killed after %v (%d entries): %s", after, committed, fmt.Sprintf(format, args...))
	}
	if err := a.Open(""); err != nil {
		if committed > 1 { // the first one only says that there is a session
			fail("the session does not open: %v", err)
		}
		return
	}
	if n := int64(len(entries)); n < committed {
		fail("%d entries are left", n)
	}
	a.Submit("go on")
	<-ended
	for _, r := range provider.all() {
		checkValid(t, r.Messages)
		last := r.Messages[len(r.Messages)-1].Text
		finished := slices.ContainsFunc(entries, func(e session.Entry) bool { return e.Kind == session.KindTurn })
		if told := strings.Contains(last, "in the middle of your last turn"); told == finished {
			fail("the turn was finished: %v, and the model is told %q", finished, last)
		}
	}
	// Everything is taken back, change by change.
	for range 20 {
		a.Undo(session.Scope{}, nil)
	}
	mu.Lock()
	defer mu.Unlock()
	if last := notices[len(notices)-1]; !strings.Contains(last.Text, "nothing to undo") {
		fail("the last undo said %q", last.Text)
	}
	for name, want := range crashFiles {
		got, err := os.ReadFile(filepath.Join(dir, name))
		info, statErr := os.Stat(filepath.Join(dir, name))
		if err != nil || statErr != nil || string(got) != want {
			fail("%s is %q, %v; was %q", name, got, err, want)
			continue
		}
		if perm := info.Mode().Perm(); perm != crashPerm(name) {
			fail("%s has the mode %v", name, perm)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		fail("what was made is still there: %v", err)
	}
}
