package session

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

// The test binary plays other processes: with this variable it runs a part
// below and not the tests.
const partVariable = "SESSION_TEST_PART"

var parts = map[string]func(args []string) error{"hold": holdSession, "work": workUntilKilled}

func TestMain(m *testing.M) {
	if part := parts[os.Getenv(partVariable)]; part != nil {
		if err := part(os.Args[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// other is a process that the test binary plays.
type other struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	stdin io.WriteCloser
}

func startOther(t testing.TB, part string, args ...string) *other {
	t.Helper()
	cmd := exec.Command(must[string](t)(os.Executable()), args...)
	cmd.Env = append(os.Environ(), partVariable+"="+part)
	cmd.Stderr = os.Stderr
	out := must[io.ReadCloser](t)(cmd.StdoutPipe())
	in := must[io.WriteCloser](t)(cmd.StdinPipe())
	ok(t, cmd.Start())
	o := &other{cmd: cmd, lines: bufio.NewScanner(out), stdin: in}
	t.Cleanup(o.kill)
	return o
}

// kill ends the process as the power would.
func (o *other) kill() {
	_ = o.cmd.Process.Kill()
	for o.lines.Scan() {
	}
	_ = o.cmd.Wait()
}

// holdSession opens a session, says so, and keeps it until its stdin ends.
func holdSession(args []string) error {
	s, err := OpenStore(args[0])
	if err != nil {
		return err
	}
	l, _, _, err := s.Open(args[1])
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return l.Close()
}
