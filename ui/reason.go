package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/ui/text"
)

// keyReason writes the reason of a refusal, with what is refused still in view.
func (p *permission) keyReason(k string, msg tea.KeyPressMsg) intent {
	switch k {
	case "esc":
		p.step = stepAsk
	case "enter":
		return p.answer(app.Answer{Feedback: strings.TrimSpace(p.reason.Value())})
	case "up":
		p.scroll.act(actUp)
	case "down":
		p.scroll.act(actDown)
	case "pgup":
		p.scroll.act(actPageUp)
	case "pgdown":
		p.scroll.act(actPageDown)
	default:
		p.reason, _ = p.reason.Update(msg)
	}
	return nil
}

// reasonRows are the line to write in, as row y of the dialog, and its keys.
func (p *permission) reasonRows(t *theme, w, y int) ([]string, *tea.Cursor) {
	line, cursor := inputView(&p.reason, w-2, 2, y)
	return []string{t.accent.Render(t.sign.prompt) + " " + line, p.reasonHints(t, w)}, cursor
}

// reasonHints tell the keys while the reason is written.
func (p *permission) reasonHints(t *theme, w int) string {
	hint := "enter says no and tells the model"
	if w < plainBelowW {
		hint = "enter says no"
	}
	hint += " " + t.sign.dot + " esc goes back"
	if p.scroll.overflows() {
		hint += " " + t.sign.dot + " " + t.sign.upDown + " scroll"
	}
	return t.dim.Render(text.Truncate(hint, w, t.sign.ellipsis))
}
