// Package list is a virtual list: items of any height in a window of lines.
//
//	items ──► anchor (item, line) ──► only what is visible is rendered ──► View
//
// The anchor is the item at the top of the window and the line of it that is
// shown first. What changes below the anchor never moves what is seen; while the
// list follows, the anchor is the end instead. Heights of items that were not
// rendered are estimated, so that no step costs as much as the whole list.
package list

import "slices"

// Item is an entry of a list.
type Item interface {
	// Lines returns the item at a width. It is called several times a frame, so
	// an item keeps its lines while it is the same.
	Lines(width int) []string
	// Final reports whether Lines stays the same for a width. The list then
	// keeps the lines while they are near the window.
	Final() bool
}

// Estimator is an [Item] that tells about how many lines it has, without
// rendering them: for the scrollbar. Other items count as one line until they
// were rendered once.
type Estimator interface{ Estimate(width int) int }

// Releaser is an [Item] that can drop what it can make again. It is told when it
// is far from the window.
type Releaser interface{ Release() }

// List is a window of lines onto items. It is not safe for concurrent use.
type List struct {
	items []slot
	w, h  int

	top, skip int  // the anchor: item top begins skip lines above the window
	follow    bool // the window stays at the end
	sel       int  // the selected item, or -1
	unseen    int  // items added below since following ended

	total, above int   // lines by estimate: of all items, of those before top
	kept         []int // items whose lines are kept, or that were rendered
	rows         []Row // of the last View
}

// Row says what a row of the window shows: a line of an item. Item is -1 below the end.
type Row struct{ Item, Line int }

// slot is an item with what is known of it.
type slot struct {
	item     Item
	lines    []string // at the list's width; nil if not kept
	high     int      // lines when last rendered, or an estimate
	rendered bool     // high is no estimate; the item is in kept
}

// New returns an empty list that follows its end.
func New() *List { return &List{follow: true, sel: -1} }

// Len returns the number of items.
func (l *List) Len() int { return len(l.items) }

// Item returns item i.
func (l *List) Item(i int) Item { return l.items[i].item }

// Append adds items at the end.
func (l *List) Append(items ...Item) {
	for _, it := range items {
		s := l.slot(it)
		l.items = append(l.items, s)
		l.total += s.high
	}
	if !l.follow {
		l.unseen += len(items)
	}
}

// Insert puts an item before item i.
func (l *List) Insert(i int, it Item) {
	if i == len(l.items) {
		l.Append(it)
		return
	}
	s := l.slot(it)
	l.items = slices.Insert(l.items, i, s)
	l.total += s.high
	for k := range l.kept {
		if l.kept[k] >= i {
			l.kept[k]++
		}
	}
	if i <= l.top && len(l.items) > 1 {
		l.top++
		l.above += s.high
	}
	if l.sel >= i {
		l.sel++
	}
}

// Remove takes out the items from i up to j.
func (l *List) Remove(i, j int) {
	if i >= j {
		return
	}
	for k := i; k < j; k++ {
		l.total -= l.items[k].high
		if k < l.top {
			l.above -= l.items[k].high
		}
	}
	l.items = slices.Delete(l.items, i, j)
	moved := func(x int) int { // where index x is now; -1 if it is gone
		switch {
		case x < i:
			return x
		case x < j:
			return -1
		}
		return x - (j - i)
	}
	l.kept = slices.DeleteFunc(l.kept, func(x int) bool { return moved(x) < 0 })
	for k := range l.kept {
		l.kept[k] = moved(l.kept[k])
	}
	if l.sel >= 0 {
		l.sel = moved(l.sel)
	}
	if at := moved(l.top); at >= 0 {
		l.top = at
	} else {
		l.top, l.skip = i, 0
	}
	l.unseen = min(l.unseen, max(len(l.items)-l.top, 0))
	l.clampTop()
}

// Set replaces item i.
func (l *List) Set(i int, it Item) {
	l.items[i].lines = nil
	l.items[i].item = it
	l.setHigh(i, l.slot(it).high)
}

// Changed forgets the lines of item i: it looks different though it was final.
func (l *List) Changed(i int) { l.items[i].lines = nil }

// ChangedAll forgets the lines of all items, as after a change of theme.
func (l *List) ChangedAll() {
	for _, i := range l.kept {
		l.items[i].lines = nil
	}
}

func (l *List) slot(it Item) slot { return slot{item: it, high: l.estimate(it)} }

func (l *List) estimate(it Item) int {
	if e, ok := it.(Estimator); ok && l.w > 0 {
		return max(e.Estimate(l.w), 0)
	}
	return 1
}

func (l *List) setHigh(i, n int) {
	d := n - l.items[i].high
	l.items[i].high = n
	l.total += d
	if i < l.top {
		l.above += d
	}
}

// lines returns the lines of item i, rendered if need be.
func (l *List) lines(i int) []string {
	s := &l.items[i]
	if s.lines != nil {
		return s.lines
	}
	lines := s.item.Lines(l.w)
	if !s.rendered {
		s.rendered = true
		l.kept = append(l.kept, i)
	}
	if s.item.Final() {
		s.lines = lines
		if lines == nil {
			s.lines = []string{}
		}
	}
	if len(lines) != s.high {
		l.setHigh(i, len(lines))
	}
	return lines
}

// height returns the number of lines of item i, rendered if need be.
func (l *List) height(i int) int { return len(l.lines(i)) }

// Size returns the size of the window in cells.
func (l *List) Size() (w, h int) { return l.w, l.h }

// SetSize sets the size of the window in cells. The anchor stays: the same item
// at the top, at about the same place of its text.
func (l *List) SetSize(w, h int) {
	w, h = max(w, 1), max(h, 0)
	if w == l.w {
		l.h = h
		return
	}
	before := 0
	if l.top < len(l.items) {
		before = l.items[l.top].high
	}
	old := l.w
	l.w, l.h = w, h
	l.total, l.above = 0, 0
	for i := range l.items {
		s := &l.items[i]
		if e, ok := s.item.(Estimator); ok {
			s.high = max(e.Estimate(w), 0)
		} else if old > 0 {
			s.high = max(s.high*old/w, min(s.high, 1))
		}
		l.total += s.high
		if i < l.top {
			l.above += s.high
		}
	}
	for _, i := range l.kept {
		l.items[i].lines = nil
		l.items[i].rendered = false
	}
	l.kept = l.kept[:0]
	if l.skip > 0 && before > 0 && l.top < len(l.items) {
		l.skip = l.skip * l.height(l.top) / before
	}
}
