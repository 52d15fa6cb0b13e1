package md

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// document returns about n bytes of a usual answer.
func document(tb testing.TB, n int) string {
	src, err := os.ReadFile("testdata/everything.md")
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Repeat(string(src)+"\n", n/len(src)+1)[:n]
}

// stream writes src in pieces of 24 bytes, and looks at the lines each time that
// some bytes have arrived: what 16 ms bring.
func stream(src string, frame int, t *Theme) int {
	var s Stream
	lines, seen := 0, 0
	for at := 0; at < len(src); at += 24 {
		s.Write(src[at:min(at+24, len(src))])
		if at-seen >= frame {
			seen = at
			lines = len(s.Lines(t, 100))
		}
	}
	s.Finish()
	return max(lines, len(s.Lines(t, 100)))
}

// The cost per byte must stay flat.
func BenchmarkStream(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20} {
		src := document(b, size)
		b.Run(fmt.Sprintf("size=%dk", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				stream(src, 800, darkTheme()) // 50 kB/s
			}
		})
	}
}

// Blocks that never end.
func BenchmarkOpenBlock(b *testing.B) {
	const size = 1 << 20
	for name, src := range map[string]string{
		"fence":     "```go\n" + strings.Repeat("\tx := call(1) // comment\n", size/25),
		"list":      strings.Repeat("- an item with **strong** text and `code`\n", size/42),
		"loose":     strings.Repeat("- an item with\n\n  a paragraph\n\n", size/32),
		"table":     "| a | b |\n|---|---|\n" + strings.Repeat("| a cell | another `cell` |\n", size/27),
		"paragraph": strings.Repeat("words of a paragraph that goes on\n", size/34),
		"one line":  strings.Repeat("words on one line, ", size/19),
		"quote":     strings.Repeat("> a quote that goes on\n", size/23),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				stream(src, 4800, darkTheme())
			}
		})
	}
}

// What is meant to be slow must not be.
func BenchmarkHostile(b *testing.B) {
	const size = 100 << 10
	for name, piece := range map[string]string{
		"brackets": "[", "images": "![", "stars": "*a ", "stars and underscores": "**_", "backquotes": "`a``", "quotes": "> ",
		"deep list": "- ", "deep numbers": "1. ", "mixed": "> - ", "angles": "<a ", "entities": "&#x41;", "links": "[a](", "comments": "<!-- ", "pipes": "|", "tildes": "~~a",
	} {
		src := strings.Repeat(piece, size/len(piece))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Render(src, darkTheme(), 100)
			}
		})
	}
}
