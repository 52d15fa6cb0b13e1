package md

import (
	"slices"
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/phero-agent/agent/ui/text"
)

const (
	gap       = 3 // cells of the line between two columns
	narrowest = 4 // cells of a column that is shrunk
)

// table renders a table fitted to the width: columns shrink and their cells wrap.
// Where there is no room for that, each row is a list of "header: cell".
func (r *renderer) table(n *extast.Table, width int) []string {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var style text.Style
		if _, ok := row.(*extast.TableHeader); ok {
			style = "1"
		}
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, r.inline(c, style))
		}
		rows = append(rows, cells)
	}
	cols := len(n.Alignments)
	if cols == 0 || len(rows) == 0 {
		return nil
	}
	widths, ok := columns(rows, cols, width)
	if !ok {
		return r.records(rows, width)
	}
	out := r.row(rows[0], widths, n.Alignments)
	out = append(out, r.rule(widths))
	for _, cells := range rows[1:] {
		out = append(out, r.row(cells, widths, n.Alignments)...)
	}
	return out
}

// columns returns the widths of the columns: as wide as their widest cells, and
// where that is too much the wide ones shrink to a common width.
func columns(rows [][]string, cols, width int) ([]int, bool) {
	room := width - gap*(cols-1)
	if room < narrowest*cols {
		return nil, false
	}
	widths := make([]int, cols)
	for _, cells := range rows {
		for i, c := range cells[:min(len(cells), cols)] {
			widths[i] = max(widths[i], 1)
			for line := range strings.SplitSeq(c, "\n") {
				widths[i] = max(widths[i], text.Width(line))
			}
		}
	}
	if total(widths, width) <= room && slices.Max(widths) <= width {
		return widths, true
	}
	limit := room // the widest that a column may be
	for limit > 1 && total(widths, limit) > room {
		limit--
	}
	rest := room - total(widths, limit)
	for i, w := range widths {
		if w > limit {
			widths[i] = limit
			if rest > 0 {
				widths[i]++
				rest--
			}
		}
	}
	return widths, true
}

// total returns the sum of widths, none counted for more than limit.
func total(widths []int, limit int) int {
	sum := 0
	for _, w := range widths {
		sum += min(w, limit)
	}
	return sum
}

// row renders one row, which has as many lines as its highest cell.
func (r *renderer) row(cells []string, widths []int, align []extast.Alignment) []string {
	wrapped := make([][]string, len(widths))
	high := 1
	for i := range widths {
		if i < len(cells) {
			wrapped[i] = text.Wrap(cells[i], widths[i])
			high = max(high, len(wrapped[i]))
		}
	}
	between := " " + r.t.Rule.Render(r.signs.bar) + " "
	out := make([]string, high)
	for y := range out {
		parts := make([]string, len(widths))
		for i, w := range widths {
			cell := ""
			if y < len(wrapped[i]) {
				cell = wrapped[i][y]
			}
			parts[i] = aligned(cell, w, align[i])
		}
		out[y] = strings.TrimRight(strings.Join(parts, between), " ")
	}
	return out
}

func aligned(s string, w int, a extast.Alignment) string {
	free := max(w-text.Width(s), 0)
	switch a {
	case extast.AlignRight:
		return spaces(free) + s
	case extast.AlignCenter:
		return spaces(free/2) + s + spaces(free-free/2)
	}
	return s + spaces(free)
}

func (r *renderer) rule(widths []int) string {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat(r.signs.line, w)
	}
	return r.t.Rule.Render(strings.Join(parts, r.signs.line+r.signs.cross+r.signs.line))
}

// records renders a table that is too narrow for its columns.
func (r *renderer) records(rows [][]string, width int) []string {
	var out []string
	for n, cells := range rows[1:] {
		if n > 0 {
			out = append(out, "")
		}
		for i, c := range cells {
			head := ""
			if i < len(rows[0]) && rows[0][i] != "" {
				head = rows[0][i] + ": "
			}
			out = append(out, text.Wrap(head+c, width)...)
		}
	}
	if len(rows) == 1 {
		return text.Wrap(strings.Join(rows[0], ", "), width)
	}
	return out
}
