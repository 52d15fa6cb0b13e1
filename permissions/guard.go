package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// This file finds what makes a line opaque. Two kinds: constructs whose effect
// cannot be told from the text, and places where the parser and bash are known
// to read different things, which are suspicious, so that deny rules also see a
// rough reading.

// checkText looks at the bytes before anything is parsed.
func (w *walker) checkText() {
	for i := range len(w.src) {
		if c := w.src[i]; c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
			w.suspect(around(w.src, i), "it holds a control character")
			break
		}
	}
	for i := strings.Index(w.src, "\\\n"); i >= 0; {
		if i == 0 || w.src[i-1] != ' ' && w.src[i-1] != '\t' {
			w.suspect(around(w.src, i), "a line is continued in the middle of a word")
			break
		}
		next := strings.Index(w.src[i+2:], "\\\n")
		if next < 0 {
			break
		}
		i += 2 + next
	}
}

// checkSubstitution looks for the text of a substitution that the parser did not
// take for one: in quotes, or split over lines (PERM-37).
func (w *walker) checkSubstitution() {
	joined := strings.ReplaceAll(w.src, "\\\n", "")
	if i, what := substitution(joined); what != "" {
		w.mark(clip(joined[i:]), "it holds the text of a "+what)
	}
}

// substitution finds the text of a substitution, quoted or not.
func substitution(s string) (at int, what string) {
	for i := range len(s) {
		next := byte(0)
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch c := s[i]; {
		case c == '`', c == '$' && next == '(':
			return i, "command substitution"
		case (c == '<' || c == '>') && next == '(':
			return i, "process substitution"
		case c == '$' && next == '{' && i+2 < len(s) && strings.IndexByte(" \t\n|", s[i+2]) >= 0:
			return i, "command substitution"
		}
	}
	return 0, ""
}

// around is the text at a place, for showing.
func around(s string, i int) string {
	from, to := max(0, i-20), min(len(s), i+40)
	return strings.ToValidUTF8(s[from:to], "")
}

// check looks at one node.
func (w *walker) check(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Comment:
		// The parser continues a comment behind a backslash; bash does not.
		if end := int(n.End().Offset()); end < len(w.src) && w.src[end] != '\n' {
			w.suspect(clip(w.source(n)), "a comment does not end with its line")
		}
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		w.mark(clip(w.source(n)), "it calculates")
	case *syntax.TestClause:
		w.mark(clip(w.source(n)), "it evaluates a condition")
	case *syntax.CmdSubst:
		w.mark(clip(w.source(n)), "it runs a substitution")
		if n.Backquotes && strings.Contains(w.source(n), "\\") {
			w.suspicious = true // the parser's positions are not those of the text
		}
	case *syntax.ExtGlob:
		w.suspect(clip(w.source(n)), "it holds an extended pattern")
	case *syntax.DblQuoted:
		if n.Dollar {
			w.mark(clip(w.source(n)), "it translates a text")
		}
	case *syntax.ParamExp:
		w.expansion(n)
	case *syntax.FuncDecl:
		w.mark(clip(w.source(n)), "it defines a function")
	case *syntax.DeclClause:
		w.mark(clip(w.source(n)), "it declares variables")
	case *syntax.CoprocClause:
		w.suspect(clip(w.source(n)), "it starts a coprocess")
	case *syntax.BinaryCmd:
		w.pipe(n)
	case *syntax.WhileClause:
		w.loops = true
	case *syntax.ForClause:
		w.loops = true
		w.loop(n)
	}
}

// expansion marks parameter expansions that evaluate or assign (PERM-40).
func (w *walker) expansion(n *syntax.ParamExp) {
	why := ""
	switch {
	case n.Index != nil:
		why = "it evaluates a subscript"
	case n.Slice != nil:
		why = "it calculates"
	case n.Excl || n.Names != 0:
		why = "it expands a variable by another's value"
	case n.Exp == nil:
	case n.Exp.Op == syntax.OtherParamOps:
		why = "it evaluates a variable's value"
	case n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull:
		why = "it sets a variable"
	}
	if why != "" {
		w.mark(clip(w.source(n)), why)
	}
}

// pipe marks time behind a pipe: to bash it is the program there.
func (w *walker) pipe(n *syntax.BinaryCmd) {
	if t, ok := n.Y.Cmd.(*syntax.TimeClause); ok && (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) {
		w.suspect(clip(w.source(t)), "time behind a pipe is another program")
	}
}

// loop marks loops whose variable programs may read (decision 3).
func (w *walker) loop(n *syntax.ForClause) {
	if n.Braces {
		w.suspect("", "a loop in braces is read differently")
	}
	if it, ok := n.Loop.(*syntax.WordIter); ok && it.Name != nil && !harmless(it.Name.Value) {
		w.mark(clip(w.source(it.Name)), "it sets a variable that programs may read")
	}
}

// harmless tells whether no program reads a variable of this name: it is in lower
// case, and none of the few such that programs know.
func harmless(name string) bool {
	for i := range len(name) {
		if c := name[i]; !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	switch {
	case strings.HasSuffix(name, "_proxy"), strings.HasPrefix(name, "npm_"), name == "auto_resume", name == "histchars":
		return false
	}
	return name != ""
}

// redirection marks what writes a file, sets a variable, or is read differently.
func (w *walker) redirection(r *syntax.Redirect) {
	text := clip(w.between(r.Pos(), r.Word.End()))
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		w.mark(text, "it sets a variable to a file descriptor")
	}
	target := w.unquote(r.Word.Parts)
	switch r.Op {
	case syntax.WordHdoc:
	case syntax.RdrIn:
		if strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/") {
			w.mark(text, "it opens a network connection")
		}
	case syntax.Hdoc, syntax.DashHdoc:
		if strings.Contains(w.src, "\\\n") {
			w.suspect(text, "a heredoc and a continued line can be read in two ways")
		}
	case syntax.DplIn, syntax.DplOut:
		w.duplicate(r, target, text)
	default:
		if target != "/dev/null" || r.Op == syntax.RdrInOut {
			w.writes = true
			w.mark(text, "it writes a file")
		}
	}
}

// duplicate allows digits, -, and digits-: for the parser <&-reboot is one word,
// for bash it is <&- and a command.
func (w *walker) duplicate(r *syntax.Redirect, target, text string) {
	literal := len(r.Word.Parts) == 1 && isLit(r.Word.Parts[0])
	if digits := strings.TrimSuffix(target, "-"); literal && strings.Trim(digits, "0123456789") == "" && target != "" {
		return
	}
	if r.Op == syntax.DplOut && !strings.HasPrefix(target, "-") {
		w.writes = true
		w.suspect(text, "it writes a file")
		return
	}
	w.suspect(text, "bash reads this redirection differently")
}

// gaps checks that nothing but blanks stands between the words of a command:
// what the parser skipped there, bash may read.
func (w *walker) gaps(items []item) {
	for i := 1; i < len(items); i++ {
		from, to := items[i-1].to, items[i].from
		if from > to || to > len(w.src) {
			w.suspect("", "the words of a command overlap")
			return
		}
		if gap := strings.ReplaceAll(w.src[from:to], "\\\n", ""); strings.Trim(gap, " \t") != "" {
			w.suspect(clip(gap), "the parser skipped a part of a command")
		}
	}
}
