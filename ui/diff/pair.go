package diff

import "strings"

// pairBudget bounds the comparisons that pairing lines may take in one diff;
// beyond it lines are paired by their order.
const pairBudget = 200_000

// pairer finds which removed line became which added one.
type pairer struct{ budget int }

// pair pairs the lines of every run of removed lines with the added ones behind
// it, and lays out the rows side by side.
func (v *View) pair(p *pairer) {
	for i := 0; i < len(v.lines); {
		switch v.lines[i].kind {
		case '-', '+':
			mid := v.run(i, '-')
			end := v.run(mid, '+')
			p.pair(v.lines, i, mid, end)
			v.beside(i, mid, end)
			i = end
		default:
			v.split = append(v.split, row{i, i})
			i++
		}
	}
}

// run returns where a run of lines of a kind ends that may begin at i.
func (v *View) run(i int, kind byte) int {
	for i < len(v.lines) && (v.lines[i].kind == kind || v.lines[i].kind == '\\') {
		i++
	}
	return i
}

// beside lays out a run: pairs share a row, other lines have one of their own.
func (v *View) beside(i, mid, end int) {
	l, r := i, mid
	for l < mid || r < end {
		switch {
		case l < mid && v.lines[l].pair < 0:
			v.split = append(v.split, row{l, -1})
			l++
		case r < end && v.lines[r].pair < 0:
			v.split = append(v.split, row{-1, r})
			r++
		default:
			v.split = append(v.split, row{l, r})
			l++
			r++
		}
	}
}

// pair pairs lines[i:mid], removed, with lines[mid:end], added: in order, and so
// that the pairs are as like as possible.
func (p *pairer) pair(lines []line, i, mid, end int) {
	n, m := mid-i, end-mid
	if n == 0 || m == 0 {
		return
	}
	if n*m > p.budget {
		for k := range min(n, m) {
			join(lines, i+k, mid+k)
		}
		return
	}
	p.budget -= n * m
	best := make([]int, (n+1)*(m+1)) // of the lines from a and b on
	at := func(a, b int) int { return a*(m+1) + b }
	like := make([]int, n*m)
	for a := n - 1; a >= 0; a-- {
		for b := m - 1; b >= 0; b-- {
			s := likeness(lines[i+a], lines[mid+b])
			like[a*m+b] = s
			best[at(a, b)] = max(best[at(a+1, b)], best[at(a, b+1)])
			if s >= alike {
				best[at(a, b)] = max(best[at(a, b)], s+best[at(a+1, b+1)])
			}
		}
	}
	for a, b := 0, 0; a < n && b < m; {
		s := like[a*m+b]
		switch {
		case s >= alike && best[at(a, b)] == s+best[at(a+1, b+1)]:
			join(lines, i+a, mid+b)
			a++
			b++
		case best[at(a, b)] == best[at(a+1, b)]:
			a++
		default:
			b++
		}
	}
}

func join(lines []line, a, b int) {
	if lines[a].kind == '-' && lines[b].kind == '+' {
		lines[a].pair, lines[b].pair = b, a
	}
}

// alike is the least likeness of a pair, in percent.
const alike = 30

// likeness returns how much of two lines is the same at their beginnings and
// ends, blanks around not counted, in percent.
func likeness(a, b line) int {
	if a.kind != '-' || b.kind != '+' {
		return 0
	}
	s, t := trimSpace(a.text), trimSpace(b.text)
	if s == t {
		return 100
	}
	pre := commonPrefix(s, t)
	suf := commonSuffix(s[pre:], t[pre:])
	return 100 * (pre + suf) / max(len(s), len(t), 1)
}

func trimSpace(s string) string { return strings.Trim(s[:min(len(s), maxPairBytes)], " \t\r") }

// maxPairBytes is how much of a line is looked at.
const maxPairBytes = 400

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
