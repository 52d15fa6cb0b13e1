package permissions

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// line is a bash line as the policy sees it.
type line struct {
	parts  []part // the simple commands; one empty part when there is none
	opaque string // the part of the text that makes the line opaque, "" when it can be split
	why    string // why it does
	writes bool   // it redirects output to a file
	rough  []part // what a quote-blind reading finds, when parser and bash may disagree
}

// Limits of a line that is parsed. Past them it is opaque, and deny rules see a
// rough reading: a limit only makes a verdict stricter. Parsing a line of the
// greatest length cannot overflow the stack.
const (
	maxLine     = 64 << 10 // bytes
	maxBrackets = 5000     // opening brackets and backquotes, wherever they stand
	maxNesting  = 100      // commands and expansions inside one another
)

// splitLine finds the simple commands of a bash line. With unwrap, deny and ask
// rules also see the commands behind wrappers.
func splitLine(src string, unwrap bool) line {
	return splitNested(src, unwrap, 0)
}

func splitNested(src string, unwrap bool, depth int) line {
	w := &walker{src: src, unwrap: unwrap, depth: depth}
	if !w.tooBig() {
		w.checkText()
		w.parse()
		w.checkSubstitution()
		w.moves()
	}
	if w.suspicious {
		w.line.rough = roughParts(src)
		for i := range w.line.rough {
			if p := &w.line.rough[i]; unwrap && len(p.text) <= maxLine {
				w.unwrapWords(p, strings.Fields(p.text), 0)
			}
		}
	}
	if len(w.line.parts) == 0 {
		w.line.parts = []part{plainPart("")}
	}
	return w.line
}

// walker reads one line.
type walker struct {
	line
	src        string
	unwrap     bool
	depth      int    // of command strings inside command strings
	suspicious bool   // parser and bash may read the line differently
	nested     []bool // for each open node, whether it counts for maxNesting
	nesting    int
	loops      bool   // the line has a loop
	into       string // where its one cd goes
	moved      bool   // it changes the directory in another way
}

func (w *walker) tooBig() bool {
	brackets := 0
	if len(w.src) <= maxLine {
		for i := range len(w.src) {
			switch w.src[i] {
			case '(', '{', '[', '`':
				brackets++
			}
		}
	}
	if len(w.src) <= maxLine && brackets <= maxBrackets {
		return false
	}
	w.suspect(clip(w.src), "it is too long to be read safely")
	return true
}

// mark makes the line opaque; the first reason found is kept.
func (w *walker) mark(part, why string) {
	if w.opaque == "" {
		w.opaque, w.why = part, why
		if part == "" {
			w.opaque = clip(w.src)
		}
	}
}

// suspect marks a line that bash may read differently.
func (w *walker) suspect(part, why string) {
	w.mark(part, why)
	w.suspicious = true
}

// clip shortens a text that is shown as the offending part.
func clip(s string) string {
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:200], "") + "…"
}

// parse walks the tree. After an error it walks what was read until then.
func (w *walker) parse() {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).
		Parse(strings.NewReader(w.src), "")
	if err != nil {
		why := err.Error()
		if e, ok := errors.AsType[syntax.ParseError](err); ok {
			why = e.Text
		}
		w.suspect(clip(w.src), "bash cannot read it: "+why)
	}
	if file != nil {
		syntax.Walk(file, w.visit)
	}
}

// source is the text of a node.
func (w *walker) source(n syntax.Node) string { return w.between(n.Pos(), n.End()) }

func (w *walker) between(from, to syntax.Pos) string {
	a, b := int(from.Offset()), int(to.Offset())
	if !from.IsValid() || !to.IsValid() || a > b || b > len(w.src) {
		return ""
	}
	return w.src[a:b]
}

// visit is called for every node, and with nil after a node's children.
func (w *walker) visit(n syntax.Node) bool {
	if n == nil {
		last := len(w.nested) - 1
		if w.nested[last] {
			w.nesting--
		}
		w.nested = w.nested[:last]
		return true
	}
	counts := nests(n)
	w.nested = append(w.nested, counts)
	if counts {
		if w.nesting++; w.nesting > maxNesting {
			w.suspect("", "it is nested too deep to be read safely")
		}
	}
	w.check(n)
	if s, ok := n.(*syntax.Stmt); ok {
		w.statement(s)
	}
	return true
}

func nests(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause,
		*syntax.CaseClause, *syntax.FuncDecl, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ParamExp,
		*syntax.ArithmExp, *syntax.ParenArithm, *syntax.BinaryArithm, *syntax.UnaryArithm:
		return true
	}
	return false
}

// statement adds the simple command of a statement, and checks its redirections.
func (w *walker) statement(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		w.redirection(r)
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.simple(s, cmd)
	case *syntax.DeclClause, *syntax.LetClause, *syntax.TestClause, *syntax.ArithmCmd:
		w.add(plainPart(squeeze(w.source(cmd))))
	case nil:
		if len(s.Redirs) > 0 {
			w.add(plainPart(""))
		}
	}
}

func (w *walker) add(p part) { w.parts = append(w.parts, p) }

// item is one word of a simple command.
type item struct {
	from, to int    // in the source
	text     string // as written
	value    string // unquoted
	kind     itemKind
}

type itemKind int

const (
	argument itemKind = iota
	assignment
	input // a redirection that reads
	other // a redirection that no rule sees
)

// simple adds a simple command: its words in the order of the source.
func (w *walker) simple(s *syntax.Stmt, cmd *syntax.CallExpr) {
	items := make([]item, 0, len(cmd.Assigns)+len(cmd.Args)+len(s.Redirs))
	for _, a := range cmd.Assigns {
		items = append(items, w.item(a.Pos(), a.End(), assignment))
	}
	for _, arg := range cmd.Args {
		it := w.item(arg.Pos(), arg.End(), argument)
		if len(arg.Parts) != 1 || !isLit(arg.Parts[0]) || strings.IndexByte(it.text, '\\') >= 0 {
			it.value = w.unquote(arg.Parts)
		}
		items = append(items, it)
	}
	for _, r := range s.Redirs {
		kind := other
		if reads(r.Op) {
			kind = input
		}
		items = insert(items, w.item(r.Pos(), r.Word.End(), kind))
	}
	w.gaps(items)
	p := w.newPart(items, w.bodies(s.Redirs))
	p.command = func() *Command { return w.newCommand(cmd, s.Redirs, items) }
	w.add(p)
	if len(cmd.Args) == 0 {
		w.mark(clip(w.source(cmd)), "it only sets variables")
		return
	}
	w.command(cmd.Args, items)
}

func (w *walker) item(from, to syntax.Pos, kind itemKind) item {
	it := item{from: int(from.Offset()), to: int(to.Offset()), kind: kind}
	if it.to < it.from { // the parser miscounts in some places, as in `N x+= `
		w.suspect("", "the words of a command overlap")
		it.to = it.from
	}
	it.text = joinLines(w.between(from, to))
	it.value = it.text
	return it
}

// insert puts a redirection among the words, by its place in the source.
func insert(items []item, it item) []item {
	i := len(items)
	for i > 0 && items[i-1].from > it.from {
		i--
	}
	return slices.Insert(items, i, it)
}

func isLit(p syntax.WordPart) bool {
	_, ok := p.(*syntax.Lit)
	return ok
}

// reads tells whether a redirection is part of what a rule can match: one that
// names what is read. Duplicated descriptors and /dev/null are not.
func reads(op syntax.RedirOperator) bool {
	switch op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return true
	}
	return false
}

// bodies are the heredocs of a command as an always answer stores them.
func (w *walker) bodies(redirs []*syntax.Redirect) string {
	var b strings.Builder
	for _, r := range redirs {
		if r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc {
			continue
		}
		b.WriteByte('\n')
		if r.Hdoc != nil {
			b.WriteString(w.source(r.Hdoc)) // with the delimiter
		}
	}
	return b.String()
}

// newPart makes the texts of a simple command that rules and answers see.
func (w *walker) newPart(items []item, bodies string) part {
	var kinds [other + 1]int
	quoted := false
	for _, it := range items {
		kinds[it.kind]++
		quoted = quoted || it.value != it.text
	}
	shown := func(it item) bool { return it.kind == argument || it.kind == input }
	words := func(it item) bool { return it.kind == argument }

	p := part{text: join(items, shown, false)}
	p.allow = []string{p.text}
	if kinds[input] > 0 {
		p.allow = append(p.allow, join(items, words, false))
	}
	p.strict = p.allow
	if quoted {
		p.strict = append(slices.Clip(p.strict), join(items, words, true))
		if kinds[input] > 0 {
			p.strict = append(p.strict, join(items, shown, true))
		}
	}
	if kinds[assignment] > 0 {
		p.assign(items)
	}
	p.text += bodies
	if w.unwrap {
		w.unwrapPart(&p, items)
	}
	return p
}

// assign adds the leading assignments to a part's texts. Allow rules match them
// apart from the command; deny and ask rules match with and without them.
func (p *part) assign(items []item) {
	for _, it := range items {
		if it.kind == assignment {
			p.assigns = append(p.assigns, it.text)
		}
	}
	before := strings.Join(p.assigns, " ")
	with := func(text string) string { return strings.TrimSuffix(before+" "+text, " ") }
	p.text = with(p.text)
	all := slices.Clone(p.strict)
	for _, text := range p.strict {
		all = append(all, with(text))
	}
	p.strict = all
}

// join puts the texts of the chosen words behind one another, single-spaced. With
// unquoted, the arguments lose their quotes; the command's name keeps them (PERM-26).
func join(items []item, chosen func(item) bool, unquoted bool) string {
	var b strings.Builder
	if n := len(items); n > 0 {
		b.Grow(max(0, items[n-1].to-items[0].from))
	}
	named := false
	for _, it := range items {
		if !chosen(it) {
			continue
		}
		text := it.text
		if unquoted && named && it.kind == argument {
			text = it.value
		}
		named = named || it.kind == argument
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return b.String()
}

func distinct(texts ...string) []string {
	out := texts[:0:0]
	for _, t := range texts {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// joinLines drops the line continuations of a text outside single quotes.
func joinLines(s string) string {
	if !strings.Contains(s, "\\\n") {
		return s
	}
	var b strings.Builder
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote == '\'' && c == '\'', quote == '"' && c == '"':
			quote = 0
		case quote == '\'':
		case c == '\\' && i+1 < len(s):
			if i++; s[i] == '\n' {
				continue
			}
			b.WriteByte(c)
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// squeeze joins lines and single-spaces a text, without regard to quotes.
func squeeze(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\\\n", "")), " ")
}
