package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/ui/text"
)

// sessions is the dialog to choose a session: a list that what is typed narrows,
// by titles at once and by what was said a moment later, and a look at the one
// that is chosen.
type sessions struct {
	*picker
	list    []app.SessionInfo
	now     time.Time
	hits    map[string]string // by session: the line in which the text was found
	preview app.Preview
	failed  string // why there is no preview
	width   int    // that the rows were made for

	asked  int                // counts what was asked for
	cancel context.CancelFunc // of the search that runs
}

// lookAfter is how long a person is left to type and move before sessions are read.
const lookAfter = 150 * time.Millisecond

// doLook wants sessions to be searched and the chosen one to be read, in a moment.
type doLook struct{ count int }

// The messages that bring what was wanted.
type (
	sessionsMsg struct{ list []app.SessionInfo }
	lookMsg     struct{ count int }
	hitsMsg     struct {
		count int
		hits  []session.Hit
	}
	previewMsg struct {
		count   int
		preview app.Preview
		err     error
	}
)

func newSessions(list []app.SessionInfo, now time.Time) *sessions {
	d := &sessions{list: list, now: now, picker: newPicker("Sessions", "no sessions yet", nil)}
	d.fill(80)
	return d
}

// fill makes the rows for a width.
func (d *sessions) fill(w int) {
	at := d.at
	d.width = w
	d.all = nil
	for _, info := range d.list {
		title := text.Line(info.Title)
		if title == "" {
			title = info.ID
		}
		room := w * 2 / 3 // of the detail
		if line := d.hits[info.ID]; line != "" && !strings.EqualFold(line, title) {
			title += "  " + text.Line(line)
			room = 0
		}
		d.all = append(d.all, pick{label: title, detail: sessionDetail(info, d.now, room), intent: doResume{info.ID}})
	}
	d.narrow()
	d.at = max(0, min(at, len(d.shown)-1))
}

// sessionDetail says how old and how large a session is; what has no room in w
// cells goes, its age last.
func sessionDetail(info app.SessionInfo, now time.Time, w int) string {
	parts := []string{text.Size(info.Size), ago(info.Changed, now)}
	if info.Changes > 0 {
		parts = append([]string{plural(info.Changes, "change", "changes")}, parts...)
	}
	parts = append([]string{plural(info.Messages, "message", "messages")}, parts...)
	if info.Foreign {
		parts = append([]string{"not made here"}, parts...)
	}
	if info.Open {
		parts = append([]string{"open"}, parts...)
	}
	for len(parts) > 1 && text.Width(strings.Join(parts, "  ")) > w {
		parts = parts[1:]
	}
	return strings.Join(parts, "  ")
}

// narrow is the picker's; sessions in which the text was said are kept as well.
func (d *sessions) narrow() {
	d.picker.narrow()
	if d.pattern() == "" {
		return
	}
	taken := map[intent]bool{}
	for _, r := range d.shown {
		taken[r.intent] = true
	}
	for i, r := range d.all {
		if d.hits[d.list[i].ID] != "" && !taken[r.intent] {
			d.shown = append(d.shown, r)
		}
	}
}

func (d *sessions) pattern() string { return strings.TrimSpace(d.filter.Value()) }

// chosen is the id of the session that is chosen, "" where none is.
func (d *sessions) chosen() string {
	if d.at >= len(d.shown) {
		return ""
	}
	return d.shown[d.at].intent.(doResume).id
}

func (d *sessions) wantsAll() bool { return true }

func (d *sessions) paste(s string) {
	insert(&d.filter, s)
	d.hits = nil
	d.fill(d.width)
}

func (d *sessions) key(k string, msg tea.KeyPressMsg, keys keymap) intent {
	pattern, chosen := d.pattern(), d.chosen()
	if in := d.picker.key(k, msg, keys); in != nil {
		d.stop()
		return in
	}
	if d.pattern() != pattern {
		d.hits = nil
		d.fill(d.width)
	} else if d.chosen() == chosen {
		return nil
	}
	return d.look()
}

// look asks for what the dialog shows now.
func (d *sessions) look() intent {
	d.stop()
	d.asked++
	return doLook{d.asked}
}

func (d *sessions) stop() {
	if d.cancel != nil {
		d.cancel()
		d.cancel = nil
	}
}

func (d *sessions) found(hits []session.Hit) {
	was := d.chosen()
	d.hits = map[string]string{}
	for _, h := range hits {
		d.hits[h.ID] = h.Line
	}
	d.fill(d.width)
	for i, r := range d.shown {
		if r.intent == (doResume{was}) {
			d.at = i
		}
	}
}

// From which size a preview is shown, and where it is beside the list.
const (
	previewFromH = 14
	previewFromW = 110
)

func (d *sessions) view(t *theme, w, h int) ([]string, *tea.Cursor) {
	beside, listW, listH := w >= previewFromW, w, h
	switch {
	case h < previewFromH:
	case beside:
		listW = w * 5 / 9
	default:
		listH = min(h/2, max(4, len(d.shown)+3))
	}
	if d.width != listW {
		d.fill(listW)
	}
	rows, cursor := d.picker.view(t, listW, listH)
	switch {
	case h < previewFromH:
		return rows, cursor
	case beside:
		return joinBeside(t, rows, d.previewRows(t, w-listW-3, h), listW, h), cursor
	}
	rows = append(rows, rule(t, w, "", ""))
	return append(rows, d.previewRows(t, w, h-len(rows))...), cursor
}

// joinBeside puts rows to the right of others, behind a line.
func joinBeside(t *theme, left, right []string, w, h int) []string {
	out := make([]string, h)
	for y := range out {
		l, r := "", ""
		if y < len(left) {
			l = left[y]
		}
		if y < len(right) {
			r = right[y]
		}
		out[y] = text.Pad(l, w) + " " + t.dim.Render(t.sign.track) + " " + r
	}
	return out
}

// previewRows is the end of the chosen session, with the files that it changed.
func (d *sessions) previewRows(t *theme, w, h int) []string {
	p := d.preview
	switch {
	case d.chosen() == "" || h <= 0:
		return nil
	case d.failed != "":
		return text.Wrap(t.warn.Render(text.Line(d.failed)), max(8, w))[:1]
	case p.ID != d.chosen():
		return nil
	}
	var rows []string
	for _, m := range p.Said {
		mark := "  "
		if m.Role == session.RoleUser {
			mark = t.user.Render(t.sign.user) + " "
		}
		lines := text.Wrap(strings.TrimSpace(text.Clean(m.Text)), max(8, w-2))
		for i, l := range lines {
			if i == previewLines {
				l = t.sign.ellipsis
			}
			if i <= previewLines {
				rows = append(rows, mark+l)
			}
		}
		rows = append(rows, "")
	}
	var foot []string
	if n := len(p.Changed); n > 0 {
		foot = append(foot, t.dim.Render(text.Truncate("changed "+plural(n, "file", "files")+": "+text.Line(strings.Join(p.Changed, ", ")), w, t.sign.ellipsis)))
	}
	for _, words := range p.Damage {
		foot = append(foot, t.warn.Render(text.Truncate(text.Line(words), w, t.sign.ellipsis)))
	}
	foot = foot[:min(len(foot), max(1, h/3))]
	room := max(0, h-len(foot))
	return append(rows[max(0, len(rows)-room):], foot...)
}

// previewLines is how much of a message a preview shows.
const previewLines = 6

// openSessions opens the dialog.
func (m *Model) openSessions() tea.Cmd {
	return func() tea.Msg {
		list, err := m.agent.Sessions()
		if err != nil {
			return failure{err}
		}
		return sessionsMsg{list}
	}
}

func (m *Model) showSessions(msg sessionsMsg) tea.Cmd {
	d := newSessions(msg.list, m.look.now)
	m.modal = d
	return m.act(d.look())
}

// waitToLook lets the person go on typing before sessions are read.
func waitToLook(in doLook) tea.Cmd {
	return tea.Tick(lookAfter, func(time.Time) tea.Msg { return lookMsg(in) })
}

// lookAt reads what the dialog of sessions wants to show, if it still does.
func (m *Model) lookAt(msg lookMsg) tea.Cmd {
	d, ok := m.modal.(*sessions)
	if !ok || d.asked != msg.count {
		return nil
	}
	var cmds []tea.Cmd
	if pattern := d.pattern(); pattern != "" && d.hits == nil {
		ctx, cancel := context.WithCancel(context.Background())
		d.cancel = cancel
		cmds = append(cmds, func() tea.Msg {
			defer cancel()
			hits, err := m.agent.SearchSessions(ctx, pattern)
			if err != nil {
				return nil // it was given up, or the list's own error said why
			}
			return hitsMsg{msg.count, hits}
		})
	}
	if id := d.chosen(); id != "" {
		cmds = append(cmds, func() tea.Msg {
			p, err := m.agent.PreviewSession(id)
			return previewMsg{msg.count, p, err}
		})
	}
	return tea.Batch(cmds...)
}

// looked gives the dialog of sessions what was read for it.
func (m *Model) looked(msg tea.Msg) tea.Cmd {
	d, ok := m.modal.(*sessions)
	if !ok {
		return nil
	}
	switch msg := msg.(type) {
	case hitsMsg:
		if msg.count != d.asked {
			return nil
		}
		was := d.chosen()
		d.found(msg.hits)
		if d.chosen() != was {
			return m.act(d.look())
		}
	case previewMsg:
		if msg.count != d.asked {
			return nil
		}
		d.preview, d.failed = msg.preview, ""
		if msg.err != nil {
			d.failed = msg.err.Error()
		}
	}
	return nil
}
