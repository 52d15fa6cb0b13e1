package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command checks the name of a simple command, and the builtins that evaluate
// their arguments or set variables. The items are the command's words in order.
func (w *walker) command(args []*syntax.Word, items []item) {
	words := make([]item, 0, len(args))
	for _, it := range items {
		if it.kind == argument {
			words = append(words, it)
		}
	}
	name := words[0]
	switch {
	case !plainName(args[0], name.text):
		w.mark(clip(name.text), "the command is not named by a plain word")
		return
	case syntax.IsKeyword(name.text) || strings.HasPrefix(name.text, "-"):
		w.suspect(clip(name.text), "bash may read this word differently")
		return
	}
	for _, word := range words[1:] {
		// bash evaluates $(…) in a subscript even where it was quoted.
		if word.value == word.text {
			continue
		}
		if _, what := substitution(word.value); what != "" {
			w.mark(clip(word.text), "it holds the text of a "+what)
		}
	}
	w.builtin(name.text, args[1:], words[1:])
}

// plainName tells whether a command is named by one literal word that bash takes
// as it is.
func plainName(word *syntax.Word, text string) bool {
	if len(word.Parts) != 1 || !isLit(word.Parts[0]) {
		return false
	}
	return text == "[" || !strings.ContainsAny(text, "\\*?[]{}~'\"$`!") && text != ""
}

// builtin marks calls of builtins that set variables or evaluate a name (decision 3).
func (w *walker) builtin(name string, args []*syntax.Word, words []item) {
	text := func() string { return clip(name + " " + join(words, func(item) bool { return true }, false)) }
	switch name {
	case "read", "mapfile", "readarray", "getopts", "unset":
		w.mark(text(), name+" sets variables")
	case "printf":
		if len(args) > 0 && couldBeOption(args[0], words[0].value, 'v') {
			w.mark(text(), "printf -v sets a variable")
		}
	case "wait":
		for i := range args {
			if couldBeOption(args[i], words[i].value, 'p') {
				w.mark(text(), "wait -p sets a variable")
			}
		}
	case "test", "[":
		if evaluates(args, words) {
			w.mark(text(), "test -v evaluates a name")
		}
	}
}

// couldBeOption tells whether a word may be, or expand to, an option with the letter.
func couldBeOption(word *syntax.Word, value string, letter byte) bool {
	if !fixed(word) {
		return true
	}
	return strings.HasPrefix(value, "-") && value != "--" && strings.IndexByte(value, letter) > 0
}

// fixed tells whether a word begins with what it is written with, and is one
// word to the command. $? and its kind are numbers.
func fixed(word *syntax.Word) bool {
	for i, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[{") {
				return false
			}
		case *syntax.DblQuoted:
			for j, q := range p.Parts {
				if e, ok := q.(*syntax.ParamExp); ok && (!numeric(e) && i+j == 0 || all(e)) {
					return false
				}
			}
		case *syntax.ParamExp:
			if !numeric(p) {
				return false
			}
		}
	}
	return true
}

// numeric tells whether an expansion is always one number.
func numeric(e *syntax.ParamExp) bool {
	return e.Short && e.Param != nil && strings.Contains("?#$!", e.Param.Value)
}

// all tells whether an expansion gives any number of words even in quotes.
func all(e *syntax.ParamExp) bool { return e.Param != nil && e.Param.Value == "@" }

// evaluates tells whether the arguments of test can come to a -v, whose operand
// bash evaluates like a subscript.
func evaluates(args []*syntax.Word, words []item) bool {
	for i, word := range words {
		last := i+1 == len(words)
		if !fixed(args[i]) {
			// An expansion is an operand where an operator follows or nothing does;
			// unquoted it can be several words.
			if !quotedOnly(args[i]) || !last && !operator(words[i+1].value) {
				return true
			}
			continue
		}
		if word.value != "-v" && word.value != "-R" || last {
			continue
		}
		if !operator(words[i+1].value) && !validName(words[i+1].value) {
			return true
		}
	}
	return false
}

// quotedOnly tells whether a word's expansions are all in double quotes, so that
// it stays one word.
func quotedOnly(word *syntax.Word) bool {
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.ParamExp:
			return false
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[{") && p.Value != "]" {
				return false
			}
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if e, ok := q.(*syntax.ParamExp); ok && all(e) {
					return false
				}
			}
		}
	}
	return true
}

// operator tells whether a word stands between or behind operands of test.
func operator(value string) bool {
	switch value {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge",
		"-nt", "-ot", "-ef", "-a", "-o", "]", ")":
		return true
	}
	return false
}
