package md

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/phero-agent/agent/ui/text"
)

// inliner makes one styled string of inline nodes. Line breaks in it are hard.
type inliner struct {
	t      *Theme
	src    []byte
	b      strings.Builder
	styles []text.Style // the ones that are on
}

// inline renders the inline children of n in a style.
func (r *renderer) inline(n ast.Node, style text.Style) string {
	in := inliner{t: r.t, src: r.src}
	in.push(style)
	in.children(n)
	in.pop()
	return text.Untab(in.b.String())
}

func (in *inliner) push(st text.Style) {
	in.styles = append(in.styles, st)
	in.b.WriteString(st.Open())
}

func (in *inliner) pop() {
	last := len(in.styles) - 1
	if in.styles[last] != "" {
		in.b.WriteString(text.Reset)
		for _, st := range in.styles[:last] {
			in.b.WriteString(st.Open())
		}
	}
	in.styles = in.styles[:last]
}

func (in *inliner) styled(st text.Style, s string) {
	in.push(st)
	in.b.WriteString(s)
	in.pop()
}

func (in *inliner) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		in.node(c)
	}
}

func (in *inliner) within(st text.Style, n ast.Node) {
	in.push(st)
	in.children(n)
	in.pop()
}

func (in *inliner) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		in.text(n)
	case *ast.String:
		in.b.Write(n.Value)
	case *ast.CodeSpan:
		in.codeSpan(n)
	case *ast.Emphasis:
		if n.Level == 2 {
			in.within(in.t.strong(), n)
		} else {
			in.within(in.t.emph(), n)
		}
	case *extast.Strikethrough:
		in.within(in.t.strike(), n)
	case *ast.Link:
		in.link(n)
	case *ast.Image:
		in.b.WriteString("[image: ")
		in.within(in.t.Link, n)
		in.b.WriteString("]")
		in.address(decode(n.Destination))
	case *ast.AutoLink:
		in.styled(in.t.URL, decode(n.Label(in.src)))
	case *ast.RawHTML:
		in.html(n)
	case *extast.TaskCheckBox:
		box := "[ ] "
		if n.IsChecked {
			box = "[x] "
		}
		in.styled(in.t.Marker, box)
	default:
		in.children(n)
	}
}

// html shows tags as the text they are, but for line breaks: in tables they have
// no other spelling.
func (in *inliner) html(n *ast.RawHTML) {
	tag := string(n.Segments.Value(in.src))
	switch strings.ToLower(strings.ReplaceAll(tag, " ", "")) {
	case "<br>", "<br/>":
		in.b.WriteByte('\n')
	default:
		in.b.WriteString(tag)
	}
}

func (in *inliner) text(n *ast.Text) {
	value := n.Segment.Value(in.src)
	if n.IsRaw() {
		in.b.Write(value)
	} else {
		in.b.WriteString(decode(value))
	}
	switch {
	case n.HardLineBreak():
		in.b.WriteByte('\n')
	case n.SoftLineBreak() && !wideBreak(value, n, in.src):
		in.b.WriteByte(' ')
	}
}

// wideBreak reports whether a soft break is between two wide characters: their
// scripts have no blanks between words.
func wideBreak(before []byte, n *ast.Text, src []byte) bool {
	next, ok := n.NextSibling().(*ast.Text)
	if !ok {
		return false
	}
	a, _ := utf8.DecodeLastRune(before)
	b, _ := utf8.DecodeRune(next.Segment.Value(src))
	return a >= 0x2e80 && b >= 0x2e80 && text.Width(string(a)) == 2 && text.Width(string(b)) == 2
}

// codeSpan keeps the backquotes: the sign beside the colour.
func (in *inliner) codeSpan(n *ast.CodeSpan) {
	var code bytes.Buffer
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			code.Write(t.Segment.Value(in.src))
		}
	}
	s := strings.ReplaceAll(code.String(), "\n", " ")
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 && (strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`")) {
		s = " " + s + " "
	}
	in.styled(in.t.Code, fence+s+fence)
}

// link shows the address behind the text: what a link says and where it leads
// are both seen.
func (in *inliner) link(n *ast.Link) {
	before := in.b.Len()
	in.within(in.t.Link, n)
	label := text.Strip(in.b.String()[before:])
	url := decode(n.Destination)
	if url != label && url != "mailto:"+label {
		in.address(url)
	}
}

func (in *inliner) address(url string) {
	if url != "" {
		in.b.WriteString(" ")
		in.styled(in.t.URL, "("+text.Line(url)+")")
	}
}

// decode resolves backslash escapes and entities. Entities can stand for control
// characters, so what they make is cleaned again.
func decode(b []byte) string {
	if bytes.IndexByte(b, '\\') >= 0 {
		b = util.UnescapePunctuations(b)
	}
	if bytes.IndexByte(b, '&') < 0 {
		return string(b)
	}
	b = util.ResolveEntityNames(util.ResolveNumericReferences(b))
	return text.Line(string(b))
}
