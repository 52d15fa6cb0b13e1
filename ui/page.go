package ui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/ui/text"
)

// page is a sheet of text to read, over the whole screen.
type page struct {
	name   string
	lines  func(t *theme, w int) []string
	scroll scroller
}

func (p *page) title(*theme) (string, string) { return p.name, "esc closes" }
func (p *page) paste(string)                  {}
func (p *page) wantsAll() bool                { return true }
func (p *page) rows(t *theme, w int) int      { return len(p.lines(t, w)) }

func (p *page) key(k string, _ tea.KeyPressMsg, keys keymap) intent {
	if !p.scroll.act(keys.find(k, inTranscript)) && (k == "esc" || k == "q" || k == "?" || k == "f1" || k == "enter") {
		return doClose{}
	}
	return nil
}

func (p *page) view(t *theme, w, rows int) ([]string, *tea.Cursor) {
	shown := p.scroll.window(p.lines(t, w-1), rows)
	out := append([]string(nil), shown...)
	if bar := p.scroll.bar(t, len(shown)); bar != nil {
		for i := range out {
			out[i] = text.Pad(out[i], w-1) + bar[i]
		}
	}
	return out, nil
}

func (p *page) scrollBy(a action) { p.scroll.act(a) }
