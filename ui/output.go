package ui

import (
	"fmt"

	"github.com/phero-agent/agent/ui/text"
)

const watched = 8 // commands whose output the pane keeps

// output is the pane that streams commands as they print. Each command has a
// tab of its own, by its call: parallel ones never mix (UI-12, UI-13).
type output struct {
	tabs   []*call
	at     int
	follow bool
	scroll scroller
	above  int // lines that are no longer kept, at the last look
}

func newOutput() *output { return &output{follow: true} }

func (p *output) name() string { return "OUTPUT" }

func (p *output) want() int {
	if c := p.current(); c != nil {
		lines, _ := c.lines()
		return max(1, len(lines))
	}
	return 0
}

func (p *output) current() *call {
	if p.at < len(p.tabs) {
		return p.tabs[p.at]
	}
	return nil
}

// watch opens a tab for a command that began. The tab in view changes only when
// its own command is over.
func (p *output) watch(c *call) {
	for _, tab := range p.tabs {
		if tab == c {
			return
		}
	}
	stays := p.current()
	if stays == nil || stays.over() {
		stays = c
		p.follow = true
	}
	p.tabs = append(p.tabs, c)
	if len(p.tabs) > watched {
		p.tabs[0].forget()
		p.tabs = p.tabs[1:]
	}
	p.at = len(p.tabs) - 1
	for i, tab := range p.tabs {
		if tab == stays {
			p.at = i
		}
	}
}

func (p *output) detail(k *look) string {
	c := p.current()
	if c == nil {
		return ""
	}
	s := clock(c.spent(k.now))
	if c.over() {
		s = sign(k, c) + " " + s
	}
	if n := len(p.tabs); n > 1 {
		s = fmt.Sprintf("%d/%d ", p.at+1, n) + s
	}
	return s
}

func (p *output) act(a action) intent {
	switch a {
	case actNextTab:
		if len(p.tabs) > 0 {
			p.at = (p.at + 1) % len(p.tabs)
			p.follow = true
		}
	case actFollow:
		p.follow = !p.follow
	default:
		if p.scroll.act(a) {
			p.follow = p.scroll.top >= p.scroll.total-p.scroll.page
		}
	}
	return nil
}

func (p *output) view(k *look, w, h int, _ bool) []string {
	c := p.current()
	if c == nil || h < 1 {
		return nil
	}
	t := k.theme
	rows := []string{t.dim.Render(text.Truncate("$ "+subject(c, k.workspace), w, t.sign.ellipsis))}
	lines, above := c.lines()
	if p.follow {
		p.scroll.top = len(lines)
	} else { // what the person reads stays where it is
		p.scroll.top -= above - p.above
	}
	p.above = above
	for i, l := range p.scroll.window(lines, h-1) {
		if i == 0 && above > 0 && p.scroll.top == 0 {
			l = t.dim.Render(fmt.Sprintf("%s %s above are gone", t.sign.ellipsis, plural(above, "line", "lines")))
		}
		rows = append(rows, text.Truncate(l, w, t.sign.ellipsis))
	}
	return rows
}
