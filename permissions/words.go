package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Command is a simple command of a bash line with the words that its program
// gets, for who judges commands by their words; see [WithReadOnly]. It sets no
// variables and writes no file by redirection.
type Command struct {
	Words  []Word // the first is its name, a plain word
	Inputs []Word // the files that it reads by redirection
	Into   string // the directory of the one cd that the line has, before or behind it, or ""
	Moves  bool   // the line changes the directory in another way
}

// Word is a word of a [Command], without its quotes.
type Word struct {
	Text string
	Kind WordKind
}

// WordKind says what a program gets for a word.
type WordKind int

// The kinds of words.
const (
	Literal WordKind = iota // exactly its text
	Pattern                 // names of files that its text matches, or the text
	Varies                  // what the text does not tell: it expands a variable, ~ or braces
)

// WithReadOnly lets a bash line run whose commands are allowed by rules, answers
// or by this judge. It sees no line that is opaque, and deny and ask rules win
// over it. It is called at each decision, from any goroutine.
func WithReadOnly(judge func(Command) bool) Option {
	return func(s *settings) error { s.readOnly = judge; return nil }
}

// ParseCommand reads a text that is one simple command, as a subject of bash is.
func ParseCommand(text string) (Command, bool) {
	l := splitLine(text, false)
	if l.opaque != "" || len(l.parts) != 1 || l.parts[0].command == nil {
		return Command{}, false
	}
	c := l.parts[0].command()
	if c == nil {
		return Command{}, false
	}
	return *c, true
}

// newCommand is the command of a simple command's words, nil when it is not
// named by a plain word or sets variables.
func (w *walker) newCommand(cmd *syntax.CallExpr, redirs []*syntax.Redirect, items []item) *Command {
	if len(cmd.Args) == 0 || len(cmd.Assigns) > 0 {
		return nil
	}
	c := &Command{Words: make([]Word, 0, len(cmd.Args)), Into: w.into, Moves: w.moved}
	for _, it := range items {
		if it.kind == argument {
			c.Words = append(c.Words, Word{Text: it.value, Kind: kindOf(cmd.Args[len(c.Words)])})
		}
	}
	if !plainName(cmd.Args[0], c.Words[0].Text) {
		return nil
	}
	for _, r := range redirs {
		if r.Op == syntax.RdrIn {
			c.Inputs = append(c.Inputs, Word{Text: w.unquote(r.Word.Parts), Kind: kindOf(r.Word)})
		}
	}
	return c
}

// kindOf tells what a program gets for a word. Where it is not sure, it says more
// than there may be: an escaped * counts as a pattern.
func kindOf(word *syntax.Word) WordKind {
	kind := Literal
	for i, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			switch {
			case strings.ContainsAny(p.Value, "{}"), i == 0 && strings.HasPrefix(p.Value, "~"),
				strings.Contains(p.Value, "=~"), strings.Contains(p.Value, ":~"):
				return Varies
			case strings.ContainsAny(p.Value, "*?["):
				kind = Pattern
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return Varies
			}
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if !isLit(q) {
					return Varies
				}
			}
		default:
			return Varies
		}
	}
	return kind
}

// moves finds out how the line changes the directory.
func (w *walker) moves() {
	for i := range w.parts {
		text := w.parts[i].allow[0]
		switch name, operand, _ := strings.Cut(text, " "); name {
		case "cd":
			plain := operand != "" && operand[0] != '-' && !strings.ContainsAny(operand, "\\\"'$*?[{}~ ")
			if w.into != "" || w.loops || !plain {
				w.moved = true
			}
			w.into = operand
		case "command":
			w.moved = w.moved || !strings.HasPrefix(operand, "-v ") && !strings.HasPrefix(operand, "-V ")
		case "pushd", "popd", "builtin", "eval", "source", ".", "trap", "enable", "shopt":
			w.moved = true // or may be, or names of files mean something else
		}
	}
	if w.moved {
		w.into = ""
	}
}
