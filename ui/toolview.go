package ui

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/ui/text"
)

// How much of a call's body is shown until it is unfolded.
const (
	liveTail   = 6  // lines of a running command
	okTail     = 3  // of one that went well
	failTail   = 10 // of one that did not
	diffRows   = 12 // of a diff
	errorRows  = 4  // of an error
	openRows   = 400
	clockAfter = 2 * time.Second // a call runs until its time is shown
)

// toolItem is a call in the transcript: a header, and what belongs below it.
type toolItem struct {
	entry
	call *call
}

func (i *toolItem) Final() bool      { return i.call.over() }
func (i *toolItem) Estimate(int) int { return 2 }

func (i *toolItem) plain() string {
	c := i.call
	s := c.Name + " " + subject(c, i.look.workspace)
	if c.Name == "bash" {
		if lines, _ := c.lines(); len(lines) > 0 {
			return s + "\n" + text.Clean(strings.Join(lines, "\n"))
		}
	}
	return strings.TrimSpace(s + "\n" + c.result)
}

func (i *toolItem) Lines(w int) []string {
	out := append(i.spaced(), header(i.look, i.call, w))
	for _, l := range body(i.look, i.call, max(1, w-4), i.open) {
		out = append(out, "    "+l)
	}
	return out
}

// exploreItem is calls in a row that only look around; three or more fold into one row.
type exploreItem struct {
	entry
	calls []*call
}

const foldFrom = 3

// explores says whether a tool only looks around.
func explores(tool string) bool {
	switch tool {
	case "read", "grep", "glob", "ls":
		return true
	}
	return false
}

func (i *exploreItem) Estimate(int) int { return min(len(i.calls), foldFrom) }

func (i *exploreItem) Final() bool {
	for _, c := range i.calls {
		if !c.over() {
			return false
		}
	}
	return true
}

func (i *exploreItem) plain() string {
	var lines []string
	for _, c := range i.calls {
		lines = append(lines, c.Name+" "+subject(c, i.look.workspace))
	}
	return strings.Join(lines, "\n")
}

func (i *exploreItem) Lines(w int) []string {
	out := i.spaced()
	folds := len(i.calls) >= foldFrom && !i.open
	if folds {
		out = append(out, i.summary(w))
	}
	for _, c := range i.calls {
		if folds && (c.state == callDone || c.state == callWaiting) {
			continue
		}
		out = append(out, header(i.look, c, w))
		for _, l := range body(i.look, c, max(1, w-4), false) {
			out = append(out, "    "+l)
		}
	}
	return out
}

// summary is the row that stands for the calls that are folded.
func (i *exploreItem) summary(w int) string {
	t := i.look.theme
	files, searches, waiting := map[string]bool{}, 0, false
	for _, c := range i.calls {
		switch {
		case c.state == callWaiting:
			waiting = true
		case c.state != callDone:
		case c.Name == "read":
			files[c.arg("file_path")] = true
		default:
			searches++
		}
	}
	var parts []string
	if n := len(files); n > 0 {
		parts = append(parts, plural(n, "file", "files"))
	}
	if searches > 0 {
		parts = append(parts, plural(searches, "search", "searches"))
	}
	if len(parts) == 0 {
		parts = []string{plural(len(i.calls), "call", "calls")}
	}
	sign, word := t.ok.Render(t.sign.done), "explored"
	if waiting {
		sign, word = t.accent.Render(t.sign.running), "exploring"
	}
	return spread(t, w, sign+" "+word+" "+strings.Join(parts, ", "), t.dim.Render(t.sign.folded))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// header is a call's first row: sign, name, subject, and a detail at the right.
func header(k *look, c *call, w int) string {
	t := k.theme
	name := text.Line(c.Name)
	if real := c.arg("tool"); c.Name == "mcp_call" && real != "" {
		name = text.Line(real)
	}
	right := detail(k, c)
	if c.Name == "todo_write" && c.state == callDone {
		return text.Truncate(sign(k, c)+" "+todoSummary(t, c), w, t.sign.ellipsis)
	}
	left := sign(k, c) + " " + t.bold.Render(name)
	if s := subject(c, k.workspace); s != "" {
		left += "  " + s
	}
	return spread(t, w, left, right)
}

// sign is a call's state in one cell.
func sign(k *look, c *call) string {
	t := k.theme
	switch c.state {
	case callAsking:
		return t.warn.Render(t.sign.waiting)
	case callRunning:
		return t.accent.Render(t.sign.running)
	case callDone:
		return t.ok.Render(t.sign.done)
	case callFailed:
		return t.fail.Render(t.sign.failed)
	case callDenied, callInterrupted:
		return t.warn.Render(t.sign.denied)
	}
	return t.dim.Render(t.sign.pending)
}

// subject is what a call is about, in one line that is safe to show.
func subject(c *call, workspace string) string {
	switch c.Name {
	case "read", "write", "edit", "multi_edit":
		return text.Line(relative(workspace, c.arg("file_path")))
	case "grep":
		s := text.Line(c.arg("pattern"))
		if p := c.arg("glob"); p != "" {
			s += "  " + text.Line(p)
		}
		if p := c.arg("path"); p != "" {
			s += "  " + text.Line(relative(workspace, p))
		}
		return s
	case "glob":
		return text.Line(strings.TrimSpace(c.arg("pattern") + "  " + relative(workspace, c.arg("path"))))
	case "bash":
		return text.Line(c.arg("command"))
	case "agent":
		return text.Line(strings.TrimSpace(c.arg("name") + "  " + c.arg("description")))
	case "todo_write":
		return ""
	case "user_interaction":
		return text.Line(questionHeaders(c))
	}
	if c.Name == "mcp_call" {
		var real struct{ Arguments json.RawMessage }
		if json.Unmarshal([]byte(c.Arguments), &real) == nil {
			return text.Line(string(real.Arguments[:min(len(real.Arguments), 1000)]))
		}
	}
	for _, key := range []string{"url", "command", "bash_id", "shell_id", "path", "query"} {
		if s := c.arg(key); s != "" {
			return text.Line(s)
		}
	}
	if c.Arguments == "" || c.Arguments == "{}" {
		return ""
	}
	return text.Line(c.Arguments[:min(len(c.Arguments), 1000)])
}

// relative is a path below the workspace without the workspace.
func relative(workspace, path string) string {
	if workspace == "" || !filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(workspace, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// absolute is a path as it is without looking at links.
func absolute(workspace, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(workspace, path)
}

func questionHeaders(c *call) string {
	var in struct {
		Questions []struct {
			Header string `json:"header"`
		} `json:"questions"`
	}
	if json.Unmarshal([]byte(c.Arguments), &in) != nil {
		return ""
	}
	var heads []string
	for _, q := range in.Questions {
		heads = append(heads, q.Header)
	}
	return strings.Join(heads, ", ")
}

// detail is what stands at the right of a header.
func detail(k *look, c *call) string {
	t := k.theme
	switch c.state {
	case callRunning:
		spent := ""
		if d := c.spent(k.now); d >= clockAfter {
			spent = clock(d) + " "
		}
		return spent + t.accent.Render(k.spinner())
	case callAsking:
		return t.warn.Render("asks you")
	case callDenied:
		return t.warn.Render("denied")
	case callInterrupted:
		return t.warn.Render("interrupted")
	case callWaiting:
		return ""
	}
	if r := c.bash(); r != nil {
		return bashDetail(t, c, r)
	}
	if c.state == callFailed {
		return t.fail.Render("failed")
	}
	return t.dim.Render(doneDetail(t, c))
}

func bashDetail(t *theme, c *call, r *bashResult) string {
	var parts []string
	switch {
	case r.Running && c.Name == "bash":
		parts = append(parts, "in the background as "+text.Line(r.BashID))
	case r.Running:
		parts = append(parts, "still running")
	case r.TimedOut:
		parts = append(parts, t.fail.Render("timed out"))
	case r.ExitCode != 0:
		parts = append(parts, t.fail.Render(fmt.Sprintf("exit %d", r.ExitCode)))
	}
	if c.found > 0 {
		parts = append(parts, plural(c.found, "file", "files")+" changed")
	}
	if reach := reachName(t, r.Reach); reach != "" {
		parts = append(parts, reach)
	}
	if c.elapsed >= clockAfter {
		parts = append(parts, clock(c.elapsed))
	}
	return strings.Join(parts, " "+t.sign.dot+" ")
}

// doneDetail sums up a result, without its style.
func doneDetail(t *theme, c *call) string {
	switch c.Name {
	case "read":
		return plural(strings.Count(strings.TrimSuffix(c.result, "\n"), "\n")+1, "line", "lines")
	case "write", "edit", "multi_edit":
		if len(c.changes) > 0 {
			added, removed := c.counts()
			if slices.ContainsFunc(c.changes, func(ch session.Change) bool { return ch.Tool == session.ByEditor }) {
				return "your version " + counts(t, added, removed)
			}
			return counts(t, added, removed)
		}
	case "grep":
		return grepDetail(c)
	case "glob":
		var out struct {
			Paths     []string `json:"paths"`
			Truncated bool     `json:"truncated"`
		}
		if json.Unmarshal([]byte(c.result), &out) == nil {
			return more(plural(len(out.Paths), "file", "files"), out.Truncated)
		}
	case "web_fetch":
		return text.Size(int64(len(c.result)))
	case "agent":
		if n := len(c.subs); n > 0 {
			return plural(n, "call", "calls")
		}
	}
	if c.elapsed >= clockAfter {
		return clock(c.elapsed)
	}
	if strings.HasPrefix(c.Name, "mcp_") {
		return text.Size(int64(len(c.result)))
	}
	return ""
}

func more(s string, truncated bool) string {
	if truncated {
		return s + " and more"
	}
	return s
}

// grepDetail counts matches where lines were asked for, else files.
func grepDetail(c *call) string {
	var out struct {
		Output    []string `json:"output"`
		Truncated bool     `json:"truncated"`
	}
	if json.Unmarshal([]byte(c.result), &out) != nil {
		return ""
	}
	if c.arg("output_mode") != "content" {
		return more(plural(len(out.Output), "file", "files"), out.Truncated)
	}
	matches, files := 0, map[string]bool{}
	for _, l := range out.Output {
		path, rest, _ := strings.Cut(l, ":")
		number, _, ok := strings.Cut(rest, ":")
		if _, err := strconv.Atoi(number); ok && err == nil {
			matches++
			files[path] = true
		}
	}
	if matches == 0 {
		return more(plural(len(out.Output), "line", "lines"), out.Truncated)
	}
	return more(plural(matches, "match", "matches")+" in "+plural(len(files), "file", "files"), out.Truncated)
}
