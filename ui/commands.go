package ui

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"mvdan.cc/sh/v3/syntax"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/ui/text"
)

// command is a slash command: one of ours, or one that the application brings.
type command struct {
	Command
	do func(m *Model, args string) tea.Cmd // nil: Run is called
}

// takes names words that the command can be given.
func (c command) takes(words ...string) command {
	c.Args = words
	return c
}

// builtins are the commands that the screen does itself or through [Agent].
func builtins() []command {
	c := func(name, help string, do func(m *Model, args string) tea.Cmd, aliases ...string) command {
		return command{Command{Name: name, Aliases: aliases, Help: help}, do}
	}
	return []command{
		c("help", "the keys and the commands", func(m *Model, _ string) tea.Cmd { m.modal = m.help(); return nil }, "keys"),
		c("new", "a new session", func(m *Model, _ string) tea.Cmd { return m.calls.inOrder(m.agent.New) }, "clear"),
		c("sessions", "open another session; /resume <id> opens that one", (*Model).resumeCommand, "resume", "continue"),
		c("model", "another model, from the next request on", (*Model).modelCommand, "models"),
		c("undo", "look at the last change and take it back; /undo turn: all of the last turn", (*Model).undoCommand).takes("turn"),
		c("redo", "make an undone change again; /redo turn", (*Model).redoCommand).takes("turn"),
		c("rewind", "go back to a message of yours, with the files or without", (*Model).rewindCommand),
		c("diff", "everything that this session changed", (*Model).diffCommand, "changes"),
		c("rename", "give this session a title", (*Model).renameCommand, "title"),
		c("fork", "go on in a copy of this session", (*Model).forkCommand, "branch"),
		c("export", "write this session into a file; /export notes.json: as JSON", (*Model).exportCommand),
		c("effort", "how much the model reasons, from the next request on", (*Model).effortCommand, "reasoning"),
		c("mode", "the permission mode: ask, edits, auto or plan", (*Model).modeCommand).takes("ask", "edits", "auto", "plan"),
		c("permissions", "the rules and the always answers; /permissions forget <answer>", (*Model).permissionsCommand).takes("forget"),
		c("plan", "plan first: nothing is written", func(m *Model, _ string) tea.Cmd { return m.setMode(permissions.ModePlan) }),
		c("context", "what fills the context window, and what the session cost", (*Model).contextCommand, "usage", "cost", "tokens", "status"),
		c("compact", "sum up the conversation to make room; /compact <what to keep>", (*Model).compactCommand),
		c("todos", "the task list", func(m *Model, _ string) tea.Cmd { m.openPane(m.todos); return nil }, "todo"),
		c("output", "the output of commands", func(m *Model, _ string) tea.Cmd { m.openPane(m.output); return nil }),
		c("shells", "the commands in the background", (*Model).shellsCommand, "tasks", "ps"),
		c("background", "move the running command to the background", func(m *Model, _ string) tea.Cmd { return m.toBackground() }, "bg"),
		c("unfold", "show all of the newest call; on the screen: of everything, or the usual part again", (*Model).unfoldCommand, "fold"),
		c("unqueue", "take the last queued message back", func(m *Model, _ string) tea.Cmd { return m.unqueue() }),
		c("history", "the prompts of before", func(m *Model, _ string) tea.Cmd { m.modal = m.historyPicker(); return nil }),
		c("files", "the files that were changed", func(m *Model, _ string) tea.Cmd { m.openPane(m.files); return nil }),
		c("copy", "copy the last reply", func(m *Model, _ string) tea.Cmd { return m.copy(m.transcript.lastReply()) }),
		c("theme", "the colours: auto, dark, light or contrast", (*Model).themeCommand).takes(themes[:]...),
		c("vim", "the keys of vi in the text, or not", (*Model).vimCommand),
		c("config", "the settings and where each comes from", ownAgent("config"), "settings"),
		c("doctor", "what works here, and what the server can do", ownAgent("doctor")),
		c("mouse", "the mouse is ours, or the terminal's", (*Model).mouseCommand),
		c("editor", "write in $EDITOR", func(m *Model, _ string) tea.Cmd { return m.edit() }),
		c("quit", "quit", func(m *Model, _ string) tea.Cmd { return m.quit() }, "exit", "q"),
	}
}

// commandTable joins our commands and the application's; its own come first
// where names are the same.
func commandTable(more []Command) []command {
	var table []command
	for _, c := range builtins() {
		taken := slices.ContainsFunc(more, func(o Command) bool { return o.Name == c.Name })
		if !taken {
			table = append(table, c)
		}
	}
	for _, c := range more {
		table = append(table, command{Command: c})
	}
	return table
}

// asCommand tells a command from a prompt: a word after a slash, or one of the
// words by which people leave.
func asCommand(s string) (string, bool) {
	switch s {
	case "exit", "quit", ":q", ":wq":
		return "quit", true
	}
	rest, ok := strings.CutPrefix(s, "/")
	if !ok {
		return "", false
	}
	name, _, _ := strings.Cut(rest, " ")
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !commandRune(r) }) {
		return "", false
	}
	return rest, true
}

func commandRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// run does a command line, without its slash.
func (m *Model) run(line string) tea.Cmd {
	name, args, _ := strings.Cut(line, " ")
	args = strings.TrimSpace(args)
	c := m.command(name)
	switch {
	case c == nil:
		return m.unknown(name, line)
	case c.do != nil:
		return c.do(m, args)
	}
	return m.calls.inOrderMsg(func() tea.Msg {
		out, err := c.Run(args)
		switch {
		case err != nil:
			return failure{err}
		case out != "":
			return said(out)
		}
		return nil
	})
}

// offered adds the commands that the application offers now.
func (m *Model) offered(list []app.Command) {
	more := slices.Clone(m.opts.Commands)
	for _, c := range list {
		more = append(more, Command{Name: c.Name, Help: text.Line(strings.TrimSpace(c.Hint + " " + c.Help)), Run: func(args string) (string, error) {
			return "", m.agent.RunCommand(c.Name, args)
		}})
	}
	m.commands = commandTable(more)
}

// said is what a command answered.
type said string

func (m *Model) command(name string) *command {
	name = strings.ToLower(name)
	for i, c := range m.commands {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return &m.commands[i]
		}
	}
	return nil
}

// unknown names the nearest command; the line stays, to be mended.
func (m *Model) unknown(name, line string) tea.Cmd {
	words := "there is no command /" + text.Line(name)
	best, least := "", 4
	for _, c := range m.commands {
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if d := permissions.Distance(name, n); d < least {
				best, least = n, d
			}
		}
	}
	if best != "" {
		words += "; did you mean /" + best + "?"
	} else {
		words += "; /help lists them"
	}
	if !m.opts.Plain {
		m.composer.set("/" + line)
	}
	m.status.say(app.Notice{Level: app.Warning, Text: words}, m.look.now)
	return nil
}

// matchCommands are the commands that a word may become.
func matchCommands(table []command, word string) []suggestion {
	var starts, others []suggestion
	for _, c := range table {
		s := suggestion{insert: "/" + c.Name, help: c.Help}
		switch {
		case strings.HasPrefix(c.Name, word):
			starts = append(starts, s)
		case slices.ContainsFunc(c.Aliases, func(a string) bool { return strings.HasPrefix(a, word) }):
			others = append(others, s)
		}
	}
	return append(starts, others...)
}

func (m *Model) commandPicker() *picker {
	var rows []pick
	for _, c := range m.commands {
		rows = append(rows, pick{label: "/" + c.Name, detail: text.Truncate(c.Help, 60, m.look.theme.sign.ellipsis), intent: doCommand{c.Name}})
	}
	return newPicker("Commands", "no such command", rows)
}

func (m *Model) historyPicker() *picker {
	var rows []pick
	for i := len(m.history.entries) - 1; i >= 0; i-- {
		s := m.history.entries[i]
		rows = append(rows, pick{label: s, intent: doInsert{s}})
	}
	return newPicker("Earlier prompts", "nothing yet", rows)
}

// ownAgent runs a command of this program as one of the person's own.
func ownAgent(args string) func(*Model, string) tea.Cmd {
	return func(m *Model, _ string) tea.Cmd {
		self, err := os.Executable()
		if err == nil {
			self, err = syntax.Quote(self, syntax.LangPOSIX)
		}
		if err != nil {
			return m.fail(fmt.Errorf("run agent %s in a shell: %w", args, err))
		}
		return m.runOwn(self+" "+args, false)
	}
}

func (m *Model) mouseCommand(string) tea.Cmd {
	m.opts.Mouse = !m.opts.Mouse
	words := "the mouse is the terminal's: select and copy as everywhere"
	if m.opts.Mouse {
		words = "the mouse scrolls, unfolds and selects here"
	}
	m.status.say(app.Notice{Text: words}, m.look.now)
	return nil
}

func (m *Model) resumeCommand(args string) tea.Cmd {
	if args == "" {
		return m.openSessions()
	}
	return m.calls.inOrder(func() { m.agent.Resume(args) })
}

// ago is a time in words.
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute", "minutes") + " ago"
	case d < 24*time.Hour:
		return plural(int(d.Hours()), "hour", "hours") + " ago"
	}
	return t.Format("2006-01-02")
}
