package ui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/ui/text"
)

// help is the overlay of the keys. It is made from the table of keys, so it
// tells what is true.
type help struct {
	table  []binding
	scroll scroller
}

func newHelp(table []binding) *help { return &help{table: table} }

func (h *help) title(*theme) (string, string) { return "Keys", "esc closes" }
func (h *help) paste(string)                  {}
func (h *help) wantsAll() bool                { return true }
func (h *help) rows(t *theme, w int) int      { return len(h.lines(t, w)) }

func (h *help) key(k string, _ tea.KeyPressMsg, keys keymap) intent {
	if !h.scroll.act(keys.find(k, inTranscript)) && (k == "esc" || k == "q" || k == "?" || k == "f1" || k == "enter") {
		return doClose{}
	}
	return nil
}

func (h *help) view(t *theme, w, rows int) ([]string, *tea.Cursor) {
	shown := h.scroll.window(h.lines(t, w-1), rows)
	out := append([]string(nil), shown...)
	if bar := h.scroll.bar(t, len(shown)); bar != nil {
		for i := range out {
			out[i] = text.Pad(out[i], w-1) + bar[i]
		}
	}
	return out, nil
}

func (h *help) lines(t *theme, w int) []string {
	const keysW = 20
	var lines []string
	for i, s := range scopes(h.table) {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, t.bold.Render(string(s)))
		for _, b := range h.table {
			if b.scope != s || b.help == "" {
				continue
			}
			for n, l := range text.Wrap(b.help, max(10, w-keysW-2)) {
				keys := ""
				if n == 0 {
					keys = t.words(b.shown)
				}
				lines = append(lines, "  "+t.accent.Render(text.Pad(keys, keysW-2))+"  "+l)
			}
		}
	}
	return append(lines, "", t.dim.Render("In the text the keys of readline work: ctrl+a e k u w, alt+b f d."))
}
