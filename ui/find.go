package ui

import (
	"strings"

	"github.com/phero-agent/agent/ui/list"
	"github.com/phero-agent/agent/ui/text"
)

// search goes to the next row with the text, down or up, and says whether there is
// one. What is folded is looked at as well, and unfolded where it is found.
func (tr *transcript) search(what string, by int) bool {
	if what != "" {
		tr.find = what
	}
	n := len(tr.items)
	if tr.find == "" || n == 0 {
		return false
	}
	tr.cursor.Item = min(tr.cursor.Item, n-1)
	if line, ok := tr.findIn(tr.cursor.Item, tr.cursor.Line+by, by); ok {
		tr.goTo(list.Row{Item: tr.cursor.Item, Line: line})
		return true
	}
	for k := 1; k <= n; k++ {
		i := ((tr.cursor.Item+by*k)%n + n) % n
		from := 0
		if by < 0 {
			from = lineEnd
		}
		if line, ok := tr.findIn(i, from, by); ok {
			tr.goTo(list.Row{Item: i, Line: line})
			return true
		}
		if contains(tr.items[i].plain(), tr.find) {
			tr.unfoldFound(i, from, by)
			return true
		}
	}
	return false
}

// unfoldFound goes to an item that has the text where it is not seen: behind a fold,
// or broken over two rows.
func (tr *transcript) unfoldFound(i, from, by int) {
	it := tr.items[i]
	if !it.unfolded() {
		it.unfold(true)
		tr.changed(i)
	}
	row := tr.start(i)
	if line, ok := tr.findIn(i, from, by); ok {
		row.Line = line
	}
	tr.goTo(row)
}

// findIn is the first row of an item with the text, from a row on, down or up.
func (tr *transcript) findIn(i, from, by int) (line int, ok bool) {
	lines := tr.items[i].Lines(max(1, tr.inner))
	for line = min(from, len(lines)-1); line >= 0 && line < len(lines); line += by {
		if contains(text.Strip(lines[line]), tr.find) {
			return line, true
		}
	}
	return 0, false
}

func contains(s, what string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(what))
}

// goTo puts the cursor on a row, and the row into the window.
func (tr *transcript) goTo(row list.Row) {
	tr.cursor = row
	tr.extend()
	tr.list.Show(row.Item, row.Line)
}

// highlightFound shows where in a row the text is that was searched.
func (tr *transcript) highlightFound(line string) string {
	if tr.find == "" {
		return line
	}
	plain := text.Strip(line)
	low, what := strings.ToLower(plain), strings.ToLower(tr.find)
	if len(low) != len(plain) { // the places in the two are not the same
		return line
	}
	for end := len(low); ; {
		i := strings.LastIndex(low[:end], what)
		if i < 0 {
			return line
		}
		left := text.Width(plain[:i])
		right := left + text.Width(plain[i:i+len(what)])
		line = text.Cut(line, 0, left) + tr.look.theme.selected.Render(plain[i:i+len(what)]) + text.Cut(line, right, lineEnd)
		end = i
	}
}
