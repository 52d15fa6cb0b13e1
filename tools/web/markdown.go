package web

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/collapse"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/marker"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

const maxHref = 2000 // bytes

// markdown renders a trimmed document. A panic of the library is an error.
func markdown(doc *html.Node, base *url.URL) (text string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the converter failed: %v", v)
		}
	}()
	conv := converter.NewConverter(
		converter.WithEscapeMode(converter.EscapeModeDisabled), // it is read, not rendered
		converter.WithPlugins(
			&renderer{base: base},
			commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false), commonmark.WithHorizontalRule("---")),
			table.NewTablePlugin(
				table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
				table.WithSkipEmptyRows(true),
				table.WithHeaderPromotion(true),
			),
		),
	)
	b, err := conv.ConvertNode(doc)
	return string(b), err
}

// renderer takes the place of the library's base plugin, which escapes < and >,
// and renders what a model reads otherwise than a browser.
type renderer struct{ base *url.URL }

// Name is the one that the library's other plugins require.
func (r *renderer) Name() string { return "base" }

// Init registers what the base plugin registers, but for its escapes and for
// what [trimmer] has removed.
func (r *renderer) Init(conv *converter.Converter) error {
	conv.Register.PreRenderer(func(_ converter.Context, doc *html.Node) { collapse.Collapse(doc, nil) }, converter.PriorityLate)
	conv.Register.Renderer(r.render, converter.PriorityEarly)
	conv.Register.PostRenderer(func(_ converter.Context, b []byte) []byte { return []byte(oneBlankLine(string(b))) }, converter.PriorityStandard)
	return nil
}

func (r *renderer) render(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	switch n.Data {
	case "a":
		r.link(ctx, w, n)
	case "img":
		if alt := oneLine(visible(attribute(n, "alt"))); alt != "" {
			w.WriteString("(image: " + alt + ")")
		}
	case "br":
		w.WriteString(lineBreak(n))
	case "h1", "h2", "h3", "h4", "h5", "h6":
		var b bytes.Buffer
		ctx.RenderChildNodes(ctx, &b, n)
		if text := inline(b.Bytes()); text != "" {
			w.WriteString("\n\n" + strings.Repeat("#", int(n.Data[1]-'0')) + " " + text + "\n\n")
		}
	default:
		return converter.RenderTryNext
	}
	return converter.RenderSuccess
}

// link writes "text [absolute url]". The text cannot end the brackets or look
// like another link, and the URL holds nothing but itself.
func (r *renderer) link(ctx converter.Context, w converter.Writer, n *html.Node) {
	var b bytes.Buffer
	ctx.RenderChildNodes(ctx, &b, n) // once: twice at each level of many would never end
	raw, text := attribute(n, "href"), inline(b.Bytes())
	href := r.resolve(raw)
	switch {
	case text == "", strings.HasPrefix(raw, "#") && isSign(text):
		return
	case href == "":
		w.Write(b.Bytes())
		return
	}
	text = strings.NewReplacer("[", "(", "]", ")").Replace(text)
	before, after := blanksAround(b.String())
	w.WriteString(before + text + " [" + href + "]" + after)
}

// blanksAround is what stands between a link and its neighbours: what its text
// begins and ends with.
func blanksAround(s string) (before, after string) {
	of := func(blanks string) string {
		switch {
		case strings.Contains(blanks, "\n"):
			return "\n\n"
		case blanks != "":
			return " "
		}
		return ""
	}
	return of(s[:len(s)-len(strings.TrimLeft(s, " \n"))]), of(s[len(strings.TrimRight(s, " \n")):])
}

// isSign tells whether a link's text is only a mark such as ¶, as headings have
// one that leads to themselves.
func isSign(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return size == len(text) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// lineBreak is a blank where a line must not end.
func lineBreak(n *html.Node) string {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Data == "td" || p.Data == "th" {
			return " "
		}
	}
	return "\n"
}

// inline makes one line of what was rendered.
func inline(b []byte) string {
	return oneLine(strings.ReplaceAll(string(b), string(marker.MarkerCodeBlockNewline), " "))
}

// resolve makes a link absolute. Links within the page, to other schemes than
// the web's and mail's, and endless ones lead nowhere: "".
func (r *renderer) resolve(href string) string {
	href = strings.TrimSpace(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(href))
	if href == "" || href[0] == '#' || len(href) > maxHref {
		return ""
	}
	u, err := r.base.Parse(href)
	if err != nil {
		return ""
	}
	switch u.Scheme {
	case "mailto":
		return escapeURL(u.String())
	case "http", "https":
		return showURL(u)
	}
	return ""
}

// showURL writes a URL so that it cannot be taken for anything else.
func showURL(u *url.URL) string {
	host, err := normalHost(u.Hostname())
	if err != nil {
		return ""
	}
	rest := u.EscapedPath()
	if u.RawQuery != "" {
		rest += "?" + u.RawQuery
	}
	if u.Fragment != "" {
		rest += "#" + u.EscapedFragment()
	}
	return u.Scheme + "://" + hostPort(host, u.Port()) + escapeURL(rest)
}

func escapeURL(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("[]<>\"`\\^{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
