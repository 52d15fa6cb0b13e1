package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/phero-agent/agent/tools/human"
	"github.com/phero-agent/agent/tools/todo"
	"github.com/phero-agent/agent/ui/text"
)

// body is what stands below a call's header, in lines of at most w cells.
func body(k *look, c *call, w int, open bool) []string {
	t := k.theme
	switch {
	case c.state == callWaiting || c.state == callAsking && c.output == nil:
		return nil
	case c.state == callDenied || c.state == callFailed && c.bash() == nil:
		rows := errorRows
		if open {
			rows = openRows
		}
		return clip(t, styled(t.fail, text.Wrap(text.Clean(strings.TrimSpace(c.result)), w)), rows, w)
	}
	switch c.Name {
	case "bash", "bash_output":
		return commandBody(k, c, w, open)
	case "write", "edit", "multi_edit":
		return editBody(t, c, w, open)
	case "agent":
		return agentBody(k, c, w, open)
	case "user_interaction":
		return answerBody(t, c, w)
	case "todo_write":
		return nil
	}
	if c.state == callRunning && c.progress != "" {
		return []string{t.dim.Render(text.Truncate(text.Line(c.progress), w, t.sign.ellipsis))}
	}
	if !open || c.result == "" {
		return nil
	}
	return clip(t, text.Wrap(text.Clean(strings.TrimRight(c.result, "\n")), w), openRows, w)
}

func styled(s text.Style, lines []string) []string {
	for i := range lines {
		lines[i] = s.Render(lines[i])
	}
	return lines
}

// clip keeps the first n lines, and says how many there are more.
func clip(t *theme, lines []string, n, w int) []string {
	if len(lines) <= n+1 {
		return lines
	}
	note := fmt.Sprintf("%s %d more lines", t.sign.ellipsis, len(lines)-n)
	if n < openRows {
		note += " " + t.sign.dot + " enter"
	}
	return append(lines[:n:n], t.dim.Render(text.Truncate(note, w, "")))
}

// commandBody is the end of a command's output.
func commandBody(k *look, c *call, w int, open bool) []string {
	t := k.theme
	lines, above := c.lines()
	tail := okTail
	switch {
	case open:
		tail = openRows
	case !c.over():
		tail = liveTail
	case c.state == callFailed:
		tail = failTail
	}
	var out []string
	if n := len(lines) - tail; n > 0 {
		above += n
		lines = lines[n:]
	}
	for _, l := range lines {
		out = append(out, text.Truncate(l, w, t.sign.ellipsis))
	}
	if above > 0 {
		note := fmt.Sprintf("%s %s above", t.sign.ellipsis, plural(above, "line", "lines"))
		switch {
		case !c.over():
			note += " " + t.sign.dot + " " + t.key("ctrl+t") + " to watch"
		case !open:
			note += " " + t.sign.dot + " enter"
		}
		out = append(out, t.dim.Render(text.Truncate(note, w, "")))
	}
	if quiet := silence(k, c); quiet > 0 {
		note := fmt.Sprintf("no output for %s %s ctrl+b background %s esc stop", clock(quiet), t.sign.dot, t.sign.dot)
		out = append(out, t.warn.Render(text.Truncate(note, w, "")))
	}
	return out
}

// silence is for how long a running command printed nothing, once that is long.
func silence(k *look, c *call) time.Duration {
	if c.state != callRunning || c.silent.IsZero() {
		return 0
	}
	return k.now.Sub(c.silent)
}

// editBody is the diff of what was written.
func editBody(t *theme, c *call, w int, open bool) []string {
	most := diffRows
	if open {
		most = openRows
	}
	rows, total := writtenDiff(t, c.changes, w, most)
	if n := total - len(rows); n > 0 {
		note := fmt.Sprintf("%s %d more lines", t.sign.ellipsis, n)
		if !open {
			note += " " + t.sign.dot + " enter"
		}
		rows = append(rows, t.dim.Render(text.Truncate(note, w, "")))
	}
	return rows
}

// agentBody is a sub-agent's last words, or all of its calls.
func agentBody(k *look, c *call, w int, open bool) []string {
	var out []string
	subs := c.subs
	if !open && len(subs) > 1 {
		subs = subs[len(subs)-1:]
	}
	for _, s := range subs {
		if !open && c.over() {
			break
		}
		out = append(out, header(k, s, w))
	}
	words := c.words
	if c.over() {
		words = c.result
		var r struct {
			Output string `json:"output"`
		}
		if json.Unmarshal([]byte(c.result), &r) == nil && r.Output != "" {
			words = r.Output
		}
	}
	words = strings.TrimSpace(text.Clean(words))
	if words == "" {
		return out
	}
	lines := text.Wrap(words, w)
	if !open {
		lines = lines[len(lines)-1:]
	}
	return clip(k.theme, append(out, lines...), openRows, w)
}

// answerBody is what the person answered.
func answerBody(t *theme, c *call, w int) []string {
	var out struct {
		Answers map[string]human.Answer `json:"answers"`
	}
	if json.Unmarshal([]byte(c.result), &out) != nil {
		return nil
	}
	var in human.Input
	_ = json.Unmarshal([]byte(c.Arguments), &in) // the result was made of it
	var lines []string
	for _, q := range in.Questions {
		a, ok := out.Answers[q.Header]
		if !ok {
			continue
		}
		said := a.Selections
		if a.Other != "" {
			said = append(said, a.Other)
		}
		line := text.Line(q.Header) + ": " + text.Line(strings.Join(said, ", "))
		lines = append(lines, text.Truncate(line, w, t.sign.ellipsis))
	}
	return lines
}

// todoSummary is the list in a line: how far it is, and the step it is at.
func todoSummary(t *theme, c *call) string {
	var in struct {
		Todos []todo.Item `json:"todos"`
	}
	if json.Unmarshal([]byte(c.Arguments), &in) != nil {
		return "todo"
	}
	return "todo " + todoLine(t, in.Todos)
}

// todoLine says "2/4 ▸ Run the tests".
func todoLine(t *theme, items []todo.Item) string {
	done, current := 0, ""
	for _, it := range items {
		switch it.Status {
		case todo.Completed:
			done++
		case todo.InProgress:
			current = it.Content
		}
	}
	s := fmt.Sprintf("%d/%d", done, len(items))
	if current != "" {
		s += " " + t.sign.current + " " + text.Line(current)
	}
	return s
}
