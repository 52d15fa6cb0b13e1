package list

import "github.com/phero-agent/agent/ui/text"

// near is how many items around the window keep their lines.
const near = 32

// View returns the window: exactly as many lines as it is high.
func (l *List) View() []string {
	if l.follow {
		l.toEnd()
	} else {
		l.clampTop()
		l.clampEnd()
	}
	out := make([]string, 0, l.h)
	l.rows = l.rows[:0]
	skip := l.skip
	last := l.top
	for i := l.top; i < len(l.items) && len(out) < l.h; i++ {
		lines := l.lines(i)
		for n := skip; n < len(lines) && len(out) < l.h; n++ {
			out = append(out, fit(lines[n], l.w))
			l.rows = append(l.rows, Row{i, n})
		}
		skip = 0
		last = i
	}
	for len(out) < l.h {
		out = append(out, "")
		l.rows = append(l.rows, Row{-1, 0})
	}
	l.release(l.top-near, last+near)
	return out
}

// At returns what row y of the last View shows.
func (l *List) At(y int) (Row, bool) {
	if y < 0 || y >= len(l.rows) || l.rows[y].Item < 0 {
		return Row{-1, 0}, false
	}
	return l.rows[y], true
}

// release drops the lines of items outside of the range.
func (l *List) release(from, to int) {
	kept := l.kept[:0]
	for _, i := range l.kept {
		if i >= from && i <= to {
			kept = append(kept, i)
			continue
		}
		s := &l.items[i]
		s.lines = nil
		s.rendered = false
		if r, ok := s.item.(Releaser); ok {
			r.Release()
		}
	}
	l.kept = kept
}

// fit makes sure that a line is not wider than the window.
func fit(s string, w int) string {
	if len(s) <= w || text.Width(s) <= w {
		return s
	}
	return text.Cut(s, 0, w)
}

// Bar returns the thumb of a scrollbar as high as the window: its first row and
// its rows. There is none (ok is false) when everything is seen.
func (l *List) Bar() (row, rows int, ok bool) {
	if l.h < 1 || l.total <= l.h {
		return 0, 0, false
	}
	rows = max(l.h*l.h/l.total, 1)
	first := min(l.above+l.skip, l.total-l.h)
	row = (first*(l.h-rows) + (l.total-l.h)/2) / (l.total - l.h)
	if l.follow {
		row = l.h - rows
	}
	return row, rows, true
}

// DragTo scrolls so that the scrollbar's thumb begins in about that row.
func (l *List) DragTo(row int) {
	_, rows, ok := l.Bar()
	if !ok || l.h <= rows {
		return
	}
	row = min(max(row, 0), l.h-rows)
	if row == l.h-rows {
		l.Bottom()
		return
	}
	line := row * (l.total - l.h) / (l.h - rows)
	l.stay()
	l.top, l.skip, l.above = 0, 0, 0
	for l.top < len(l.items)-1 && line >= l.items[l.top].high {
		line -= l.items[l.top].high
		l.above += l.items[l.top].high
		l.top++
	}
	l.skip = min(line, max(l.height(l.top)-1, 0))
	l.clampEnd()
}

// Below returns about how many lines there are below the window.
func (l *List) Below() int {
	if l.follow {
		return 0
	}
	return max(l.total-l.above-l.skip-l.h, 0)
}

// Unseen returns the number of items added below the window since it was at the end.
func (l *List) Unseen() int { return l.unseen }
