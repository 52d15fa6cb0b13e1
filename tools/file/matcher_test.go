package file

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// linesOf returns the lines of text that a scanner finds.
func linesOf(s *scanner, text []byte) []string {
	var out []string
	for from := 0; ; {
		start, end, ok := s.next(text, from)
		if !ok {
			return out
		}
		out = append(out, fmt.Sprint(start, ":", string(text[start:end])))
		from = end
	}
}

// byRegexp returns them as the regular expression alone finds them.
func byRegexp(s *scanner, text []byte) []string {
	var out []string
	at := 0
	for _, l := range splitLines(text) {
		if s.re.Match(bareLine(l)) {
			out = append(out, fmt.Sprint(at, ":", string(l)))
		}
		at += len(l)
	}
	return out
}

// FILE-90: the literal and the automaton find the lines that the regular expression matches.
func TestScannerProperty(t *testing.T) { rapid.Check(t, scannerFindsLines) }

func FuzzScannerProperty(f *testing.F) { f.Fuzz(rapid.MakeFuzz(scannerFindsLines)) }

func scannerFindsLines(rt *rapid.T) {
	atom := rapid.SampledFrom([]string{
		"a", "b", "ab", "foo", "Key", "sum", ".", "^", "$", `\b`, `\B`, "[a-c]", "[^a]", `\w`, `\W`, `\s`, "é", "日", `[à-ÿ]`, `[^\x00-\x7f]`, `\A`, `\z`, "x", " ", `\t`, `\r`, `\n`, "(?:a|bc)", "(foo|Key)",
		`(?i:kEy)`, `(?i:fOo)`, `\d`, `\x{fffd}`, "(?-s:.)", "", "()", "[[:upper:]]", "K", "ſ",
	})
	after := rapid.SampledFrom([]string{"", "", "", "*", "+", "?", "{2}", "{0,2}", "{2,}", "|", "*?"})
	word := rapid.SampledFrom([]string{"a", "b", "c", "ab", "foo", "FOO", "Key", "key", "\u212aey", "ſum", "sum", "SUM", " ", "\t", "\n", "\n", "\r\n", "\r", "é", "日本", "\xff", "\xe9", "\xc3", "x", "0", "_", "\ufffd"})
	var p strings.Builder
	for range rapid.IntRange(1, 5).Draw(rt, "atoms") {
		p.WriteString(atom.Draw(rt, "atom") + after.Draw(rt, "after"))
	}
	fold := rapid.Bool().Draw(rt, "fold")
	m, err := compileMatcher(p.String(), fold, false)
	if err != nil {
		return
	}
	text := []byte(strings.Join(rapid.SliceOfN(word, 0, 25).Draw(rt, "text"), ""))
	s := newScanner(m)
	want := byRegexp(s, text)
	if got := linesOf(s, text); !slices.Equal(got, want) {
		rt.Fatalf("%q on %q\ngot  %q\nwant %q", p.String(), text, got, want)
	}
	s.dfa.gaveUp = true
	if got := linesOf(s, text); !slices.Equal(got, want) {
		rt.Fatalf("%q on %q, without the automaton\ngot  %q\nwant %q", p.String(), text, got, want)
	}
	if m, err = compileMatcher(p.String(), fold, true); err != nil {
		return
	}
	if got, want := newScanner(m).findLong(text), m.re.FindIndex(text); !slices.Equal(got, want) {
		rt.Fatalf("%q on %q, across lines: %v, want %v", p.String(), text, got, want)
	}
}

// A pattern whose automaton would have very many states still finds its lines.
func TestScannerManyStates(t *testing.T) {
	m, err := compileMatcher(`[ab]*a[ab]{14}c`, false, false)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	x := uint32(1)
	for range 400_000 {
		x = x*1664525 + 1013904223
		switch x >> 29 {
		case 0:
			text.WriteByte("c\n"[x>>28&1])
		case 1, 2, 3:
			text.WriteByte('a')
		default:
			text.WriteByte('b')
		}
	}
	s := newScanner(m)
	got, want := linesOf(s, text.Bytes()), byRegexp(s, text.Bytes())
	if !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	if s.dfa.flushes == 0 || len(s.dfa.threads) > maxStates+1 {
		t.Errorf("%d states, %d flushes", len(s.dfa.threads), s.dfa.flushes)
	}
}

func TestRequiredLiteral(t *testing.T) {
	for _, c := range []struct {
		pattern string
		fold    bool
		want    string
	}{
		{"ReadAll", false, "ReadAll"},
		{`func \(\w+ \*?\w+\) ServeHTTP\(`, false, ") ServeHTTP("},
		{`\berr(or)?s?\.New\(`, false, ".New("},
		{`todo\(\w+\)`, true, "todo("},
		{"ServeHTTP", true, "ervehttp"}, // s has a third case
		{"ReadAll|ReadFile", false, "Read"},
		{"foo|bar", false, ""},
		{"(Foo)+", false, "Foo"},
		{"(Foo)?", false, ""},
		{"e{2}Foo", false, "Foo"},
		{`\s*\d+`, false, ""},
		{" e", false, ""},
	} {
		m, err := compileMatcher(c.pattern, c.fold, false)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if m.literal != nil {
			got = string(m.literal.text)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.pattern, got, c.want)
		}
	}
}
