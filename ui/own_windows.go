package ui

import (
	"io"
	"os/exec"
)

// onTerminal runs a command on the terminal; its output goes through out.
func onTerminal(cmd *exec.Cmd, in io.Reader, out io.Writer) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, out
	return cmd.Run()
}
