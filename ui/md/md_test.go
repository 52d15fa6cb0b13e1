package md

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/phero-agent/agent/ui/text"
	"github.com/phero-agent/agent/ui/text/syntax"
	"github.com/phero-agent/agent/ui/uitest"
)

func plainTheme() *Theme { return &Theme{} }

func darkTheme() *Theme {
	return &Theme{
		Heading: "36", Code: "36", Link: "4", URL: "2", Quote: "2", Marker: "36", Rule: "2", Syntax: syntax.Dark(),
	}
}

func TestGolden(t *testing.T) {
	src, err := os.ReadFile("testdata/everything.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{40, 80, 120, 160} {
		for name, theme := range map[string]*Theme{"plain": plainTheme(), "dark": darkTheme()} {
			lines := Render(string(src), theme, width)
			for _, l := range lines {
				if w := text.Width(l); w > width {
					t.Errorf("%d cells at width %d: %q", w, width, l)
				}
			}
			got := strings.Join(lines, "\n") + "\n"
			if name == "plain" {
				got = text.Strip(got)
			} else {
				got = strings.ReplaceAll(got, "\x1b", "␛")
			}
			uitest.Golden(t, fmt.Sprintf("everything-%s-%d.txt", name, width), got)
		}
	}
}

var awkward = []string{
	"", "\n\n\n", "a", "a\n", "# h", "para\n\nTitle\n=====\n\npara\n-----\n\nx\n",
	"- a\n\n  para in item\n\n- b\n\nafter\n", "1. a\n2. b\n\ntext\n\n3. c\n", "- a\n  - b\n    - c\n- d\n",
	"```\na\n\nb\n```\n\nafter\n", "x\n\n```go\n```\n\ny\n", "````md\n```\nin\n```\n````\nout\n", "~~~\nopen\n\n# no heading\n",
	"   ```go\n   x := 1\n     y\n  ```\nz\n", "a\n```\nb\n```\nc", "``` a`b\nnot a fence\n", "\t```\n\tx\n",
	"a\n\n---\n\nb\n", "<div>\n\nhi\n\n</div>\n\nafter\n", "<!-- a\n\nb -->\nx\n", "a\n#\nb\n", "a\n#hash\n",
	"| a | b |\n|---|--:|\n| 1 | 2 |\n| long cell here | `x|y` |\n\nafter\n", "| a |\n|---\n", "> q\n> > deep\nlazy\n\n> other\n",
	"[ref]: http://x.y 'title'\n\nsee [ref] and [other]\n\n[other]: http://later\n", "see [a][ref]\n\ntext\n\n[ref]: <http://z>\n",
	"- [ ] todo\n- [x] done\n", "a  \nhard\\\nbreak\nsoft\n", "*a **b** c* ~~d~~ `e` <http://auto> ![alt](img.png)\n",
	"&amp; &#27;[31m &#x202e; \\* &copy;\n", "日本語の\n文章です。\n", "- a\n\n\n- b\n\n\n\npara", "* * *\n- - -\n",
	"1) x\n\n   ```sh\n   ls\n   ```\n\n2) y\n", "\u00a0x\n\na\tb\tc\n\n    code\twith\ttabs\n", "a\r\n\r\nb\rc\n",
	strings.Repeat("> ", 45) + "x\n" + strings.Repeat("1. ", 45) + "y\n\nz\n", strings.Repeat("[", 210) + "a" + strings.Repeat("](b)", 205), strings.Repeat("[a](", 210),
	"- x\n```\nfence\n```\n", "para\n    not code\n\n    code\n", "***bold it***\n\n__u__\n", "#\ttab heading\n\nSetext\n  ===\n",
}

// A document is the same however it arrives, and like one that is parsed whole.
func TestSplits(t *testing.T) {
	for _, src := range awkward {
		for _, size := range []int{1, 3, 24} {
			same(t, src, size, 30, true)
			same(t, src, size, 30, false)
		}
	}
}

func same(t *testing.T, src string, size, width int, look bool) {
	t.Helper()
	theme := darkTheme()
	var s Stream
	for rest := src; rest != ""; {
		n := min(size, len(rest))
		s.Write(rest[:n])
		rest = rest[n:]
		if look {
			for _, l := range s.Lines(theme, width) {
				if w := text.Width(l); w > width {
					t.Fatalf("%q while it arrives: %d cells at width %d: %q", src, w, width, l)
				}
			}
		}
	}
	s.Finish()
	got := strings.Join(s.Lines(theme, width), "\n")
	if want := strings.Join(Render(src, theme, width), "\n"); got != want {
		t.Fatalf("%q in pieces of %d\n--- got\n%s\n--- want\n%s", src, size, got, want)
	}
	if want := whole(src, theme, width); got != want {
		t.Fatalf("%q by blocks\n--- got\n%s\n--- want, parsed whole\n%s", src, got, want)
	}
	s.Lines(theme, width+10)
	if again := strings.Join(s.Lines(theme, width), "\n"); again != got {
		t.Fatalf("%q after another width\n--- got\n%s\n--- want\n%s", src, again, got)
	}
}

// whole renders a document parsed at once.
func whole(src string, theme *Theme, width int) string {
	var s Stream
	s.Write(src)
	s.Finish()
	s.theme, s.width = theme, width
	s.all()
	return strings.Join(s.lines, "\n")
}

func FuzzStream(f *testing.F) {
	for i, src := range awkward {
		f.Add(src, uint8(i%9+1), uint8(30))
	}
	f.Fuzz(func(t *testing.T, src string, size, width uint8) {
		src = src[:min(len(src), 1000*(int(size)+1))] // more pieces outlast what the fuzzer allows for an input
		same(t, src, int(size)+1, int(width)+1, true)
		for _, l := range Render(src, darkTheme(), int(width)+1) {
			if s := text.Strip(l); text.Clean(s) != s && !strings.Contains(s, "\u200d") && !strings.Contains(s, "\u200c") {
				t.Errorf("%q is not clean: %q", src, l)
			}
		}
	})
}

// UI-20: nothing in a document drives the terminal, also not by entities.
func TestNoControls(t *testing.T) {
	src := "a\x1b]52;c;x\x07 &#27;]0;t&#7; &#x9b;31m <http://x\u202ey> [l](http://a&#27;b) `\x1b[2J` &#8238;\n\n```\n\x1b[31mx\a\n```\n\n<p>\x1b</p>\n"
	for _, l := range Render(src, plainTheme(), 80) {
		if s := text.Strip(l); strings.ContainsAny(s, "\x1b\a\u009b\u202e") || text.Visible(s, "") != s {
			t.Errorf("line %q", l)
		}
	}
}
