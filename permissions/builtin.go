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
		if setsByPrintf(args, words) {
			w.mark(text(), "printf can set a variable, by -v or %n")
		}
	case "wait":
		for i := range args {
			if couldBeOption(args[i], words[i].value, 'p') {
				w.mark(text(), "wait -p sets a variable")
			}
		}
	case "test", "[":
		if evaluates(args, words) {
			w.mark(text(), "test may get -v, which evaluates a name")
		}
	}
}

// setsByPrintf tells whether printf may get -v, or a format with %n.
func setsByPrintf(args []*syntax.Word, words []item) bool {
	if len(args) > 1 && words[0].value == "--" {
		args, words = args[1:], words[1:]
	} else if len(args) > 0 && couldBeOption(args[0], words[0].value, 'v') {
		return true
	}
	return len(args) > 0 && (!static(args[0]) || counts(words[0].value))
}

// counts tells whether a format holds %n, which stores a number in a variable.
func counts(format string) bool {
	for {
		_, after, ok := strings.Cut(format, "%")
		if !ok {
			return false
		}
		format = strings.TrimLeft(after, "-+ #0123456789.*'hlLjztq")
		if strings.HasPrefix(format, "n") {
			return true
		}
		if after != "" && after[0] == '%' {
			format = after[1:]
		}
	}
}

// couldBeOption tells whether a word may be, or expand to, an option with the letter.
func couldBeOption(word *syntax.Word, value string, letter byte) bool {
	if static(word) {
		return strings.HasPrefix(value, "-") && value != "--" && strings.IndexByte(value, letter) > 0
	}
	return !oneWord(word) || opens(word, value)
}

// static tells whether a word is what it is written as: one word without
// expansions, but for $? and its kind, which are numbers.
func static(word *syntax.Word) bool {
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[{") && p.Value != "[" {
				return false
			}
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if e, ok := q.(*syntax.ParamExp); ok && !numeric(e) || !ok && !isLit(q) {
					return false
				}
			}
		case *syntax.ParamExp:
			if !numeric(p) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// opens tells whether a word with expansions may begin with a dash.
func opens(word *syntax.Word, value string) bool {
	if strings.HasPrefix(value, "-") {
		return true
	}
	for _, p := range word.Parts {
		inner := []syntax.WordPart{p}
		if q, ok := p.(*syntax.DblQuoted); ok {
			inner = q.Parts
		}
		for _, q := range inner {
			switch q := q.(type) {
			case *syntax.Lit:
				return false
			case *syntax.SglQuoted:
				if q.Value != "" {
					return false
				}
			default:
				return true
			}
		}
	}
	return true
}

// numeric tells whether an expansion is always one number.
func numeric(e *syntax.ParamExp) bool {
	return e.Short && e.Param != nil && len(e.Param.Value) == 1 && strings.Contains("?#$!", e.Param.Value)
}

// evaluates tells whether the arguments of test can come to a -v, whose operand
// bash evaluates like a subscript.
func evaluates(args []*syntax.Word, words []item) bool {
	for i, word := range words {
		followed := i+1 < len(words) && !operator(words[i+1].value)
		switch {
		case static(args[i]):
			if followed && (word.value == "-v" || word.value == "-R") && !validName(words[i+1].value) {
				return true
			}
		case !oneWord(args[i]) || followed && opens(args[i], word.value):
			return true
		}
	}
	return false
}

// oneWord tells whether a word's expansions are all in double quotes, so that it
// stays one word.
func oneWord(word *syntax.Word) bool {
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[{") {
				return false
			}
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if e, ok := q.(*syntax.ParamExp); ok && e.Param != nil && e.Param.Value == "@" {
					return false
				}
			}
		case *syntax.SglQuoted:
		default:
			return false
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
