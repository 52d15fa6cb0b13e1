//go:build unix

package bash_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/tools/bash"
)

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	p, err := bash.StartProgram(t.Context(), bash.LocalRunner{}, []string{"bash", "-c", `read -r x; echo "$1:$x:$V"; cat >/dev/null`, "it's", "a b"}, bash.RunOptions{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, ExtraEnv: []string{"V=v"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.In.WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Out).ReadString('\n'); err != nil || line != "a b:hello:v\n" {
		t.Errorf("%q, %v", line, err)
	}
	if p.Ending() != "" {
		t.Errorf("it runs, and %s", p.Ending())
	}
	if err := p.Stop(5 * time.Second); err != nil || p.Ending() != "exit status 0" {
		t.Errorf("%v, %q", err, p.Ending())
	}
}

// A program that does not want to end, and what it started, are killed.
func TestProgramThatStays(t *testing.T) {
	p, err := bash.StartProgram(context.Background(), bash.LocalRunner{}, []string{"bash", "-c", `trap "" TERM; sleep 1000 & echo $!; while :; do sleep 1000; done`}, bash.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(p.Out)
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // the pipe ends when nobody has it any more
		defer close(done)
		_, _ = io.Copy(io.Discard, out)
	}()
	if err := p.Stop(10 * time.Millisecond); err != nil || !strings.Contains(p.Ending(), "killed") {
		t.Errorf("%v, %q", err, p.Ending())
	}
	<-done
}

func TestProgramThatIsNotThere(t *testing.T) {
	p, err := bash.StartProgram(t.Context(), bash.LocalRunner{}, []string{"/nonexistent/server"}, bash.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(p.Err)
	<-p.Over()
	if p.Ending() != "exit status 127" || !strings.Contains(string(said), "/nonexistent/server") {
		t.Errorf("%q, %q", p.Ending(), said)
	}
	if err := p.Stop(time.Second); err != nil {
		t.Error(err)
	}
	if _, err := bash.StartProgram(t.Context(), bash.LocalRunner{}, []string{"a\x00b"}, bash.RunOptions{}); err == nil {
		t.Error("an argument with a NUL was taken")
	}
}
