package bash

import (
	"fmt"

	"github.com/phero-agent/agent/tools"
)

// makeTools makes what the model calls.
func (t *Tool) makeTools() (err error) {
	if t.run, err = tools.NewTool("bash", t.description(), t.handle); err != nil {
		return err
	}
	if t.output, err = tools.NewTool("bash_output", outputDescription, t.handleOutput); err != nil {
		return err
	}
	t.kill, err = tools.NewTool("kill_shell", killDescription, t.handleKill)
	return err
}

func (t *Tool) description() string {
	where := "the working directory"
	if t.dir != "" {
		where = t.dir
	}
	state := "Every command starts fresh in " + where + ": cd and variables do not carry over to the next one."
	if t.persistent {
		state = "Commands start in " + where + "; the directory of cd and exported variables carry over to the next command, " +
			"unless the command exits the shell, times out or runs in the background. Nothing else carries over."
	}
	standard, _ := t.limits.foreground(0)
	most, _ := t.limits.foreground(1<<31 - 1)
	if w, ok := t.runner.(walled); ok {
		state += "\n- Commands run in a sandbox: outside the workspace nothing can be written but ${TMPDIR:-/tmp}, whose files may be gone at the next command"
		if w.reached(RunOptions{}) == Sandboxed {
			state += ", and there is no network"
		}
		state += `. A failure for that reason says so; do not look for ways around it. "reach" in a result means that the user let this one command out: with the network, or on the host.`
	}
	return fmt.Sprintf(`Run a bash command and get its output, stdout and stderr together.

- %s
- stdin is empty and there is no terminal: nothing can prompt, page or open an editor. Pass flags such as --yes or -m instead.
- A command is killed after %d ms, or after timeout, which is at most %d ms.
- Processes left running when the command ends are killed: start servers and watchers with run_in_background.
- Output beyond %d bytes loses its middle: filter it, or write it to a file and read that.
- Prefer the read, edit, glob and grep tools for files over cat, sed, find and grep.
- Commands that build on each other belong into one call, with &&.`,
		state, standard.Milliseconds(), most.Milliseconds(), t.limits.output)
}

const outputDescription = `Read what a background command has printed since the last read, and whether it still runs. ` +
	`The read after its end also tells its exit code and is the last: the id is forgotten then. Do other work between reads instead of polling.`

const killDescription = `End a background command and everything it started. Its last output can still be read with bash_output.`
