package file

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// literal is a text that every match of a pattern holds.
type literal struct {
	text []byte // lower case when fold is set, and then ASCII
	fold bool
	rare int // index of the byte that is looked for
}

// requiredLiteral returns the literal of a pattern that is best to look for, nil
// when none is better than reading every byte.
func requiredLiteral(tree *syntax.Regexp) *literal {
	var best *literal
	bestScore := 0
	for _, l := range literalsOf(tree) {
		if score := l.weigh(); score > bestScore {
			best, bestScore = l, score
		}
	}
	const worth = 6
	if bestScore < worth {
		return nil
	}
	return best
}

// literalsOf collects literals that every match of the tree holds.
func literalsOf(tree *syntax.Regexp) []*literal {
	switch tree.Op {
	case syntax.OpLiteral:
		return cutLiteral(string(tree.Rune), tree.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return literalsOf(tree.Sub[0])
		}
	case syntax.OpConcat:
		var all []*literal
		for _, sub := range tree.Sub {
			all = append(all, literalsOf(sub)...)
		}
		return all
	}
	return nil
}

// cutLiteral makes literals of a text. With fold it is cut at what has other cases
// than the two of ASCII: non-ASCII letters, and k and s, which have a third one.
func cutLiteral(text string, fold bool) []*literal {
	if strings.Contains(text, "\n") || strings.ContainsRune(text, utf8.RuneError) {
		return nil
	}
	if !fold {
		return []*literal{{text: []byte(text)}}
	}
	var out []*literal
	for _, part := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r >= utf8.RuneSelf || r == 'k' || r == 's' }) {
		out = append(out, &literal{text: []byte(part), fold: true})
	}
	return out
}

// weigh picks the rarest byte, and tells how well the literal narrows a search.
func (l *literal) weigh() int {
	score, rarest := 0, 0
	for i, c := range l.text {
		r := rarity(c)
		score += r
		if r > rarest {
			rarest, l.rare = r, i
		}
	}
	return score + rarest
}

// rarity tells how rare a byte is in source code and prose, from 0 to 5.
func rarity(c byte) int {
	switch {
	case strings.IndexByte(" \t", c) >= 0:
		return 0
	case strings.IndexByte("etaoinsr", c) >= 0:
		return 1
	case strings.IndexByte("lcdpumf.,()/", c) >= 0:
		return 2
	case c >= 'a' && c <= 'z' && strings.IndexByte("jqz", c) < 0, strings.IndexByte("_-:;=*0\"", c) >= 0:
		return 3
	case c >= '1' && c <= '9', c >= 'A' && c <= 'Z', c >= 0x80:
		return 4
	}
	return 5
}

// index returns the first place of the literal in text, -1 when it is not there.
func (l *literal) index(text []byte) int {
	if !l.fold {
		return l.indexExact(text)
	}
	low := l.text[l.rare]
	high := low
	if low >= 'a' && low <= 'z' {
		high -= 'a' - 'A'
	}
	nextLow, nextHigh := -1, -1
	for at := l.rare; at < len(text); at++ {
		if nextLow < at {
			nextLow = indexFrom(text, at, low)
		}
		if nextHigh < at {
			nextHigh = nextLow
			if high != low {
				nextHigh = indexFrom(text, at, high)
			}
		}
		if at = min(nextLow, nextHigh); at == len(text) {
			return -1
		}
		if start := at - l.rare; start+len(l.text) <= len(text) && l.is(text[start:]) {
			return start
		}
	}
	return -1
}

// indexExact goes from one rare byte to the next, which is several times as fast as
// bytes.Index, unless the byte is not rare in this text after all.
func (l *literal) indexExact(text []byte) int {
	for at, missed := l.rare, 0; at < len(text); at++ {
		i := bytes.IndexByte(text[at:], l.text[l.rare])
		if i < 0 {
			return -1
		}
		at += i
		start := at - l.rare
		if bytes.HasPrefix(text[start:], l.text) {
			return start
		}
		if missed++; missed > 16+at/32 {
			i := bytes.Index(text[start:], l.text)
			if i < 0 {
				return -1
			}
			return start + i
		}
	}
	return -1
}

// indexFrom returns the next place of a byte, the length of text when there is none.
func indexFrom(text []byte, from int, c byte) int {
	if i := bytes.IndexByte(text[from:], c); i >= 0 {
		return from + i
	}
	return len(text)
}

// is tells whether text begins with the literal, in any case.
func (l *literal) is(text []byte) bool {
	for i, c := range l.text {
		d := text[i]
		if d >= 'A' && d <= 'Z' {
			d += 'a' - 'A'
		}
		if c != d {
			return false
		}
	}
	return true
}
