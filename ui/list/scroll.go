package list

// Following reports whether the window stays at the end.
func (l *List) Following() bool { return l.follow }

// Bottom scrolls to the end and follows it.
func (l *List) Bottom() {
	l.follow = true
	l.unseen = 0
	l.toEnd()
}

// Top scrolls to the beginning.
func (l *List) Top() {
	l.stay()
	l.top, l.skip, l.above = 0, 0, 0
	l.clampEnd()
}

// Scroll moves the window by lines, down if n is positive. At the end it follows.
func (l *List) Scroll(n int) {
	if len(l.items) == 0 || l.h == 0 || n == 0 || n > 0 && l.follow {
		return
	}
	if l.follow {
		l.toEnd()
		l.stay()
	}
	l.clampTop()
	l.skip += n
	for l.skip < 0 && l.top > 0 {
		l.top--
		l.above -= l.items[l.top].high
		l.skip += l.height(l.top)
	}
	l.skip = max(l.skip, 0)
	for l.top < len(l.items)-1 && l.skip >= l.height(l.top) {
		l.skip -= l.height(l.top)
		l.above += l.items[l.top].high
		l.top++
	}
	l.clampEnd()
}

// Page moves the window by its height but one line; n pages, down if positive.
func (l *List) Page(n int) { l.Scroll(n * max(l.h-1, 1)) }

// HalfPage moves the window by half its height; n times, down if positive.
func (l *List) HalfPage(n int) { l.Scroll(n * max(l.h/2, 1)) }

// Jump puts a line of an item at the top of the window, as far as the end allows.
func (l *List) Jump(item, line int) {
	if len(l.items) == 0 {
		return
	}
	l.stay()
	l.setTop(min(max(item, 0), len(l.items)-1))
	l.skip = min(max(line, 0), max(l.height(l.top)-1, 0))
	l.clampEnd()
}

// Show scrolls no more than needed to have a line of an item in the window.
func (l *List) Show(item, line int) {
	if item < 0 || item >= len(l.items) || l.h == 0 {
		return
	}
	if l.follow {
		l.toEnd()
	}
	if item < l.top || item == l.top && line < l.skip {
		l.Jump(item, line)
		return
	}
	rows := line - l.skip // from the window's top to the line
	for i := l.top; i < item; i++ {
		if rows += l.height(i); rows > 2*l.h { // far: no need to pass all items between
			l.Jump(item, line)
			l.Scroll(1 - l.h)
			return
		}
	}
	if rows >= l.h {
		l.Scroll(rows - l.h + 1)
	}
}

// Selected returns the selected item, or -1.
func (l *List) Selected() int { return l.sel }

// Select selects item i and shows its beginning; -1 selects none.
func (l *List) Select(i int) {
	l.sel = min(max(i, -1), len(l.items)-1)
	if l.sel >= 0 {
		l.Show(l.sel, 0)
	}
}

// stay ends following.
func (l *List) stay() { l.follow = false }

// setTop moves the anchor to the beginning of an item.
func (l *List) setTop(i int) {
	for l.top < i {
		l.above += l.items[l.top].high
		l.top++
	}
	for l.top > i {
		l.top--
		l.above -= l.items[l.top].high
	}
	l.skip = 0
}

// toEnd puts the anchor where the last line is in the window's last row.
func (l *List) toEnd() {
	l.clampTop()
	if len(l.items) == 0 {
		return
	}
	need := l.h
	i := len(l.items)
	for i > 0 && need > 0 {
		i--
		need -= l.height(i)
	}
	l.setTop(min(i, len(l.items)-1))
	l.skip = max(-need, 0)
}

// clampTop keeps the anchor within its item, which may have changed.
func (l *List) clampTop() {
	if len(l.items) == 0 {
		l.top, l.skip, l.above = 0, 0, 0
		return
	}
	if l.top >= len(l.items) {
		l.setTop(len(l.items) - 1)
	}
	if l.skip > 0 {
		l.skip = min(l.skip, max(l.height(l.top)-1, 0))
	}
}

// clampEnd follows when the window is at the end or beyond.
func (l *List) clampEnd() {
	rows := -l.skip
	for i := l.top; i < len(l.items); i++ {
		if rows += l.height(i); rows > l.h {
			return
		}
	}
	l.Bottom()
}
