package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/ui/text"
)

// contextMsg brings what fills the context window.
type contextMsg app.ContextReport

func (m *Model) contextCommand(string) tea.Cmd {
	return m.calls.inOrderMsg(func() tea.Msg {
		r, err := m.agent.Context()
		if err != nil {
			return failure{fmt.Errorf("/context: %w", err)}
		}
		return contextMsg(r)
	})
}

func (m *Model) compactCommand(args string) tea.Cmd {
	return m.calls.inOrder(func() { m.agent.Compact(args) })
}

// compacting shows how far a summary is.
func (m *Model) compacting(e app.Compacting) {
	switch {
	case e.Of > 0 && !m.status.running: // between turns
		m.status.begin(m.look.now)
		m.status.alone = true
	case e.Of == 0 && m.status.alone:
		m.status.end()
		m.status.alone = false
	}
	if e.Of > 0 {
		m.status.doing = "Compacting"
		if e.Of > 1 {
			m.status.doing = fmt.Sprintf("Compacting %d of %d", e.Piece, e.Of)
		}
	}
}

func newContextPage(r app.ContextReport) *page {
	return &page{name: "Context", lines: func(t *theme, w int) []string { return contextLines(r, t, w) }}
}

func contextLines(r app.ContextReport, t *theme, w int) []string {
	const nameW, countW = 32, 8
	used := r.Used()
	first := fmt.Sprintf("About %s tokens; the window of this model is not known.", app.Tokens(used))
	whole := used
	if r.Window > 0 {
		first = fmt.Sprintf("About %s of %s tokens, %d%%.", app.Tokens(used), app.Tokens(r.Window), used*100/r.Window)
		whole = r.Window
	}
	lines := append(text.Wrap(first, w), "")
	row := func(name string, n int) {
		bar := ""
		if cells := w - nameW - countW - 2; cells > 0 && whole > 0 {
			bar = strings.Repeat(t.sign.block, min(cells, n*cells/whole))
		}
		lines = append(lines, text.Pad(text.Truncate(name, nameW-1, t.sign.ellipsis), min(nameW, max(1, w-countW)))+
			fmt.Sprintf("%*s", countW, app.Tokens(n))+"  "+t.accent.Render(bar))
	}
	for _, p := range r.Parts {
		row(p.Name, p.Tokens)
	}
	if free := r.Window - used; free > 0 {
		row("free", free)
	}
	lines = append(lines, "")
	if r.Cost > 0 {
		lines = append(lines, "This session cost about "+dollars(r.Cost)+" so far.")
	}
	return append(lines, styled(t.dim, text.Wrap("/compact sums up all but the newest messages; near the limit that is done by itself. The log keeps everything.", w))...)
}

// dollars is an amount of money in short.
func dollars(d float64) string {
	if d < 0.1 {
		return fmt.Sprintf("$%.3f", d)
	}
	return fmt.Sprintf("$%.2f", d)
}
