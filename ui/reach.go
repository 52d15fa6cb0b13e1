package ui

import (
	"slices"
	"strings"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/ui/text"
)

// widening is the reach that a key gives a command; false for other keys, and
// where it is not offered (decision 19).
func (p *permission) widening(a action) (bash.Reach, bool) {
	reach := bash.Sandboxed
	switch a {
	case actNetwork:
		reach = bash.Network
	case actHost:
		reach = bash.Host
	}
	return reach, slices.Contains(p.asked.Wider, reach)
}

// widens says whether the dialog has a row for the wider reaches.
func (p *permission) widens() bool { return p.step == stepAsk && len(p.asked.Wider) > 0 }

// keyRerun takes a key where the command failed for want of reach: it is run
// again with more, or left at that.
func (p *permission) keyRerun(k string, a action) intent {
	if reach, ok := p.widening(a); ok {
		return p.answer(app.Answer{Allow: true, Reach: reach})
	}
	if k == "esc" || a == actDeny {
		return p.answer(app.Answer{})
	}
	if a == actFull {
		p.full = !p.full
	}
	p.scroll.act(a)
	return nil
}

// rerunTitle asks whether a command is run again.
func rerunTitle(reach bash.Reach) string {
	if reach == bash.Host {
		return "Run it again on the host?"
	}
	return "Run it again with the network?"
}

// rerunBody shows the command that failed, and what running it again means.
func (p *permission) rerunBody(t *theme, w int) []string {
	lines := p.whole(t, w, "$ ", p.asked.Request.Raw)
	lines = append(lines, p.lookalikes(t, w, p.asked.Request.Raw)...)
	lines = append(lines, "")
	lines = append(lines, p.whole(t, w, "it failed: ", p.asked.Lack.Why)...)
	meaning := "With the network it also reaches what listens on localhost. On the host it has all your rights."
	if p.asked.Lack.Reach == bash.Host {
		meaning = "On the host it has all your rights, and the network."
	}
	return append(lines, styled(t.warn, text.Wrap(meaning, w))...)
}

// reaches is the row of the wider permissions.
func (p *permission) reaches(t *theme, w int) string {
	row := ""
	for _, words := range []struct{ network, host, gap string }{
		{"once with the network", "once on the host, outside the sandbox", "   "},
		{"with network", "on the host", "   "},
		{"network", "host", " "},
	} {
		var parts []string
		for _, reach := range p.asked.Wider {
			choice := "[t] " + words.network
			if reach == bash.Host {
				choice = "[h] " + words.host
			}
			style := t.warn
			if !p.armed {
				style = t.dim
			}
			parts = append(parts, style.Render(choice))
		}
		if p.asked.Lack != nil {
			parts = append(parts, p.item(t, "n", "no", true))
		}
		if row = strings.Join(parts, words.gap); text.Width(row) <= w {
			break
		}
	}
	return text.Truncate(row, w, "")
}

// reachName says what more than the sandbox a command had; "" is nothing.
func reachName(t *theme, reach string) string {
	switch reach {
	case "network":
		return t.warn.Render("with the network")
	case "host":
		return t.warn.Render("on the host")
	}
	return ""
}

// sandboxName is what commands run in, for the status line.
func sandboxName(s app.State) string {
	name := text.Line(s.Sandbox)
	switch {
	case name == "none":
		return "no sandbox"
	case name != "" && s.Network:
		return name + " with network"
	}
	return name
}

// canAuto tells whether the sandbox is the one that the auto mode needs (decision 1).
func canAuto(s app.State) bool { return s.Sandbox == "bwrap" && !s.Network }
