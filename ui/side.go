package ui

// panes lists the panes in the order of ctrl+t.
func (m *Model) panes() []pane { return []pane{m.todos, m.output, m.shells, m.files} }

// sideWanted says whether some pane has something to show.
func (m *Model) sideWanted() bool {
	for _, p := range m.panes() {
		if p.want() > 0 {
			return true
		}
	}
	return m.focus == onPane
}

// nextPane gives the keys to the first pane, then to the next, then back.
func (m *Model) nextPane() {
	panes := m.panes()
	from := 0
	if m.focus == onPane {
		from = m.pane + 1
	}
	for i := from; i < len(panes); i++ {
		if panes[i].want() > 0 {
			m.focus, m.pane = onPane, i
			return
		}
	}
	if m.focus != onPane { // nothing has anything to show: say so in the first
		m.focus, m.pane = onPane, 0
		return
	}
	m.focus = onComposer
}

func (m *Model) openPane(p pane) {
	for i, q := range m.panes() {
		if q == p {
			m.focus, m.pane = onPane, i
		}
	}
}

// sideRows draws the side column: every pane that has something to show, or
// only the one with the keys.
func (m *Model) sideRows(w, h int) []string {
	if m.focus == onPane {
		return m.paneRows(m.panes()[m.pane], w, h, true)
	}
	var shown []pane
	for _, p := range m.panes() {
		if p.want() > 0 {
			shown = append(shown, p)
		}
	}
	var rows []string
	for i, n := range shares(shown, h) {
		if n == 0 {
			continue
		}
		if len(rows) > 0 {
			rows = append(rows, rule(m.look.theme, w, "", ""))
		}
		rows = append(rows, m.paneRows(shown[i], w, n, false)...)
	}
	for len(rows) < h {
		rows = append(rows, "")
	}
	return rows[:h]
}

// shares divides h rows among panes, headers included. The output takes what
// the others leave, so that nothing else moves while a command prints.
func shares(panes []pane, h int) []int {
	rows := make([]int, len(panes))
	left := h - (len(panes) - 1) // rules between them
	for i, p := range panes {
		most := 2 + h/4
		if _, ok := p.(*output); ok {
			most = 4
		}
		rows[i] = min(most, p.want()+1, max(0, left))
		left -= rows[i]
	}
	for i, p := range panes {
		if _, ok := p.(*output); ok {
			rows[i] += max(0, left)
		}
	}
	return rows
}

// paneRows draws a pane with its header in exactly h rows.
func (m *Model) paneRows(p pane, w, h int, on bool) []string {
	t := m.look.theme
	head := " " + spread(t, w-2, t.bold.Render(p.name()), p.detail(m.look))
	if on {
		head = " " + spread(t, w-2, t.selected.Render(" "+p.name()+" "), p.detail(m.look))
	}
	rows := []string{head}
	inner := h - 1
	if on {
		inner--
	}
	lines := p.view(m.look, w-2, max(0, inner), on)
	if len(lines) == 0 && on {
		lines = []string{t.dim.Render("nothing to show")}
	}
	for _, l := range lines {
		rows = append(rows, " "+l)
	}
	for len(rows) < h {
		rows = append(rows, "")
	}
	if on {
		rows[h-1] = " " + t.dim.Render(fitting(paneHints(p, t), " "+t.sign.dot+" ", w-2))
	}
	return rows[:h]
}

// paneHints tell the keys that do something in the pane as it is; those of its
// own come first, since the others are the same in all panes.
func paneHints(p pane, t *theme) (parts []string) {
	switch p := p.(type) {
	case *output:
		if len(p.tabs) > 1 {
			parts = append(parts, "tab next")
		}
		if len(p.tabs) > 0 && !p.follow {
			parts = append(parts, "f follow")
		}
	case *shells:
		if len(p.list) > 1 {
			parts = append(parts, "tab next")
		}
		if p.running() > 0 {
			parts = append(parts, "x kill")
		}
	case *files:
		if p.want() > 0 {
			parts = append(parts, "enter changes")
		}
	}
	return append(parts, "esc back", t.key("ctrl+t")+" next pane")
}
