package ui

import (
	"io"
	"os"
	"os/exec"
)

// onTerminal runs a command on the terminal; its output goes through out.
func onTerminal(cmd *exec.Cmd, in io.Reader, out io.Writer) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	return cmd.Run()
}

// signalCode is the exit code of a command without one of its own.
func signalCode(state *os.ProcessState) int { return state.ExitCode() }
