package file

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// maxPattern is the longest pattern that is taken, in bytes: larger ones take seconds to compile.
const maxPattern = 32 << 10

// matcher is a compiled pattern; the searchers share it.
//
// A line is a match when the regular expression says so. It is asked last: first
// comes a literal that every match holds, found by its rarest byte; then an
// automaton over bytes that passes a few lines too many, never too few.
type matcher struct {
	re      *regexp.Regexp
	multi   bool     // matches may span lines; then only re is used
	literal *literal // nil when none is worth looking for
	machine *machine // nil in multi
	whole   bool     // the pattern is the literal and nothing else
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
	if m.re, err = regexp.Compile(tree.String()); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	tree = tree.Simplify()
	m.literal = requiredLiteral(tree)
	if multi {
		return m, nil
	}
	prog, err := syntax.Compile(tree)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	m.machine = newMachine(prog)
	m.whole = m.literal != nil && tree.Op == syntax.OpLiteral && len(m.literal.text) == len(string(tree.Rune)) && !bytes.Contains(m.literal.text, []byte("\r"))
	return m, nil
}

// scanner looks for the lines of a matcher; each searcher has its own.
type scanner struct {
	*matcher
	dfa *dfa
}

func newScanner(m *matcher) *scanner {
	s := &scanner{matcher: m}
	if m.machine != nil {
		s.dfa = newDFA(m.machine)
	}
	return s
}

// next returns the next line of text that matches, at or after from, the start of
// a line. Its end comes after its "\n". In multi it may be several lines.
func (s *scanner) next(text []byte, from int) (start, end int, ok bool) {
	if s.multi {
		return s.nextSpan(text, from)
	}
	for from < len(text) {
		at := 0
		if s.literal != nil {
			if at = s.literal.index(text[from:]); at < 0 {
				return 0, 0, false
			}
		} else if at = s.candidate(text[from:]); at < 0 {
			return 0, 0, false
		}
		start, end = lineAround(text, from+at)
		if s.whole || s.matches(text[start:end]) {
			return start, end, true
		}
		from = end
	}
	return 0, 0, false
}

// candidate returns a place in the next line that may match, -1 when there is none.
func (s *scanner) candidate(text []byte) int {
	if s.dfa.gaveUp {
		if len(text) == 0 {
			return -1
		}
		return 0
	}
	return s.dfa.scan(text)
}

// matches tells whether one line matches.
func (s *scanner) matches(line []byte) bool {
	if !s.dfa.gaveUp {
		if s.literal != nil && s.dfa.scan(line) < 0 {
			return false
		}
		if s.machine.exact && !s.dfa.doubt && !s.dfa.gaveUp && plainLine(line) {
			return true
		}
	}
	return s.re.Match(bareLine(line))
}

// nextSpan returns the lines of the next match that may span several.
func (s *scanner) nextSpan(text []byte, from int) (start, end int, ok bool) {
	loc := s.re.FindIndex(text[from:])
	if loc == nil || from+loc[0] >= len(text) {
		return 0, 0, false
	}
	start, end = lineAround(text, from+loc[0])
	if last := from + loc[1] - 1; last >= end {
		_, end = lineAround(text, last)
	}
	return max(start, from), end, true
}

// matchIn returns where in a line the match begins.
func (s *scanner) matchIn(line []byte) int {
	if loc := s.re.FindIndex(bareLine(line)); loc != nil {
		return loc[0]
	}
	return 0
}

// lineAround returns the line that holds a byte, with its end.
func lineAround(text []byte, at int) (start, end int) {
	start = bytes.LastIndexByte(text[:at], '\n') + 1
	if end = bytes.IndexByte(text[at:], '\n'); end < 0 {
		return start, len(text)
	}
	return start, at + end + 1
}

// bareLine takes the end off a line.
func bareLine(line []byte) []byte {
	line, _ = bytes.CutSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// plainLine tells whether the automaton sees a line as the regular expression does.
func plainLine(line []byte) bool {
	for _, c := range line {
		if c >= 0x80 || c == '\r' {
			return false
		}
	}
	return true
}
