package ui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/ui/text"
)

// shells is the pane of the commands in the background.
type shells struct {
	list   []bash.ShellInfo
	at     int
	scroll scroller
}

func (p *shells) name() string { return "SHELLS" }
func (p *shells) want() int    { return 2 * len(p.list) }

// running is how many are not over.
func (p *shells) running() int {
	n := 0
	for _, s := range p.list {
		if s.Running {
			n++
		}
	}
	return n
}

// newest is the command that was started last of those that are not over.
func (p *shells) newest() string {
	for _, s := range slices.Backward(p.list) {
		if s.Running {
			return text.Line(s.Command)
		}
	}
	return ""
}

func (p *shells) detail(*look) string { return fmt.Sprintf("%d running", p.running()) }

func (p *shells) act(a action) intent {
	switch a {
	case actNextTab, actDown:
		p.at++
	case actUp:
		p.at--
	case actTop:
		p.at = 0
	case actBottom:
		p.at = len(p.list) - 1
	case actKill:
		if p.at < len(p.list) && p.list[p.at].Running {
			s := p.list[p.at]
			return doConfirm{&confirm{
				name: "Kill " + text.Line(s.ID) + "?", lines: []string{"$ " + s.Command},
				label: "kill it", yes: doKill{s.ID},
			}}
		}
	}
	p.at = max(0, min(p.at, len(p.list)-1))
	return nil
}

func (p *shells) view(k *look, w, h int, on bool) []string {
	t := k.theme
	var rows []string
	for i, s := range p.list {
		state := t.accent.Render(t.sign.running) + " " + text.Line(s.ID)
		right := clock(k.now.Sub(s.Started).Truncate(time.Second))
		if !s.Running {
			state, right = t.dim.Render(t.sign.done)+" "+text.Line(s.ID), fmt.Sprintf("exit %d", s.ExitCode)
			if s.ExitCode != 0 {
				state = t.fail.Render(t.sign.failed) + " " + text.Line(s.ID)
			}
		}
		row := spread(t, w, state+"  "+text.Line(s.Command), t.dim.Render(right))
		if on && i == p.at {
			rows = append(rows, t.selected.Render(text.Pad(text.Strip(row), w)))
			continue
		}
		rows = append(rows, row)
		if !on {
			rows = append(rows, "  "+t.dim.Render(text.Truncate(lastLine(s.Tail), w-2, t.sign.ellipsis)))
		}
	}
	if !on {
		return p.scroll.window(rows, h)
	}
	p.scroll.page = min(len(rows), max(1, h/3))
	p.scroll.show(p.at, p.at+1)
	return append(p.scroll.window(rows, p.scroll.page), p.tail(t, w, h-p.scroll.page)...)
}

// tail is what the selected shell printed last, in at most h rows, below a rule where
// there is room for one.
func (p *shells) tail(t *theme, w, h int) []string {
	if p.at >= len(p.list) || h < 1 {
		return nil
	}
	var rows []string
	if h > 2 {
		rows = append(rows, rule(t, w, "", ""))
	}
	out := text.NewWriter(h - len(rows))
	out.WriteString(p.list[p.at].Tail)
	out.Flush()
	for _, l := range out.Lines() {
		rows = append(rows, text.Truncate(l, w, t.sign.ellipsis))
	}
	return rows
}

// over are those of a new list that ran in the present one and no longer do.
func (p *shells) over(list []bash.ShellInfo) (over []bash.ShellInfo) {
	for _, s := range list {
		ran := slices.ContainsFunc(p.list, func(old bash.ShellInfo) bool { return old.ID == s.ID && old.Running })
		if ran && !s.Running {
			over = append(over, s)
		}
	}
	return over
}

// shellsMsg brings the shells with what they printed by now.
type shellsMsg []bash.ShellInfo

// shellsChanged shows the shells; one that is over is told in a line (IMP-29).
func (m *Model) shellsChanged(list []bash.ShellInfo) {
	sign := m.look.theme.sign
	for _, s := range m.shells.over(list) {
		level, mark, how := app.Info, sign.done, "ended"
		if s.ExitCode != 0 {
			level, mark, how = app.Warning, sign.failed, fmt.Sprintf("ended with exit %d", s.ExitCode)
		}
		m.transcript.note(level, mark, fmt.Sprintf("%s %s after %s: %s", text.Line(s.ID), how, clock(m.look.now.Sub(s.Started)), text.Line(s.Command)))
	}
	m.shells.list = list
}

// printed takes what running shells printed by now. That one began or ended comes
// as an event, and may have come meanwhile.
func (p *shells) printed(now shellsMsg) {
	for i := range p.list {
		for _, s := range now {
			if s.ID == p.list[i].ID && p.list[i].Running {
				p.list[i].Tail = s.Tail
			}
		}
	}
}

// watchShells asks for what the shells printed, while some run and are seen.
func (m *Model) watchShells() tea.Cmd {
	seen := m.lay.sideW > 0 && m.focus != onPane || m.focus == onPane && m.panes()[m.pane] == pane(m.shells)
	if !seen || m.shells.running() == 0 || m.look.now.Sub(m.shellsAt) < time.Second {
		return nil
	}
	m.shellsAt = m.look.now
	return func() tea.Msg { return shellsMsg(m.agent.Shells()) }
}

// lastLine is the last line of s that is not blank, safe to show.
func lastLine(s string) string {
	lines := text.NewWriter(20)
	lines.WriteString(s)
	lines.Flush()
	all := lines.Lines()
	for i := len(all) - 1; i >= 0; i-- {
		if l := text.Line(all[i]); l != "" {
			return l
		}
	}
	return ""
}
