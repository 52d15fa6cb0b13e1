//go:build unix

package main

import (
	"fmt"
	"html"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

const picture = "docs/screen.svg"

const pictureScript = `
== plan
I'll look at the test and the code behind it.
> todo_write {"todos":[{"content":"Find the bug","status":"in_progress"},{"content":"Fix it","status":"pending"},{"content":"Run the tests","status":"pending"}]}
> grep {"pattern":"func Total"}
> read {"file_path":"price.go"}
== run
> bash {"command":"bash test.sh"}
== edit
The discount is in **percent**, but ` + "`Total`" + ` divides by 10.
> todo_write {"todos":[{"content":"Find the bug","status":"completed"},{"content":"Fix it","status":"in_progress"},{"content":"Run the tests","status":"pending"}]}
> edit {"file_path":"price.go","old_string":"sum*discount/10","new_string":"sum*discount/100"}
== done
Fixed.
`

// TestPicture makes the README's picture from the program itself, with -update,
// and else fails when the picture shows another text than the program does.
func TestPicture(t *testing.T) {
	if !sandboxWorks() {
		t.Skip("without bubblewrap the status line of the picture is another one")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(base, "shop")
	writeFile(t, filepath.Join(ws, "price.go"), []byte("package price\n\n// Total adds up the prices and takes the discount off, in percent.\nfunc Total(prices []int, discount int) int {\n\tsum := 0\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum - sum*discount/10\n}\n"))
	writeFile(t, filepath.Join(ws, "test.sh"), []byte("echo 'ok    Total(nothing)'; echo 'ok    Total(no discount)'; echo 'FAIL  Total(ten percent): got 0, want 1350'; exit 1\n"))
	m := serveModel(t, pictureScript)
	cmd := program(t, ws, base)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+m.URL+"/v1", "AGENT_MODEL=gpt-5.1", "COLORTERM=truecolor")
	term := onTerminal(t, cmd, 116, 34)
	term.waitFor("type here")
	term.send("The tests fail. Find out why and fix it.")
	term.waitFor("and fix it.")
	term.key("enter")
	term.waitFor("Allow bash?")
	term.until("was armed", func(string) bool { return term.bright("[y]") })
	term.key("y")
	term.waitFor("Allow edit?")
	term.until("was armed", func(string) bool { return term.bright("[y]") })

	// Paths of this machine are shown as somebody's home; blanks differ with their length.
	mask := func(text string) string {
		text = strings.ReplaceAll((&scriptRun{ws: base}).masked(text), "/ws/", "/home/me/")
		return regexp.MustCompile(` +`).ReplaceAllString(text, " ")
	}
	if updating() {
		if err := os.WriteFile(picture, []byte(term.svg(base, "/home/me")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	drawn, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := mask(svgText(string(drawn))), mask(term.text()); got != want {
		t.Errorf("%s is not what the program shows; make it anew with: go test -run Picture -update .\n%s\nwant\n%s", picture, got, want)
	}
}

const cellW, cellH = 8.4, 18.0

// svg draws the screen, a row an element, with its colours. One path is shown as another.
func (s *terminal) svg(path, as string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, h := s.vt.Width(), s.vt.Height()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`+"\n", float64(w)*cellW+16, float64(h)*cellH+16)
	b.WriteString(`<rect width="100%" height="100%" rx="6" fill="#16181d"/>` + "\n")
	for y := range h {
		s.svgRow(&b, y, w, path, as)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (s *terminal) svgRow(b *strings.Builder, y, w int, path, as string) {
	top := 8 + float64(y)*cellH
	var row strings.Builder
	for x := 0; x < w; {
		cell := s.vt.CellAt(x, y)
		text, style, from := "", cell.Style, x
		for x < w {
			c := s.vt.CellAt(x, y)
			if !c.Style.Equal(&style) {
				break
			}
			if c.Content == "" {
				text += " "
			} else {
				text += c.Content
			}
			x += max(c.Width, 1)
		}
		if n := len(text); strings.Contains(text, path) {
			text = strings.ReplaceAll(text, path, as)
			text += strings.Repeat(" ", n-len(text))
		}
		text = strings.ReplaceAll(text, "root · ", "       ") // whoever made the picture
		fg, bg := hex(style.Fg, "#d6d8dc"), hex(style.Bg, "")
		if style.Attrs&uv.AttrReverse != 0 {
			fg, bg = "#16181d", fg
		}
		if bg != "" {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", 8+float64(from)*cellW, top, float64(x-from)*cellW, cellH, bg)
		}
		fmt.Fprintf(&row, `<tspan x="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</tspan>`, 8+float64(from)*cellW, float64(x-from)*cellW, fg, attributes(style.Attrs), html.EscapeString(text))
	}
	fmt.Fprintf(b, `<text y="%.1f" xml:space="preserve">%s</text>`+"\n", top+13.5, row.String())
}

func attributes(a uint8) (out string) {
	if a&uv.AttrBold != 0 {
		out += ` font-weight="bold"`
	}
	if a&uv.AttrFaint != 0 {
		out += ` opacity="0.6"`
	}
	if a&uv.AttrItalic != 0 {
		out += ` font-style="italic"`
	}
	return out
}

// palette is a terminal's sixteen colours.
var palette = []string{
	"#16181d", "#e06c75", "#98c379", "#d8b365", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
	"#7f848e", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#ffffff",
}

func hex(c color.Color, otherwise string) string {
	switch c := c.(type) {
	case nil:
		return otherwise
	case ansi.BasicColor:
		return palette[c]
	case ansi.IndexedColor:
		if int(c) < len(palette) {
			return palette[c]
		}
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// svgText is the text of a picture, a row a line.
func svgText(svg string) string {
	var lines []string
	for _, line := range strings.Split(svg, "\n") {
		if !strings.HasPrefix(line, "<text ") {
			continue
		}
		var text strings.Builder
		for _, part := range strings.Split(line, "<tspan ")[1:] {
			_, rest, _ := strings.Cut(part, ">")
			content, _, _ := strings.Cut(rest, "</tspan>")
			text.WriteString(html.UnescapeString(content))
		}
		lines = append(lines, strings.TrimRight(text.String(), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
