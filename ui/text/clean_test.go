package text

import (
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "abc\ndef\n", "abc\ndef\n"},
		{"colour", "\x1b[31mred\x1b[0m x", "red x"},
		{"clear screen and title", "\x1b[2J\x1b]0;x\x07y", "y"}, // UI-20
		{"clipboard", "a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"},
		{"hyperlink", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"queries", "\x1b[6n\x1b]11;?\x07\x1b[c\x1bP+q544e\x1b\\\x1bP$qm\x1b\\x", "x"},
		{"C1", "a\u009b31mb\u0085c\u009d0;t\u009cd", "abcd"},
		{"raw C1 byte", "a\x9bb", "a\ufffdb"},
		{"other strings", "\x1bXa\x1b\\\x1b^b\x1b\\\x1b_c\x1b\\d", "d"},
		{"lone escape at the end", "a\x1b", "a"},
		{"bell, shifts, del", "a\a\x0e\x0f\x7fb\x00", "ab"},
		{"line in an open title", "\x1b]0;t\nshown", "\nshown"},
		{"controls in a sequence", "a\x1b[3\n1mb", "a\nb"},
		{"carriage return writes over", "abcdef\rxyz\n", "xyzdef\n"},
		{"crlf", "a\r\nb\r\n", "a\nb\n"},
		{"progress", " 50%\r\x1b[K100%\n", "100%\n"},
		{"carriage return at the end", "50%\r", "50%"},
		{"erase to the end", "abcdef\r\x1b[2C\x1b[K\n", "ab\n"},
		{"erase the line", "abcdef\x1b[2K\rx\n", "x\n"},
		{"erase before", "abcdef\x1b[3D\x1b[1K\n", "    ef\n"},
		{"column", "abc\x1b[6Gx\x1b[1Gy\n", "ybc  x\n"},
		{"overstrike", "N\bNA\bA_\bM\n", "NAM\n"},
		{"tabs", "a\tb\n12345678\tc\n\u65e5\td", "a       b\n12345678        c\n\u65e5      d"},
		{"form feed", "a\fb\vc", "a\nb\nc"},
		{"bidi", "a\u202eb\u2066c\u200fd\u061ce", "abcde"},
		{"zero width", "a\u200bb\u2060c\ufeffd\u00ade\ufe0ff\U000e0041g\u3164h", "abcdefgh"},
		{"joiner between letters", "a\u200db\u200cc", "abc"},
		{"emoji sequence", "\U0001f469\u200d\U0001f4bb!", "\U0001f469\u200d\U0001f4bb!"},
		{"persian", "\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"},
		{"blanks", "a\u00a0b\u2003c\u2028d", "a b c d"},
		{"combining", "e\u0301x", "e\u0301x"},
		{"mark at the edge again", "ab\x1b[`\u0301c", "◌\u0301c"},
		{"mark without a base", "\u0301x\n\u0301y", "◌\u0301x\n◌\u0301y"},
		{"stack of marks", "e" + strings.Repeat("\u0301", 50) + "x", "e" + strings.Repeat("\u0301", 8) + "x"},
		{"over half of a wide", "日本\rx", "x 本"},
		{"broken utf-8", "a\xe6\x97b\xff", "a\ufffd\ufffdb\ufffd"},
		{"far column", "\x1b[999999999Gx", spaces(maxCells-1) + "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Clean(c.in); got != c.want {
				t.Errorf("Clean(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestCleanColor(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"\x1b[31mred\x1b[0m x", "\x1b[31mred\x1b[m x"},
		{"\x1b[1;38;5;208mx\ny\x1b[m", "\x1b[1;38;5;208mx\x1b[m\n\x1b[1;38;5;208my\x1b[m"},
		{"\x1b[38;2;1;2;3;48:2::4:5:6mx", "\x1b[38;2;1;2;3;48;2;4;5;6mx\x1b[m"},
		{"\x1b[91;104mx", "\x1b[91;104mx\x1b[m"},
		{"\x1b[5;8mx\x1b[28m", "x"}, // blinking and hidden text
		{"\x1b[1mx\x1b[22my\x1b[4mz\x1b[4:0mw", "\x1b[1mx\x1b[my\x1b[4mz\x1b[mw"},
		{"\x1b[31mab\rX", "\x1b[31mXb\x1b[m"},
		{"\x1b[>4;1m\x1b[?25mx", "x"}, // not SGR
	} {
		if got := CleanColor(c.in); got != c.want {
			t.Errorf("CleanColor(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"a":                       "a",
		"a\n  b\r\n\n\tc\n":       "a b c",
		"\x1b]0;evil\aname\x1b[m": "name",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

// PERM-82
func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"go test ./...", "go test ./..."},
		{"a\nb", "a\nb"},
		{"a\x1b[31mb\rc\x00\x7f", "a␛[31mb␍c␀␡"},
		{"a\tb", "a␉  b"},
		{"a\u202eb\u200bc\u2066d\u00ade", "a<U+202E>b<U+200B>c<U+2066>d<U+00AD>e"},
		{"rm\u00a0-rf\u3000x", "rm<U+00A0>-rf<U+3000>x"},
		{"\u009b31m", "<U+009B>31m"},
		{"a\xffb", "a<0xFF>b"},
		{"␛", "<U+241B>"}, // a sign itself is not taken for what it stands for
		{"\u0301e\u0301", "<U+0301>e\u0301"},
		{"e" + strings.Repeat("\u0301", 9), "e" + strings.Repeat("\u0301", 8) + "<U+0301>"},
		{"\U000e0041\ufe0f\u3164", "<U+E0041><U+FE0F><U+3164>"},
		{"日本", "日本"},
	} {
		if got := Visible(c.in, ""); got != c.want {
			t.Errorf("Visible(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
	if got, want := Visible("a\x1b\rb\n\x1b", "33"), "a\x1b[33m␛␍\x1b[mb\n\x1b[33m␛\x1b[m"; got != want {
		t.Errorf("marked: %q, want %q", got, want)
	}
}

func TestCleaner(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a\tb\r\nc\rd\n", "a\tb\nc\nd\n"},
		{"\x1b[31mred\x1b]0;x\a \u202eé", "red é"},
		{"日\u200b本\xe6", "日本\ufffd"},
	} {
		for size := 1; size <= len(c.in); size++ {
			var cl Cleaner
			got := ""
			for rest := c.in; rest != ""; {
				n := min(size, len(rest))
				got += cl.Write(rest[:n])
				rest = rest[n:]
			}
			if got += cl.Flush(); got != c.want {
				t.Errorf("%q in pieces of %d\n got %q\nwant %q", c.in, size, got, c.want)
			}
		}
	}
}

// checkClean fails for any character that may not reach a terminal.
func checkClean(t *testing.T, src, got string) {
	t.Helper()
	if !utf8.ValidString(got) {
		t.Errorf("%q: broken text %q", src, got)
	}
	for _, r := range got {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) || invisible(r) && r != 0x200c && r != 0x200d {
			t.Errorf("%q: %q in %q", src, r, got)
		}
	}
}

// UI-20: no control byte gets out, however the text arrives.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\rb\x1b[31mc\n", "\x1b]0;t\x07\x1bP+q\x1b\\", "日\b\u202e\t\x1b[2K\x1b[5G", "e\u0301\u200d\xe6\x97", "\x1b[38;2;1;2;3mx\x1b[7Cy"} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		got := Clean(s)
		checkClean(t, s, got)
		if again := Clean(got); again != got {
			t.Errorf("%q: cleaned twice %q, once %q", s, again, got)
		}
		colored := CleanColor(s)
		checkClean(t, s, Strip(colored))
		if Strip(colored) != got {
			t.Errorf("%q: colours change the text: %q, %q", s, colored, got)
		}
		checkClean(t, s, strings.ReplaceAll(Visible(s, ""), "\u200d", ""))
		checkClean(t, s, Line(s))

		w := newWriter(line{colors: true}, math.MaxInt, math.MaxInt)
		var cl Cleaner
		flow := ""
		for rest := s; rest != ""; {
			n := min(int(size)+1, len(rest))
			w.WriteString(rest[:n])
			flow += cl.Write(rest[:n])
			rest = rest[n:]
		}
		w.Flush()
		flow += cl.Flush()
		checkClean(t, s, strings.ReplaceAll(flow, "\t", ""))
		var whole Cleaner
		if want := whole.Write(s) + whole.Flush(); flow != want {
			t.Errorf("%q in pieces of %d: %q, want %q", s, size+1, flow, want)
		}
		lines := strings.Join(w.Lines(), "\n")
		if strings.HasSuffix(colored, "\n") {
			lines += "\n"
		}
		if lines != colored {
			t.Errorf("%q in pieces of %d: %q, want %q", s, size+1, lines, colored)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	s := strings.Repeat("ok  \tacme/app/tools\t0.412s \x1b[32mPASS\x1b[0m é\n", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		CleanColor(s)
	}
}
