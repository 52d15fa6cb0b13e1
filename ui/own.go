package ui

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/ui/text"
)

// ownLine tells whether a text is a command of the person's own: "!" shows its
// output to the model, "!!" does not (decision 21).
func ownLine(s string) (line string, told, ok bool) {
	line, ok = strings.CutPrefix(s, "!")
	line, hidden := strings.CutPrefix(line, "!")
	line = strings.TrimSpace(line)
	return line, !hidden, ok && line != ""
}

// ownCommand is a command that the person runs on the host, with their rights and
// environment, on the terminal itself: what asks for a password can be answered.
type ownCommand struct {
	line string
	dir  string
	told bool // the model sees the output

	in     io.Reader
	out    io.Writer
	output capture
	code   int
}

func (c *ownCommand) SetStdin(r io.Reader)  { c.in = r }
func (c *ownCommand) SetStdout(w io.Writer) { c.out = w }
func (c *ownCommand) SetStderr(io.Writer)   {}

// Run runs the command to its end. That it fails is no error.
func (c *ownCommand) Run() error {
	shell := os.Getenv("SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	cmd := exec.Command(shell, "-c", c.line)
	cmd.Dir = c.dir
	fmt.Fprintf(c.out, "$ %s\n", text.Clean(c.line))
	err := onTerminal(cmd, c.in, io.MultiWriter(c.out, &c.output))
	if cmd.ProcessState == nil {
		return fmt.Errorf("%s cannot be run: %w", shell, err)
	}
	if c.code = cmd.ProcessState.ExitCode(); c.code < 0 { // a signal ended it
		c.code = signalCode(cmd.ProcessState)
		c.output.newLine()
		fmt.Fprintln(&c.output, cmd.ProcessState)
	}
	return nil
}

// ranMsg says that the person's own command ended.
type ranMsg struct {
	command *ownCommand
	err     error
}

// runOwn gives the terminal to a command.
func (m *Model) runOwn(line string, told bool) tea.Cmd {
	c := &ownCommand{line: line, dir: m.opts.Dir, told: told}
	return m.exec(untilStill{c}, func(err error) tea.Msg { return ranMsg{c, err} })
}

// ran shows what the command printed, and tells the model.
func (m *Model) ran(msg ranMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	c := msg.command
	output := strings.Trim(text.Clean(c.output.String()), "\n")
	m.transcript.endReply()
	m.transcript.add(&ownItem{entry: entry{look: m.look}, command: c, output: output})
	m.transcript.act(actBottom)
	if !c.told {
		return nil
	}
	return m.calls.inOrder(func() { m.agent.Ran(app.OwnCommand{Line: c.line, Output: output, ExitCode: c.code}) })
}

// ownItem is a command of the person's own in the transcript.
type ownItem struct {
	entry
	command *ownCommand
	output  string
}

const ownLines = 20 // of the output, until it is unfolded

func (i *ownItem) Final() bool      { return true }
func (i *ownItem) message() bool    { return true }
func (i *ownItem) Estimate(int) int { return 1 + min(ownLines, strings.Count(i.output, "\n")) }
func (i *ownItem) plain() string    { return strings.TrimSpace("! " + i.command.line + "\n" + i.output) }
func (i *ownItem) Lines(w int) []string {
	t := i.look.theme
	right := ""
	if i.command.code != 0 {
		right = t.fail.Render(fmt.Sprintf("exit %d", i.command.code))
	}
	if !i.command.told {
		right = strings.TrimLeft(right+"  "+t.dim.Render("not shown to the model"), " ")
	}
	out := append(i.spaced(), spread(t, w, t.user.Render("!")+" "+text.Line(i.command.line), right))
	if i.output == "" {
		return out
	}
	lines := text.Wrap(i.output, max(1, w-4))
	more := 0
	if !i.open && len(lines) > ownLines {
		more = len(lines) - ownLines
		lines = lines[more:]
	}
	if more > 0 {
		out = append(out, "    "+t.dim.Render(fmt.Sprintf("%s %d lines above %s enter", t.sign.ellipsis, more, t.sign.dot)))
	}
	for _, l := range lines {
		out = append(out, "    "+l)
	}
	return out
}

// capture keeps the beginning and the end of what is written to it.
type capture struct {
	head, tail []byte
	dropped    int // bytes between the two
}

const captured = 64 << 10 // bytes at each end

func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	room := min(captured-len(c.head), len(p))
	c.head, p = append(c.head, p[:room]...), p[room:]
	if c.tail = append(c.tail, p...); len(c.tail) > 2*captured {
		over := len(c.tail) - captured
		c.dropped += over
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
	return n, nil
}

// newLine ends a line that has no end.
func (c *capture) newLine() {
	last := c.tail
	if len(last) == 0 {
		last = c.head
	}
	if n := len(last); n > 0 && last[n-1] != '\n' {
		c.Write([]byte("\n"))
	}
}

func (c *capture) String() string {
	if c.dropped == 0 {
		return string(c.head) + string(c.tail)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", c.head, c.dropped, c.tail)
}
