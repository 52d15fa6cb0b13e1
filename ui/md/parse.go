package md

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
)

// markdown makes the parser when the first document is rendered, not at start.
var markdown = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
})

// parse returns the blocks of src, and whether link references are defined there.
func parse(src []byte) (doc ast.Node, refs bool) {
	ctx := parser.NewContext()
	doc = markdown().Parse(gtext.NewReader(src), parser.WithContext(ctx))
	return doc, len(ctx.References()) > 0
}

// blockStart returns where the line begins on which block n starts, or 0.
func blockStart(src []byte, n ast.Node) int {
	if n == nil || n.Pos() < 0 {
		return 0
	}
	return 1 + bytes.LastIndexByte(src[:n.Pos()], '\n')
}

// fence is the line that opened a listing at the top level.
type fence struct {
	mark byte // '`' or '~'
	n    int  // how many
	pad  int  // spaces before
}

// openFence reports whether line opens a listing.
func openFence(line string) (fence, bool) {
	trimmed := strings.TrimLeft(line, " ")
	f := fence{pad: len(line) - len(trimmed)}
	if f.pad > 3 || trimmed == "" || trimmed[0] != '`' && trimmed[0] != '~' {
		return fence{}, false
	}
	f.mark = trimmed[0]
	f.n = len(trimmed) - len(strings.TrimLeft(trimmed, string(f.mark)))
	info := trimmed[f.n:]
	if f.n < 3 || f.mark == '`' && strings.Contains(info, "`") {
		return fence{}, false
	}
	return f, true
}

// closes reports whether line is the end of the listing.
func (f fence) closes(line string) bool {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 {
		return false
	}
	rest := strings.TrimLeft(trimmed, string(f.mark))
	return len(trimmed)-len(rest) >= f.n && strings.Trim(rest, " \t") == ""
}

// content returns a line of the listing without the spaces that its fence has too.
func (f fence) content(line string) string {
	for n := 0; n < f.pad && strings.HasPrefix(line, " "); n++ {
		line = line[1:]
	}
	return line
}
