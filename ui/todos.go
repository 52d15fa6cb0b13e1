package ui

import (
	"fmt"
	"strings"

	"github.com/phero-agent/agent/tools/todo"
	"github.com/phero-agent/agent/ui/text"
)

// pane is a part of the side column, or a whole overlay while it has the keys.
// Panes do not know each other.
type pane interface {
	name() string                             // in capitals, as its header says
	detail(k *look) string                    // at the right of the header
	want() int                                // rows of content; 0: there is nothing to show
	view(k *look, w, h int, on bool) []string // at most h rows; on: it has the keys
	act(a action) intent
}

// todos is the pane of the model's task list.
type todos struct {
	items  []todo.Item
	scroll scroller
}

func (p *todos) name() string { return "TODO" }
func (p *todos) want() int    { return len(p.items) }

func (p *todos) done() int {
	n := 0
	for _, it := range p.items {
		if it.Status == todo.Completed {
			n++
		}
	}
	return n
}

func (p *todos) detail(*look) string { return fmt.Sprintf("%d/%d", p.done(), len(p.items)) }

func (p *todos) act(a action) intent {
	p.scroll.act(a)
	return nil
}

func (p *todos) view(k *look, w, h int, on bool) []string {
	t := k.theme
	var rows []string
	current := 0
	for _, it := range p.items {
		sign, style := t.sign.pending, text.Style("")
		switch it.Status {
		case todo.Completed:
			sign, style = t.ok.Render(t.sign.done), t.dim
		case todo.InProgress:
			sign, style = t.accent.Render(t.sign.current), t.bold
			current = len(rows)
		}
		lines := []string{text.Truncate(text.Line(it.Content), w-2, t.sign.ellipsis)}
		if on {
			lines = text.Wrap(text.Line(it.Content), max(1, w-2))
		}
		for i, l := range lines {
			if i > 0 {
				sign = " "
			}
			rows = append(rows, sign+" "+style.Render(l))
		}
	}
	if !on && len(rows) > h { // the step that is worked on stays in sight
		p.scroll.top = max(0, current-h/2)
	}
	return p.scroll.window(rows, h)
}

// row is the one line that stands for the tasks and for the commands in the
// background where there is no side column.
func (p *todos) row(t *theme, w int, s *shells) string {
	var right []string
	if len(p.items) > 0 {
		right = append(right, fmt.Sprintf("todo %d/%d", p.done(), len(p.items)))
	}
	if n := s.running(); n > 0 {
		right = append(right, fmt.Sprintf("shell %d", n))
	}
	right = append(right, t.key("ctrl+t"))
	left := t.accent.Render(t.sign.running) + " " + s.newest()
	if len(p.items) > 0 {
		left = p.now(t)
	}
	return spread(t, w, left, t.dim.Render(strings.Join(right, " "+t.sign.dot+" ")))
}

// now is the step that is worked on.
func (p *todos) now(t *theme) string {
	left := t.dim.Render(t.sign.pending + " tasks")
	for _, it := range p.items {
		if it.Status == todo.InProgress {
			left = t.accent.Render(t.sign.current) + " " + text.Line(it.Content)
		}
	}
	if p.done() == len(p.items) {
		left = t.ok.Render(t.sign.done) + " all done"
	}
	return left
}
