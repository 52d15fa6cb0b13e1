package web

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

const (
	// moreNodes is how many nodes a page may have beyond one for each character
	// that is needed: those that hold no text.
	moreNodes = 10_000

	// maxFilled is how many cells may be added to a table to make all its rows as
	// long as the longest; one that needs more is read row by row.
	maxFilled = 10_000
)

// trimmer takes from a document what is not shown and what is not needed.
type trimmer struct {
	need  int // characters, 0: all
	base  *url.URL
	title string
	cut   bool // something was left out that is shown

	size, nodes int
}

// trim treats the children of a node; the parser allows 512 levels.
func (t *trimmer) trim(parent *html.Node) {
	for n, next := parent.FirstChild, (*html.Node)(nil); n != nil; n = next {
		next = n.NextSibling
		if !t.keep(n) {
			parent.RemoveChild(n)
		}
	}
}

func (t *trimmer) keep(n *html.Node) bool {
	if n.Type == html.ElementNode && n.Data == "head" {
		t.readHead(n)
	}
	if n.Type == html.CommentNode || n.Type == html.DoctypeNode || n.Type == html.ElementNode && isHidden(n.Data, n.Attr) {
		return false
	}
	t.nodes++
	if t.need > 0 && (t.size >= t.need || t.nodes > t.need+moreNodes) {
		t.cut = t.cut || n.Type == html.ElementNode || strings.TrimSpace(n.Data) != ""
		return false
	}
	switch n.Type {
	case html.TextNode:
		t.trimText(n)
		return n.Data != ""
	case html.ElementNode:
		n.Attr = neededAttributes(n)
		t.trim(n)
		if n.Data == "table" && filled(n) > maxFilled {
			asBlocks(n)
		}
	}
	return true
}

func (t *trimmer) trimText(n *html.Node) {
	n.Data = visible(n.Data)
	if t.need > 0 {
		var cut bool
		n.Data, cut = prefix(n.Data, t.need-t.size)
		t.cut = t.cut || cut
		t.size += collapsed(n.Data)
	}
}

// readHead takes the title and the base of links.
func (t *trimmer) readHead(head *html.Node) {
	for n := head.FirstChild; n != nil; n = n.NextSibling {
		switch {
		case n.Data == "title" && t.title == "" && n.FirstChild != nil:
			t.title = clip(oneLine(visible(n.FirstChild.Data)), 300)
		case n.Data == "base":
			if u, err := t.base.Parse(attribute(n, "href")); err == nil {
				t.base = u
			}
		}
	}
}

// neededAttributes leaves what the converter reads. A span of a billion columns
// is nothing that it should see.
func neededAttributes(n *html.Node) []html.Attribute {
	var kept []html.Attribute
	for _, a := range n.Attr {
		switch {
		case a.Key == "href" && n.Data == "a", a.Key == "alt" && n.Data == "img", a.Key == "start" && n.Data == "ol":
			kept = append(kept, a)
		case a.Key == "class" && (n.Data == "code" || n.Data == "pre") && !strings.ContainsFunc(a.Val, notOfClasses):
			kept = append(kept, a) // names the language
		}
	}
	return kept
}

func notOfClasses(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -_+#.", r)
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// filled counts the cells that a table lacks for all rows to be as long as the longest.
func filled(table *html.Node) int {
	rows, cells, inRow, longest := 0, 0, 0, 0
	for n := range table.Descendants() {
		switch n.Data {
		case "tr":
			rows, inRow = rows+1, 0
		case "td", "th":
			cells, inRow = cells+1, inRow+1
			longest = max(longest, inRow)
		}
	}
	return rows*longest - cells
}

// asBlocks turns a table into blocks.
func asBlocks(table *html.Node) {
	table.Data, table.DataAtom = "div", 0
	for n := range table.Descendants() {
		switch n.Data {
		case "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup", "table":
			n.Data, n.DataAtom = "div", 0
		}
	}
}

// visible removes characters that are not seen, or turn the order of others: a
// page can hide text for the model in them.
func visible(s string) string {
	if strings.IndexFunc(s, isInvisible) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, s)
}

func isInvisible(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n' && r != '\t' && r != '\r'
	case r < 0x7f:
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, // letters without ink
		0xf002: // the converter's own mark
		return true
	}
	return false
}

// collapsed counts characters, a run of blanks as one.
func collapsed(s string) int {
	n, blank := 0, false
	for _, r := range s {
		if b := unicode.IsSpace(r); !b || !blank {
			n++
			blank = b
		}
	}
	return n
}

// prefix cuts a text after n characters that [collapsed] counts.
func prefix(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	count, blank := 0, false
	for i, r := range s {
		if b := unicode.IsSpace(r); !b || !blank {
			if count++; count > n {
				return s[:i], true
			}
			blank = b
		}
	}
	return s, false
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
