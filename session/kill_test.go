package session

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
)

// workUntilKilled edits files in an endless session, and says what is finished.
// Its random choices come from a seed: args are the workspace, the session and the seed.
func workUntilKilled(args []string) error {
	s, err := OpenStore(args[0])
	if err != nil {
		return err
	}
	l, entries, _, err := s.Open(args[1])
	if err != nil {
		return err
	}
	j := NewJournal(s.Blobs(), args[0], l.Append)
	j.Load(entries)
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for step := 1; ; step++ {
		say := func(m Message) error {
			_, err := l.Append(Entry{Kind: KindMessage, Step: step, Message: &m})
			return err
		}
		call := tools.ToolCall{ID: fmt.Sprint(seed, "-", step), Name: "write", Arguments: "{}"}
		if err := say(Message{Role: RoleUser, Text: fmt.Sprint("turn ", step)}); err != nil {
			return err
		}
		if err := say(Message{Role: RoleAssistant, Calls: []tools.ToolCall{call}}); err != nil {
			return err
		}
		if step%7 == 0 {
			if _, err := j.Undo(Scope{Turn: step%2 == 0}, nil); err != nil {
				return err
			}
		} else if err := editAtRandom(j, args[0], call, step, random); err != nil {
			return err
		}
		if err := say(Message{Role: RoleTool, CallID: call.ID, Text: "finished", Status: StatusOK}); err != nil {
			return err
		}
		fmt.Println(call.ID)
		if _, err := l.Append(Entry{Kind: KindTurn, Step: step, Turn: &Turn{Outcome: OutcomeDone}}); err != nil {
			return err
		}
	}
}

func editAtRandom(j *Journal, dir string, call tools.ToolCall, step int, random *rand.Rand) error {
	name := fmt.Sprintf("f%d", random.IntN(4))
	if random.IntN(3) == 0 {
		name = filepath.Join(fmt.Sprintf("d%d", step), "e", name)
	}
	c := file.Change{Path: filepath.Join(dir, name), Perm: 0o644, After: fmt.Appendf(nil, "%d of %s\n%s", step, call.ID, strings.Repeat("x", random.IntN(50_000)))}
	if before, err := os.ReadFile(c.Path); err == nil {
		c.Existed, c.Before = true, before
	} else if filepath.Dir(name) != "." {
		c.Dirs = []string{filepath.Join(dir, filepath.Dir(filepath.Dir(name))), filepath.Dir(c.Path)}
	}
	if err := j.Intent(call, step, c); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	if err := file.WriteFileAtomic(c.Path, c.After, c.Perm); err != nil {
		return err
	}
	return j.Done(call, c)
}

// TestKilledAtAnyPoint is the promise of the package: after a kill -9 at a
// random point everything that was finished is there, the history is valid, and
// every file can be restored to the byte. SESS-01, SESS-06, UNDO-05
func TestKilledAtAnyPoint(t *testing.T) {
	rounds := 20
	if os.Getenv("CI") == "true" {
		rounds = 100
	}
	for round := range rounds {
		s := newStore(t)
		initial := map[string]string{"f0": "zero\n", "f1": "", "f2": "\xff\x00"}
		for name, content := range initial {
			ok(t, os.WriteFile(filepath.Join(s.workspace, name), []byte(content), 0o644))
		}
		l := create(t, s)
		ok(t, l.Close())
		var finished []string
		for life := range 2 { // the second one is killed in a resumed session
			o := startOther(t, "work", s.workspace, l.ID(), fmt.Sprint(2*round+life))
			finished = append(finished, killAtRandom(t, o)...)
			checkAfterKill(t, s, l.ID(), finished)
		}
		undoEverything(t, s, l.ID(), initial)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// killAtRandom lets a process finish some calls and kills it a moment later.
func killAtRandom(t *testing.T, o *other) (finished []string) {
	t.Helper()
	calls, moment := rand.IntN(8), time.Duration(rand.IntN(4000))*time.Microsecond
	for range calls {
		if !o.lines.Scan() {
			t.Fatal("the process ended by itself")
		}
		finished = append(finished, o.lines.Text())
	}
	timer := time.AfterFunc(moment, func() { _ = o.cmd.Process.Kill() })
	defer timer.Stop()
	for o.lines.Scan() {
		finished = append(finished, o.lines.Text())
	}
	_ = o.cmd.Wait()
	for _, f := range finished {
		if strings.HasPrefix(f, "error") {
			t.Fatal(f)
		}
	}
	return finished
}

func checkAfterKill(t *testing.T, s *Store, id string, finished []string) {
	t.Helper()
	entries, _, err := s.Read(id)
	ok(t, err)
	rising(t, entries)
	history := History(entries)
	validHistory(t, history)
	results := map[string]string{}
	for _, m := range history {
		if m.Role == RoleTool {
			results[m.CallID] = m.Text
		}
	}
	for _, call := range finished {
		if results[call] != "finished" {
			t.Errorf("call %s was finished and has the result %q", call, results[call])
		}
	}
}

func undoEverything(t *testing.T, s *Store, id string, initial map[string]string) {
	t.Helper()
	l, entries, notices, err := s.Open(id)
	ok(t, err)
	defer l.Close()
	for _, n := range notices {
		if !strings.Contains(n, "line") && !strings.Contains(n, "nothing was removed") {
			t.Errorf("notice %q", n)
		}
	}
	j := NewJournal(s.Blobs(), s.workspace, l.Append)
	if n := j.Load(entries); n != nil {
		t.Errorf("unsettled: %q", n)
	}
	for {
		if _, err := j.Undo(Scope{}, nil); err == ErrNothingToUndo {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	ok(t, filepath.WalkDir(s.workspace, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == dirName:
			return fs.SkipDir
		case e.IsDir():
			if len(must[[]os.DirEntry](t)(os.ReadDir(path))) == 0 {
				t.Errorf("%s is left, empty", path)
			}
			return nil
		case strings.HasPrefix(e.Name(), "."): // a temporary file that was being written
			return nil
		}
		got := string(must[[]byte](t)(os.ReadFile(path)))
		want, known := initial[e.Name()]
		if !known || got != want {
			t.Errorf("%s holds %.50q, want %q", path, got, want)
		}
		delete(initial, e.Name())
		return nil
	}))
	if len(initial) != 0 {
		t.Errorf("gone: %v", initial)
	}
}
