package text

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
)

// onTerminal is what a terminal shows after some output: its rows, without the blanks
// at their ends and the empty rows at the end.
func onTerminal(output string) []string {
	term := vt.NewEmulator(200, 40)
	defer term.Close()
	_, _ = io.WriteString(term, "\x1b[20h"+output) // a line feed also returns the carriage, as on a tty
	return rowsOf(strings.Split(term.String(), "\n"))
}

// inWriter is the same as a [Writer] keeps it.
func inWriter(output string, piece int) []string {
	w := NewWriter(1000)
	for i := 0; i < len(output); i += piece {
		w.WriteString(output[i:min(i+piece, len(output))])
	}
	w.Flush()
	rows := w.Lines()
	for i := range rows {
		rows[i] = Strip(rows[i])
	}
	return rowsOf(rows)
}

func rowsOf(rows []string) []string {
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// What commands print looks as on a terminal: progress bars of every kind.
func TestWriterIsATerminal(t *testing.T) {
	for name, output := range map[string]string{
		"a bar":             "start\n[=>  ] 10%\r[==> ] 50%\r[===>] 100%\ndone\n",
		"erased first":      "loading...\r\x1b[Kloaded\n",
		"two bars":          "a 1%\nb 1%\n\x1b[2A\x1b[2Ka 50%\n\x1b[2Kb 30%\n\x1b[2Aa 100%\x1b[K\nb 100%\x1b[K\n",
		"a spinner":         "- work\b\b\b\b\b\b\\\b|\b/ work\n",
		"columns":           "name\tsize\n\x1b[20Gat 20\x1b[5Gat 5\n",
		"inserted":          "abcdef\r\x1b[2@\x1b[3Cx\x1b[2P!\x1b[1X\n",
		"next and previous": "1\n2\n3\x1b[2Ffirst\x1b[Esecond\n",
		"colours":           "\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m\rRED\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, want := inWriter(output, len(output)), onTerminal(output); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n%q\nwant\n%q", got, want)
			}
		})
	}
}

// FuzzTerminal compares output of random parts with a terminal's screen.
func FuzzTerminal(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed, uint8(7))
	}
	f.Fuzz(func(t *testing.T, seed uint64, piece uint8) {
		r := rand.New(rand.NewPCG(seed, 2))
		var b strings.Builder
		row, last := 0, 0 // below the last row there is nothing to go to
		for range 40 {
			switch n := r.IntN(4); r.IntN(8) {
			case 0:
				b.WriteString("\r")
			case 1:
				if row+1 < maxRows {
					row++
					last = max(last, row)
					b.WriteString("\n")
				}
			case 2:
				b.WriteString("\b")
			case 3:
				switch final := "ABCDEFGPX@"[r.IntN(10)]; final {
				case 'A', 'F':
					row = max(row-n-1, 0)
					fmt.Fprintf(&b, "\x1b[%d%c", 1+n, final)
				case 'B', 'E':
					if row+n+1 <= last {
						row += n + 1
						fmt.Fprintf(&b, "\x1b[%d%c", 1+n, final)
					}
				default:
					fmt.Fprintf(&b, "\x1b[%d%c", 1+n, final)
				}
			case 4:
				fmt.Fprintf(&b, "\x1b[%dK", r.IntN(3))
			case 5:
				fmt.Fprintf(&b, "\x1b[3%dm", n)
			default:
				b.WriteString([]string{"word ", "x", "50%", "[##  ]"}[n])
			}
		}
		output := b.String()
		if got, want := inWriter(output, 1+int(piece)), onTerminal(output); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q\ngot\n%q\nwant\n%q", output, got, want)
		}
	})
}
