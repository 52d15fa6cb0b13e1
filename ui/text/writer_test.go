package text

import (
	"bytes"
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"testing"
)

func TestWriter(t *testing.T) {
	w := NewWriter(3)
	if w.Len() != 0 || w.Lines() != nil {
		t.Fatalf("new: %q", w.Lines())
	}
	w.WriteString("one\ntwo\nthr")
	check := func(want string, dropped, total int) {
		t.Helper()
		if got := strings.Join(w.Lines(), "|"); got != want || w.Dropped() != dropped || w.Total() != total {
			t.Errorf("got %q, %d dropped, %d in all; want %q, %d, %d", got, w.Dropped(), w.Total(), want, dropped, total)
		}
		if w.Len() != len(w.Lines()) {
			t.Errorf("Len %d, %d lines", w.Len(), len(w.Lines()))
		}
	}
	check("one|two|thr", 0, 3)
	w.WriteString("ee\nfour\nfive\n")
	check("three|four|five", 2, 5)
	w.WriteString("\x1b[32mgre")
	w.WriteString("en\x1b[0")
	w.WriteString("m 50%\r")
	check("four|five|\x1b[32mgreen\x1b[m 50%", 3, 6)
	w.WriteString("\x1b[K100%\n\xe6\x97")
	w.WriteString("\xa5\n")
	check("five|100%|日", 4, 7)
	if got := strings.Join(w.Tail(2), "|"); got != "100%|日" {
		t.Errorf("tail %q", got)
	}
	if got := w.Tail(0); len(got) != 0 {
		t.Errorf("tail of none %q", got)
	}
	w.WriteString("\xe6")
	w.Flush()
	check("100%|日|\ufffd", 5, 8)
}

// Progress of several lines goes up and writes over them.
func TestWriterGoesUp(t *testing.T) {
	w := NewWriter(100)
	w.WriteString("start\na 10%\nb 20%\n")
	for i := range 5 {
		w.WriteString(fmt.Sprintf("\x1b[2A\x1b[2Ka %d%%\r\n\x1b[2K\x1b[32mb\x1b[m %d%%\n", 20+i, 40+i))
	}
	w.WriteString("end\n")
	want := "start|a 24%|\x1b[32mb\x1b[m 44%|end"
	if got := strings.Join(w.Lines(), "|"); got != want || w.Total() != 4 {
		t.Errorf("got %q, %d lines, want %q", got, w.Total(), want)
	}
	w.WriteString("x\ny\nz\x1b[3F\x1b[Jover\n")
	if got := strings.Join(w.Tail(3), "|"); got != "a 24%|\x1b[32mb\x1b[m 44%|over" {
		t.Errorf("after erasing below: %q", got)
	}
	w.WriteString("\x1b[999Atop\x1b[999B\x1b[Glast\x1b[2J")
	lines := w.Lines()
	if lines[0] != "toprt" || lines[len(lines)-1] != "last" {
		t.Errorf("far up and down: %q", lines)
	}
}

// UI-22: a flood is counted, not read; the result is the same.
func TestFlood(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	var all bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&all, "line %d%s\n", i, strings.Repeat("x", rnd.Intn(20)))
	}
	for _, extra := range []string{"", "\x1b[31mred", "\r12", "é«\u00ab"} {
		slow, fast := NewWriter(100), NewWriter(100)
		slow.WriteString(extra)
		fast.WriteString(extra)
		for _, line := range bytes.SplitAfter(all.Bytes(), []byte("\n")) {
			slow.Write(line)
		}
		fast.Write(all.Bytes())
		if a, b := strings.Join(slow.Lines(), "\n"), strings.Join(fast.Lines(), "\n"); a != b {
			t.Errorf("after %q: lines differ\n%s\n--\n%s", extra, a, b)
		}
		if slow.Total() != fast.Total() || slow.Dropped() != fast.Dropped() {
			t.Errorf("after %q: %d of %d, %d of %d", extra, slow.Dropped(), slow.Total(), fast.Dropped(), fast.Total())
		}
	}
}

// Memory stays bounded, whatever comes: long lines, many lines, open strings.
func TestWriterMemory(t *testing.T) {
	w := NewWriter(1000)
	for _, piece := range []string{strings.Repeat("x", 1<<16), strings.Repeat("日", 1<<12), "\x1b]0;" + strings.Repeat("t", 1<<16), "\r\x1b[4000Gx", strings.Repeat("e\u0301", 1000), "\n"} {
		for range 20 {
			w.WriteString(piece)
		}
	}
	for range 3000 {
		w.WriteString(strings.Repeat("y", 4000) + "\n")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	sum := 0
	for _, l := range w.Lines() {
		if n := Width(l); n > maxCells+1 {
			t.Fatalf("a line of %d cells", n)
		}
		sum += len(l)
	}
	if sum > maxKept+maxRows*maxCells {
		t.Errorf("%d bytes of lines are kept", sum)
	}
	kept := w.Len()
	w = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(before.HeapAlloc) - int64(after.HeapAlloc); held > 4<<20 {
		t.Errorf("the writer held %d bytes for %d lines", held, kept)
	}
}

func TestLongLine(t *testing.T) {
	w := NewWriter(10)
	w.WriteString(strings.Repeat("x", maxCells+10) + "\nnext\n" + strings.Repeat("日", maxCells) + "\n")
	lines := w.Lines()
	if len(lines) != 3 || lines[0] != strings.Repeat("x", maxCells)+"…" || lines[1] != "next" || Width(lines[2]) != maxCells+1 {
		t.Errorf("%d lines of %d and %d cells", len(lines), Width(lines[0]), Width(lines[2]))
	}
}

func BenchmarkWriter(b *testing.B) {
	for name, line := range map[string]string{
		"yes": "y\n", "go test": "ok  \tacme/app/tools\t0.412s\n", "colour": "\x1b[32m✓\x1b[0m a test that passes\n",
		"progress": "\r 50% [=====     ] 12.3 MB/s", "wide": "日本語の文章\n", "backspace": "x\b",
	} {
		chunk := []byte(strings.Repeat(line, 32<<10/len(line)))
		b.Run(name, func(b *testing.B) {
			w := NewWriter(1000)
			b.SetBytes(int64(len(chunk)))
			for b.Loop() {
				w.Write(chunk)
			}
		})
	}
}
