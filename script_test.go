//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestScripts runs every script of testdata/script: the program on a real
// terminal, with a scripted model behind a real server; and once more in line
// mode, unless the script looks at the screen itself. A script holds
//
//	-- model --          the model's replies, see package script
//	-- key --            the only key that the model's server takes
//	-- files/NAME --     the workspace before; it is a git repository when git is true
//	-- want/NAME --      a file after; "absent" in want/NAME.absent
//	-- screen NAME --    a screen that a step compares
//	-- log --            the entries of the session's log, in short
//	-- steps --          what happens, a step a line:
//
//	start [WxH] [args…]  the program begins (120x40)
//	run [args…]          the program runs without a terminal, to its end; its output is for stdout, stderr and exit
//	stdin TEXT           what the next run reads
//	env NAME=VALUE       in the environment from now on; $WS, $PATH, $SELF, a program that is an MCP server with AGENT_TEST_SERVER, and $MODEL, the model's host and port, are replaced
//	stdout TEXT, stderr TEXT, unprinted TEXT, exit N    of the run, or of the program that ended on its terminal
//	wait TEXT, gone TEXT the screen shows it, or no longer does
//	answer KEY           once the question takes answers, until another one or none is there
//	choose N [TEXT]      the choice of this number, of the one question that asks; TEXT is written as the answer
//	type TEXT, key NAME…, resize WxH
//	screen NAME          the screen is as the script says
//	asked NAME           the model that the newest request was for
//	away, back           the model's server answers nothing; it does again
//	told TEXT, untold TEXT    the newest request has the text, or has it not
//	sh COMMAND           a command in the workspace; kill: as by a power cut
//	needs sandbox        the script is skipped where bubblewrap does not work
//	needs screen         it is about the screen, and does not run in line mode
//
// In line mode the keys are what does the same there, see inLines.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runScript(t, path, false)
		})
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar")+"-plain", func(t *testing.T) {
			t.Parallel()
			runScript(t, path, true)
		})
	}
}

// scriptRun is one script at work.
type scriptRun struct {
	t       *testing.T
	archive *txtar.Archive
	ws      string // the workspace
	home    string
	model   *model
	term    *terminal
	env     []string
	stdin   string
	stdout  string
	stderr  string
	drawn   string // all that the program wrote on its terminal
	exit    int
	changed bool // by -update
	plain   bool // in line mode
	mark    int  // what was answered of the line mode's output
}

func runScript(t *testing.T, path string, plain bool) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if plain && !runsInLines(archive) {
		t.Skip("it is about the screen")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &scriptRun{t: t, archive: archive, ws: filepath.Join(base, "ws"), home: filepath.Join(base, "home"), plain: plain}
	for _, dir := range []string{r.ws, r.home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "files/"); ok {
			writeFile(t, filepath.Join(r.ws, name), f.Data)
		}
	}
	if text := r.section("model"); text != nil {
		r.model = serveModel(t, string(text))
		r.model.takesOnly(strings.TrimSpace(string(r.section("key"))))
	}
	for n, line := range strings.Split(string(r.section("steps")), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := r.step(line); err != nil {
			t.Fatalf("step %d, %q: %v", n+1, line, err)
		}
	}
	r.checkFiles()
	r.checkLog()
	if r.changed {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r *scriptRun) section(name string) []byte {
	for _, f := range r.archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// step does one line of the steps.
func (r *scriptRun) step(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	if onTerm := map[string]func(string) error{
		"wait": r.wait, "gone": r.gone, "answer": r.answer, "choose": r.choose, "type": r.type_, "key": r.keys,
		"resize": r.resize, "screen": r.screen, "kill": r.kill,
	}[verb]; onTerm != nil {
		switch {
		case r.term == nil:
			return fmt.Errorf("nothing was started")
		case r.plain:
			return r.inLines(verb, rest)
		}
		return onTerm(rest)
	}
	switch verb {
	case "start":
		return r.start(rest)
	case "run":
		return r.run(rest)
	case "needs":
		if rest == "sandbox" && !sandboxWorks() {
			r.t.Skip("bubblewrap does not work here")
		}
	case "env":
		r.env = append(r.env, r.expand(rest))
	case "away", "back":
		r.model.goAway(verb == "away")
	case "stdin":
		r.stdin = rest + "\n"
	case "stdout":
		return contains("stdout", r.stdout, r.expand(rest))
	case "unprinted":
		if strings.Contains(r.stdout+r.stderr+r.drawn, rest) {
			return fmt.Errorf("it was printed")
		}
	case "stderr":
		return contains("stderr", r.stderr, rest)
	case "exit":
		return r.exited(rest)
	case "asked":
		return contains("the model that was asked", r.model.lastModel(), rest)
	case "told":
		return contains("the newest request", r.model.told(), rest)
	case "untold":
		if strings.Contains(r.model.told(), rest) {
			return fmt.Errorf("the model was told")
		}
	case "sh":
		return r.sh(rest)
	default:
		return fmt.Errorf("no such step")
	}
	return nil
}

func (r *scriptRun) expand(s string) string {
	host := ""
	if r.model != nil {
		host = strings.TrimPrefix(r.model.URL, "http://")
	}
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.NewReplacer("$SELF", self, "$WS", r.ws, "$PATH", os.Getenv("PATH"), "$MODEL", host).Replace(s)
}

func contains(where, text, want string) error {
	if strings.Contains(text, want) {
		return nil
	}
	return fmt.Errorf("%s is %q", where, text)
}

// command is the program with the script's model.
func (r *scriptRun) command(args []string) *exec.Cmd {
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$WS", r.ws)
	}
	cmd := program(r.t, r.ws, r.home, args...)
	if r.model != nil {
		cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+r.model.URL+"/v1", "AGENT_MODEL=scripted")
	}
	cmd.Env = append(cmd.Env, r.env...)
	return cmd
}

// words splits at blanks, but not within double quotes.
func words(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1) {
		out = append(out, strings.Trim(m, `"`))
	}
	return out
}

func size(s string) (w, h int, ok bool) {
	a, b, _ := strings.Cut(s, "x")
	w, err1 := strconv.Atoi(a)
	h, err2 := strconv.Atoi(b)
	return w, h, err1 == nil && err2 == nil
}

func (r *scriptRun) start(rest string) error {
	args := words(rest)
	w, h := 120, 40
	if len(args) > 0 {
		if a, b, ok := size(args[0]); ok {
			w, h, args = a, b, args[1:]
		}
	}
	if r.plain {
		args = append([]string{"--plain"}, args...)
	}
	r.term = onTerminal(r.t, r.command(args), w, h)
	r.term.lines, r.mark = r.plain, 0
	return nil
}

func (r *scriptRun) run(rest string) error {
	cmd := r.command(words(rest))
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(r.stdin), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	r.stdout, r.stderr, r.exit, r.stdin = out.String(), errs.String(), cmd.ProcessState.ExitCode(), ""
	return nil
}

func (r *scriptRun) exited(rest string) error {
	if r.term != nil {
		r.exit = r.term.exit()
		r.stdout, r.drawn = r.term.text(), r.term.everything()
		r.term = nil
	}
	if got := strconv.Itoa(r.exit); got != rest {
		return fmt.Errorf("the exit code is %s; stdout %q, stderr %q", got, r.stdout, r.stderr)
	}
	return nil
}

func (r *scriptRun) wait(rest string) error  { r.term.waitFor(rest); return nil }
func (r *scriptRun) gone(rest string) error  { r.term.waitGone(rest); return nil }
func (r *scriptRun) type_(rest string) error { r.term.send(r.expand(rest)); return nil }
func (r *scriptRun) kill(string) error       { r.term.kill(); r.term = nil; return nil }

// answer answers a question once its choices are no longer dim, and waits until
// it is gone.
func (r *scriptRun) answer(key string) error {
	ready := func(string) bool { return r.term.bright("[n]") }
	r.term.until("took answers", ready)
	asked := question(r.term.text())
	r.term.key(key)
	r.term.until("took the answer", func(screen string) bool { return question(screen) != asked || !ready("") })
	return nil
}

// choose takes a choice by its number, once the question takes answers.
func (r *scriptRun) choose(rest string) error {
	number, text, written := strings.Cut(rest, " ")
	r.term.waitFor("enter chooses")
	r.term.key(number)
	if written {
		r.term.waitFor("write an answer")
		r.term.send(r.expand(text) + "\r")
		return nil
	}
	r.term.waitFor("✓ " + number)
	r.term.key("enter")
	r.term.until("took the choice", func(screen string) bool { return !strings.Contains(screen, "esc declines") })
	return nil
}

// question is the part of a screen that asks.
func question(screen string) string {
	for _, title := range []string{"─ Allow", "─ Run it again"} {
		if _, after, found := strings.Cut(screen, title); found {
			sheet, _, _ := strings.Cut(after, "[n]")
			return title + sheet
		}
	}
	return ""
}

func (r *scriptRun) keys(rest string) error {
	for _, name := range strings.Fields(rest) {
		r.term.key(name)
	}
	return nil
}

func (r *scriptRun) resize(rest string) error {
	w, h, ok := size(rest)
	if !ok {
		return fmt.Errorf("%q is no size", rest)
	}
	r.term.resize(w, h)
	return nil
}

func (r *scriptRun) sh(command string) error {
	cmd := exec.CommandContext(r.t.Context(), "bash", "-c", command)
	cmd.Dir = r.ws
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+r.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// passing is what differs from run to run: times, and the spinner.
var passing = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`\d+:\d\d`), "0:00"},
	{regexp.MustCompile(`\d+(\.\d+)?(ms|s)\b`), "0s"},
	{regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`), "*"},
	{regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{26}`), "ID"},
	{regexp.MustCompile(`~\d+%`), "~0%"}, // it counts the workspace's path too
	{regexp.MustCompile(` root · `), "        "},
}

func (r *scriptRun) masked(text string) string {
	text = strings.ReplaceAll(text, r.ws, "/ws")
	for _, p := range passing {
		text = p.pattern.ReplaceAllString(text, p.as)
	}
	return text
}

// screen waits until the screen is as the script says: what is drawn later must
// not fail it, what never comes does.
func (r *scriptRun) screen(name string) error {
	want := r.section("screen " + name)
	if updating() {
		r.put("screen "+name, r.masked(r.term.text())+"\n")
		return nil
	}
	if !sandboxWorks() {
		return nil // the status line says so, and all else is checked by the other steps
	}
	if want == nil {
		return fmt.Errorf("the script has no screen of this name; run the test with -update")
	}
	r.term.until("was as screen "+name+" says", func(screen string) bool {
		return r.masked(screen)+"\n" == string(want)
	})
	return nil
}

func (r *scriptRun) put(name, text string) {
	r.changed = true
	for i := range r.archive.Files {
		if r.archive.Files[i].Name == name {
			r.archive.Files[i].Data = []byte(text)
			return
		}
	}
	r.archive.Files = append(r.archive.Files, txtar.File{Name: name, Data: []byte(text)})
}

func (r *scriptRun) checkFiles() {
	r.t.Helper()
	for _, f := range r.archive.Files {
		name, ok := strings.CutPrefix(f.Name, "want/")
		if !ok {
			continue
		}
		if name, ok := strings.CutSuffix(name, ".absent"); ok {
			if _, err := os.Lstat(filepath.Join(r.ws, name)); !os.IsNotExist(err) {
				r.t.Errorf("%s is there: %v", name, err)
			}
			continue
		}
		got, err := os.ReadFile(filepath.Join(r.ws, name))
		if err != nil {
			r.t.Error(err)
		} else if diff := cmp.Diff(string(f.Data), string(got)); diff != "" {
			r.t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
