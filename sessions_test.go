//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// shelf is a workspace with sessions that the program itself made.
type shelf struct {
	*testing.T
	ws, home, url string
}

func newShelf(t *testing.T) *shelf {
	ws, home := realDirs(t)
	m := serveModel(t, "== a\n> write {\"file_path\":\"f\",\"content\":\"new\\n\"}\n== b\nWritten, \x1b[31mred\x1b[0m.\n== c\nAnd more.\n")
	return &shelf{T: t, ws: ws, home: home, url: m.URL + "/v1"}
}

func (s *shelf) command(args ...string) *exec.Cmd {
	cmd := program(s.T, s.ws, s.home, append(args, "--sandbox=none")...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+s.url, "AGENT_MODEL=scripted")
	return cmd
}

// run runs the program and returns what it printed, and its exit code.
func (s *shelf) run(args ...string) (out string, code int) {
	s.Helper()
	cmd := s.command(args...)
	text, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		s.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func (s *shelf) ok(args ...string) string {
	s.Helper()
	out, code := s.run(args...)
	if code != 0 {
		s.Fatalf("agent %q: exit %d: %s", args, code, out)
	}
	return out
}

func (s *shelf) fails(code int, want string, args ...string) {
	s.Helper()
	if out, got := s.run(args...); got != code || !strings.Contains(out, want) {
		s.Errorf("agent %q: exit %d, want %d and %q: %s", args, got, code, want, out)
	}
}

func (s *shelf) list() (list []listed) {
	s.Helper()
	if err := json.Unmarshal([]byte(s.ok("sessions", "list", "--json")), &list); err != nil {
		s.Fatal(err)
	}
	return list
}

func (s *shelf) log(id string) string {
	return filepath.Join(s.ws, ".phero", "sessions", id, "log.jsonl")
}

// Every command of agent sessions, on sessions of the program.
func TestSessionsCommands(t *testing.T) { // SESS-02, SESS-10
	s := newShelf(t)
	if got := s.ok("sessions"); !strings.Contains(got, "no sessions here yet") {
		t.Errorf("none: %s", got)
	}
	s.ok("-p", "write f", "--allow", "write", "--allow", "write(**)")
	s.ok("-c", "-p", "go on")
	list := s.list()
	if len(list) != 1 || list[0].Title != "write f" || list[0].Messages != 5 || list[0].Changes != 1 || list[0].Size == 0 || list[0].Open || list[0].Foreign {
		t.Fatalf("listed as %+v", list)
	}
	id := list[0].ID
	if got := s.ok("sessions", "list"); !strings.Contains(got, id) || !strings.Contains(got, " kB") || !strings.Contains(got, "write f") {
		t.Errorf("list: %s", got)
	}
	show := s.ok("sessions", "show", strings.ToLower(id))
	for _, want := range []string{"   1  ", "write f", "   2  ", "go on", "And more.", "Changed files: f"} {
		if !strings.Contains(show, want) {
			t.Errorf("no %q in: %s", want, show)
		}
	}

	s.ok("sessions", "rename", id, "the", "first")
	fork := strings.TrimSpace(s.ok("sessions", "fork", id, "--before", "2"))
	s.fails(2, "1 to 2", "sessions", "fork", id, "--before", "3")
	if list = s.list(); len(list) != 2 || list[0].ID != fork || list[0].Title != "the first (fork)" && list[0].Title != "write f (fork)" || list[1].Title != "the first" {
		t.Fatalf("listed as %+v", list)
	}
	if got := s.ok("-r", fork, "-p", "other"); !strings.Contains(got, "And more.") { // its third reply as well
		t.Errorf("the fork says %s", got)
	}

	if md := s.ok("sessions", "export", id); !strings.HasPrefix(md, "# the first\n") || !strings.Contains(md, "\n## You\n\ngo on\n") {
		t.Errorf("export: %s", md)
	}
	out := filepath.Join(s.home, "x.json")
	s.ok("sessions", "export", id, "--format", "json", "-o", out)
	var x session.Export
	if data, err := os.ReadFile(out); err != nil || json.Unmarshal(data, &x) != nil || x.ID != id || len(x.Entries) < 8 {
		t.Errorf("export: %+v, %v", x, err)
	}
	s.fails(1, "there already", "sessions", "export", id, "-o", out)
	s.fails(2, "no format", "sessions", "export", id, "--format", "html")

	s.checkAndRepair(id)

	s.fails(2, "--yes", "sessions", "rm", id)
	if got := s.ok("sessions", "rm", "--yes", fork, id); strings.Count(got, "removed ") != 2 {
		t.Errorf("rm: %s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(s.ws, ".phero", "blobs", "*", "*")); len(left) > 0 || len(s.list()) > 0 {
		t.Errorf("left: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(s.home, ".local", "state", "phero", "sessions", "*")); len(left) > 0 {
		t.Errorf("left in the state directory: %v", left)
	}
	for _, args := range [][]string{{"show"}, {"rename", "x"}, {"fork"}, {"export"}, {"rm", "--yes"}, {"check"}, {"repair"}} {
		args = append([]string{"sessions", args[0], id}, args[1:]...)
		s.fails(2, "agent sessions lists them", args...)
	}
}

func (s *shelf) checkAndRepair(id string) {
	s.Helper()
	if got := s.ok("sessions", "check"); strings.Count(got, " is sound\n") != 2 {
		s.Errorf("check: %s", got)
	}
	if got := s.ok("sessions", "repair", id); !strings.Contains(got, "nothing was done") {
		s.Errorf("repair: %s", got)
	}
	data, err := os.ReadFile(s.log(id))
	if err != nil {
		s.Fatal(err)
	}
	spoilt := strings.Replace(string(data), "And more.", "And m\x00re.", 1)
	if err := os.WriteFile(s.log(id), []byte(spoilt), 0o600); err != nil {
		s.Fatal(err)
	}
	s.fails(1, "is damaged", "sessions", "check", id)
	var reports []session.Report
	out, _ := s.run("sessions", "check", "--json", id)
	if err := json.Unmarshal([]byte(out), &reports); err != nil || len(reports) != 1 || len(reports[0].Log) == 0 {
		s.Errorf("check: %s", out)
	}
	if got := s.ok("sessions", "repair", id); !strings.Contains(got, "damaged-1.jsonl") {
		s.Errorf("repair: %s", got)
	}
	s.ok("sessions", "check", id)
}

// rm asks on a terminal, and a no keeps the session.
func TestSessionsRemoveAsks(t *testing.T) {
	s := newShelf(t)
	s.ok("-p", "write f")
	id := s.list()[0].ID
	for _, answer := range []string{"n", "y"} {
		term := onTerminal(t, s.command("sessions", "rm", id), 80, 24)
		term.waitFor("[y/N]")
		term.send(answer + "\r")
		if code := term.exit(); code != 0 {
			t.Errorf("exit %d", code)
		}
		if n := len(s.list()); n != map[string]int{"n": 1, "y": 0}[answer] {
			t.Errorf("after %s there are %d sessions", answer, n)
		}
	}
}

// Two agents in one repository do not disturb each other: a session that is open is
// not opened, renamed, repaired or removed by another one, and its owner is named;
// it can be copied, and the screen asks (SESS-10, SESS-14).
func TestTwoAgents(t *testing.T) {
	s := newShelf(t)
	s.ok("-p", "write f")
	id := s.list()[0].ID
	first := onTerminal(t, s.command("-c"), 100, 30)
	first.waitFor("? keys")
	first.waitFor("write f")
	for _, args := range [][]string{{"-r", id, "-p", "x"}, {"sessions", "rename", id, "x"}, {"sessions", "rm", "--yes", id}, {"sessions", "repair", id}} {
		code := 1
		if args[0] == "-r" {
			code = app.ExitUsage
		}
		s.fails(code, "is open in process", args...)
	}
	if !s.list()[0].Open {
		t.Error("it is not listed as open")
	}
	sub := filepath.Join(s.ws, "deep", "er")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.ws, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := s.command("-c")
	cmd.Dir = sub
	second := onTerminal(t, cmd, 100, 30)
	second.waitFor("Fork it")
	second.waitFor("process ")
	second.waitFor("enter chooses")
	second.key("2")
	second.waitFor("✓ 2")
	second.key("enter")
	second.waitFor("Written,")
	second.send("more")
	second.key("enter")
	second.waitFor("And more.")
	second.key("ctrl+d")
	second.exit()
	if strings.Contains(first.text(), "And more.") {
		t.Error("the first agent shows what was said to the second")
	}
	first.key("ctrl+d")
	first.exit()
	if list := s.list(); len(list) != 2 || list[0].Foreign || list[1].Foreign {
		t.Errorf("listed as %+v", list)
	}
	s.ok("sessions", "check")
}

// A session of a repository from elsewhere: headless it is refused with what to do,
// the screen asks (SESS-09).
func TestSessionFromElsewhere(t *testing.T) {
	s := newShelf(t)
	s.ok("-p", "write f")
	id := s.list()[0].ID
	if err := os.RemoveAll(filepath.Join(s.home, ".local", "state")); err != nil { // as on another machine
		t.Fatal(err)
	}
	if !s.list()[0].Foreign || !strings.Contains(s.ok("sessions"), "not made here") {
		t.Error("it is not listed as foreign")
	}
	s.fails(2, "--foreign", "-c", "-p", "go on")
	term := onTerminal(t, s.command("-r", id), 100, 30)
	term.waitFor("came with the repository")
	term.waitFor("enter chooses")
	term.key("esc")
	term.waitFor("was not opened")
	term.key("ctrl+d")
	term.exit()
	if got := s.ok("-c", "-p", "go on", "--foreign"); !strings.Contains(got, "And more.") {
		t.Errorf("with the flag: %s", got)
	}
	s.ok("-c", "-p", "go on") // the yes holds
}
