package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/ui/diff"
	"github.com/phero-agent/agent/ui/md"
	"github.com/phero-agent/agent/ui/text"
)

// changes is the dialog of files and their diffs: what an undo or a redo would do
// (UNDO-06), or what the session changed.
type changes struct {
	name      string
	verb      string // "undo", "redo"; "" where there is only something to see
	scope     session.Scope
	back      *app.Prompt // the message that the conversation goes back to with the files; nil: none
	workspace string
	files     []changedFile
	at        int
	full      bool
	split     bool
	pan       int

	scroll scroller
	body   *content // for bodyOf
	bodyOf changesKey
}

// changedFile is a row of the dialog.
type changedFile struct {
	session.Planned
	ticked bool
}

// changesKey is what the body was made for.
type changesKey struct {
	w, at int
	md    *md.Theme
}

// doRevert is the yes to an undo or a redo.
type doRevert struct {
	redo  bool
	scope session.Scope
	picks []session.Pick
	back  *app.Prompt
}

// newRevert makes the dialog of a plan. What somebody else changed is not ticked:
// only the person's own tick goes over it (UNDO-04).
func newRevert(plan []session.Planned, scope session.Scope, redo bool, workspace string) *changes {
	d := &changes{name: "Undo", verb: "undo", scope: scope, workspace: workspace, split: true}
	if redo {
		d.name, d.verb = "Redo", "redo"
	}
	for _, p := range plan {
		d.files = append(d.files, changedFile{Planned: p, ticked: p.Conflict == "" && (p.Found == nil || p.Found.Doubt == "")})
	}
	return d
}

// newDiff makes the dialog of what a session changed.
func newDiff(list []file.Change, workspace string) *changes {
	d := &changes{name: "Changed in this session", workspace: workspace, split: true, full: true}
	for _, c := range list {
		d.files = append(d.files, changedFile{Planned: session.Planned{Change: c}})
	}
	return d
}

func (d *changes) wantsAll() bool { return d.full }
func (d *changes) paste(string)   {}

func (d *changes) title(*theme) (string, string) {
	n := plural(len(d.files), "file", "files")
	if d.verb == "" {
		return d.name, n + ", esc closes"
	}
	return d.name + "?", n
}

func (d *changes) scrollBy(a action) { d.scroll.act(a) }

func (d *changes) key(k string, _ tea.KeyPressMsg, keys keymap) intent {
	switch a := keys.find(k, inChanges); a {
	case actAllow:
		if picks := d.picks(); d.verb != "" && (len(picks) > 0 || d.back != nil) {
			return doRevert{redo: d.verb == "redo", scope: d.scope, picks: picks, back: d.back}
		}
	case actDeny:
		return doClose{}
	case actPrevious:
		d.move(-1)
	case actNext:
		d.move(1)
	case actToggle:
		d.files[d.at].ticked = !d.files[d.at].ticked
	case actLeft:
		d.pan = max(0, d.pan-8)
	case actRight:
		d.pan += 8
	case actSplit:
		d.split = !d.split
	case actFull:
		d.full = !d.full
	default:
		d.scroll.act(a)
	}
	return nil
}

func (d *changes) move(by int) {
	at := max(0, min(d.at+by, len(d.files)-1))
	if at != d.at {
		d.at, d.scroll, d.pan = at, scroller{}, 0
	}
}

func (d *changes) picks() (picks []session.Pick) {
	for _, f := range d.files {
		if f.ticked {
			picks = append(picks, f.Pick())
		}
	}
	return picks
}

// listRows is how many rows the list of files takes of h.
func (d *changes) listRows(h int) int { return min(len(d.files), max(1, h/3)) }

func (d *changes) rows(t *theme, w int) int { return len(d.files) + 1 + d.lines(t, w).len() + 2 }

func (d *changes) view(t *theme, w, h int) ([]string, *tea.Cursor) {
	out := make([]string, 0, h)
	n := d.listRows(h)
	first := max(0, min(d.at-n/2, len(d.files)-n))
	for i := first; i < first+n; i++ {
		out = append(out, d.row(t, w, i))
	}
	out = append(out, t.dim.Render(strings.Repeat(t.sign.line, w)))
	lines := d.lines(t, w)
	below := 2                                   // a blank row and the keys
	if h < 9 && len(out)+lines.len()+below > h { // the room is needed for the diff
		below = 1
	}
	shown := lines.rows(d.scroll.fit(lines.len(), max(1, h-len(out)-below)))
	bar := d.scroll.bar(t, len(shown))
	for i, l := range shown {
		if bar != nil {
			l = text.Pad(l, w-1) + bar[i]
		}
		out = append(out, l)
	}
	if below > 1 {
		out = append(out, "")
	}
	return append(out, d.footer(t, w)), nil
}

// row is a file of the list.
func (d *changes) row(t *theme, w, i int) string {
	f := d.files[i]
	box := " "
	if d.verb != "" {
		box = "[ ] "
		if f.ticked {
			box = "[x] "
		}
	}
	path := text.Line(relative(d.workspace, f.Change.Path))
	what := ""
	switch {
	case f.Removes:
		what = " (is removed)"
	case !f.Change.Existed:
		what = " (new)"
	}
	if f.Kind != "" {
		what = " (" + f.Kind + ")" + what
	}
	if f.Conflict != "" {
		what += " " + t.warn.Render(f.Conflict)
	}
	row := spread(t, w, box+path+what, counts(t, f.added(), f.removed()))
	if i == d.at {
		return t.selected.Render(text.Pad(row, w))
	}
	return row
}

func (f *changedFile) added() int   { n, _ := f.Change.Counts(); return n }
func (f *changedFile) removed() int { _, n := f.Change.Counts(); return n }

// lines is the body: what would happen to the file and, where somebody changed it
// since, what that was.
func (d *changes) lines(t *theme, w int) *content {
	if of := (changesKey{w: w, at: d.at, md: t.md}); of != d.bodyOf {
		d.bodyOf = of
		f := d.files[d.at]
		head := d.foundLines(t, f.Found, w-1)
		if f.Conflict != "" {
			head = append(head, t.warn.Render(text.Truncate("It "+f.Conflict+", not by this session:", w, t.sign.ellipsis)))
			since := file.Change{Path: f.Change.Path, Before: f.Recorded, After: f.Change.Before, Existed: true}
			head = append(head, diffLines(t, &since, w-1)...)
			head = append(head, "", t.bold.Render(text.Truncate("The "+d.verb+" would write over that:", w, t.sign.ellipsis)))
		}
		view, words := changeDiff(t, &f.Change)
		if words != "" {
			head = append(head, words)
		}
		d.body = &content{head: head, diff: view}
	}
	if v := d.body.diff; v != nil {
		l := diff.Layout{Width: w - 1, Split: d.split && w >= splitFromW && d.files[d.at].Change.Existed}
		d.pan = min(d.pan, v.MaxPan(l))
		l.Pan = d.pan
		d.body.layout = l
	}
	return d.body
}

// foundLines say which commands made a change, and what speaks against it.
func (d *changes) foundLines(t *theme, f *session.Found, w int) (lines []string) {
	if f == nil {
		return nil
	}
	commands := make([]string, len(f.Commands))
	for i, c := range f.Commands {
		commands[i] = text.Line(c)
	}
	lines = append(lines, text.Truncate("Changed while "+strings.Join(commands, " and ")+" ran.", w, t.sign.ellipsis))
	if f.Doubt != "" {
		lines = append(lines, t.warn.Render(text.Truncate("It may not be the command's: "+f.Doubt+".", w, t.sign.ellipsis)))
	}
	if n := len(f.Lost); n > 0 {
		lines = append(lines, t.warn.Render(text.Truncate(plural(n, "file", "files")+" that it changed cannot be undone.", w, t.sign.ellipsis)))
	}
	return append(lines, t.dim.Render(text.Truncate("What git ignores is not looked at.", w, t.sign.ellipsis)), "")
}

// sinceRows is how much is shown of what somebody else changed.
const sinceRows = 200

func diffLines(t *theme, c *file.Change, w int) []string {
	view, words := changeDiff(t, c)
	if words != "" {
		return []string{words}
	}
	l := diff.Layout{Width: w}
	lines := view.Rows(l, 0, min(view.Len(false), sinceRows))
	if more := view.Len(false) - len(lines); more > 0 {
		lines = append(lines, t.dim.Render(fmt.Sprintf("%s %d more lines", t.sign.ellipsis, more)))
	}
	return lines
}

func (d *changes) footer(t *theme, w int) string {
	if d.verb == "" {
		return t.dim.Render(fitting(d.hints(t, w), " "+t.sign.dot+" ", w))
	}
	yes := t.dim.Render("[y] " + d.verb)
	switch n := len(d.picks()); {
	case n > 0:
		yes = t.accent.Render("[y]") + " " + d.verb + " " + plural(n, "file", "files")
	case d.back != nil:
		yes = t.accent.Render("[y]") + " go back, files stay"
	}
	keys := []string{yes, t.accent.Render("[n]") + " no", t.accent.Render("[space]") + " tick"}
	row := strings.Join(keys, "   ")
	if text.Width(row) > w {
		return text.Truncate(strings.Join(keys, " "), w, t.sign.ellipsis)
	}
	return row + t.dim.Render("   "+fitting(d.hints(t, w), " "+t.sign.dot+" ", w-text.Width(row)-3))
}

// fitting joins as many of the parts as w cells have room for.
func fitting(parts []string, gap string, w int) string {
	for n := len(parts); n > 0; n-- {
		if s := strings.Join(parts[:n], gap); text.Width(s) <= w {
			return s
		}
	}
	return ""
}

// hints tell the keys that do something to what is shown.
func (d *changes) hints(t *theme, w int) (parts []string) {
	if len(d.files) > 1 {
		parts = append(parts, t.sign.upDown+" file")
	}
	if d.scroll.overflows() {
		parts = append(parts, "pgdn scroll")
	}
	if d.body.pannable() {
		parts = append(parts, t.sign.leftRight+" pan")
	}
	if w >= splitFromW && d.body.diff != nil && d.files[d.at].Change.Existed {
		parts = append(parts, splitHint(d.split))
	}
	return append(parts, fullHint(d.full))
}

func splitHint(split bool) string {
	if split {
		return "u unified"
	}
	return "u side by side"
}

func fullHint(full bool) string {
	if full {
		return "f smaller"
	}
	return "f full screen"
}

// undoArgs reads "turn".
func undoArgs(args string) (scope session.Scope, err error) {
	for _, word := range strings.Fields(args) {
		if word != "turn" {
			return scope, fmt.Errorf("%q is not known: write /undo or /undo turn", word)
		}
		scope.Turn = true
	}
	return scope, nil
}

// revertMsg brings what an undo or a redo would do.
type revertMsg struct{ dialog *changes }

func (m *Model) undoCommand(args string) tea.Cmd { return m.planRevert(args, false) }
func (m *Model) redoCommand(args string) tea.Cmd { return m.planRevert(args, true) }

func (m *Model) planRevert(args string, redo bool) tea.Cmd {
	scope, err := undoArgs(args)
	if err != nil {
		return m.fail(err)
	}
	workspace := m.look.workspace
	return m.calls.inOrderMsg(func() tea.Msg {
		plan, err := m.agent.PlanUndo(scope, redo)
		if err != nil {
			return failure{err}
		}
		return revertMsg{newRevert(plan, scope, redo, workspace)}
	})
}

func (m *Model) revert(in doRevert) tea.Cmd {
	return m.calls.inOrderMsg(func() tea.Msg {
		switch {
		case in.redo:
			m.agent.Redo(in.scope, in.picks)
		case len(in.picks) > 0 && !m.agent.Undo(in.scope, in.picks):
			return nil // the conversation goes back with its files, or not at all
		}
		if in.back != nil {
			return m.backTo(*in.back, m.agent.Rewind)
		}
		return nil
	})
}

func (m *Model) diffCommand(string) tea.Cmd { return m.showChange("") }

// showChange opens what the session changed at a file, at the first one for "".
func (m *Model) showChange(path string) tea.Cmd {
	workspace := m.look.workspace
	return m.calls.inOrderMsg(func() tea.Msg {
		list, err := m.agent.Diff()
		switch {
		case err != nil:
			return failure{err}
		case len(list) == 0:
			return said("this session changed no files")
		}
		d := newDiff(list, workspace)
		d.at = max(0, slices.IndexFunc(list, func(c file.Change) bool { return c.Path == path }))
		return revertMsg{d}
	})
}
