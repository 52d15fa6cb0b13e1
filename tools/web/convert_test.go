package web_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools/web"
)

const base = "https://go.dev/doc/page?x=1"

func convert(t testing.TB, source string, need int) (string, bool) {
	t.Helper()
	text, cut, err := web.Convert(t.Context(), source, base, need)
	if err != nil {
		t.Fatal(err)
	}
	return text, cut
}

// WEB-02, WEB-03: what a page reads like. The golden files are made by UPDATE=1.
func TestGoldenPages(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			source, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := convert(t, string(source), 0)
			golden := strings.TrimSuffix(page, ".html") + ".golden"
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(got+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got+"\n"); d != "" {
				t.Error(d)
			}
		})
	}
}

// WEB-02, WEB-03, file-tool-cases N16, N17, N18
func TestConvert(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"the reference's example", `<h1>T</h1><ul><li>a<li><a href="/x">b</a></ul>`, "# T\n\n- a\n- b [https://go.dev/x]"},
		{"headings", "<h1>a</h1><h2>b\nc</h2><h6>d</h6><h3> </h3>", "# a\n\n## b c\n\n###### d"},
		{"a heading that is a mark", "<h1>#</h1><h2>C#</h2><h3>C #</h3>", "# #\n\n## C#\n\n### C #"},
		{"paragraphs", "<p>a\n b</p>\n\n<div>c</div>d<br>e", "a b\n\nc\n\nd\ne"},
		{"nested lists", "<ol><li>a<ul><li>b<li>c</ul><li>d</ol>", "1. a\n\n   - b\n   - c\n2. d"},
		{"entities", "<p>a &lt; b &amp;&amp; c &gt; d &eacute; &#x1F600; &nbsp;x</p>", "a < b && c > d é 😀 \u00a0x"},
		{"nothing is escaped", "<p>snake_case *a* [b] 1. c_d #e</p>", "snake_case *a* [b] 1. c_d #e"},
		{"pre keeps its lines", "<pre>a\n\n\n  b  <b>c</b>\nd</pre>", "```\na\n\n\n  b  c\nd\n```"},
		{"language of code", "<pre><code class=\"language-go\">x</code></pre>", "```go\nx\n```"},
		{"language that is none", "<pre><code class=\"language-a\nb`\">x</code></pre>", "```\nx\n```"},
		{"inline code", "<p>the <code>a  b</code> of</p>", "the `a b` of"},
		{"table", "<table><tr><th>a<th>b<tr><td>c<td>d<br>e</table>", "| a | b |\n|---|---|\n| c | d e |"},
		{"table without head", "<table><tr><td>a<td>b<tr><td>c</table>", "| a | b |\n|---|---|\n| c |  |"},
		{"quote", "<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"},
		{"rule", "a<hr>b", "a\n\n---\n\nb"},

		{"title", "<title> The\n page </title><p>x", "Title: The page\n\nx"},
		{"title only", "<title>T</title>", "Title: T"},
		{"script and style", "<style>a{}</style><script>x<y</script>b<noscript><p>c</noscript><template>d</template><svg><style>e</style><text>f</text></svg>", "b"},
		{"forms", "<input value=a><textarea>b</textarea><select><option>c</select>d", "d"},
		{"comments", "a<!-- x -->b<!--[if IE]>y<![endif]-->", "ab"},
		{"hidden", "<p hidden>a</p><p style='color:red; DISPLAY : none'>b</p><p style='visibility:hidden'>c</p><p style='opacity:0'>d</p><p style='opacity:0.5'>e</p>", "e"},
		{"hidden until a script runs", "<html style='visibility:hidden'><body style='opacity:0' hidden><p>a", "a"},
		{"characters that are not seen", "<p>a\u200bb\u202e\U000e0041\u00adc\u3164\ufeffd\ufe0f</p>", "abcd"},
		{"plaintext", "<p>a<plaintext>b</p>", "a\n\nb</p>"},
		{"unclosed", "<p>a<b>b<i>c", "a**b*c***"},
		{"empty", "", ""},
		{"no HTML", "just text", "just text"},

		{"link relative to the page", `<a href="y">a</a> <a href="?z">b</a> <a href="//h/p">c</a>`, "a [https://go.dev/doc/y] b [https://go.dev/doc/page?z] c [https://h/p]"},
		{"link relative to the base", `<base href="https://b.example/d/"><a href="y">a</a>`, "a [https://b.example/d/y]"},
		{"link within the page", `<a href="#x">a</a> <a href="">b</a> <a>c</a> <a name=d>e</a>`, "a b c e"},
		{"mark of a heading", `<h1>a<a href="#a">¶</a></h1><h2><a href="#1">1</a> b <a href="/#">#</a></h2>`, "# a\n\n## 1 b # [https://go.dev/]"},
		{"links to other schemes", `<a href="javascript:x()">a</a> <a href="file:///etc">b</a> <a href="data:,x">c</a> <a href=" java&#9;script:x">d</a> <a href="mailto:a@b.c">e</a>`, "a b c d e [mailto:a@b.c]"},
		{"blanks in a link", "<a href=\" /a\n\tb c \">x</a>", "x [https://go.dev/ab%20c]"},
		{"brackets in a link", `<a href="/a](http://evil)[b]?q=]&r=[">x</a>`, "x [https://go.dev/a%5D(http://evil)%5Bb%5D?q=%5D&r=%5B]"},
		{"brackets in a link's text", `<a href="/a">go [https://good.example]</a>`, "go (https://good.example) [https://go.dev/a]"},
		{"long link", `<a href="/` + strings.Repeat("a", 100_000) + `">x</a>`, "x"},
		{"link with a password", `<a href="https://u:p@h/">x</a>`, "x [https://h/]"},
		{"link to a host of another script", `<a href="https://bücher.example/ä?ö">x</a>`, "x [https://xn--bcher-kva.example/%C3%A4?%C3%B6]"},
		{"link to IPv6", `<a href="http://[::1]:80/">x</a>`, "x [http://[::1]:80/]"},
		{"link that is none", `<a href="http://[x/">x</a> <a href="https:///y">z</a>`, "x z"},
		{"link without text", `a <a href="/x"><i></i></a>b`, "a b"},
		{"link around blocks", `<a href="/x"><div>a</div><p>b</p></a>`, "a b [https://go.dev/x]"},
		{"blanks at the ends of a link", `see<a href="/x"> the docs </a>now, <a href="/y">here</a>.`, "see the docs [https://go.dev/x] now, here [https://go.dev/y]."},
		{"links around blocks", `<a href="/x"><div>a</div></a><a href="/y"><div>b</div></a>`, "a [https://go.dev/x]\n\nb [https://go.dev/y]"},
		{"link around code", "<a href=/x><pre>a\nb</pre></a>", "`a b` [https://go.dev/x]"},
		{"images", `<img alt="a ](x)" src="http://evil/?d"><img src=y>`, "(image: a ](x))"},
		{"linked image", `<a href="/x"><img alt="a [b]"></a>`, "(image: a (b)) [https://go.dev/x]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, cut := convert(t, tt.source, 0)
			if d := cmp.Diff(tt.want, got); d != "" || cut {
				t.Errorf("cut %v, %s", cut, d)
			}
		})
	}
}

// file-tool-cases N16: documents that are made to be slow or deep.
func TestHostileDocuments(t *testing.T) {
	const mega = 1 << 20
	repeat := func(s string) string { return strings.Repeat(s, mega/len(s)) }
	for _, tt := range []struct{ name, source, want string }{
		{"deep div", repeat("<div>") + "end", "end"},
		{"deep list", repeat("<ul><li>") + "end", "end"},
		{"deep format", repeat("<b>") + "end", "end"},
		{"deep quote", repeat("<blockquote>") + "end", "end"},
		{"deep and hidden", "start" + repeat("<div>") + "<p style=display:none>x</p><script>y</script><input hidden><svg><svg></svg>z</svg><script/>w</script><svg/>\u200b<p>end", "start\n\nend"},
		{"deep template", repeat("<template>") + "end", ""},
		{"many breaks", "start" + repeat("a<br>"), "start"},
		{"many links", repeat("<a href=x>y</a> "), "y [https://go.dev/doc/x]"},
		{"many empty elements", repeat("<i></i>") + "end", ""},
		{"many comments", repeat("<!---->x"), "xxxx"},
		{"many scripts", repeat("<script></script>x"), "xxxx"},
		{"long attribute", "<p title='" + repeat("a") + "'>x", "x"},
		{"long text", repeat("word "), "word word"},
		{"wide table", "<table><tr>" + repeat("<td>x"), "x"},
		{"long and wide table", "<table><tr>" + strings.Repeat("<td>x", 10_000) + strings.Repeat("<tr><td>y", 10_000), "x"},
		{"links in links", strings.Repeat("<a><table><tr><td>", 100) + "end", "end"},
		{"links in links in cells", strings.Repeat("<a href=x><table><tr><td><ul><li>", 60) + "end", "end [https://go.dev/doc/x]"},
		{"headings in links", strings.Repeat("<a href=x><h1><table><tr><td>", 80) + "end", "end"},
		{"quotes in lists", strings.Repeat("<ul><li><blockquote><pre>a\n", 100) + "end", "end"},
		{"tables in tables", strings.Repeat("<table><tr><td>a<br>b<td>", 150) + "end", "end"},
		{"spans", "<table><tr><td colspan=1000000000 rowspan=1000000000>x<td>y", "| x | y |"},
		{"list that starts late", "<ol start=99999999999999999999><li>x</ol>", "1. x"},
		{"ends in a tag", "start<a href='" + repeat("a"), "start"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := convert(t, tt.source, 1000)
			if !strings.Contains(got, tt.want) || len(got) > 100_000 {
				t.Errorf("%d bytes: %.200q", len(got), got)
			}
		})
	}
}

// A table is not filled up without bound, and a long one is one all the same.
func TestTablesThatAreFilledUp(t *testing.T) {
	ragged := "<table><tr>" + strings.Repeat("<td>x", 5000) + strings.Repeat("<tr><td>y", 5000) + "</table>"
	if got, _ := convert(t, ragged, 0); len(got) > 100_000 || strings.Count(got, "y") != 5000 {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
	long := "<table>" + strings.Repeat("<tr><td>a<td>b<td>c", 10_000) + "</table>"
	if got, _ := convert(t, long, 0); strings.Count(got, "\n| a | b | c |") != 9999 {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
}

func TestConvertEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := web.Convert(ctx, "<p>x", base, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// WEB-07, WEB-09: what is needed is there, what is more is said to be.
func TestConvertStops(t *testing.T) {
	for _, source := range []string{
		strings.Repeat("<p>word</p>", 1000), strings.Repeat("word ", 1000), "<pre>" + strings.Repeat("word\n", 1000) + "</pre>",
	} {
		whole, _ := convert(t, source, 0)
		got, cut := convert(t, source, 100)
		if n := len(got); !cut || n < 99 || n > 400 {
			t.Errorf("%.20q: %d characters, cut: %v", source, n, cut)
		}
		if !strings.HasPrefix(whole, got[:90]) {
			t.Errorf("%.20q: begins %q", source, got[:90])
		}
		if got, cut := convert(t, source, 10_000); cut || got != whole {
			t.Errorf("%.20q: %d of %d characters, cut: %v", source, len(got), len(whole), cut)
		}
	}
}

// Whatever a page holds, its text is clean and its links are absolute.
func FuzzConvert(f *testing.F) {
	for _, seed := range []string{
		"<h1>T</h1><ul><li>a<li><a href='/x'>b</a></ul>", "<table><tr><th>a<td colspan=9>b<tr><td>c|d</table>", "<pre><code class='language-go'>x\n\n`y`</code></pre>",
		"<ol start=-3><li><p>a<blockquote>b</ol>", "<a href=x><h1>#</h1><table></table></a>", "<b><i>a</b></i><code>`</code>", "<a href='http://[::1]%25'>a]</a>",
		"<head><title>a<base href=//b><p hidden>c", "<svg><p><math><style>a</svg>b", "<div><div><div>\x00\x07\ufdd0\uf002\u202e", strings.Repeat("<p><b>", 200) + "x", strings.Repeat("<div>", 600) + "y<script>z",
		"<details><summary>a</summary><dl><dt>b<dd>c</dl></details><hr><br><del>d</del><img alt='[e]('>",
	} {
		f.Add(seed, uint16(0))
		f.Add(seed, uint16(10))
	}
	f.Fuzz(func(t *testing.T, source string, need uint16) {
		text, _, err := web.Convert(t.Context(), strings.ToValidUTF8(source, "\ufffd"), base, int(need))
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(text) {
			t.Errorf("no UTF-8: %q", text)
		}
		for _, r := range text {
			if r != '\n' && r != '\t' && r != '\r' && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Errorf("%U in %q", r, text)
			}
		}
	})
}

// bigPage is a page like a book of documentation: 1 MB of headings, text, code, lists and links.
func bigPage() string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><html><head><title>A book</title><style>p{margin:0}</style></head><body><main>")
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, `<h2 id="s%d"><a class="header" href="#s%d">Section %d</a></h2>
<p>The <code>fetch_%d</code> function takes <em>one</em> argument, see <a href="/doc/ref/%d">the reference</a> &amp; more.</p>
<pre><code class="language-go"><span class="kw">func</span> <span class="fn">f%d</span>() { <span class="kw">return</span> &lt;-c }</code></pre>
<ul><li>first thing to know</li><li>second <strong>thing</strong></li></ul>
<table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody><tr><td>a</td><td>%d</td></tr></tbody></table>
`, i, i, i, i, i, i, i)
	}
	return b.String()
}

func BenchmarkConvert1MB(b *testing.B) {
	page := bigPage()
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		if text, cut := convert(b, page, web.DefaultMaxOutputChars); !cut || len(text) < web.DefaultMaxOutputChars {
			b.Fatal(len(text), cut)
		}
	}
}
