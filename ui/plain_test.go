//go:build unix

package ui

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

// lineMode is the line mode on a terminal.
type lineMode struct {
	t    *testing.T
	app  *recorder
	pump *Pump
	keys *os.File
	done chan error

	mu   sync.Mutex
	more chan struct{}
	out  strings.Builder
}

func (l *lineMode) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.more)
	l.more = make(chan struct{})
	return l.out.Write(b)
}

func inLineMode(t *testing.T, opts Options) *lineMode {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	l := &lineMode{t: t, app: &recorder{}, pump: NewPump(), keys: ptmx, done: make(chan error, 1), more: make(chan struct{})}
	opts.Plain = true
	ctx, cancel := context.WithCancel(t.Context())
	go func() { l.done <- runPlain(ctx, New(l.app, l.pump, opts), tty, l) }()
	t.Cleanup(func() {
		cancel()
		<-l.done
		ptmx.Close()
		tty.Close()
	})
	l.pump.Emit(app.State{Workspace: "/home/me/acme", Model: "gpt-5.1", Sandbox: "bwrap"})
	l.wait("acme · bwrap · ask · gpt-5.1")
	return l
}

// until waits until everything that was printed satisfies the test.
func (l *lineMode) until(what string, right func(out string) bool) {
	l.t.Helper()
	deadline := time.After(time.Minute)
	for {
		l.mu.Lock()
		out, more := l.out.String(), l.more
		l.mu.Unlock()
		if right(out) {
			return
		}
		select {
		case <-more:
		case <-deadline:
			l.t.Fatalf("%s never came:\n%s", what, out)
		}
	}
}

func (l *lineMode) wait(text string) {
	l.t.Helper()
	l.until(text, func(out string) bool { return strings.Contains(out, text) })
}

// say sends a line and waits for what it brings.
func (l *lineMode) say(line, brings string) {
	l.t.Helper()
	l.mu.Lock()
	from := l.out.Len()
	l.mu.Unlock()
	if _, err := l.keys.WriteString(line + "\n"); err != nil {
		l.t.Fatal(err)
	}
	l.until(brings, func(out string) bool { return strings.Contains(out[from:], brings) })
}

func (l *lineMode) logged(want string) {
	l.t.Helper()
	looks := 0
	l.until(want+" in the log", func(string) bool {
		for _, entry := range l.app.log() {
			if strings.Contains(entry, want) {
				return true
			}
		}
		looks++
		l.pump.Emit(app.Notice{Text: fmt.Sprint("look ", looks)}) // so that there is more to wait for
		return false
	})
}

// Nothing in line mode moves the cursor, colours or draws again.
func TestLineModeIsLines(t *testing.T) {
	l := inLineMode(t, Options{})
	l.pump.Emit(app.TurnStarted{})
	l.pump.Emit(userSays("from before"))
	l.pump.Emit(app.ReplyDelta{Text: "# A head\nline " + nasty + "\nthe la"})
	l.wait("# A head")
	l.pump.Emit(app.ReplyDelta{Text: "st"})
	call := aCall("c", "bash", `{"command":"make"}`)
	l.pump.Emit(modelSays("# A head\nline "+nasty+"\nthe last", call))
	l.pump.Emit(app.ToolStarted{Call: call, Time: time.Now()})
	l.pump.Emit(app.ToolOutput{CallID: "c", Chunk: []byte("one\n\x1b[31mtwo\x1b[0m\nthr")})
	l.wait("    two\n")
	l.pump.Emit(app.ToolOutput{CallID: "c", Chunk: []byte("ee")})
	l.pump.Emit(result("c", session.StatusOK, `{"output":"one\ntwo\nthree","exit_code":1}`))
	l.pump.Emit(app.TurnEnded{})
	l.wait("    three\n")
	l.wait("bash  make  exit 1")
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.out.String()
	for _, want := range []string{"You: from before\n", "the last\n", "running: bash  make\n"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, out)
		}
	}
	for i, r := range out {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 {
			t.Fatalf("a control character, %q, at %q", r, out[max(0, i-20):i+10])
		}
	}
}

// A question is answered by a number or a word, once its choices were read;
// nothing typed before answers anything (UI-19).
func TestLineModeQuestions(t *testing.T) {
	l := inLineMode(t, Options{})
	l.say("y", "") // typed ahead: it is a prompt
	l.logged(`submit "y"`)
	l.pump.Emit(askedBash("1", "rm -rf x"))
	l.wait("$ rm -rf x")
	l.say("1", "answers nothing")
	l.wait("choose 1 to ")
	l.say("perhaps", "There is no choice")
	l.say("and tell me more", "") // a prompt under a question is one
	l.logged(`submit "and tell me more"`)
	l.say("e", "what to do instead: ")
	l.say("use git rm", "")
	l.logged("use git rm")

	l.pump.Emit(app.Questioned{ID: "2", Input: human.Input{Questions: []human.Question{{Header: "Port", Question: "Which port?", Options: []human.Choice{{Label: "80", Description: "needs root"}, {Label: "8080", Description: "does not"}}}}}})
	l.wait("1. 80: needs root")
	l.wait("4. decline")
	l.say("2", "")
	l.logged("reply 2 map[Port:{[8080] }]")
}

// What is written as an answer to a secret question is not shown, in an error
// neither, and the terminal shows again what is typed once it was answered or left.
func TestLineModeSecret(t *testing.T) {
	l := inLineMode(t, Options{})
	echoes := func() bool {
		settings, err := unix.IoctlGetTermios(int(l.keys.Fd()), getTermios)
		if err != nil {
			t.Fatal(err)
		}
		return settings.Lflag&unix.ECHO != 0
	}
	for i, answer := range []string{"sk-secret", "/help sk-secret"} {
		id := fmt.Sprint("s", i)
		l.pump.Emit(app.Questioned{ID: id, Secret: true, Input: human.Input{Questions: []human.Question{{Header: "Key", Question: "The key?", Options: []human.Choice{{Label: "Not now", Description: "later"}, {Label: "No key", Description: "none"}}}}}})
		l.until("the prompt", func(out string) bool { return strings.Count(out, "which is not shown; ") > i })
		if echoes() {
			t.Error("the terminal shows the secret")
		}
		l.say(answer, "")
		l.logged("reply " + id + " map[Key:{[] " + answer + "}]")
		l.pump.Emit(app.Closed{ID: id})
		l.until("the end", func(string) bool { l.pump.Emit(app.Notice{Text: "on"}); return echoes() })
	}
	l.pump.Emit(app.Questioned{ID: "left", Secret: true, Input: human.Input{Questions: []human.Question{{Header: "Key", Question: "The other key?", Options: []human.Choice{{Label: "Not now", Description: "later"}, {Label: "No key", Description: "none"}}}}}})
	l.until("the prompt", func(out string) bool { return strings.Count(out, "which is not shown; ") > 2 })
	l.say("", "1. Not now")
	if !echoes() {
		t.Error("the terminal does not show a choice")
	}
	l.say("1", "")
	l.logged("reply left map[Key:{[Not now] }]")
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Contains(l.out.String(), "sk-secret") {
		t.Errorf("the secret was printed:\n%s", l.out.String())
	}
}

// Lines that come at once are one prompt; a backslash goes on in the next line.
func TestLineModePaste(t *testing.T) {
	l := inLineMode(t, Options{})
	l.say("one\ntwo", "")
	l.logged(`submit "one\ntwo"`)
	l.say(`three\`, "")
	l.say("four", "")
	l.logged(`four`)
	l.say("/nwe", "did you mean /new?")
}

func TestLineModeInterrupt(t *testing.T) {
	l := inLineMode(t, Options{})
	l.pump.Emit(app.TurnStarted{})
	l.pump.Emit(userSays("go"))
	l.wait("You: go")
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	l.logged("cancel")
	l.pump.Emit(app.TurnEnded{Outcome: session.OutcomeInterrupted})
	l.say("/quit", "")
	select {
	case err := <-l.done:
		if err != nil {
			t.Error(err)
		}
		l.done <- nil
	case <-time.After(time.Minute):
		t.Fatal("it did not quit")
	}
}

// While a command of the person's own has the terminal, nothing else is printed
// on it; it comes afterwards. The command reads what is typed.
func TestLineModeOwnCommand(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	l := inLineMode(t, Options{Dir: t.TempDir()})
	l.say(`!echo "be""gun"; read answer; echo "got $answer"`, "begun")
	l.pump.Emit(userSays("from the model's side"))
	l.say("Ada", "got Ada")
	l.wait("You: from the model's side")
	l.mu.Lock()
	out := l.out.String()
	l.mu.Unlock()
	if strings.Index(out, "You: from the model's side") < strings.Index(out, "got Ada") {
		t.Errorf("printed on the command's terminal:\n%s", out)
	}
	l.logged(`ran echo "be""gun"`)
	l.say("and now?", "")
	l.logged(`submit "and now?"`)
}
