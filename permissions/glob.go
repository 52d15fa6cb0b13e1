package permissions

import "strings"

// glob is a pattern in which * matches any run of characters, also none, and
// nothing else is special (PERM-04).
type glob []string // the texts between the stars

func newGlob(pattern string) glob { return strings.Split(pattern, "*") }

// longest is the longest text between the stars: whatever matches holds it.
func (g glob) longest() string {
	longest := ""
	for _, text := range g {
		if len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

func (g glob) match(s string) bool {
	first, last := g[0], g[len(g)-1]
	if len(g) == 1 {
		return s == first
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range g[1 : len(g)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}
