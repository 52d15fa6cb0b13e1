package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/ui/text"
)

// whyBody is the trace of the policy: each subject with what decided it, what
// makes a line opaque, and the verdict.
func (p *permission) whyBody(t *theme, w int) (lines []string) {
	trace := p.asked.Trace
	for _, step := range trace.Steps {
		if step.Subject != "" {
			lines = append(lines, p.whole(t, w, "", step.Subject)...)
		}
		lines = append(lines, styled(t.dim, p.whole(t, w, "  ", step.Words()))...)
	}
	if trace.Opaque != "" {
		lines = append(lines, p.whole(t, w, "", trace.Opaque)...)
		lines = append(lines, styled(t.dim, p.whole(t, w, "  ", trace.Why))...)
	}
	return append(append(lines, ""), p.whole(t, w, "", trace.Verdict())...)
}

func (p *permission) askBody(t *theme, w int) *content {
	switch {
	case p.asked.Lack != nil:
		return &content{head: p.rerunBody(t, w)}
	case p.asked.Change != nil:
		return p.changeBody(t, w)
	case p.asked.Request.Tool == "bash":
		return &content{head: p.commandBody(t, w)}
	}
	return &content{head: p.otherBody(t, w)}
}

// commandBody shows a command line, the parts of it that no rule covers, and
// what the model says it is for.
func (p *permission) commandBody(t *theme, w int) []string {
	r := p.asked.Request
	lines := p.whole(t, w, "$ ", r.Raw)
	lines = append(lines, p.lookalikes(t, w, r.Raw)...)
	switch {
	case r.Reason == permissions.ReasonAskRule:
		lines = append(lines, "", "asked by the rule:")
		lines = append(lines, p.whole(t, w, "  ", r.Rule)...)
	case r.Reason == permissions.ReasonOpaque && r.Opaque != "":
		lines = append(lines, "")
		lines = append(lines, p.whole(t, w, "", "no rule covers this line: "+p.asked.Trace.Why)...)
		lines = append(lines, p.whole(t, w, "  ", r.Opaque)...)
	default:
		uncovered := p.asked.Trace.Uncovered()
		if len(uncovered) == 0 || slices.Equal(uncovered, []string{r.Raw}) {
			break
		}
		lines = append(lines, "", "matched by no rule:")
		for _, s := range uncovered {
			lines = append(lines, p.whole(t, w, "  ", s)...)
		}
	}
	var in struct {
		Description string `json:"description"`
		Background  bool   `json:"run_in_background"`
	}
	if p.asked.Reach == bash.Network {
		lines = append(lines, "")
		lines = append(lines, styled(t.warn, text.Wrap("It runs with the network, by a rule of sandbox.network_for.", w))...)
	}
	if json.Unmarshal([]byte(p.asked.Call.Arguments), &in) == nil {
		if in.Background {
			lines = append(lines, "", "It goes on in the background.")
		}
		if in.Description != "" {
			lines = append(lines, "")
			for _, l := range p.whole(t, w, "the model says: ", in.Description) {
				lines = append(lines, t.dim.Render(l))
			}
		}
	}
	return lines
}

// changeBody shows a file's path, counts and diff.
func (p *permission) changeBody(t *theme, w int) *content {
	c := p.asked.Change
	added, removed := c.Counts()
	right := counts(t, added, removed)
	path := c.Path
	if rel, err := filepath.Rel(p.workspace, c.Path); err == nil && p.workspace != "" && filepath.IsLocal(rel) {
		path = rel
	} else if p.workspace != "" {
		path += " (outside of the workspace)"
	}
	if !c.Existed {
		path += " (new file)"
	}
	var lines []string
	if shown := visiblePath(t, path); text.Width(shown)+text.Width(right)+2 <= w {
		lines = append(lines, spread(t, w, t.bold.Render(shown), right))
	} else {
		lines = append(text.WrapKeep(shown, w), right)
	}
	if raw := p.asked.Request.Raw; raw != "" && absolute(p.workspace, raw) != c.Path { // D12: a link led here
		lines = append(lines, text.WrapKeep("written as "+visiblePath(t, raw), w)...)
	}
	for _, d := range c.Dirs {
		lines = append(lines, text.WrapKeep("new directory "+visiblePath(t, d), w)...)
	}
	if p.asked.Request.Reason == permissions.ReasonAskRule {
		lines = append(lines, p.whole(t, w, "asked by the rule ", p.asked.Request.Rule)...)
	}
	view, words := changeDiff(t, c)
	if words != "" {
		lines = append(lines, words)
	}
	return &content{head: lines, diff: view}
}

// visiblePath shows every odd character of a path, also line feeds: it stays one line (D12).
func visiblePath(t *theme, path string) string {
	return strings.ReplaceAll(text.Visible(path, t.warn), "\n", t.warn.Render("␊"))
}

// otherBody shows the subject and all arguments of any other call.
func (p *permission) otherBody(t *theme, w int) []string {
	r := p.asked.Request
	var lines []string
	subject := r.Raw
	if subject == "" {
		subject = r.Subject
	}
	if subject != "" {
		lines = append(lines, p.whole(t, w, "", subject)...)
		lines = append(lines, p.lookalikes(t, w, subject)...)
	}
	if r.Reason == permissions.ReasonAskRule {
		lines = append(lines, p.whole(t, w, "asked by the rule ", r.Rule)...)
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(r.Arguments), "", "  ") != nil {
		b.Reset()
		b.WriteString(r.Arguments)
	}
	if b.Len() > 0 && (len(subject) == 0 || p.asked.Remote != nil) || len(r.Arguments) > len(subject)+40 {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, p.whole(t, w, "", b.String())...)
	}
	return append(lines, p.remoteBody(t, w)...)
}

// remoteBody is what an MCP server says of its tool, marked as its words.
func (p *permission) remoteBody(t *theme, w int) (lines []string) {
	r := p.asked.Remote
	if r == nil {
		return nil
	}
	said := r.Description
	if len(r.Hints) > 0 {
		said = strings.TrimSpace(said + "\n(" + strings.Join(r.Hints, ", ") + ")")
	}
	lines = append(lines, "")
	lines = append(lines, p.whole(t, w, "tool ", r.Tool+" of the MCP server "+r.Server)...)
	if said != "" {
		lines = append(lines, styled(t.dim, p.whole(t, w, "the server says: ", said))...)
	}
	return lines
}

// whole wraps s without losing a character. Every line begins with blanks as
// wide as head, so that nothing in s can pose as a part of the dialog (D9).
func (p *permission) whole(t *theme, w int, head, s string) []string {
	var lines []string
	indent := strings.Repeat(" ", text.Width(head))
	for line := range strings.SplitSeq(text.Visible(s, t.warn), "\n") {
		for _, l := range text.WrapKeep(line, max(8, w-len(indent))) {
			if len(lines) == 0 {
				lines = append(lines, head+l)
			} else {
				lines = append(lines, indent+l)
			}
		}
	}
	return lines
}

// lookalikes warns of words that mix Latin letters with ones that can look the
// same (D6), and names those.
func (p *permission) lookalikes(t *theme, w int, s string) []string {
	var found []string
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if !strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
			continue
		}
		for _, r := range word {
			if code := fmt.Sprintf("%c (U+%04X)", r, r); unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian) && !slices.Contains(found, code) {
				found = append(found, code)
			}
		}
	}
	if found == nil {
		return nil
	}
	lines := text.Wrap("Letters of another script stand among Latin ones: "+strings.Join(found, ", "), w)
	return append([]string{""}, styled(t.warn, lines)...)
}
