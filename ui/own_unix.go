//go:build unix

package ui

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// onTerminal runs a command on a terminal of its own, which is joined to ours:
// keys go in raw, so that ctrl+c is the command's, and all output comes to out.
func onTerminal(cmd *exec.Cmd, in io.Reader, out io.Writer) error {
	tty, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(tty.Fd())) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
		return cmd.Run()
	}
	size, err := pty.GetsizeFull(tty)
	if err != nil {
		return err
	}
	ptmx, err := pty.StartWithSize(cmd, size)
	if err != nil {
		return err
	}
	defer ptmx.Close()
	before, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return err
	}
	defer term.Restore(int(tty.Fd()), before)

	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	keys, err := cancelreader.NewReader(tty)
	if err != nil {
		return err
	}
	typing := make(chan struct{})
	go func() { // ends by Cancel
		defer close(typing)
		io.Copy(ptmx, keys)
	}()
	printed := make(chan struct{})
	go func() { // ends with the last process that has the terminal
		defer close(printed)
		io.Copy(out, ptmx)
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case <-resized:
			pty.InheritSize(tty, ptmx)
		case err = <-ended:
			awaitOutput(printed, ptmx)
			keys.Cancel()
			<-typing
			keys.Close()
			return err
		}
	}
}

// signalCode is the exit code that a shell reports of a command that a signal ended.
func signalCode(state *os.ProcessState) int {
	const firstSignal = 128
	if status, ok := state.Sys().(syscall.WaitStatus); ok {
		return firstSignal + int(status.Signal())
	}
	return state.ExitCode()
}

// awaitOutput waits for what is still printed when the command has ended. What it
// left in the background may keep the terminal open: it is not waited for.
func awaitOutput(printed <-chan struct{}, ptmx *os.File) {
	const drain = 300 * time.Millisecond
	if ptmx.SetReadDeadline(time.Now().Add(drain)) == nil {
		<-printed
		return
	}
	select {
	case <-printed:
	case <-time.After(drain):
	}
}
