package web

import (
	"context"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// convert makes text of HTML: the title and then Markdown, with links as
// "text [absolute url]". With need > 0 it stops after about so many characters
// and tells that there would be more.
//
// Pages nest and repeat as they like. The parser takes 512 levels, and what
// comes after it is short in comparison because [trimmer] left only what is
// needed; a page that is too deep, or that the converter fails on, is read as plain text.
func convert(ctx context.Context, source string, base *url.URL, need int) (text string, cut bool, err error) {
	doc, err := html.Parse(&contextReader{ctx, strings.NewReader(source)})
	if ctx.Err() != nil {
		return "", false, ctx.Err()
	}
	if err != nil {
		text, cut = plain(source, need)
		return text, cut, nil
	}
	t := trimmer{need: need, base: base}
	t.trim(doc)
	text, err = markdown(doc, t.base)
	if err != nil {
		text, cut = plain(source, need)
		return text, cut, nil
	}
	if t.title != "" {
		text = strings.TrimSpace("Title: " + t.title + "\n\n" + text)
	}
	return text, t.cut, nil
}

// contextReader ends with its context, so that a page that is slow to parse does too.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// plain reads HTML without its structure, whatever that is.
func plain(source string, need int) (text string, cut bool) {
	z := html.NewTokenizer(strings.NewReader(source))
	var b strings.Builder
	size := 0
	hidden, depth := "", 0 // the element that is left out, and how many of its name are open
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return oneBlankLine(b.String()), false
		}
		token := z.Token()
		switch {
		case hidden != "":
			switch {
			case token.Data != hidden:
			case kind == html.StartTagToken:
				depth++
			case kind == html.EndTagToken:
				if depth--; depth == 0 {
					hidden = ""
				}
			}
		case kind != html.EndTagToken && isHidden(token.Data, token.Attr):
			// The slash of <script/> has no meaning in HTML, that of <svg/> has.
			if !isVoid(token.Data) && (kind == html.StartTagToken || token.Data != "svg") {
				hidden, depth = token.Data, 1
			}
		case kind == html.TextToken:
			s := visible(token.Data)
			if need > 0 {
				if s, cut = prefix(s, need-size); cut {
					b.WriteString(s)
					return oneBlankLine(b.String()), true
				}
				size += collapsed(s)
			}
			b.WriteString(s)
		case isBlock(token.Data):
			b.WriteByte('\n')
		}
	}
}

func isVoid(name string) bool {
	return name == "input" || name == "embed" || name == "br" || name == "hr" || name == "img"
}

func isBlock(name string) bool {
	switch name {
	case "p", "div", "br", "hr", "li", "ul", "ol", "dl", "dt", "dd", "tr", "table", "pre", "blockquote", "section", "article",
		"header", "footer", "nav", "main", "aside", "figure", "figcaption", "details", "summary", "form", "address",
		"h1", "h2", "h3", "h4", "h5", "h6":
		return true
	}
	return false
}

// oneBlankLine leaves no blanks at the ends of lines and at most one empty line in a row.
func oneBlankLine(s string) string {
	var b strings.Builder
	empty := true // none at the start
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" && empty {
			continue
		}
		empty = line == ""
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// isHidden tells whether a browser would not show an element and what is in
// it. What style sheets hide, and white on white, is not seen to be hidden.
func isHidden(name string, attributes []html.Attribute) bool {
	switch name {
	case "script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "canvas", "audio", "video",
		"head", "title", "input", "textarea", "select", "datalist", "noembed", "noframes":
		return true
	}
	if name == "html" || name == "body" {
		return false // until a script shows them
	}
	for _, a := range attributes {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			for _, s := range []string{"display:none", "visibility:hidden", "opacity:0;", "font-size:0"} {
				if strings.Contains(style+";", s) {
					return true
				}
			}
		}
	}
	return false
}
