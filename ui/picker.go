package ui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"github.com/phero-agent/agent/ui/text"
)

const pickerRows = 12

// picker is a list to choose from, with a line to filter it: sessions, commands, prompts.
type picker struct {
	name   string
	all    []pick
	shown  []pick
	filter textinput.Model
	at     int
	page   int
	none   string // what stands in an empty list
}

// pick is a row of a picker.
type pick struct {
	label, detail string
	intent        intent
}

func newPicker(name, none string, rows []pick) *picker {
	return &picker{name: name, none: none, all: rows, shown: rows, filter: newInput("type to filter"), page: 1}
}

func (p *picker) title(*theme) (string, string) {
	return p.name, fmt.Sprintf("%d of %d", len(p.shown), len(p.all))
}

func (p *picker) rows(*theme, int) int { return min(len(p.all), pickerRows) + 3 }
func (p *picker) wantsAll() bool       { return false }

func (p *picker) paste(s string) {
	insert(&p.filter, s)
	p.narrow()
}

func (p *picker) key(k string, msg tea.KeyPressMsg, keys keymap) intent {
	switch a := keys.find(k, inPicker); a {
	case actUp:
		p.at--
	case actDown:
		p.at++
	case actPageUp:
		p.at -= p.page
	case actPageDown:
		p.at += p.page
	case actChoose:
		if p.at < len(p.shown) {
			return p.shown[p.at].intent
		}
		return nil
	default:
		if k == "esc" {
			return doClose{}
		}
		before := p.filter.Value()
		p.filter, _ = p.filter.Update(msg)
		if p.filter.Value() != before {
			p.narrow()
		}
		return nil
	}
	p.at = max(0, min(p.at, len(p.shown)-1))
	return nil
}

// narrow filters the rows; the order stays while nothing is typed.
func (p *picker) narrow() {
	p.at = 0
	pattern := strings.TrimSpace(p.filter.Value())
	if pattern == "" {
		p.shown = p.all
		return
	}
	labels := make([]string, len(p.all))
	for i, r := range p.all {
		labels[i] = r.label
	}
	p.shown = nil
	taken := map[int]bool{}
	for _, m := range fuzzy.Find(pattern, labels) {
		taken[m.Index] = true
		p.shown = append(p.shown, p.all[m.Index])
	}
	for i, r := range p.all {
		if !taken[i] && strings.Contains(strings.ToLower(r.detail), strings.ToLower(pattern)) {
			p.shown = append(p.shown, r)
		}
	}
}

func (p *picker) view(t *theme, w, h int) ([]string, *tea.Cursor) {
	line, cursor := inputView(&p.filter, w-2, 2, 0)
	out := []string{t.accent.Render(t.sign.prompt) + " " + line}
	p.page = max(1, h-2)
	first := max(0, min(p.at-p.page/2, len(p.shown)-p.page))
	for i := first; i < min(len(p.shown), first+p.page); i++ {
		r := p.shown[i]
		row := spread(t, w, " "+text.Line(r.label), r.detail+" ")
		if i == p.at {
			row = t.selected.Render(text.Pad(row, w))
		}
		out = append(out, row)
	}
	if len(p.shown) == 0 {
		out = append(out, " "+t.dim.Render(text.Truncate(p.none, w-1, t.sign.ellipsis)))
	}
	if len(out) < h {
		out = append(out, t.dim.Render(text.Truncate(" enter takes it "+t.sign.dot+" esc closes", w, t.sign.ellipsis)))
	}
	return out, cursor
}

// spread puts left and right into w cells; right goes when there is no room for it.
func spread(t *theme, w int, left, right string) string {
	rw := text.Width(right)
	if right == "" || w < rw+12 {
		return text.Truncate(left, w, t.sign.ellipsis)
	}
	left = text.Truncate(left, w-rw-1, t.sign.ellipsis)
	return left + strings.Repeat(" ", w-rw-text.Width(left)) + right
}
