package file

import (
	"bytes"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// noNewline is a line of its own after a last line that has no line end.
const noNewline = `\ No newline at end of file`

// smallDiff is how many lines, of both sides together, are compared directly.
// Longer stretches are first cut at lines that occur once on each side; what then
// is still longer shows as removed and added whole.
const smallDiff = 4000

// Hunks compares two contents line by line, and returns what changed with context
// lines around it. Lines are as they are in the file without the "\n": a "\r" stays
// and bytes need not be UTF-8. After a last line without an end comes the line
// `\ No newline at end of file`, with no mark before it.
func Hunks(before, after []byte, context int) []Hunk {
	a, b := splitLines(before), splitLines(after)
	var hunks []Hunk
	end := 0 // of the last gap, in a
	for _, g := range gaps(a, b) {
		if n := len(hunks); n > 0 && g.a0-end <= 2*context {
			hunks[n-1].add(' ', a[end:g.a0])
		} else {
			if n > 0 {
				hunks[n-1].add(' ', a[end:end+context])
			}
			lead := min(context, g.a0)
			hunks = append(hunks, Hunk{Old: g.a0 - lead + 1, New: g.b0 - lead + 1})
			hunks[n].add(' ', a[g.a0-lead:g.a0])
		}
		h := &hunks[len(hunks)-1]
		h.add('-', a[g.a0:g.a1])
		h.add('+', b[g.b0:g.b1])
		end = g.a1
	}
	if n := len(hunks); n > 0 {
		hunks[n-1].add(' ', a[end:min(end+context, len(a))])
	}
	return hunks
}

// gap is a stretch of lines a[a0:a1] that became b[b0:b1].
type gap struct{ a0, a1, b0, b1 int }

// gaps lists what lies between the lines that stay.
func gaps(a, b [][]byte) []gap {
	var out []gap
	i, j := 0, 0
	for _, p := range append(matchLines(a, b), [2]int{len(a), len(b)}) {
		if i < p[0] || j < p[1] {
			out = append(out, gap{i, p[0], j, p[1]})
		}
		i, j = p[0]+1, p[1]+1
	}
	for k := range out {
		var before, after gap // how far the neighbours leave room
		after.a0 = len(a)
		if k > 0 {
			before = out[k-1]
		}
		if k+1 < len(out) {
			after = out[k+1]
		}
		switch g := &out[k]; {
		case g.a0 == g.a1:
			g.move(slide(b, g.b0, g.b1, g.a0-before.a1, after.a0-g.a1))
		case g.b0 == g.b1:
			g.move(slide(a, g.a0, g.a1, g.a0-before.a1, after.a0-g.a1))
		}
	}
	return out
}

func (g *gap) move(by int) {
	g.a0, g.a1, g.b0, g.b1 = g.a0+by, g.a1+by, g.b0+by, g.b1+by
}

// slide tells how far to move a stretch of lines that only came, or only went, to
// where a person would see it begin. A stretch can move by a line when the line that
// it takes in is equal to the one that it lets go.
func slide(lines [][]byte, start, end, up, down int) int {
	const far = 100
	best, least := 0, cost(lines, start, end)
	for by := 1; by <= min(down, far) && bytes.Equal(lines[start+by-1], lines[end+by-1]); by++ {
		if c := cost(lines, start+by, end+by); c <= least {
			best, least = by, c
		}
	}
	for by := 1; by <= min(up, far) && bytes.Equal(lines[start-by], lines[end-by]); by++ {
		if c := cost(lines, start-by, end-by); c < least {
			best, least = -by, c
		}
	}
	return best
}

// cost is low for a stretch that begins and ends where little is indented, best
// after an empty line.
func cost(lines [][]byte, start, end int) int {
	c := 2*indent(lines, start) + 2*indent(lines, end)
	if start > 0 && len(bytes.TrimSpace(lines[start-1])) > 0 {
		c++
	}
	return c
}

func indent(lines [][]byte, i int) int {
	if i >= len(lines) {
		return 0
	}
	return len(lines[i]) - len(bytes.TrimLeft(lines[i], " \t"))
}

// add appends lines with their mark.
func (h *Hunk) add(mark byte, lines [][]byte) {
	for _, line := range lines {
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		h.Lines = append(h.Lines, string(mark)+string(text))
		if !ended {
			h.Lines = append(h.Lines, noNewline)
		}
	}
}

// Counts returns how many lines the change adds and removes.
func (c Change) Counts() (added, removed int) {
	a, b := splitLines(c.Before), splitLines(c.After)
	n := len(matchLines(a, b))
	return len(b) - n, len(a) - n
}

// splitLines cuts after each "\n".
func splitLines(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte("\n"))+1)
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		lines = append(lines, text[:end])
		text = text[end:]
	}
	return lines
}

// matchLines pairs the lines that stay; both numbers of the pairs grow.
func matchLines(a, b [][]byte) [][2]int {
	head := 0
	for head < len(a) && head < len(b) && bytes.Equal(a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	pairs := make([][2]int, 0, head+tail)
	for i := range head {
		pairs = append(pairs, [2]int{i, i})
	}
	d := differ{ids: map[string]int32{}}
	x, y := d.number(a[head:len(a)-tail], head), d.number(b[head:len(b)-tail], head)
	x, y = common(x, y)
	d.match(x, y)
	pairs = append(pairs, d.pairs...)
	for i := tail; i > 0; i-- {
		pairs = append(pairs, [2]int{len(a) - i, len(b) - i})
	}
	return pairs
}

// line is a line's place in its file and a number that equal lines share.
type line struct {
	at int
	id int32
}

type differ struct {
	ids   map[string]int32
	pairs [][2]int
}

func (d *differ) number(lines [][]byte, first int) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		id, ok := d.ids[string(l)]
		if !ok {
			id = int32(len(d.ids))
			d.ids[string(l)] = id
		}
		out[i] = line{first + i, id}
	}
	return out
}

// common leaves out the lines that the other side does not have: they can pair
// with none, and a rewritten file costs nothing.
func common(x, y []line) ([]line, []line) {
	inX, inY := map[int32]bool{}, map[int32]bool{}
	for _, l := range x {
		inX[l.id] = true
	}
	for _, l := range y {
		inY[l.id] = true
	}
	only := func(lines []line, other map[int32]bool) []line {
		return slices.DeleteFunc(lines, func(l line) bool { return !other[l.id] })
	}
	return only(x, inY), only(y, inX)
}

// match pairs equal lines of x and y, short stretches minimally.
func (d *differ) match(x, y []line) {
	if len(x) == 0 || len(y) == 0 {
		return
	}
	if len(x)+len(y) <= smallDiff {
		d.matchSmall(x, y)
		return
	}
	atX, atY := 0, 0
	for _, p := range anchors(x, y) {
		if len(x[atX:p[0]])+len(y[atY:p[1]]) <= smallDiff {
			d.matchSmall(x[atX:p[0]], y[atY:p[1]])
		}
		d.pairs = append(d.pairs, [2]int{x[p[0]].at, y[p[1]].at})
		atX, atY = p[0]+1, p[1]+1
	}
	if len(x[atX:])+len(y[atY:]) <= smallDiff {
		d.matchSmall(x[atX:], y[atY:])
	}
}

// matchSmall runs sergi's diff over the lines as runes. The runes are numbered
// anew, to stay below the surrogates.
func (d *differ) matchSmall(x, y []line) {
	if len(x) == 0 || len(y) == 0 {
		return
	}
	local := map[int32]rune{}
	runes := func(lines []line) []rune {
		out := make([]rune, len(lines))
		for i, l := range lines {
			r, ok := local[l.id]
			if !ok {
				r = rune(len(local) + 1)
				local[l.id] = r
			}
			out[i] = r
		}
		return out
	}
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0 // the result must not depend on the machine's load
	i, j := 0, 0
	for _, op := range dmp.DiffMainRunes(runes(x), runes(y), false) {
		n := utf8.RuneCountInString(op.Text)
		switch op.Type {
		case diffmatchpatch.DiffDelete:
			i += n
		case diffmatchpatch.DiffInsert:
			j += n
		default:
			for k := range n {
				d.pairs = append(d.pairs, [2]int{x[i+k].at, y[j+k].at})
			}
			i, j = i+n, j+n
		}
	}
}

// anchors pairs the lines that occur once in x and once in y, keeping the longest
// run of pairs that grows on both sides (patience).
func anchors(x, y []line) [][2]int {
	type count struct{ x, y, atX, atY int }
	seen := map[int32]*count{}
	for i, l := range x {
		if seen[l.id] == nil {
			seen[l.id] = &count{}
		}
		seen[l.id].x++
		seen[l.id].atX = i
	}
	for j, l := range y {
		if seen[l.id] == nil {
			seen[l.id] = &count{}
		}
		seen[l.id].y++
		seen[l.id].atY = j
	}
	var once [][2]int
	for i, l := range x {
		if c := seen[l.id]; c.x == 1 && c.y == 1 {
			once = append(once, [2]int{i, c.atY})
		}
	}
	var ends []int // ends[n]: index in once of the smallest end of a run of n+1
	before := make([]int, len(once))
	for k, p := range once {
		n := sort.Search(len(ends), func(n int) bool { return once[ends[n]][1] > p[1] })
		before[k] = -1
		if n > 0 {
			before[k] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, k)
		} else {
			ends[n] = k
		}
	}
	if len(ends) == 0 {
		return nil
	}
	run := make([][2]int, 0, len(ends))
	for k := ends[len(ends)-1]; k >= 0; k = before[k] {
		run = append(run, once[k])
	}
	slices.Reverse(run)
	return run
}
