package md

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/phero-agent/agent/ui/text"
)

const (
	codeIndent = 2  // cells before the lines of a listing
	minWidth   = 12 // of nested blocks: deeper ones are no longer indented
)

// renderer makes lines of the blocks of one parsed source.
type renderer struct {
	t        *Theme
	src      []byte
	listings *listings
	unclosed bool // the last listing may still grow: it is not coloured
	signs    signs
}

// blocks renders the block children of n.
func (r *renderer) blocks(n ast.Node, width int) []string {
	return r.siblings(n.FirstChild(), nil, width)
}

// siblings renders blocks from n up to end.
func (r *renderer) siblings(n, end ast.Node, width int) []string {
	var out []string
	for ; n != nil && n != end; n = n.NextSibling() {
		lines := r.block(n, width)
		if len(out) > 0 && len(lines) > 0 && !tight(n) {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// tight reports whether n follows the block before without a blank line.
func tight(n ast.Node) bool {
	item, ok := n.Parent().(*ast.ListItem)
	if !ok {
		return false
	}
	list, ok := item.Parent().(*ast.List)
	return ok && list.IsTight
}

func (r *renderer) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return r.heading(n, width)
	case *ast.ThematicBreak:
		return []string{r.t.Rule.Render(strings.Repeat(r.signs.line, min(width, 40)))}
	case *ast.FencedCodeBlock:
		lang := ""
		if info := n.Language(r.src); info != nil {
			lang = string(info)
		}
		return r.code(n, lang, width)
	case *ast.CodeBlock:
		return r.code(n, "", width)
	case *ast.HTMLBlock:
		return r.html(n, width)
	case *ast.Blockquote:
		bar := r.t.Quote.Render(r.signs.bar) + " "
		return prefix(r.blocks(n, r.inner(width, 2)), bar, bar, width)
	case *ast.List:
		return r.list(n, width)
	case *extast.Table:
		return r.table(n, width)
	case *ast.Paragraph, *ast.TextBlock:
		return text.Wrap(r.inline(n, ""), width)
	}
	return r.blocks(n, width)
}

// inner returns the width inside of an indent.
func (r *renderer) inner(width, indent int) int {
	if width-indent < minWidth {
		return width
	}
	return width - indent
}

// prefix puts first before the first line and rest before the others, unless
// the lines have no room for it.
func prefix(lines []string, first, rest string, width int) []string {
	if width-text.Width(first) < minWidth {
		return lines
	}
	for i, s := range lines {
		p := rest
		if i == 0 {
			p = first
		}
		if s == "" {
			p = strings.TrimRight(p, " ")
		}
		lines[i] = p + s
	}
	return lines
}

// heading keeps the # signs: they tell the levels apart without colours.
func (r *renderer) heading(n *ast.Heading, width int) []string {
	style := r.t.Heading.With("1")
	return text.Wrap(style.Render(strings.Repeat("#", n.Level)+" ")+r.inline(n, style), width)
}

func (r *renderer) list(n *ast.List, width int) []string {
	var out []string
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		marker := r.signs.bullet + " "
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		indent := len(marker)
		if !n.IsOrdered() {
			indent = 2
		}
		lines := r.blocks(c, r.inner(width, indent))
		if len(lines) == 0 {
			lines = []string{""}
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, "")
		}
		out = append(out, prefix(lines, r.t.Marker.Render(marker), spaces(indent), width)...)
	}
	return out
}

func spaces(n int) string { return strings.Repeat(" ", n) }

// html shows HTML as the text it is.
func (r *renderer) html(n *ast.HTMLBlock, width int) []string {
	var b bytes.Buffer
	b.Write(n.Lines().Value(r.src))
	if n.HasClosure() {
		b.Write(n.ClosureLine.Value(r.src))
	}
	return text.Wrap(text.Untab(strings.TrimRight(b.String(), "\n")), width)
}

// code renders a listing: indented, and coloured unless more of it may come.
func (r *renderer) code(n ast.Node, lang string, width int) []string {
	code := string(n.Lines().Value(r.src))
	var lines []string
	if !r.unclosed || !last(n) {
		lines = r.listings.colored(lang, code, r.t)
	}
	if lines == nil {
		lines = plainCode(code)
	}
	return codeLines(nil, lines, r.t, width)
}

// last reports whether nothing of the document comes after n.
func last(n ast.Node) bool {
	for ; n != nil; n = n.Parent() {
		if n.NextSibling() != nil {
			return false
		}
	}
	return true
}

// plainCode splits code into its lines.
func plainCode(code string) []string {
	return strings.Split(text.Untab(strings.TrimSuffix(code, "\n")), "\n")
}

// codeLines appends the lines of a listing, broken at the width, to out.
func codeLines(out, lines []string, t *Theme, width int) []string {
	indent := min(codeIndent, max(width-1, 0))
	margin := spaces(indent)
	for _, s := range lines {
		if s == "" {
			out = append(out, "")
			continue
		}
		for _, part := range text.Hardwrap(s, max(width-indent, 1)) {
			out = append(out, margin+t.Block.Render(part))
		}
	}
	return out
}
