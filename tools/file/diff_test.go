package file

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHunks(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, c := range []struct {
		name, before, after string
		context             int
		want                []Hunk
	}{
		{"equal", ten, ten, 3, nil},
		{"empty", "", "", 3, nil},
		{"new file", "", "a\nb\n", 3, []Hunk{{1, 1, []string{"+a", "+b"}}}},
		{"emptied", "a\n", "", 3, []Hunk{{1, 1, []string{"-a"}}}},
		{"one line", ten, strings.Replace(ten, "5\n", "five\n", 1), 1, []Hunk{{4, 4, []string{" 4", "-5", "+five", " 6"}}}},
		{"two hunks", ten, "0\n" + strings.Replace(ten, "9\n", "", 1), 1, []Hunk{{1, 1, []string{"+0", " 1"}}, {8, 9, []string{" 8", "-9", " 10"}}}},
		{"joined", ten, strings.Replace(strings.Replace(ten, "4\n", "", 1), "7\n", "x\n", 1), 1, []Hunk{{3, 3, []string{" 3", "-4", " 5", " 6", "-7", "+x", " 8"}}}},
		{"no context", ten, strings.Replace(ten, "5\n", "", 1), 0, []Hunk{{5, 5, []string{"-5"}}}},
		{"final newline goes", "a\nb\n", "a\nb", 1, []Hunk{{1, 1, []string{" a", "-b", "+b", noNewline}}}},
		{"final newline comes", "a\nb", "a\nb\n", 1, []Hunk{{1, 1, []string{" a", "-b", noNewline, "+b"}}}},
		{"none before and after", "a\nb", "x\nb", 1, []Hunk{{1, 1, []string{"-a", "+x", " b", noNewline}}}},
		{"CR", "a\r\nb\r\n", "a\nb\r\n", 1, []Hunk{{1, 1, []string{"-a\r", "+a", " b\r"}}}},
		{"whole function", "func a() {\n\tx()\n}\n\nfunc c() {\n\tx()\n}\n", "func a() {\n\tx()\n}\n\nfunc b() {\n\tx()\n}\n\nfunc c() {\n\tx()\n}\n", 0, []Hunk{{5, 5, []string{"+func b() {", "+\tx()", "+}", "+"}}}},
		{"function goes", "func a() {\n\tx()\n}\n\nfunc b() {\n\tx()\n}\n\nfunc c() {\n\tx()\n}\n", "func a() {\n\tx()\n}\n\nfunc c() {\n\tx()\n}\n", 0, []Hunk{{5, 5, []string{"-func b() {", "-\tx()", "-}", "-"}}}},
		{"last function", "func a() {\n\tx()\n}\n", "func a() {\n\tx()\n}\n\nfunc b() {\n\tx()\n}\n", 0, []Hunk{{4, 4, []string{"+", "+func b() {", "+\tx()", "+}"}}}},
		{"bytes", "\xff\n", "\xfe\x00\n", 1, []Hunk{{1, 1, []string{"-\xff", "+\xfe\x00"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Hunks([]byte(c.before), []byte(c.after), c.context)
			if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", c.want) {
				t.Errorf("got  %#v\nwant %#v", got, c.want)
			}
		})
	}
}

// apply makes the new lines from the old ones and a diff.
func apply(t *rapid.T, before []byte, hunks []Hunk) []byte {
	old := splitLines(before)
	var out bytes.Buffer
	at, made := 0, 0
	for _, h := range hunks {
		for at < h.Old-1 {
			out.Write(old[at])
			at, made = at+1, made+1
		}
		if h.New-1 != made {
			t.Fatalf("hunk %+v begins at new line %d", h, made+1)
		}
		for i, l := range h.Lines {
			if l == noNewline {
				continue
			}
			line := l[1:] + "\n"
			if i+1 < len(h.Lines) && h.Lines[i+1] == noNewline {
				line = l[1:]
			}
			if l[0] != '+' {
				if at >= len(old) || string(old[at]) != line {
					t.Fatalf("line %d is not %q", at+1, line)
				}
				at++
			}
			if l[0] != '-' {
				out.WriteString(line)
				made++
			}
		}
	}
	for ; at < len(old); at++ {
		out.Write(old[at])
	}
	return out.Bytes()
}

// Every diff rebuilds the new content exactly, and counts its lines.
func TestHunksProperty(t *testing.T) { rapid.Check(t, hunksRebuild) }

func FuzzHunksProperty(f *testing.F) { f.Fuzz(rapid.MakeFuzz(hunksRebuild)) }

func hunksRebuild(rt *rapid.T) {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "a\r\n", "\xff\n", "x", "}\n"})
	text := func(label string) []byte {
		return []byte(strings.Join(rapid.SliceOfN(line, 0, 30).Draw(rt, label), ""))
	}
	before, after, context := text("before"), text("after"), rapid.IntRange(0, 4).Draw(rt, "context")
	hunks := Hunks(before, after, context)
	if got := apply(rt, before, hunks); !bytes.Equal(got, after) {
		rt.Fatalf("%q and %#v make %q", before, hunks, got)
	}
	added, removed := Change{Before: before, After: after}.Counts()
	for _, h := range hunks {
		for _, l := range h.Lines {
			switch l[0] {
			case '+':
				added--
			case '-':
				removed--
			}
		}
	}
	if added != 0 || removed != 0 {
		rt.Fatalf("the counts are wrong by +%d -%d", added, removed)
	}
	if least := len(splitLines(before)) + len(splitLines(after)) - 2*longestCommon(splitLines(before), splitLines(after)); countChanges(hunks) != least {
		rt.Fatalf("%d changed lines, the fewest are %d", countChanges(hunks), least)
	}
}

func countChanges(hunks []Hunk) (n int) {
	for _, h := range hunks {
		for _, l := range h.Lines {
			if l[0] == '+' || l[0] == '-' {
				n++
			}
		}
	}
	return n
}

func longestCommon(a, b [][]byte) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if bytes.Equal(a[i], b[j]) {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// manyLines makes a text of n lines, and the same with some of them changed.
func manyLines(n, changes int) (before, after []byte) {
	rnd := rand.New(rand.NewSource(3))
	var a, z bytes.Buffer
	every := n / max(changes, 1)
	for i := range n {
		line := fmt.Sprintf("\tline %d calls function%d(w%d)\n", i/2, rnd.Intn(500), rnd.Intn(100))
		a.WriteString(line)
		switch {
		case i%every != 0:
			z.WriteString(line)
		case i%3 == 0:
			z.WriteString("\tchanged " + line)
		case i%3 == 1:
			z.WriteString(line + "\t}\n")
		}
	}
	return a.Bytes(), z.Bytes()
}

// Large contents are cut at lines that occur once, and still rebuild.
func TestHunksLarge(t *testing.T) {
	for _, c := range []struct{ lines, changes, most int }{{20_000, 500, 1100}, {20_000, 20_000, 40_000}, {60_000, 6000, 13_000}} {
		before, after := manyLines(c.lines, c.changes)
		hunks := Hunks(before, after, 3)
		rapidless(t, before, after, hunks)
		if n := countChanges(hunks); n > c.most || n == 0 {
			t.Errorf("%d lines with %d changes: %d lines differ", c.lines, c.changes, n)
		}
	}
	// No line occurs once, so nothing can be cut: the result is coarse but right.
	before := bytes.Repeat([]byte("a\nb\n"), 5000)
	after := bytes.Repeat([]byte("b\na\nb\n"), 4000)
	rapidless(t, before, after, Hunks(before, after, 3))
}

// rapidless checks that a diff rebuilds the new content, outside of rapid.
func rapidless(t *testing.T, before, after []byte, hunks []Hunk) {
	t.Helper()
	old, at := splitLines(before), 0
	var out [][]byte
	for _, h := range hunks {
		out = append(out, old[at:h.Old-1]...)
		at = h.Old - 1
		for _, l := range h.Lines {
			switch {
			case l == noNewline:
			case l[0] == '+':
				out = append(out, []byte(l[1:]+"\n"))
			case l[0] == '-':
				at++
			default:
				out = append(out, old[at])
				at++
			}
		}
	}
	out = append(out, old[at:]...)
	if !slices.EqualFunc(out, splitLines(after), bytes.Equal) {
		t.Error("the diff does not rebuild the new content")
	}
}
