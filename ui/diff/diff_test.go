package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/ui/text"
	"github.com/phero-agent/agent/ui/text/syntax"
	"github.com/phero-agent/agent/ui/uitest"
)

func darkTheme() *Theme {
	return &Theme{
		Add: "32", Del: "31", AddLine: "48;2;20;52;34", DelLine: "48;2;67;26;30", AddWord: "1;48;2;36;96;60", DelWord: "1;48;2;120;44;50",
		Number: "2", Gap: "2", Mark: "33", Syntax: syntax.Dark(),
	}
}

// loop is the change of the sketches in the design.
var loop = []file.Hunk{
	{Old: 117, New: 117, Lines: []string{
		" func run(ctx context.Context) error {",
		" \tlog.Print(\"start\")",
		"-\tx := Foo{}",
		"-\tdefer x.Close()",
		"+\tx := Bar{}",
		" \treturn x.Do(ctx)",
		" }",
	}},
	{Old: 240, New: 239, Lines: []string{
		" // 日本語 in a comment, and 👩‍💻",
		"-const name = \"a long line that does not fit into a narrow window, so that it has to be panned\"  ",
		"+const name = \"a long line that does not fit into a narrow window, so that it must be panned\"",
		"+\tif\u202e x \u200b{ // \x1b[31m bidi and escapes\ufeff",
		"+    indented by blanks",
		"-\tindented by a tab",
		"+",
		" last",
	}},
}

func TestGolden(t *testing.T) {
	for _, width := range []int{40, 80, 120, 160} {
		for kind, split := range map[string]bool{"unified": false, "split": true} {
			for name, theme := range map[string]*Theme{"ascii": {ASCII: true}, "dark": darkTheme(), "nocolor": darkTheme()} {
				rows := New("app/loop.go", loop, theme).Lines(Layout{Width: width, Split: split})
				for _, r := range rows {
					if w := text.Width(r); w > width {
						t.Errorf("%s: %d cells at width %d: %q", kind, w, width, r)
					}
				}
				got := strings.Join(rows, "\n") + "\n"
				if name == "nocolor" { // UI-07: as a terminal under NO_COLOR gets it
					var b bytes.Buffer
					w := colorprofile.Writer{Forward: &b, Profile: colorprofile.ASCII}
					if _, err := w.WriteString(got); err != nil {
						t.Fatal(err)
					}
					got = b.String()
				}
				got = strings.ReplaceAll(got, "\x1b[", "{")
				uitest.Golden(t, fmt.Sprintf("loop-%s-%s-%d.txt", kind, name, width), got)
			}
		}
	}
}

// A missing line end is said on the side that misses it.
func TestNoNewline(t *testing.T) {
	const note = `\ No newline at end of file`
	v := New("x", []file.Hunk{{Old: 1, New: 1, Lines: []string{" a", "-b", note, "+b"}}}, &Theme{})
	want := []string{"1   1   a", "2     − b", "  " + note, "    2 + b"}
	got := v.Lines(Layout{Width: 80})
	for i := range got {
		got[i] = strings.TrimRight(text.Strip(got[i]), " ")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	side := v.Lines(Layout{Width: 80, Split: true})
	if n := len(side); n != 3 || !strings.HasPrefix(text.Strip(side[2]), "  "+note) {
		t.Errorf("%d rows side by side\n%s", n, text.Strip(strings.Join(side, "\n")))
	}
}

// D11, UI-20: what would not be seen has a sign.
func TestSigns(t *testing.T) {
	for _, c := range []struct{ name, old, new, shows string }{
		{"trailing blanks", "x := 1", "x := 1  ", "+ x := 1··"},
		{"trailing tab", "x := 1", "x := 1\t", "+ x := 1→"},
		{"blank for tab", "\tx", "    x", "+ ····x"},
		{"tab for blanks", "    x", "\tx", "+ →   x"},
		{"line end", "x", "x\r", "+ x␍"},
		{"byte order mark", "x", "\ufeffx", "+ <U+FEFF>x"},
		{"bidi", "x", "x\u202ey", "+ x<U+202E>y"},
		{"zero width", "x", "a\u200bb", "+ a<U+200B>b"},
		{"no-break blank", "a b", "a\u00a0b", "+ a<U+00A0>b"},
		{"escape", "x", "\x1b[2J", "+ ␛[2J"},
		{"C1", "x", "\u009b2J", "+ <U+009B>2J"},
		{"broken", "x", "a\xffb", "+ a<0xFF>b"},
		{"tab stops", "x", "a\tb\tc", "+ a   b   c"},
		{"mark on nothing", "x", "\u0301", "+ ◌\u0301"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := New("x", []file.Hunk{{Old: 1, New: 1, Lines: []string{"-" + c.old, "+" + c.new, " z"}}}, &Theme{})
			got := text.Strip(v.Lines(Layout{Width: 80})[1])
			if !strings.HasSuffix(strings.TrimRight(got, " "), c.shows) {
				t.Errorf("got %q, want it to end in %q", got, c.shows)
			}
		})
	}
}

func TestCRLF(t *testing.T) {
	v := New("x", []file.Hunk{{Old: 1, New: 1, Lines: []string{" a\r", "-b\r", "+c\r"}}}, &Theme{})
	if got := text.Strip(strings.Join(v.Lines(Layout{Width: 80}), "\n")); strings.Contains(got, "␍") {
		t.Errorf("a file that ends all lines in CR LF shows it on each\n%s", got)
	}
}

// The longest line is reached by panning, and a cut line says that it is cut.
func TestPan(t *testing.T) {
	long := strings.Repeat("0123456789", 30) + "END"
	v := New("x.txt", []file.Hunk{{Old: 1, New: 1, Lines: []string{"-short", "+" + long}}}, &Theme{})
	for _, split := range []bool{false, true} {
		l := Layout{Width: 80, Split: split}
		if got := text.Strip(v.Rows(l, 1, 2)[0]); !strings.HasSuffix(got, "›") || strings.Contains(got, "‹") {
			t.Errorf("split %v: cut line %q", split, got)
		}
		l.Pan = v.MaxPan(l)
		last := v.Rows(l, v.Len(split)-1, v.Len(split))[0]
		if got := text.Strip(last); !strings.HasSuffix(got, "END") || !strings.Contains(got, "‹") {
			t.Errorf("split %v: panned to the end: %q", split, got)
		}
	}
	if pan := New("x", loop[:1], &Theme{}).MaxPan(Layout{Width: 120}); pan != 0 {
		t.Errorf("pan %d where everything fits", pan)
	}
}

func TestPairs(t *testing.T) {
	v := New("x.go", []file.Hunk{{Old: 1, New: 1, Lines: []string{
		"-alpha one", "-beta two", "-gamma three",
		"+something entirely new", "+beta 2", "+gamma 3",
	}}}, &Theme{})
	rows := v.Lines(Layout{Width: 80, Split: true})
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join(strings.Fields(text.Strip(r)), " "))
	}
	want := []string{"1 − alpha one │", "│ 1 + something entirely new", "2 − beta two │ 2 + beta 2", "3 − gamma three │ 3 + gamma 3"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if a, r := v.Counts(); a != 3 || r != 3 {
		t.Errorf("counts +%d −%d", a, r)
	}
}

// Only the rows that are asked for are rendered.
func TestLazy(t *testing.T) {
	v := New("x.go", big(10_000), darkTheme())
	if got := v.Rows(Layout{Width: 120}, 5000, 5040); len(got) != 40 {
		t.Fatalf("%d rows", len(got))
	}
	if len(v.known) > 40 {
		t.Errorf("%d lines were drawn for 40 rows", len(v.known))
	}
	if got := v.Rows(Layout{Width: 120}, v.Len(false)-3, v.Len(false)+10); len(got) != 3 {
		t.Errorf("%d rows at the end", len(got))
	}
}

// big returns a rewrite of n lines.
func big(n int) []file.Hunk {
	h := file.Hunk{Old: 1, New: 1}
	for i := range n / 2 {
		h.Lines = append(h.Lines, fmt.Sprintf("-\tvalue%d := compute(%d, \"old\") // comment", i, i))
	}
	for i := range n / 2 {
		h.Lines = append(h.Lines, fmt.Sprintf("+\tvalue%d := compute(%d, \"new\") // comment", i, i))
	}
	return []file.Hunk{h}
}

func FuzzRows(f *testing.F) {
	f.Add("a\tb", "a b\u202e", uint8(40), uint8(3))
	f.Add("日本", "日本語\x1b[31m", uint8(20), uint8(0))
	f.Fuzz(func(t *testing.T, a, b string, width, pan uint8) {
		clean := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
		h := []file.Hunk{{Old: 1, New: 1, Lines: []string{" " + clean(a), "-" + clean(a), "+" + clean(b)}}}
		for _, split := range []bool{false, true} {
			for _, theme := range []*Theme{{}, darkTheme()} {
				v := New("x.go", h, theme)
				for _, r := range v.Lines(Layout{Width: int(width), Split: split, Pan: int(pan)}) {
					if w := text.Width(r); w > int(width) {
						t.Errorf("%d cells at width %d: %q", w, width, r)
					}
					for _, c := range text.Strip(r) {
						if text.Sign(c) != "" && (c < '␀' || c > '␦') {
							t.Errorf("%q is not visible in %q", c, r)
						}
					}
				}
			}
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	hunks := big(10_000)
	theme := darkTheme()
	for b.Loop() {
		New("x.go", hunks, theme).Rows(Layout{Width: 120, Split: true}, 0, 40)
	}
}

func BenchmarkScroll(b *testing.B) {
	v := New("x.go", big(10_000), darkTheme())
	i := 0
	for b.Loop() {
		v.Rows(Layout{Width: 120}, i%9000, i%9000+40)
		i++
	}
}
