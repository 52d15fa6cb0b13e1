package ui

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/ui/text"
)

// View draws the screen: rows from the top down, each as wide as it needs to be.
func (m *Model) View() tea.View {
	v := tea.View{AltScreen: true, ReportFocus: true}
	v.WindowTitle = m.windowTitle()
	v.ProgramStatus = m.programStatus()
	v.ProgressBar = m.progress()
	if m.opts.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.w == 0 || m.h == 0 {
		return v
	}
	m.lay = arrange(m.wishes())
	if m.lay.tooSmall {
		v.Content = text.Truncate("needs 20x6", m.w, "")
		return v
	}
	rows := m.mainRows()
	if m.lay.sheet > 0 {
		sheet, cursor := m.sheetRows()
		v.Cursor = moved(cursor, 1, len(rows)+1)
		rows = append(rows, sheet...)
	} else {
		rows = append(rows, m.aboveText()...)
		written, cursor := m.composer.view(m.look.theme, m.lay.composer)
		if m.focus == onComposer && m.finding == nil {
			v.Cursor = moved(cursor, 1, len(rows))
			if m.vim.normal && cursor != nil {
				v.Cursor.Shape = tea.CursorBlock
			}
		}
		m.popup(rows)
		for _, r := range written {
			rows = append(rows, " "+r)
		}
	}
	if m.lay.gap > 0 {
		rows = append(rows, "")
	}
	last, cursor := m.statusRow()
	if cursor != nil {
		v.Cursor = moved(cursor, 0, len(rows))
	}
	v.Content = strings.Join(append(rows, last), "\n")
	return v
}

func moved(c *tea.Cursor, x, y int) *tea.Cursor {
	if c != nil {
		c.Position.X += x
		c.Position.Y += y
	}
	return c
}

func (m *Model) wishes() wishes {
	q := wishes{w: m.w, h: m.h, composer: m.composer.height()}
	q.side = m.sideWanted()
	q.todo = len(m.todos.items) > 0 || m.shells.running() > 0
	if m.status.running {
		q.queued = len(m.queued)
	}
	if d := m.asking(); d != nil {
		q.sheet, q.full = d.rows(m.look.theme, m.w-2)+1, d.wantsAll()
	}
	return q
}

// mainRows are the transcript and, beside it, the side column.
func (m *Model) mainRows() []string {
	if m.lay.main == 0 {
		return nil
	}
	if m.focus == onPane && m.lay.sideW == 0 {
		return m.paneRows(m.panes()[m.pane], m.w, m.lay.main, true)
	}
	var rows []string
	if len(m.transcript.items) == 0 {
		rows = m.welcome(m.lay.mainW, m.lay.main)
	} else {
		bar := 0
		if m.lay.sideW == 0 && m.w >= plainBelowW { // else the line to the side column is the scrollbar
			bar = 1
		}
		rows = m.transcript.view(m.lay.mainW, m.lay.main, bar, m.focus == onTranscript)
	}
	if m.lay.sideW == 0 {
		return rows
	}
	side := m.sideRows(m.lay.sideW, m.lay.main)
	for y := range rows {
		rows[y] = text.Pad(rows[y], m.lay.mainW) + m.transcript.bar(y) + side[y]
	}
	return rows
}

// welcome stands where nothing was said yet.
func (m *Model) welcome(w, h int) []string {
	t := m.look.theme
	rows := make([]string, h)
	if h < 4 {
		return rows
	}
	head := "agent"
	if m.opts.Version != "" {
		head += " " + text.Line(m.opts.Version)
	}
	rows[1] = " " + t.bold.Render(head)
	if ws := m.look.workspace; ws != "" {
		rows[2] = " " + t.dim.Render(text.Truncate(text.Line(ws), w-2, t.sign.ellipsis))
	}
	room := m.status.state.SetUp == "" || h > 6+strings.Count(m.status.state.SetUp, "\n")
	if h > 5 && room {
		tips := "? keys " + t.sign.dot + " / commands"
		if m.opts.Files != nil {
			tips += " " + t.sign.dot + " @ files"
		}
		rows[4] = " " + t.dim.Render(text.Truncate(tips, w-2, t.sign.ellipsis))
	}
	if m.status.state.SetUp != "" {
		first := 6
		if !room {
			first = min(4, h-1)
		}
		m.setUp(rows[first:], w)
	}
	return rows
}

// setUp says why there is no model and what to set, as far as there is room.
func (m *Model) setUp(rows []string, w int) {
	t := m.look.theme
	words := strings.ReplaceAll(text.Clean(m.status.state.SetUp), "…", t.sign.ellipsis)
	head, _, _ := strings.Cut(words, "\n")
	warn := len(text.Wrap(head, max(1, w-2)))
	for i, line := range text.Wrap(words, max(1, w-2)) {
		if i == len(rows) {
			return
		}
		if i < warn {
			line = t.warn.Render(line)
		}
		rows[i] = " " + line
	}
}

// aboveText are the todo row, the queue and the rules above what is written.
func (m *Model) aboveText() []string {
	t := m.look.theme
	var rows []string
	if m.lay.todoRow > 0 {
		rows = append(rows, " "+m.todos.row(t, m.w-2, m.shells))
	}
	line := rule(t, m.w, "", "")
	if m.lay.queue > 0 {
		rows = append(rows, line)
		for i, q := range m.queued[len(m.queued)-m.lay.queue:] {
			right := ""
			if i == m.lay.queue-1 && m.w >= plainBelowW {
				right = t.key("alt+up") + " to edit"
			}
			rows = append(rows, t.dim.Render(" "+spread(t, m.w-2, "queued  "+text.Line(q), right)))
		}
	}
	return append(rows, line)
}

// popup lays the completions over the rows above what is written.
func (m *Model) popup(rows []string) {
	if !m.complete.open() || m.focus != onComposer {
		return
	}
	shown := m.complete.view(m.look.theme, m.w-2)
	top := len(rows) - 1 - len(shown)
	for i, r := range shown {
		if top+i >= 0 {
			rows[top+i] = " " + r
		}
	}
}

// sheetRows are the dialog with its title.
func (m *Model) sheetRows() ([]string, *tea.Cursor) {
	d := m.asking()
	left, right := d.title(m.look.theme)
	if n := len(m.questions); n > 1 && m.modal == nil {
		right = strings.TrimLeft(right+fmt.Sprintf(" %s 1 of %d", m.look.theme.sign.dot, n), " ")
	}
	rows := []string{rule(m.look.theme, m.w, left, right)}
	body, cursor := d.view(m.look.theme, m.w-2, m.lay.sheet-1)
	for _, r := range body[:min(len(body), m.lay.sheet-1)] {
		rows = append(rows, " "+r)
	}
	for len(rows) < m.lay.sheet {
		rows = append(rows, "")
	}
	return rows, cursor
}

// statusRow is the last row: the status, or the line to find with.
func (m *Model) statusRow() (string, *tea.Cursor) {
	t := m.look.theme
	if m.finding != nil {
		line, cursor := inputView(&m.finding.input, m.w-8, 7, 0)
		return " find: " + line, cursor
	}
	m.status.hint = ""
	if m.look.now.Before(m.quitAt) {
		m.status.hint = "ctrl+c again to quit"
	} else if !m.status.running && m.status.notice.Text == "" {
		m.status.hint = m.composing()
	}
	s, spin := *m.status, m.look.spinner()
	if q := m.question(); q != nil {
		s.running, s.doing, s.since, s.retry = true, waitingForYou, q.asked, nil
		spin = t.sign.waiting
	}
	return " " + s.view(t, m.w-2, m.look.now, spin), nil
}

// composing says what is special about what is written.
func (m *Model) composing() string {
	switch {
	case m.composer.own:
		return "runs on the host, with your rights"
	case m.vim.normal:
		return "normal mode, i to write"
	}
	return ""
}

// windowTitle names what goes on; nothing of it can drive the terminal.
func (m *Model) windowTitle() string {
	name := m.title
	if name == "" && m.look.workspace != "" {
		name = filepath.Base(m.look.workspace)
	}
	sign := m.look.theme.sign
	name = text.Truncate(text.Line(name), 60, sign.ellipsis)
	switch {
	case m.question() != nil:
		return sign.running + " agent " + sign.dash + " waiting"
	case name == "":
		return "agent"
	}
	return "agent " + sign.dash + " " + name
}

// programStatus tells terminals that show it what the program does.
func (m *Model) programStatus() *tea.ProgramStatus {
	switch q := m.question(); {
	case q != nil && q.callID == "":
		return &tea.ProgramStatus{State: tea.ProgramStateBlocked, Kind: tea.ProgramStatusKindQuestion}
	case q != nil:
		return &tea.ProgramStatus{State: tea.ProgramStateBlocked, Kind: tea.ProgramStatusKindPermission}
	case m.status.running:
		return &tea.ProgramStatus{State: tea.ProgramStateWorking}
	}
	return nil
}
