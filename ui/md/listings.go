package md

import "github.com/phero-agent/agent/ui/text/syntax"

// listings remembers the coloured listings of a block that is rendered again and again.
type listings struct{ known map[string][]string }

// colored returns the lines of code in the colours of its language, or nil if
// there are none.
func (l *listings) colored(lang, code string, t *Theme) []string {
	if lang == "" {
		return nil
	}
	key := lang + "\n" + code
	lines, ok := l.known[key]
	if !ok {
		lines = syntax.Lines(lang, code, &t.Syntax)
		if l.known == nil {
			l.known = map[string][]string{}
		}
		l.known[key] = lines
	}
	return append([]string(nil), lines...)
}
