package bash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/phero-agent/agent/tools"
)

var truncated = regexp.MustCompile(`(?s)^(.*)\n\[\.\.\. (\d+) bytes truncated \.\.\.\]\n(.*)$`)

// pieces splits a cut text, and checks that nothing is missing or twice.
func pieces(t *testing.T, text string, total int) (head, tail string) {
	t.Helper()
	m := truncated.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no marker in %.200q", text)
	}
	gone, _ := strconv.Atoi(m[2])
	if gone+len(m[1])+len(m[3]) != total {
		t.Fatalf("%d bytes gone, %d and %d kept, but %d written", gone, len(m[1]), len(m[3]), total)
	}
	return m[1], m[3]
}

// The capture keeps what a simple one would, however the writes are split.
func TestCaptureProperty(t *testing.T) { // BASH-13, BASH-14, C5, C6, C7
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "\n", "é", "日", "😀", "\xff", "\xc3", "\x80"}
	for range 3000 {
		limit := rng.IntN(40)
		var all []byte
		c := &capture{limit: limit}
		for range rng.IntN(12) {
			var piece []byte
			for range rng.IntN(12) {
				piece = append(piece, alphabet[rng.IntN(len(alphabet))]...)
			}
			for len(piece) > 0 { // writes may split characters
				n := 1 + rng.IntN(len(piece))
				c.Write(piece[:n])
				all = append(all, piece[:n]...)
				piece = piece[n:]
			}
		}
		text, cut := c.String()
		if !utf8.ValidString(text) {
			t.Fatalf("not UTF-8: %q", text)
		}
		if limit == 0 || len(all) <= limit {
			if cut || text != strings.ToValidUTF8(string(all), "\uFFFD") {
				t.Fatalf("limit %d: %q became %q", limit, all, text)
			}
			continue
		}
		if !cut {
			t.Fatalf("limit %d: %d bytes are not cut", limit, len(all))
		}
		if utf8.Valid(all) {
			head, tail := pieces(t, text, len(all))
			if len(head)+len(tail) > limit || len(head)+len(tail) < limit-6 ||
				!bytes.HasPrefix(all, []byte(head)) || !bytes.HasSuffix(all, []byte(tail)) {
				t.Fatalf("limit %d: %q became %q", limit, all, text)
			}
		}
	}
}

// A tail gives every byte once, or counts it as dropped.
func TestTailProperty(t *testing.T) { // BASH-38, BASH-43, BASH-44, E3, E4
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		capacity := rng.IntN(30)
		tl := &tail{capacity: capacity}
		var all, got []byte
		read := func(last bool) {
			unread, dropped := tl.Next(last, false)
			if capacity > 0 && len(unread) > capacity {
				t.Fatalf("%d bytes of a capacity of %d", len(unread), capacity)
			}
			if !last && !utf8.Valid(unread) {
				t.Fatalf("half a character: %q", unread)
			}
			from := len(got) + int(dropped)
			if !bytes.HasPrefix(all[from:], unread) {
				t.Fatalf("%q after %d of %q", unread, from, all)
			}
			if dropped > 0 && capacity == 0 {
				t.Fatalf("%d dropped without a cap", dropped)
			}
			got = append(append(got, all[len(got):from]...), unread...)
		}
		for range rng.IntN(20) {
			piece := []byte([]string{"a", "bc", "é", "日本", "😀", "0123456789"}[rng.IntN(6)])
			n := rng.IntN(len(piece) + 1)
			for _, p := range [][]byte{piece[:n], piece[n:]} {
				tl.Write(p)
				all = append(all, p...)
				if rng.IntN(3) == 0 {
					read(false)
				}
			}
		}
		read(true)
		if !bytes.Equal(got, all) {
			t.Fatalf("%q became %q", all, got)
		}
	}
}

func TestOutputLimit(t *testing.T) { // BASH-12, BASH-13, C7, C8
	t.Parallel()
	if DefaultMaxOutputChars != 30_000 {
		t.Error(DefaultMaxOutputChars)
	}
	b := newTool(t)
	if out := run(t, b, "head -c 30000 /dev/zero | tr '\\0' x"); out.Truncated || out.Output != strings.Repeat("x", 30_000) {
		t.Errorf("exactly the limit: truncated %v, %d bytes", out.Truncated, len(out.Output))
	}
	out := run(t, b, "head -c 30001 /dev/zero | tr '\\0' x")
	if pieces(t, out.Output, 30_001); !out.Truncated {
		t.Error("one more is not truncated")
	}
	var numbers strings.Builder
	for i := 1; i <= 20_000; i++ {
		fmt.Fprintln(&numbers, i)
	}
	out = run(t, b, "seq 20000")
	head, tail := pieces(t, out.Output, numbers.Len())
	if !out.Truncated || !strings.HasPrefix(head, "1\n2\n") || !strings.HasSuffix(tail, "\n20000\n") || len(head)+len(tail) != 30_000 {
		t.Errorf("%.50q … %.50q", head, tail)
	}
	if out := run(t, newTool(t, WithMaxOutputChars(0)), "seq 20000"); out.Truncated || out.Output != numbers.String() { // 0 = no cap
		t.Errorf("no cap: %d bytes", len(out.Output))
	}
	for _, n := range []int{1, 2, 5} {
		out := run(t, newTool(t, WithMaxOutputChars(n)), "printf 0123456789; exit 3")
		head, tail := pieces(t, strings.TrimSuffix(out.Output, "\nexit code: 3"), 10)
		if len(head)+len(tail) != n || !out.Truncated {
			t.Errorf("limit %d: %q", n, out.Output)
		}
	}
}

func TestOutputIsUTF8(t *testing.T) { // BASH-14, C3, C4, C5
	t.Parallel()
	b := newTool(t)
	for _, c := range []string{"é", "日", "😀"} {
		for offset := range 4 {
			out := run(t, b, fmt.Sprintf("printf '%%.s-' {1..%d}; printf '%s%%.s' {1..20000}", offset+1, c))
			pieces(t, out.Output, offset+1+20_000*len(c))
			if !utf8.ValidString(out.Output) || strings.ContainsRune(out.Output, utf8.RuneError) {
				t.Errorf("%s at %d is broken", c, offset)
			}
		}
	}
	out := run(t, b, "head -c 100000 /dev/urandom; printf '\\xff\\xfe'")
	text, err := tools.Text(out)
	if err != nil || !utf8.ValidString(out.Output) || !utf8.ValidString(text) || !out.Truncated {
		t.Errorf("random bytes: %v", err)
	}
}

// Memory stays bounded, whatever a command prints (BASH-15, C1, C2, C8, C13).
func TestFlood(t *testing.T) {
	b := newTool(t)
	before := residentBytes(t)
	const size = 100_000_000
	out := run(t, b, fmt.Sprintf("yes | head -c %d", size))
	head, tail := pieces(t, out.Output, size)
	if !strings.HasPrefix(head, "y\ny\n") || !strings.HasSuffix(tail, "y\ny\n") || out.ExitCode != 0 {
		t.Errorf("%+v", out)
	}
	if out := run(t, b, "head -c 50000000 /dev/zero | tr '\\0' x"); !out.Truncated {
		t.Error("one long line is not truncated")
	}
	if out := run(t, b, "(yes | head -c 10000000 >&2) & yes | head -c 10000000; wait"); !out.Truncated || out.ExitCode != 0 {
		t.Error("both streams")
	}
	id := background(t, b, "yes | head -c 50000000")
	if _, last := readToEnd(t, b, id); last.Running {
		t.Error("the shell never ends")
	}
	if grown := residentBytes(t) - before; grown > 64<<20 {
		t.Errorf("%d MiB more than before", grown>>20)
	}
}

func TestEndlessFlood(t *testing.T) { // C2
	t.Parallel()
	out := run(t, newTool(t, WithTimeout(hang/100)), "yes")
	if !out.TimedOut || !out.Truncated || !strings.HasSuffix(out.Output, "\ncommand timed out after 300ms") {
		t.Errorf("%.100q", out.Output)
	}
}

func residentBytes(t *testing.T) int {
	needProc(t)
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(data))[1])
	return pages * os.Getpagesize()
}
