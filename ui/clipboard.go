package ui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/phero-agent/agent/app"
)

// copiedMsg says what became of a copy.
type copiedMsg struct {
	lines int
	by    string // the program that took the text; "": none did
}

// copy puts text on the clipboard in two ways: through the terminal, which reaches
// the person also over ssh but never says whether it took the text, and through a
// program of this machine, which does.
func (m *Model) copy(s string) tea.Cmd {
	if s == "" {
		return nil
	}
	if m.opts.Plain { // the terminal copies what it shows
		return func() tea.Msg { return said(s) }
	}
	through := tea.SetClipboard(s)
	if seq := wrappedClipboard(s, os.Getenv); seq != "" {
		through = tea.Sequence(through, tea.Raw(seq))
	}
	return tea.Batch(through, func() tea.Msg {
		return copiedMsg{strings.Count(s, "\n") + 1, m.clip(s)}
	})
}

// wrappedClipboard is the sequence that a multiplexer hands through to its terminal;
// "" where there is none.
func wrappedClipboard(s string, env func(string) string) string {
	const screenLimit = 768 // bytes of a string that screen takes
	switch seq := ansi.SetSystemClipboard(s); {
	case env("TMUX") != "":
		return ansi.TmuxPassthrough(seq)
	case env("STY") != "":
		return ansi.ScreenPassthrough(seq, screenLimit)
	}
	return ""
}

// clipboardProgram gives the text to the first program that takes it, and names that.
func clipboardProgram(s string) string {
	for _, argv := range clipboardPrograms(os.Getenv) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Stdin = strings.NewReader(s)
		err := cmd.Run()
		cancel()
		if err == nil {
			return argv[0]
		}
	}
	return ""
}

// clipboardPrograms are those for where the person sits. Over ssh that is not
// this machine.
func clipboardPrograms(env func(string) string) (list [][]string) {
	if env("TMUX") != "" {
		list = append(list, []string{"tmux", "load-buffer", "-w", "-"})
	}
	if env("SSH_CONNECTION") != "" {
		return list
	}
	switch {
	case runtime.GOOS == "darwin":
		list = append(list, []string{"pbcopy"})
	case runtime.GOOS == "windows", env("WSL_DISTRO_NAME") != "":
		list = append(list, []string{"clip.exe"})
	}
	if env("WAYLAND_DISPLAY") != "" {
		list = append(list, []string{"wl-copy"})
	}
	if env("DISPLAY") != "" {
		list = append(list, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "-ib"})
	}
	return list
}

// copied says whether the copy is known to have arrived.
func (m *Model) copied(msg copiedMsg) {
	lines := plural(msg.lines, "line", "lines")
	words := lines + " sent to the terminal's clipboard; it does not say if it took them"
	switch msg.by {
	case "":
	case "tmux":
		words = fmt.Sprintf("%s copied: in tmux's buffer, and sent to the terminal", lines)
	default:
		words = fmt.Sprintf("%s copied with %s", lines, msg.by)
	}
	m.status.say(app.Notice{Text: words}, m.look.now)
}
