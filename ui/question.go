package ui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/human"
	"github.com/phero-agent/agent/ui/text"
)

// form is the dialog of [app.Questioned]: one to four questions, each with its
// choices and a line for something else, and a look at the answers before they
// are sent when there is more than one (UI-16).
type form struct {
	asked app.Questioned
	at    int // the question shown; len(questions): the review
	parts []part
	full  bool
	armed bool
	top   int  // of the rows shown
	page  int  // how many rows are shown
	free  bool // the person scrolled: the row of the cursor need not be seen
}

// part is a question with what was chosen so far.
type part struct {
	human.Question
	cursor int          // the row; len(Options) is the line for something else
	chosen map[int]bool // options
	other  textinput.Model
	typing bool
}

func newForm(q app.Questioned) *form {
	f := &form{asked: q, free: true} // a long question is seen from its beginning
	for _, question := range q.Input.Questions {
		p := part{Question: question, chosen: map[int]bool{}, other: newInput("write an answer")}
		if q.Secret { // a paste goes nowhere else
			p.other.EchoMode = textinput.EchoPassword
			p.cursor, p.typing = len(p.Options), true
		}
		f.parts = append(f.parts, p)
	}
	return f
}

func (f *form) wantsAll() bool { return f.full }

func (f *form) title(*theme) (string, string) {
	who := "The model asks"
	if f.asked.Source != "" {
		who = text.Line(f.asked.Source)
	}
	return who, ""
}

func (f *form) arm(on bool) { f.armed = on }

func (f *form) takes(k string, keys keymap) bool {
	return !f.review() && f.parts[f.at].typing || keys.find(k, inQuestion) != actNone
}

// decides is false: no key that sends a form begins a word.
func (f *form) decides(string) bool { return false }

func (f *form) review() bool { return f.at == len(f.parts) }

func (f *form) paste(s string) {
	if f.review() {
		return
	}
	if p := &f.parts[f.at]; p.typing {
		insert(&p.other, s)
	}
}

func (f *form) key(k string, msg tea.KeyPressMsg, keys keymap) intent {
	if !f.review() && f.parts[f.at].typing {
		return f.keyTyping(k, msg)
	}
	if k == "esc" {
		return doReply{id: f.asked.ID}
	}
	a := keys.find(k, inQuestion)
	f.free = false
	switch {
	case a == actNextTab:
		f.at = min(f.at+1, len(f.parts))
	case a == actPrevious:
		f.at = max(f.at-1, 0)
	case a == actFull:
		f.full = !f.full
	case a == actPageUp:
		f.top, f.free = max(0, f.top-f.page), true
	case a == actPageDown:
		f.top, f.free = f.top+f.page, true
	case f.review():
		if a == actChoose && f.complete() {
			return f.reply()
		}
	default:
		return f.keyChoice(k, a)
	}
	return nil
}

func (f *form) keyTyping(k string, msg tea.KeyPressMsg) intent {
	p := &f.parts[f.at]
	switch k {
	case "esc":
		p.typing = false
	case "enter":
		p.typing = false
		if strings.TrimSpace(p.other.Value()) == "" {
			return nil
		}
		if !p.MultiSelect {
			clear(p.chosen)
		}
		return f.forward()
	default:
		p.other, _ = p.other.Update(msg)
	}
	return nil
}

func (f *form) keyChoice(k string, a action) intent {
	p := &f.parts[f.at]
	switch a {
	case actNumber:
		if i := int(k[0] - '1'); i <= len(p.Options) {
			p.cursor = i
			f.toggle()
		}
	case actUp:
		p.cursor = max(0, p.cursor-1)
	case actDown:
		p.cursor = min(len(p.Options), p.cursor+1)
	case actToggle:
		f.toggle()
	case actChoose:
		if p.cursor == len(p.Options) {
			p.typing = true
			return nil
		}
		if !p.MultiSelect || !p.answered() {
			f.choose(p.cursor)
		}
		return f.forward()
	}
	return nil
}

// toggle chooses the row of the cursor, or no longer.
func (f *form) toggle() {
	p := &f.parts[f.at]
	switch {
	case p.cursor == len(p.Options):
		p.typing = true
	case p.MultiSelect && p.chosen[p.cursor]:
		delete(p.chosen, p.cursor)
	default:
		f.choose(p.cursor)
	}
}

func (f *form) choose(i int) {
	p := &f.parts[f.at]
	if !p.MultiSelect {
		clear(p.chosen)
		p.other.SetValue("")
	}
	p.chosen[i] = true
}

// forward goes to the next question; a single one is sent at once.
func (f *form) forward() intent {
	if len(f.parts) == 1 {
		return f.reply()
	}
	f.at++
	return nil
}

func (p *part) answered() bool {
	return len(p.chosen) > 0 || strings.TrimSpace(p.other.Value()) != ""
}

func (p *part) answer() human.Answer {
	a := human.Answer{Other: strings.TrimSpace(p.other.Value())}
	for i, o := range p.Options {
		if p.chosen[i] {
			a.Selections = append(a.Selections, o.Label)
		}
	}
	return a
}

func (f *form) complete() bool {
	return !slices.ContainsFunc(f.parts, func(p part) bool { return !p.answered() })
}

func (f *form) reply() intent {
	answers := map[string]human.Answer{}
	for i := range f.parts {
		answers[f.parts[i].Header] = f.parts[i].answer()
	}
	return doReply{id: f.asked.ID, answers: answers}
}

func (f *form) rows(t *theme, w int) int {
	lines, _, _ := f.lines(t, w)
	return len(lines) + 2
}

func (f *form) view(t *theme, w, h int) ([]string, *tea.Cursor) {
	lines, focus, cursor := f.lines(t, w)
	page := max(1, h-2)
	f.page = max(1, page-1)
	f.top = max(0, min(f.top, len(lines)-page))
	if !f.free && focus < f.top {
		f.top = focus
	}
	if !f.free && focus >= f.top+page {
		f.top = focus - page + 1
	}
	end := min(len(lines), f.top+page)
	more := ""
	if len(lines) > page {
		more = fmt.Sprintf("%d lines above, %d below %s pgup pgdn", f.top, len(lines)-end, t.sign.dot)
		more = t.warn.Render(text.Truncate(more, w, t.sign.ellipsis))
	}
	if cursor != nil {
		cursor.Position.Y -= f.top
	}
	out := append([]string(nil), lines[f.top:end]...)
	return append(out, more, f.hints(t, w)), cursor
}

func (f *form) hints(t *theme, w int) string {
	var parts []string
	switch {
	case f.review() && f.complete():
		parts = []string{"enter sends"}
	case f.review():
		parts = []string{"some questions have no answer yet"}
	case f.parts[f.at].typing:
		parts = []string{"enter takes it", "esc goes back"}
	case f.parts[f.at].MultiSelect:
		parts = []string{"space chooses", "enter goes on"}
	default:
		parts = []string{"enter chooses"}
	}
	if len(f.parts) > 1 {
		parts = append(parts, "tab next question")
	}
	if f.review() || !f.parts[f.at].typing {
		parts = append(parts, "esc declines")
	}
	if !f.armed {
		parts = []string{"typing goes to your draft"}
	}
	return t.dim.Render(text.Truncate(strings.Join(parts, " "+t.sign.dot+" "), w, t.sign.ellipsis))
}

// lines is everything above the hints, the row that must be seen, and the
// cursor of the line that is written in.
func (f *form) lines(t *theme, w int) (lines []string, focus int, cursor *tea.Cursor) {
	if len(f.parts) > 1 {
		lines = append(lines, f.tabs(t, w), "")
	}
	if f.review() {
		for i := range f.parts {
			p := &f.parts[i]
			a := p.answer()
			said := strings.Join(append(slices.Clone(a.Selections), a.Other), ", ")
			said = strings.Trim(said, ", ")
			if said == "" {
				said = "no answer yet"
			}
			lines = append(lines, text.Truncate(text.Pad(text.Line(p.Header), 14)+text.Line(said), w, t.sign.ellipsis))
		}
		return lines, max(0, len(lines)-1), nil
	}
	p := &f.parts[f.at]
	for line := range strings.SplitSeq(p.Question.Question, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for _, l := range text.Wrap(text.Line(line[len(indent):]), max(8, w-len(indent))) {
			lines = append(lines, t.bold.Render(indent+l))
		}
	}
	for i, o := range p.Options {
		if i == p.cursor {
			focus = len(lines)
		}
		lines = append(lines, f.option(t, w, p, i, o)...)
	}
	row, at := f.otherRow(t, w, p, len(lines))
	if p.cursor == len(p.Options) {
		focus = len(lines)
	}
	return append(lines, row), focus, at
}

func (f *form) tabs(t *theme, w int) string {
	var tabs []string
	for i := range f.parts {
		sign := t.sign.pending
		if f.parts[i].answered() {
			sign = t.sign.done
		}
		tab := " " + sign + " " + text.Line(f.parts[i].Header) + " "
		if i == f.at {
			tab = t.selected.Render(tab)
		}
		tabs = append(tabs, tab)
	}
	review := " Review "
	if f.review() {
		review = t.selected.Render(review)
	}
	return text.Truncate(strings.Join(append(tabs, review), " "), w, t.sign.ellipsis)
}

func (f *form) option(t *theme, w int, p *part, i int, o human.Choice) []string {
	label := fmt.Sprintf("%s%d %s", p.mark(t, i), i+1, text.Line(o.Label))
	indent := strings.Repeat(" ", text.Width(p.mark(t, i))+2)
	if o.Description != "" {
		label += " " + t.sign.dash + " " + text.Line(o.Description)
	}
	lines := text.Wrap(label, max(8, w-len(indent)))
	for n := range lines {
		if n > 0 {
			lines[n] = indent + lines[n]
		}
		if i == p.cursor {
			lines[n] = t.selected.Render(text.Pad(lines[n], w))
		}
	}
	return lines
}

// mark says whether a row is chosen.
func (p *part) mark(t *theme, i int) string {
	on := p.chosen[i]
	if i == len(p.Options) {
		on = strings.TrimSpace(p.other.Value()) != ""
	}
	switch {
	case p.MultiSelect && on:
		return "[x] "
	case p.MultiSelect:
		return "[ ] "
	case on:
		return t.sign.done + " "
	}
	return "  "
}

func (f *form) otherRow(t *theme, w int, p *part, y int) (string, *tea.Cursor) {
	i := len(p.Options)
	head := fmt.Sprintf("%s%d ", p.mark(t, i), i+1)
	if p.typing {
		line, cursor := inputView(&p.other, w-text.Width(head), text.Width(head), y)
		return head + line, cursor
	}
	label := "Other" + t.sign.ellipsis
	if s := strings.TrimSpace(p.other.Value()); s != "" {
		label = "Other: " + text.Line(s)
	}
	row := text.Truncate(head+label, w, t.sign.ellipsis)
	if p.cursor == i {
		row = t.selected.Render(text.Pad(row, w))
	}
	return row, nil
}
