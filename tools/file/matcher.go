package file

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// maxPattern is the longest pattern that is taken, in bytes: larger ones take seconds to compile.
const maxPattern = 32 << 10

// matcher finds the lines that a pattern matches.
type matcher struct {
	re      *regexp.Regexp
	literal []byte // every match holds it; nil when none is known
	multi   bool   // matches may span lines
}

// compileMatcher compiles a Go regular expression. In line mode "^" and "$" are the
// ends of a line, and no part of a match is a line end.
func compileMatcher(pattern string, fold, multi bool) (*matcher, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, at most %d are taken", len(pattern), maxPattern)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if fold {
		flags |= syntax.FoldCase
	}
	if multi {
		flags |= syntax.DotNL
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, fmt.Errorf("pattern %q is not a valid regular expression: %w", pattern, err)
	}
	m := &matcher{multi: multi}
	m.re, err = regexp.Compile(tree.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return m, nil
}

// next returns the next match in text at or after from, which is the start of a
// line: where it starts and ends, and false when there is none.
func (m *matcher) next(text []byte, from int) (start, end int, ok bool) {
	if m.multi {
		loc := m.re.FindIndex(text[from:])
		if loc == nil {
			return 0, 0, false
		}
		return from + loc[0], from + loc[1], true
	}
	for from < len(text) {
		to := bytes.IndexByte(text[from:], '\n')
		if to < 0 {
			to = len(text)
		} else {
			to += from
		}
		if loc := m.re.FindIndex(bytes.TrimSuffix(text[from:to], []byte("\r"))); loc != nil {
			return from + loc[0], from + loc[1], true
		}
		from = to + 1
	}
	return 0, 0, false
}
