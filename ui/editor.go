package ui

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// edit opens the text in the person's editor.
func (m *Model) edit() tea.Cmd {
	return m.inEditor("prompt.md", m.composer.text(), func(s string) tea.Msg {
		return editedMsg(strings.TrimRight(s, "\n"))
	})
}

// inEditor opens a text as a file of that name in the person's editor; what became
// of it is for done.
func (m *Model) inEditor(name, s string, done func(string) tea.Msg) tea.Cmd {
	words := strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"))
	if _, err := exec.LookPath(words[0]); err != nil {
		return m.fail(fmt.Errorf("set EDITOR to your editor: %w", err))
	}
	e := &editor{Cmd: exec.Command(words[0], words[1:]...), name: name, text: s}
	return m.exec(untilStill{e}, func(err error) tea.Msg {
		if err != nil {
			return failure{err}
		}
		return done(e.text)
	})
}

// editor is the person's editor with a text, on their terminal.
type editor struct {
	*exec.Cmd
	name string // of the file
	text string // before and after
}

func (e *editor) SetStdin(r io.Reader)  { e.Stdin = r }
func (e *editor) SetStdout(w io.Writer) { e.Stdout = w }
func (e *editor) SetStderr(w io.Writer) { e.Stderr = w }

// Run runs the editor on a private file that does not outlive it.
func (e *editor) Run() error {
	dir, err := os.MkdirTemp("", "agent-")
	if err != nil {
		return fmt.Errorf("the editor cannot be opened: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, e.name)
	if err := os.WriteFile(file, []byte(e.text), 0o600); err != nil {
		return fmt.Errorf("the editor cannot be opened: %w", err)
	}
	e.Args = append(e.Args, file)
	if err := e.Cmd.Run(); err != nil {
		return fmt.Errorf("the editor failed, so nothing is changed: %w", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	e.text = string(b)
	return nil
}

// untilStill makes a command on the released terminal take a while at least: the
// renderer that was stopped for it stops its timer on its own, and must not do
// that after it was started again.
type untilStill struct{ tea.ExecCommand }

func (c untilStill) Run() error {
	least := time.After(200 * time.Millisecond)
	err := c.ExecCommand.Run()
	<-least
	return err
}

// editedMsg is what the person wrote in the editor.
type editedMsg string
