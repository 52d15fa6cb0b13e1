package ui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/ui/diff"
	"github.com/phero-agent/agent/ui/md"
	"github.com/phero-agent/agent/ui/text"
)

// permission is the dialog of [app.Asked]. It shows the subject whole and never
// cut, with every odd character visible, and says why it asks (UI-05, UI-06, PERM-82).
type permission struct {
	asked     app.Asked
	workspace string
	drafted   func() bool // something is written in the composer
	step      permissionStep
	full      bool
	split     bool // the diff is side by side, where there is room
	pan       int  // columns that the diff is moved by
	reason    textinput.Model
	always    always

	scroll scroller
	body   *content // for bodyOf
	bodyOf bodyKey
	armed  bool
	follow bool // the cursor of always moved: its row is scrolled to
}

type permissionStep int

const (
	stepAsk permissionStep = iota
	stepAlways
	stepReason
	stepWhy
)

// bodyKey is what the body was made for.
type bodyKey struct {
	w     int
	step  permissionStep
	looks int       // of the step of always
	md    *md.Theme // another one where the theme is another
}

func newPermission(a app.Asked, workspace string, drafted func() bool) *permission {
	split := a.Change == nil || a.Change.Existed // a new file has nothing to stand beside
	return &permission{asked: a, workspace: workspace, drafted: drafted, split: split, reason: newInput("what to do instead"), always: newAlways(a)}
}

func (p *permission) wantsAll() bool { return p.full }

func (p *permission) title(t *theme) (string, string) {
	name := text.Line(p.asked.Request.Tool)
	if agent := text.Line(p.asked.Call.Agent); agent != "" {
		name = strings.ReplaceAll(agent, "›", t.sign.prompt) + " " + t.sign.prompt + " " + name
	}
	if p.asked.Lack != nil {
		return rerunTitle(p.asked.Lack.Reach), "it failed"
	}
	switch p.step {
	case stepAlways:
		return "Allow from now on?", string(p.always.scope)
	case stepReason:
		return "Why not " + name + "?", ""
	case stepWhy:
		return "Why is it asked?", p.why()
	}
	return "Allow " + name + "?", p.why()
}

// why is the reason in a word or two, for the title.
func (p *permission) why() string {
	switch r := p.asked.Request; r.Reason {
	case permissions.ReasonAskRule:
		return "ask rule " + text.Line(r.Rule)
	case permissions.ReasonOpaque:
		return text.Line(p.asked.Trace.Why)
	}
	return "no rule"
}

func (p *permission) rows(t *theme, w int) int { return p.lines(t, w).len() + p.footer() }

// footer is the number of rows below the body.
func (p *permission) footer() int {
	switch {
	case p.step == stepReason:
		return 3
	case p.widens() && p.asked.Lack == nil:
		return 4
	}
	return 3
}

func (p *permission) paste(s string) {
	if p.step == stepReason {
		insert(&p.reason, s)
	}
}

func (p *permission) key(k string, msg tea.KeyPressMsg, keys keymap) intent {
	switch p.step {
	case stepReason:
		return p.keyReason(k, msg)
	case stepAlways:
		return p.keyAlways(k, keys)
	case stepWhy:
		return p.keyWhy(k, keys)
	}
	a := keys.find(k, inPermission)
	if p.asked.Lack != nil {
		return p.keyRerun(k, a)
	}
	if k == "esc" {
		return p.answer(app.Answer{})
	}
	if reach, ok := p.widening(a); ok {
		return p.answer(app.Answer{Allow: true, Reach: reach})
	}
	switch a {
	case actAllow:
		return p.answer(app.Answer{Allow: true})
	case actAlways:
		if p.canAlways() {
			p.goTo(stepAlways)
		}
	case actWhy:
		p.goTo(stepWhy)
	case actOwnVersion:
		if p.editable() {
			return doOwnVersion{id: p.asked.ID, change: p.asked.Change}
		}
	case actDeny:
		return p.answer(app.Answer{})
	case actReason:
		p.step = stepReason
	case actSplit:
		p.split = !p.split
	case actFull:
		p.full = !p.full
	case actLeft:
		p.pan = max(0, p.pan-8)
	case actRight:
		p.pan += 8
	default:
		p.scroll.act(a)
	}
	return nil
}

// goTo shows another step from its top.
func (p *permission) goTo(step permissionStep) { p.step, p.scroll = step, scroller{} }

func (p *permission) keyAlways(k string, keys keymap) intent {
	a := keys.find(k, inAlways)
	switch {
	case k == "esc" || a == actDeny:
		p.goTo(stepAsk)
	case a == actAllow:
		if p.scroll.complete() {
			return p.answer(app.Answer{Allow: true, Always: p.always.chosen(), Scope: p.always.scope})
		}
	case p.always.act(a):
		p.follow = true
	default:
		p.scroll.act(a)
	}
	return nil
}

func (p *permission) keyWhy(k string, keys keymap) intent {
	switch a := keys.find(k, inPermission); {
	case k == "esc" || a == actWhy:
		p.goTo(stepAsk)
	case a == actFull:
		p.full = !p.full
	default:
		p.scroll.act(a)
	}
	return nil
}

func (p *permission) arm(on bool) { p.armed = on }

func (p *permission) takes(k string, keys keymap) bool {
	switch p.step {
	case stepReason:
		return true
	case stepAlways:
		return keys.find(k, inAlways) != actNone
	}
	a := keys.find(k, inPermission)
	if a == actOwnVersion {
		return p.editable()
	}
	if a == actNetwork || a == actHost {
		_, offered := p.widening(a)
		return p.step == stepAsk && offered
	}
	return a != actNone
}

func (p *permission) decides(k string) bool {
	return p.step != stepReason && len(k) == 1 && (strings.Contains("yanewso", k) || strings.Contains("th", k) && p.widens())
}

// editable says whether the person can write a version of their own (decision 12).
func (p *permission) editable() bool {
	c := p.asked.Change
	return c != nil && !binary(c.Before) && !binary(c.After)
}

func (p *permission) answer(a app.Answer) intent { return doAnswer{id: p.asked.ID, answer: a} }

// canAlways says whether always would have an effect (PERM-80), and whether all
// that it would cover was on the screen.
func (p *permission) canAlways() bool {
	return len(p.asked.Offers) > 0 && p.scroll.complete()
}

func (p *permission) view(t *theme, w, h int) ([]string, *tea.Cursor) {
	lines := p.lines(t, w)
	footer := p.footer()
	if h < 9 && w < plainBelowW { // the room is needed for what is asked
		footer--
	}
	shown := lines.rows(p.scroll.fit(lines.len(), h-footer))
	bar := p.scroll.bar(t, len(shown))
	out := make([]string, 0, h)
	for i, l := range shown {
		if bar != nil {
			l = text.Pad(l, w-1) + bar[i]
		}
		out = append(out, l)
	}
	out = append(out, "")
	if p.step == stepReason {
		rows, cursor := p.reasonRows(t, w, len(out))
		return append(out, rows[:min(len(rows), footer-1)]...), cursor
	}
	if p.asked.Lack == nil {
		out = append(out, p.choices(t, w))
	}
	if p.widens() {
		out = append(out, p.reaches(t, w))
	}
	if footer == p.footer() {
		out = append(out, p.hints(t, w))
	}
	return out, nil
}

// choices are the answers; they are dim until the dialog takes them.
func (p *permission) choices(t *theme, w int) string {
	item := func(key, label string, on bool) string { return p.item(t, key, label, on) }
	switch p.step {
	case stepAlways:
		return p.always.choices(w, p.scroll.complete(), item)
	case stepWhy:
		return item("w", "go back", true)
	}
	offers := p.asked.Offers
	var always []string
	if len(offers) == 1 {
		always = append(always, "always: "+text.Line(offers[0].String()))
	}
	always = append(always, "always"+t.sign.ellipsis)
	if len(offers) == 0 {
		always = []string{""}
	}
	reasons := []string{"no, and tell why", "why"}
	for _, gap := range []string{"   ", " "} {
		for _, reason := range reasons {
			for _, a := range always {
				parts := []string{item("y", "once", true)}
				if a != "" {
					parts = append(parts, item("a", a, p.canAlways()))
				}
				parts = append(parts, item("n", "no", true), item("e", reason, true))
				if s := strings.Join(parts, gap); text.Width(s) <= w {
					return s
				}
			}
		}
	}
	return text.Truncate(item("y", "once", true)+" "+item("n", "no", true), w, "")
}

// item is an answer and its key, dim where it cannot be given.
func (p *permission) item(t *theme, key, label string, on bool) string {
	if !on || !p.armed {
		return t.dim.Render("[" + key + "] " + label)
	}
	return t.accent.Render("["+key+"]") + " " + label
}

// draftKept is said where there is a draft.
const draftKept = "your draft is kept"

// hints tell the other keys.
func (p *permission) hints(t *theme, w int) string {
	var parts []string
	if p.scroll.overflows() {
		parts = append(parts, t.sign.upDown+" scroll")
	}
	if p.step == stepAlways {
		parts = append(parts, p.always.hints(t)...)
	}
	if p.step == stepAsk && p.asked.Lack == nil {
		parts = append(parts, "w why")
	}
	if p.asked.Change != nil && p.step == stepAsk {
		if p.body.pannable() {
			parts = append(parts, t.sign.leftRight+" pan")
		}
		if p.editable() {
			parts = append(parts, "o edit it")
		}
		if w >= splitFromW {
			parts = append(parts, splitHint(p.split))
		}
	}
	if p.step != stepAlways {
		parts = append(parts, fullHint(p.full))
	}
	if n := p.scroll.total - p.scroll.seen; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more lines", n))
	}
	gap, right := " "+t.sign.dot+" ", ""
	switch {
	case w < plainBelowW:
	case !p.armed:
		right = "typing goes to your draft"
	case p.drafted() && text.Width(strings.Join(parts, gap)+draftKept)+2 <= w:
		right = draftKept
	}
	return t.dim.Render(spread(t, w, fitting(parts, gap, w-text.Width(right)-2), right))
}

// lines is the body for w columns; it is made once for each of its looks.
func (p *permission) lines(t *theme, w int) *content {
	of := bodyKey{w: w, step: p.step, looks: p.always.looks, md: t.md}
	if of != p.bodyOf {
		p.bodyOf = of
		switch p.step {
		case stepAlways:
			head, from, to := p.always.body(t, w-1, p.whole)
			p.body = &content{head: head}
			if p.follow {
				p.scroll.show(from, to)
			}
			p.follow = false
		case stepWhy:
			p.body = &content{head: p.whyBody(t, w-1)}
		default:
			p.body = p.askBody(t, w-1)
		}
	}
	if v := p.body.diff; v != nil {
		l := diff.Layout{Width: w - 1, Split: p.split && w >= splitFromW}
		p.pan = min(p.pan, v.MaxPan(l))
		l.Pan = p.pan
		p.body.layout = l
	}
	return p.body
}
