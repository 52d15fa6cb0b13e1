package app

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// OwnCommand is a command that the person ran on the host.
type OwnCommand struct {
	Line     string
	Output   string // cleaned of escapes
	ExitCode int    // 128 and the number where a signal ended it
}

// maxOwnOutput is how much of a command's output the model is told, in bytes:
// half from the start and half from the end.
const maxOwnOutput = 30_000

// Ran tells the model at its next request what the person ran, and what came of it.
func (a *App) Ran(c OwnCommand) {
	output := c.Output
	if over := len(output) - maxOwnOutput; over > 0 {
		head := strings.ToValidUTF8(output[:maxOwnOutput/2], "")
		tail := output[len(output)-maxOwnOutput/2:]
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
		output = fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, over, tail)
	}
	a.note(fmt.Sprintf("The user ran this on the host, outside the sandbox:\n$ %s\n%s\n[exit code %d]", c.Line, output, c.ExitCode))
}
