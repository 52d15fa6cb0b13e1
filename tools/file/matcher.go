package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
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
	prefix  string   // every match begins so
	all     bool     // and is the prefix
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
	prog, err := syntax.Compile(tree)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	m.prefix, m.all = prog.Prefix()
	if multi {
		return m, nil
	}
	m.machine = newMachine(prog)
	m.whole = m.literal != nil && tree.Op == syntax.OpLiteral && len(m.literal.text) == len(string(tree.Rune)) && !bytes.Contains(m.literal.text, []byte("\r"))
	return m, nil
}

// scanner looks for the lines of a matcher; each searcher has its own. What it finds
// when its context has ended means nothing.
type scanner struct {
	*matcher
	ctx context.Context
	dfa *dfa
}

func newScanner(m *matcher) *scanner {
	s := &scanner{matcher: m, ctx: context.Background()}
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
	for from < len(text) && s.ctx.Err() == nil {
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
	return s.find(bareLine(line)) != nil
}

// pause is how much text, in bytes, the regular expression gets before the context
// is looked at. Longer text is slow for it in any case.
const pause = 16 << 10

// find returns where the first match is, nil when there is none.
func (s *scanner) find(text []byte) []int {
	if len(text) <= pause {
		return s.re.FindIndex(text)
	}
	return s.findLong(text)
}

func (s *scanner) findLong(text []byte) []int {
	at := bytes.Index(text, []byte(s.prefix))
	if at < 0 {
		return nil
	}
	if s.all {
		return []int{at, at + len(s.prefix)}
	}
	loc := s.re.FindReaderIndex(&runes{ctx: s.ctx, text: text, at: at})
	if loc != nil {
		loc[0], loc[1] = loc[0]+at, loc[1]+at
	}
	return loc
}

// runes reads text, until the context ends.
type runes struct {
	ctx  context.Context
	text []byte
	at   int
	stop int // where the context is looked at again
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.at >= r.stop {
		if r.at == len(r.text) || r.ctx.Err() != nil {
			return 0, 0, io.EOF
		}
		r.stop = min(r.at+pause, len(r.text))
	}
	c, n := rune(r.text[r.at]), 1
	if c >= utf8.RuneSelf {
		c, n = utf8.DecodeRune(r.text[r.at:])
	}
	r.at += n
	return c, n, nil
}

// nextSpan returns the lines of the next match that may span several.
func (s *scanner) nextSpan(text []byte, from int) (start, end int, ok bool) {
	loc := s.find(text[from:])
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
	if loc := s.find(bareLine(line)); loc != nil {
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
