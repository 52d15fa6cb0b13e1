package ui

import (
	"strings"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/ui/text"
)

// always is the second step of "always": what would be stored, of which each can
// be unticked or widened in place, and for how long.
type always struct {
	rows   []alwaysRow
	asking []string // subjects that an ask rule will ask again
	cursor int
	scope  app.Scope
	looks  int // counts changes of what is shown
}

// alwaysRow is one subject of the call.
type alwaysRow struct {
	offer app.Offer
	on    bool
	wide  int // 0: the exact subject; else the number of a wider rule, from 1
}

func newAlways(a app.Asked) always {
	s := always{scope: app.SessionScope}
	for _, o := range a.Offers {
		s.rows = append(s.rows, alwaysRow{offer: o, on: true})
	}
	for _, step := range a.Trace.Steps {
		if step.By == permissions.ByAskRule {
			s.asking = append(s.asking, step.Subject)
		}
	}
	return s
}

// stored is what the row stores.
func (r alwaysRow) stored() []app.Always {
	if r.wide == 0 {
		return []app.Always{r.offer.Always}
	}
	wider := r.offer.Wider[r.wide-1]
	if r.offer.Covers(wider) {
		return []app.Always{wider}
	}
	return []app.Always{wider, r.offer.Always}
}

// chosen is what the person ticked.
func (s *always) chosen() (list []app.Always) {
	for _, r := range s.rows {
		if r.on {
			list = append(list, r.stored()...)
		}
	}
	return list
}

// act does a key of the step, and tells whether there was something to do.
func (s *always) act(a action) bool {
	row := &s.rows[s.cursor]
	switch {
	case a == actUp && s.cursor > 0:
		s.cursor--
	case a == actDown && s.cursor < len(s.rows)-1:
		s.cursor++
	case a == actToggle:
		row.on = !row.on
	case a == actRight && row.wide < len(row.offer.Wider):
		row.wide, row.on = row.wide+1, true
	case a == actLeft && row.wide > 0:
		row.wide--
	case a == actScope && s.scope == app.SessionScope:
		s.scope = app.WorkspaceScope
	case a == actScope:
		s.scope = app.SessionScope
	default:
		return false
	}
	s.looks++
	return true
}

// body draws the rows whole (UI-10), and tells which lines are the cursor's.
func (s *always) body(t *theme, w int, whole func(t *theme, w int, head, text string) []string) (lines []string, from, to int) {
	lines = text.Wrap("What is ticked runs without a question from now on:", w)
	for i, r := range s.rows {
		mark := "  "
		if i == s.cursor {
			mark, from = t.sign.prompt+" ", len(lines)
		}
		box := "[ ] "
		if r.on {
			box = "[x] "
		}
		for j, a := range r.stored() {
			head := mark + box
			if j > 0 {
				head = "      "
			}
			lines = append(lines, whole(t, w, head, described(a))...)
		}
		for _, l := range whole(t, w, "      ", s.otherWidth(r)) {
			if strings.TrimSpace(l) != "" {
				lines = append(lines, t.dim.Render(t.words(l)))
			}
		}
		if i == s.cursor {
			to = len(lines)
		}
	}
	for _, subject := range s.asking {
		lines = append(lines, styled(t.dim, whole(t, w, "  ", "will ask again: "+subject))...)
	}
	return lines, from, to
}

// described is an answer with what it means where its text does not say it.
func described(a app.Always) string {
	switch {
	case a.Rule == app.ReadingRule:
		return a.Rule + ": ls, cat, grep, git diff and their kind, on files of this workspace"
	case a.Rule == "" && a.Subject == "":
		return "every call of " + a.Tool
	}
	return a.String()
}

// otherWidth tells what ← and → would make of the row.
func (s *always) otherWidth(r alwaysRow) string {
	switch {
	case r.wide < len(r.offer.Wider):
		return "→ " + r.offer.Wider[r.wide].String()
	case r.wide > 1:
		return "← " + r.offer.Wider[r.wide-2].String()
	case r.wide == 1:
		return "← " + r.offer.String()
	}
	return ""
}

// answers are the words of the yes, and of the other scope.
func (s *always) answers() (yes, scope string) {
	yes, scope = "yes, in this session", "in this workspace"
	if s.scope == app.WorkspaceScope {
		yes, scope = "yes, in this workspace", "in this session"
	}
	if len(s.chosen()) == 0 {
		yes = "yes, once"
	}
	return yes, scope
}

// choices are the answers of the step.
func (s *always) choices(w int, seen bool, item func(key, label string, on bool) string) string {
	yes, scope := s.answers()
	if w < plainBelowW {
		return text.Truncate(item("y", "yes", seen)+" "+item("s", scope, true)+" "+item("n", "back", true), w, "")
	}
	return text.Truncate(item("y", yes, seen)+"   "+item("s", scope, true)+"   "+item("n", "go back", true), w, "")
}

// hints tell the other keys of the step.
func (s *always) hints(t *theme) []string {
	hints := []string{"space tick"}
	if len(s.rows[s.cursor].offer.Wider) > 0 {
		hints = append(hints, t.sign.leftRight+" exact, wider")
	}
	if len(s.rows) > 1 {
		hints = append(hints, t.sign.upDown+" row")
	}
	return hints
}
