package text

import (
	"strings"
	"testing"
)

func TestCells(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"width", Width("abc"), 3},
		{"width of wide", Width("日本語"), 6},
		{"width of combining", Width("e\u0301x"), 2},
		{"width of an emoji sequence", Width("👩‍💻"), 2},
		{"width of a flag", Width("🇨🇭"), 2},
		{"width of arabic", Width("سلام"), 4},
		{"width of styled", Width("\x1b[1;31mab\x1b[m"), 2},
		{"pad", Pad("ab", 4), "ab  "},
		{"pad wide", Pad("日", 4), "日  "},
		{"pad cuts", Pad("abcdef", 4), "abcd"},
		{"pad cuts a wide character", Pad("a日本", 4), "a日 "},
		{"pad styled", Pad("\x1b[31mabc\x1b[m", 2), "\x1b[31mab\x1b[m"},
		{"pad to nothing", Pad("abc", 0), ""},
		{"pad to less", Pad("abc", -1), ""},
		{"truncate", Truncate("abcdef", 4, "…"), "abc…"},
		{"truncate nothing", Truncate("abcd", 4, "…"), "abcd"},
		{"truncate wide", Truncate("日本語", 4, "…"), "日 …"},
		{"truncate to less than the tail", Truncate("abc", 1, "..."), "."},
		{"cut", Cut("abcdef", 2, 4), "cd"},
		{"cut halves", Cut("日本語", 1, 5), " 本 "},
		{"cut styled", Cut("\x1b[1mab\x1b[31mcd\x1b[m", 1, 3), "\x1b[1mb\x1b[m\x1b[1;31mc\x1b[m"},
		{"cut beyond", Cut("ab", 5, 9), ""},
		{"cut backwards", Cut("ab", 2, 1), ""},
		{"cut within one wide", Cut("日", 1, 2), " "},
		{"strip", Strip("\x1b[1ma\x1b[mb"), "ab"},
		{"untab", Untab("a\tb\n\t\tc\n日\td"), "a   b\n        c\n日  d"},
		{"style", Style("1;31").Render("x"), "\x1b[1;31mx\x1b[m"},
		{"no style", Style("").Render("x"), "x"},
		{"style around another", Style("7").Render("a" + Style("1").Render("b") + "c"), "\x1b[7ma\x1b[1mb\x1b[m\x1b[7mc\x1b[m"},
		{"style of a renderer", StyleOf(func(s ...string) string { return "\x1b[1m\x1b[38;5;9m" + s[0] + "\x1b[0m" }), Style("1;91")},
		{"styles together", Style("1").With("").With("31"), Style("1;31")},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []string
		want string // lines with | between
	}{
		{"fits", Wrap("abc def", 10), "abc def"},
		{"at words", Wrap("abc def ghi", 7), "abc def|ghi"},
		{"blanks at the break", Wrap("abc     def", 5), "abc|def"},
		{"long word", Wrap("abcdefghij", 4), "abcd|efgh|ij"},
		{"long word after a short one", Wrap("ab cdefghij", 4), "ab|cdef|ghij"},
		{"indent stays", Wrap("  abc def", 6), "  abc|def"},
		{"indented long word", Wrap("  abcdefgh", 6), "  abcd|efgh"},
		{"line ends", Wrap("a\n\nb", 5), "a||b"},
		{"empty", Wrap("", 5), ""},
		{"wide", Wrap("日本語日本語", 5), "日本|語日|本語"},
		{"wide with full stop", Wrap("日本。語", 4), "日|本。|語"},
		{"wide in one cell", Wrap("日a", 1), " |a"},
		{"emoji is not split", Wrap("👩‍💻👩‍💻", 3), "👩‍💻|👩‍💻"},
		{"styled", Wrap("\x1b[1mabc def\x1b[m ghi", 4), "\x1b[1mabc\x1b[m|\x1b[1mdef\x1b[m|ghi"},
		{"style over line ends", Wrap("\x1b[1ma\nb\x1b[m", 4), "\x1b[1ma\x1b[m|\x1b[1mb\x1b[m"},
		{"mark at the beginning", Wrap("\x1b[1m\u0301a\x1b[m", 5), "\x1b[1m◌\u0301a\x1b[m"},
		{"width 0", Wrap("ab", 0), "a|b"},
		{"keep", WrapKeep("abc   def", 4), "abc |  |def"},
		{"keep at the end", WrapKeep("go test && push", 8), "go test |&& push"},
		{"keep a flood of blanks", WrapKeep("x"+strings.Repeat(" ", 9)+"; rm", 6), "x     |    ; |rm"},
		{"hard", Hardwrap("abc def", 5), "abc d|ef"},
		{"hard with blanks", Hardwrap("      x", 4), "    |  x"},
	} {
		if got := strings.Join(c.got, "|"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// D7: what wraps is whole; no line is wider; no cluster is split.
func FuzzWrap(f *testing.F) {
	f.Add("abc def 日本語 e\u0301 👩‍💻", uint8(5))
	f.Add("\x1b[1;31ma  b\x1b[m c\n d", uint8(2))
	f.Add("\u0600a\u0301\u200d1\u20e3\u1160\u200b\u202e", uint8(1))
	f.Fuzz(func(t *testing.T, src string, width uint8) {
		w := int(width)
		for _, s := range []string{CleanColor(src), Visible(src, "33")} {
			for name, lines := range map[string][]string{"Wrap": Wrap(s, w), "WrapKeep": WrapKeep(s, w), "Hardwrap": Hardwrap(s, w)} {
				for _, l := range lines {
					if n := Width(l); n > max(w, 1) {
						t.Errorf("%s(%q, %d): %d cells: %q", name, s, w, n, l)
					}
				}
				if w < 2 {
					continue // a wide character is no more than a blank there
				}
				all := Strip(strings.Join(lines, ""))
				want := Strip(strings.ReplaceAll(s, "\n", ""))
				if name == "Wrap" {
					all, want = strings.ReplaceAll(all, " ", ""), strings.ReplaceAll(want, " ", "")
				}
				if all != want {
					t.Errorf("%s(%q, %d) lost something\n got %q\nwant %q", name, s, w, all, want)
				}
			}
			one := strings.ReplaceAll(s, "\n", " ")
			if n := Width(Pad(one, w)); n != w {
				t.Errorf("Pad(%q, %d): %d cells", one, w, n)
			}
			if n := Width(Truncate(one, w, "…")); n > w {
				t.Errorf("Truncate(%q, %d): %d cells", one, w, n)
			}
			if n := Width(Cut(one, w/3, w)); n > w-w/3 {
				t.Errorf("Cut(%q, %d, %d): %d cells", one, w/3, w, n)
			}
		}
	})
}

func BenchmarkWrap(b *testing.B) {
	for name, s := range map[string]string{
		"plain":  strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200),
		"styled": strings.Repeat("The quick \x1b[1mbrown\x1b[m fox jumps over the \x1b[36mlazy\x1b[m dog. ", 200),
		"wide":   strings.Repeat("日本語の文章はどこでも改行できます。", 200),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Wrap(s, 80)
			}
		})
	}
}

func BenchmarkPad(b *testing.B) {
	s := "  " + strings.Repeat("\x1b[36mword\x1b[m and plain text ", 5)
	for b.Loop() {
		Pad(s, 200)
	}
}
