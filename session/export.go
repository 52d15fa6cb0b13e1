package session

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Export is a session as a whole, for other programs.
type Export struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Workspace string    `json:"workspace"`
	Created   time.Time `json:"created"`
	Entries   []Entry   `json:"entries"` // all of the log, also what the person went back behind
}

// NewExport makes the export of a session's entries.
func NewExport(id string, entries []Entry) Export {
	x := Export{ID: id, Entries: entries, Title: TitleOf(entries)}
	for _, e := range entries {
		if e.Kind == KindHead {
			x.Workspace, x.Created = e.Head.Workspace, e.Time
			break
		}
	}
	return x
}

// TitleOf is the newest title in some entries, else the first line of the first prompt.
func TitleOf(entries []Entry) (title string) {
	prompt := ""
	for _, e := range entries {
		switch {
		case e.Kind == KindTitle:
			title = titleLine(e.Title)
		case prompt == "" && e.Kind == KindMessage && e.Message.Role == RoleUser && e.Message.Parent == "":
			prompt = titleLine(e.Message.Text)
		}
	}
	if title == "" {
		return prompt
	}
	return title
}

// ChangedPaths lists the files that some entries changed and did not take back,
// each once, the latest change last.
func ChangedPaths(entries []Entry) (paths []string) {
	byID := map[string]string{}
	var done []string
	for _, e := range entries {
		switch e.Kind {
		case KindChange, KindFound:
			for _, c := range e.changes() {
				byID[c.ID] = c.Path
				if e.Kind == KindFound {
					done = append(done, c.ID)
				}
			}
		case KindDone:
			done = append(done, e.Done)
		case KindUndo:
			if e.Undo.Redo {
				done = append(done, e.Undo.Changes...)
			} else {
				done = slices.DeleteFunc(done, func(id string) bool { return slices.Contains(e.Undo.Changes, id) })
			}
		}
	}
	for _, id := range slices.Backward(done) {
		if path := byID[id]; path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Reverse(paths)
	return paths
}

// changes are the changes of files that an entry records.
func (e Entry) changes() []Change {
	switch {
	case e.Change != nil:
		return []Change{*e.Change}
	case e.Found != nil:
		return e.Found.Changes
	}
	return nil
}

// WriteJSON writes one JSON object.
func (x Export) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(x)
}

// WriteMarkdown writes the conversation as a person reads it: what was said, the
// calls with their results, and what they changed. What the person went back
// behind is left out.
func (x Export) WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	title := x.Title
	if title == "" {
		title = x.ID
	}
	fmt.Fprintf(b, "# %s\n\nSession %s in %s, begun %s.\n", title, x.ID, x.Workspace, x.Created.Local().Format("2006-01-02 15:04"))
	names := map[string]string{} // of calls
	for _, e := range Active(x.Entries) {
		switch e.Kind {
		case KindMessage:
			if e.Message.Parent == "" {
				writeMessage(b, e.Message, names)
			}
		case KindChange:
			fmt.Fprintf(b, "\n%s: +%d −%d\n", codeSpan(e.Change.Path), e.Change.Added, e.Change.Removed)
			for _, h := range e.Change.Hunks {
				fence(b, "diff", strings.Join(h.Lines, "\n"))
			}
		case KindFound:
			fmt.Fprintf(b, "\nChanged while commands ran:\n\n")
			for _, c := range e.Found.Changes {
				fmt.Fprintf(b, "- %s: +%d −%d\n", codeSpan(c.Path), c.Added, c.Removed)
			}
			for _, l := range e.Found.Lost {
				fmt.Fprintf(b, "- %s, which cannot be undone\n", codeSpan(l.Path))
			}
		case KindUndo:
			word := "taken back"
			if e.Undo.Redo {
				word = "made again"
			}
			fmt.Fprintf(b, "\n*%s %s.*\n", count(len(e.Undo.Changes), "change was", "changes were"), word)
		case KindCompact:
			b.WriteString("\n*The conversation was shortened here for the model.*\n")
		case KindTurn:
			if e.Turn.Outcome != OutcomeDone {
				fmt.Fprintf(b, "\n*The turn ended: %s %s*\n", e.Turn.Outcome, e.Turn.Error)
			}
		}
	}
	return b.Flush()
}

func writeMessage(b *bufio.Writer, m *Message, names map[string]string) {
	switch m.Role {
	case RoleUser:
		fmt.Fprintf(b, "\n## You\n\n%s\n", m.Text)
		if len(m.Images) > 0 {
			fmt.Fprintf(b, "\n*with %s*\n", count(len(m.Images), "image", "images"))
		}
	case RoleAssistant:
		name := m.Model
		if name == "" {
			name = "Model"
		}
		fmt.Fprintf(b, "\n## %s\n", name)
		if m.Text != "" {
			fmt.Fprintf(b, "\n%s\n", m.Text)
		}
		for _, c := range m.Calls {
			names[c.ID] = c.Name
			fmt.Fprintf(b, "\n### %s\n", c.Name)
			fence(b, "json", c.Arguments)
		}
	case RoleTool:
		fmt.Fprintf(b, "\nResult of %s: %s\n", names[m.CallID], m.Status)
		fence(b, "", m.Text)
	}
}

// fence writes a code block whose fence is longer than any in the text.
func fence(b *bufio.Writer, language, text string) {
	mark := strings.Repeat("`", max(3, longestRun(text)+1))
	fmt.Fprintf(b, "\n%s%s\n%s\n%s\n", mark, language, strings.TrimSuffix(text, "\n"), mark)
}

func codeSpan(text string) string {
	mark := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return mark + text + mark
}

// longestRun is the longest run of backticks.
func longestRun(text string) int {
	runs := strings.FieldsFunc(text, func(r rune) bool { return r != '`' })
	if len(runs) == 0 {
		return 0
	}
	return len(slices.MaxFunc(runs, func(a, b string) int { return len(a) - len(b) }))
}
