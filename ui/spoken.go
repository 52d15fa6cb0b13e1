package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/ui/diff"
	"github.com/phero-agent/agent/ui/text"
)

// spoken is a dialog in line mode: what it says, and the choices that are
// answered by a number or a word. One without choices and without take is only read.
type spoken struct {
	lines   []string
	choices []choice
	prompt  string                   // before the answer; "" names the numbers
	take    func(line string) intent // takes any other line; nil: there is none
	secret  bool                     // the line is not shown as it is typed
}

// choice is one answer.
type choice struct {
	word  string // that chooses it too, as the key on the screen
	label string
	do    func() intent
}

// find is the choice of a number, from 1, or a word.
func (s spoken) find(line string) *choice {
	line = strings.ToLower(line)
	for i := range s.choices {
		c := &s.choices[i]
		if line == fmt.Sprint(i+1) || c.word != "" && (line == c.word || line == map[string]string{"y": "yes", "n": "no"}[c.word]) {
			return c
		}
	}
	return nil
}

// pressing is a choice that a key makes on the screen.
func pressing(d dialog, keys keymap, key, label string) choice {
	return choice{key, label, func() intent { return d.key(key, tea.KeyPressMsg{}, keys) }}
}

// spokenWidth is the columns in line mode: diffs are cut to them, all else wraps.
const spokenWidth = 100

func (p *permission) spoken(t *theme, keys keymap) spoken {
	p.split = false // side by side is for the eye
	c := p.lines(t, spokenWidth)
	s := spoken{lines: c.rows(p.scroll.fit(c.len(), c.len()))} // all of it was seen
	press := func(key, label string) { s.choices = append(s.choices, pressing(p, keys, key, label)) }
	switch p.step {
	case stepReason:
		return spoken{prompt: "what to do instead: ", take: func(line string) intent {
			return p.answer(app.Answer{Feedback: strings.TrimSpace(line)})
		}}
	case stepWhy:
		press("w", "go back")
		return s
	case stepAlways:
		return p.spokenAlways(s, keys)
	}
	if p.asked.Lack == nil {
		press("y", "allow it once")
		if len(p.asked.Offers) > 0 {
			press("a", "allow it from now on, after a look at what")
		}
	}
	for _, reach := range []struct{ key, label string }{
		{"t", "once with the network"}, {"h", "once on the host, outside the sandbox"},
	} {
		if _, offered := p.widening(keys.find(reach.key, inPermission)); offered {
			press(reach.key, reach.label)
		}
	}
	press("n", "no")
	if p.asked.Lack == nil {
		press("e", "no, and tell why")
		press("w", "why it is asked")
	}
	if p.editable() {
		press("o", "change it in $EDITOR: your version is written instead")
	}
	return s
}

func (p *permission) spokenAlways(s spoken, keys keymap) spoken {
	on := func(row int, key, label string) {
		s.choices = append(s.choices, choice{"", label, func() intent {
			p.always.cursor = row
			return p.key(key, tea.KeyPressMsg{}, keys)
		}})
	}
	yes, scope := p.always.answers()
	s.choices = append(s.choices, pressing(p, keys, "y", yes), pressing(p, keys, "s", scope), pressing(p, keys, "n", "go back"))
	for i, r := range p.always.rows {
		name := text.Line(described(r.stored()[0]))
		verb := "tick "
		if r.on {
			verb = "untick "
		}
		on(i, "space", verb+name)
		if r.wide < len(r.offer.Wider) {
			on(i, "right", "widen it to "+text.Line(r.offer.Wider[r.wide].String()))
		}
		if r.wide > 0 {
			on(i, "left", "narrow "+name)
		}
	}
	return s
}

func (f *form) spoken(t *theme, keys keymap) spoken {
	decline := choice{"esc", "decline", func() intent { return doReply{id: f.asked.ID} }}
	if f.review() {
		lines, _, _ := f.lines(t, spokenWidth)
		s := spoken{lines: lines[2:], choices: []choice{{"y", "send the answers", f.reply}}}
		for i := range f.parts {
			s.choices = append(s.choices, choice{"", "answer again: " + text.Line(f.parts[i].Header), func() intent { f.at = i; return nil }})
		}
		s.choices = append(s.choices, decline)
		return s
	}
	p := &f.parts[f.at]
	asked := text.Wrap(text.Clean(p.Question.Question), spokenWidth)
	if p.typing {
		s := spoken{prompt: "write an answer: ", take: func(line string) intent {
			p.other.SetValue(line)
			return f.keyTyping("enter", tea.KeyPressMsg{})
		}}
		if f.asked.Secret { // it is what the question begins with
			s.lines, s.secret = asked, true
			s.prompt = "write an answer, which is not shown; an empty line lists the others: "
		}
		return s
	}
	s := spoken{lines: asked}
	for i, o := range p.Options {
		label := text.Line(o.Label)
		if o.Description != "" {
			label += ": " + text.Line(o.Description)
		}
		if p.chosen[i] {
			label += " (chosen)"
		}
		s.choices = append(s.choices, choice{"", label, func() intent {
			p.cursor = i
			if f.toggle(); p.MultiSelect {
				return nil
			}
			return f.forward()
		}})
	}
	s.choices = append(s.choices, choice{"", "something else", func() intent { p.typing = true; return nil }})
	if p.MultiSelect && p.answered() {
		s.choices = append(s.choices, choice{"y", "that is all", f.forward})
	}
	s.choices = append(s.choices, decline)
	return s
}

func (c *confirm) spoken(_ *theme, keys keymap) spoken {
	return spoken{lines: c.body(spokenWidth), choices: []choice{pressing(c, keys, "y", c.label), pressing(c, keys, "n", "no")}}
}

func (p *page) spoken(t *theme, _ keymap) spoken { return spoken{lines: p.lines(t, spokenWidth)} }

// spokenRows is how many rows of a list are read at once.
const spokenRows = 15

func (p *picker) spoken(*theme, keymap) spoken {
	s := spoken{prompt: "a number, words to look for, or an empty line to leave: "}
	for i, r := range p.shown {
		if i == spokenRows {
			s.lines = append(s.lines, plural(len(p.shown)-i, "more", "more")+": type words to look for")
			break
		}
		s.choices = append(s.choices, choice{"", strings.TrimRight(text.Line(r.label)+"  "+r.detail, " "), func() intent { return r.intent }})
	}
	if len(p.shown) == 0 {
		s.lines = append(s.lines, p.none)
	}
	s.take = func(line string) intent {
		if strings.TrimSpace(line) == "" {
			return doClose{}
		}
		p.filter.SetValue(line)
		p.narrow()
		return nil
	}
	return s
}

// spoken also looks into what was said; what is found there is read when it comes.
func (d *sessions) spoken(t *theme, keys keymap) spoken {
	s := d.picker.spoken(t, keys)
	s.take = func(line string) intent {
		if strings.TrimSpace(line) == "" {
			d.stop()
			return doClose{}
		}
		d.filter.SetValue(line)
		d.hits = nil
		d.fill(spokenWidth)
		return d.look()
	}
	return s
}

// spoken asks for the message first, then what to do there.
func (d *rewind) spoken(t *theme, keys keymap) spoken {
	var s spoken
	if !d.picked {
		for i, p := range d.prompts {
			label := text.Truncate(text.Line(p.Text), spokenWidth-30, t.sign.ellipsis) + "  " + ago(p.Time, d.now)
			s.choices = append(s.choices, choice{"", label, func() intent {
				d.at, d.picked = i, true
				return nil
			}})
		}
	} else {
		s.lines = []string{text.Line(d.prompts[d.at].Text)}
		for how := range backs {
			s.choices = append(s.choices, choice{"", how.String(), func() intent { return doRewind{d.prompts[d.at], how} }})
		}
	}
	s.choices = append(s.choices, choice{"n", "leave all as it is", func() intent { return doClose{} }})
	return s
}

func (d *changes) spoken(t *theme, keys keymap) spoken {
	var s spoken
	if d.verb != "" {
		s.choices = append(s.choices, pressing(d, keys, "y", d.verb+" the ticked files"), pressing(d, keys, "n", "leave all as it is"))
	}
	for i, f := range d.files {
		d.at = i
		path := text.Line(relative(d.workspace, f.Change.Path))
		head, verb := path, "tick "
		if f.ticked {
			verb = "untick "
		}
		if d.verb != "" {
			head = map[bool]string{true: "[x] ", false: "[ ] "}[f.ticked] + path
			s.choices = append(s.choices, choice{"", verb + path, func() intent {
				d.files[i].ticked = !d.files[i].ticked
				return nil
			}})
		}
		body := d.lines(t, spokenWidth)
		if body.diff != nil {
			body.layout = diff.Layout{Width: spokenWidth}
		}
		s.lines = append(append(s.lines, head), body.rows(0, body.len())...)
	}
	return s
}
