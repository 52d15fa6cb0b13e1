package list

import (
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"testing"

	"github.com/phero-agent/agent/ui/text"
)

// para is a paragraph that wraps; it counts how often it is rendered.
type para struct {
	words    string
	final    bool
	rendered *int
	released int

	lines []string
	width int
}

func (p *para) Lines(w int) []string {
	if p.lines == nil || p.width != w {
		if p.rendered != nil {
			*p.rendered++
		}
		p.lines, p.width = text.Wrap(p.words, w), w
	}
	return p.lines
}

func (p *para) Final() bool        { return p.final }
func (p *para) Estimate(w int) int { return 1 + strings.Count(p.words, "\n") + len(p.words)/w }
func (p *para) Release()           { p.released++; p.lines = nil }

func (p *para) write(s string) { p.words += s; p.lines = nil }

// rows is an item of n lines, as "3.0", "3.1".
func rows(name, n int) *para {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("%d.%d", name, i))
	}
	return &para{words: strings.Join(lines, "\n"), final: true}
}

// numbered returns a list of n items of h lines.
func numbered(n, high, w, h int) *List {
	l := New()
	l.SetSize(w, h)
	for i := range n {
		l.Append(rows(i, high))
	}
	return l
}

func view(l *List) string { return strings.Join(l.View(), " ") }

func check(t *testing.T, l *List, want string) {
	t.Helper()
	if got := strings.TrimRight(view(l), " "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFollow(t *testing.T) {
	l := New()
	l.SetSize(10, 4)
	check(t, l, "")
	l.Append(rows(0, 2))
	check(t, l, "0.0 0.1")
	l.Append(rows(1, 3))
	check(t, l, "0.1 1.0 1.1 1.2")
	live := &para{words: "a"}
	l.Append(live)
	check(t, l, "1.0 1.1 1.2 a")
	live.write("\nb\nc")
	check(t, l, "1.2 a b c")
	if !l.Following() || l.Unseen() != 0 || l.Below() != 0 {
		t.Errorf("following %v, unseen %d, below %d", l.Following(), l.Unseen(), l.Below())
	}
}

func TestScroll(t *testing.T) {
	l := numbered(5, 3, 10, 4)
	check(t, l, "3.2 4.0 4.1 4.2")
	l.Scroll(-1)
	check(t, l, "3.1 3.2 4.0 4.1")
	if l.Following() {
		t.Error("follows after scrolling up")
	}
	l.Scroll(-4)
	check(t, l, "2.0 2.1 2.2 3.0")
	l.Page(-1)
	check(t, l, "1.0 1.1 1.2 2.0")
	l.HalfPage(1)
	check(t, l, "1.2 2.0 2.1 2.2")
	l.Scroll(-100)
	check(t, l, "0.0 0.1 0.2 1.0")
	l.Scroll(100)
	check(t, l, "3.2 4.0 4.1 4.2")
	if !l.Following() {
		t.Error("does not follow at the end")
	}
	l.Top()
	check(t, l, "0.0 0.1 0.2 1.0")
	l.Bottom()
	check(t, l, "3.2 4.0 4.1 4.2")
	l.Jump(1, 2)
	check(t, l, "1.2 2.0 2.1 2.2")
	l.Jump(4, 0)
	check(t, l, "3.2 4.0 4.1 4.2")
}

// What happens below the anchor does not move what is seen.
func TestAnchorIsStable(t *testing.T) {
	l := numbered(5, 3, 10, 4)
	live := &para{words: "x"}
	l.Append(live)
	l.View()
	l.Scroll(-3)
	before := view(l)
	for i := range 20 {
		live.write(fmt.Sprintf("\nmore %d", i))
		l.Append(rows(100+i, 2))
		if got := view(l); got != before {
			t.Fatalf("after %d additions %q, before %q", i+1, got, before)
		}
	}
	if l.Unseen() != 20 {
		t.Errorf("%d new", l.Unseen())
	}
	if l.Below() == 0 {
		t.Error("nothing below")
	}
	l.Bottom()
	if l.Unseen() != 0 {
		t.Errorf("%d new at the end", l.Unseen())
	}
}

func TestInsertRemoveSet(t *testing.T) {
	l := numbered(6, 2, 10, 3)
	l.Jump(3, 1)
	l.Select(3)
	l.Jump(3, 1)
	check(t, l, "3.1 4.0 4.1")
	l.Insert(0, rows(90, 5))
	check(t, l, "3.1 4.0 4.1")
	if l.Selected() != 4 {
		t.Errorf("selected %d", l.Selected())
	}
	l.Remove(0, 2)
	check(t, l, "3.1 4.0 4.1")
	l.Set(2, rows(33, 4)) // the item of the anchor
	check(t, l, "33.1 33.2 33.3")
	l.Remove(2, 3)
	check(t, l, "4.0 4.1 5.0")
	if l.Selected() != -1 {
		t.Errorf("selected %d after its removal", l.Selected())
	}
	l.Remove(0, l.Len())
	check(t, l, "")
	l.Append(rows(7, 1))
	check(t, l, "7.0")
}

func TestChanged(t *testing.T) {
	l := New()
	l.SetSize(10, 3)
	p := &para{words: "folded", final: true}
	l.Append(p)
	check(t, l, "folded")
	p.write("\nopen")
	check(t, l, "folded")
	l.Changed(0)
	check(t, l, "folded open")
	p.write("\nmore")
	l.ChangedAll()
	check(t, l, "folded open more")
}

func TestSelect(t *testing.T) {
	l := numbered(100, 2, 10, 4)
	l.View()
	for _, c := range []struct {
		sel  int
		want string
	}{{50, "50.0 50.1 51.0 51.1"}, {51, "50.0 50.1 51.0 51.1"}, {50, "50.0 50.1 51.0 51.1"}, {49, "49.0 49.1 50.0 50.1"}, {99, "98.0 98.1 99.0 99.1"}, {0, "0.0 0.1 1.0 1.1"}} {
		l.Select(c.sel)
		l.Show(c.sel, 1)
		check(t, l, c.want)
	}
	l.Select(1000)
	if l.Selected() != 99 {
		t.Errorf("selected %d", l.Selected())
	}
	l.Select(-5)
	if l.Selected() != -1 {
		t.Errorf("selected %d", l.Selected())
	}
}

func TestAt(t *testing.T) {
	l := numbered(2, 2, 10, 6)
	l.View()
	if r, ok := l.At(3); !ok || r != (Row{1, 1}) {
		t.Errorf("row 3: %v %v", r, ok)
	}
	for _, y := range []int{-1, 4, 5, 6} {
		if r, ok := l.At(y); ok {
			t.Errorf("row %d: %v", y, r)
		}
	}
}

// A resize keeps the text at the top of the window.
func TestResize(t *testing.T) {
	l := New()
	l.SetSize(60, 10)
	for i := range 50 {
		var words []string
		for w := range 200 {
			words = append(words, fmt.Sprintf("i%dw%d", i, w))
		}
		l.Append(&para{words: strings.Join(words, " "), final: true})
	}
	l.Jump(20, 10)
	top := strings.Fields(l.View()[0])[0]
	for _, w := range []int{30, 100, 45, 60} {
		l.SetSize(w, 10)
		seen := view(l)
		if !strings.Contains(seen, "i20w") {
			t.Errorf("at width %d item 20 is not seen: %s", w, seen)
		}
	}
	if got := view(l); !strings.Contains(got, top) {
		t.Errorf("back at the first width %q is not seen: %s", top, got)
	}
	l.Bottom()
	l.SetSize(30, 5)
	if got := l.View(); !strings.Contains(got[len(got)-1], "i49w199") || !l.Following() {
		t.Errorf("following is lost: %q", got)
	}
}

func TestBar(t *testing.T) {
	l := numbered(3, 2, 10, 6)
	l.View()
	if _, _, ok := l.Bar(); ok {
		t.Error("a scrollbar though all is seen")
	}
	l = numbered(100, 2, 10, 20)
	l.View()
	if row, n, ok := l.Bar(); !ok || n != 2 || row != 18 {
		t.Errorf("at the end: row %d, %d rows, %v", row, n, ok)
	}
	l.Top()
	if row, _, _ := l.Bar(); row != 0 {
		t.Errorf("at the top: row %d", row)
	}
	l.DragTo(9)
	if row, _, _ := l.Bar(); row != 9 {
		t.Errorf("dragged to 9: row %d", row)
	}
	if top, _ := l.At(0); l.View() != nil && top.Item < 0 {
		t.Error("nothing is seen after dragging")
	}
	l.DragTo(50)
	if !l.Following() {
		t.Error("dragged to the end it does not follow")
	}
}

// Lines of items far away are not kept, and items are told so.
func TestRelease(t *testing.T) {
	l := numbered(1000, 3, 20, 30)
	l.Bottom()
	l.View()
	for range 300 {
		l.Scroll(-10)
		l.View()
	}
	if len(l.kept) > 2*near+60 {
		t.Errorf("lines of %d items are kept", len(l.kept))
	}
	if l.Item(999).(*para).released == 0 {
		t.Error("an item far away was not told to release its lines")
	}
}

// Whatever is done: as many lines as the window is high, none too wide, sums right.
func TestRandom(t *testing.T) {
	for seed := range int64(40) {
		rnd := rand.New(rand.NewSource(seed))
		l := New()
		w, h := 1+rnd.Intn(40), rnd.Intn(12)
		l.SetSize(w, h)
		var live *para
		for range 400 {
			switch rnd.Intn(14) {
			case 0, 1, 2:
				live = &para{words: strings.Repeat("word ", rnd.Intn(40)), final: rnd.Intn(2) == 0}
				l.Append(live)
			case 3:
				if live != nil && !live.final {
					live.write(strings.Repeat("x", rnd.Intn(30)))
				}
			case 4:
				l.Scroll(rnd.Intn(60) - 30)
			case 5:
				w, h = 1+rnd.Intn(40), rnd.Intn(12)
				l.SetSize(w, h)
			case 6:
				l.Select(rnd.Intn(l.Len()+2) - 1)
			case 7:
				l.Insert(rnd.Intn(l.Len()+1), rows(7, rnd.Intn(5)))
			case 8:
				if l.Len() > 0 {
					i := rnd.Intn(l.Len())
					l.Remove(i, i+1+rnd.Intn(l.Len()-i))
				}
			case 9:
				l.Jump(rnd.Intn(l.Len()+1), rnd.Intn(5))
			case 10:
				l.DragTo(rnd.Intn(12))
			case 11:
				if l.Len() > 0 {
					l.Set(rnd.Intn(l.Len()), rows(8, rnd.Intn(9)))
				}
			case 12:
				l.Top()
			case 13:
				l.Page(rnd.Intn(3) - 1)
			}
			lines := l.View()
			if len(lines) != h {
				t.Fatalf("seed %d: %d lines in a window of %d", seed, len(lines), h)
			}
			for _, s := range lines {
				if text.Width(s) > w {
					t.Fatalf("seed %d: %q is wider than %d", seed, s, w)
				}
			}
			total, above := 0, 0
			for i, s := range l.items {
				total += s.high
				if i < l.top {
					above += s.high
				}
			}
			if total != l.total || above != l.above {
				t.Fatalf("seed %d: sums %d and %d, want %d and %d", seed, l.total, l.above, total, above)
			}
			if row, n, ok := l.Bar(); ok && (row < 0 || n < 1 || row+n > h) {
				t.Fatalf("seed %d: bar at %d, %d rows of %d", seed, row, n, h)
			}
		}
	}
}

// long returns a list of n messages.
func long(n int, rendered *int) *List {
	l := New()
	l.SetSize(120, 50)
	for i := range n {
		l.Append(&para{words: strings.Repeat(fmt.Sprintf("message %d has some words. ", i), 1+i%40), final: true, rendered: rendered})
	}
	return l
}

// No step renders more than what it shows.
func TestOnlyVisibleIsRendered(t *testing.T) {
	n := 0
	l := long(10_000, &n)
	for name, step := range map[string]func(){
		"view": func() {}, "resize": func() { l.SetSize(80, 40) }, "page": func() { l.Page(-1) }, "jump": func() { l.Jump(5000, 0) },
		"drag": func() { l.DragTo(3) }, "top": l.Top, "bottom": l.Bottom, "select": func() { l.Select(7777) },
	} {
		n = 0
		step()
		l.View()
		if n > 200 {
			t.Errorf("%s rendered %d items", name, n)
		}
	}
}

func TestMemoryStaysFlat(t *testing.T) {
	l := long(2000, nil)
	l.View()
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for range 1500 { // through the whole list
		l.Scroll(-40)
		l.View()
	}
	if after := held(); after > before+4<<20 {
		t.Errorf("%d kB more after scrolling through", (after-before)>>10)
	}
	runtime.KeepAlive(l)
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint("items=", n), func(b *testing.B) {
			l := long(n, nil)
			l.View()
			for b.Loop() {
				l.View()
			}
		})
	}
}

func BenchmarkResize(b *testing.B) {
	l := long(10_000, nil)
	l.View()
	w := 0
	for b.Loop() {
		w = 1 - w
		l.SetSize(100+w, 50)
		l.View()
	}
}

func BenchmarkScroll(b *testing.B) {
	l := long(10_000, nil)
	l.View()
	for b.Loop() {
		if l.Scroll(-3); l.top == 0 {
			l.Bottom()
		}
		l.View()
	}
}
