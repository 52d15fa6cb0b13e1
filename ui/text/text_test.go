package text

import "testing"

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
		{"mark without a base", "\u0301x\n\u0301y", "◌\u0301x\n◌\u0301y"},
		{"stack of marks", "e" + rep("\u0301", 50) + "x", "e" + rep("\u0301", 8) + "x"},
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

func rep(s string, n int) string {
	out := ""
	for range n {
		out += s
	}
	return out
}
