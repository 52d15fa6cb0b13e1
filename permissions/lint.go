package permissions

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Known is a tool that exists and its subject argument, "" when it has none.
type Known struct {
	Tool, Subject string
}

// KnownTools lists the built-in tools with their subjects.
func KnownTools() []Known {
	known := []Known{{Tool: "todo_write"}, {Tool: "user_interaction"}}
	for tool, subject := range subjectArguments() {
		known = append(known, Known{tool, subject})
	}
	slices.SortFunc(known, func(a, b Known) int { return strings.Compare(a.Tool, b.Tool) })
	return known
}

// Finding is a rule that can never match what it seems to mean.
type Finding struct {
	Decision Decision
	Rule     Rule
	Problem  string // what is wrong with it
	Instead  string // what to write, "" when there is nothing to write
}

// Fatal tells whether the rule leaves a hole: one that should deny or ask and
// never does. An allow rule that never matches only asks more.
func (f Finding) Fatal() bool { return f.Decision != Allow }

func (f Finding) String() string {
	s := fmt.Sprintf("the %s rule %q", f.Decision, f.Rule.Text)
	if f.Rule.Source != "" {
		s += " of " + f.Rule.Source
	}
	s += " never matches: " + f.Problem
	if f.Instead != "" {
		s += "; write " + f.Instead
	}
	return s
}

// Lint finds rules of a decision that can never match, with what to write
// instead. Tools that begin with mcp_ need not be known: their server may not be
// up yet.
func Lint(d Decision, rules []Rule, known []Known) []Finding {
	var findings []Finding
	for _, r := range rules {
		l := linter{decision: d, known: known}
		l.rule(r)
		if l.problem != "" {
			findings = append(findings, Finding{Decision: d, Rule: r, Problem: l.problem, Instead: l.instead})
		}
	}
	return findings
}

type linter struct {
	decision         Decision
	known            []Known
	problem, instead string
}

func (l *linter) found(instead, problem string, args ...any) {
	if l.problem == "" {
		l.problem, l.instead = fmt.Sprintf(problem, args...), instead
	}
}

func (l *linter) rule(text Rule) {
	r, err := parseRule(text)
	if err != nil {
		l.found("", "%v", err)
		return
	}
	pattern := strings.TrimPrefix(strings.TrimSpace(text.Text), r.tool)
	if r.family {
		if !r.bare {
			l.found(r.tool+"*", "a rule for all tools of a server takes no pattern")
		}
		return
	}
	i := slices.IndexFunc(l.known, func(k Known) bool { return k.Tool == r.tool })
	if i < 0 {
		l.unknown(r, pattern)
		return
	}
	switch subject := l.known[i].Subject; {
	case r.bare:
	case subject == "":
		l.found(r.tool, "%s has nothing that a pattern could match", r.tool)
	case r.tool == "bash":
		l.command(r)
	case isPath(subject):
		l.path(r)
	}
}

// unknown judges the name of a tool that does not exist.
func (l *linter) unknown(r *rule, pattern string) {
	if strings.HasPrefix(r.tool, "mcp_") {
		return
	}
	if other := elsewhere(r.tool); other != "" {
		l.found(other+pattern, "%s is another product's name of a tool", r.tool)
		return
	}
	best, least := "", 3
	for _, k := range l.known {
		if d := Distance(strings.ToLower(r.tool), k.Tool); d < least {
			best, least = k.Tool, d
		}
	}
	if best != "" {
		best += pattern
	}
	l.found(best, "there is no tool %q", r.tool)
}

// elsewhere translates other products' names of tools.
func elsewhere(tool string) string {
	switch tool {
	case "Bash", "Shell", "shell", "run_shell_command", "Terminal":
		return "bash"
	case "Edit", "NotebookEdit":
		return "edit"
	case "MultiEdit":
		return "multi_edit"
	case "Write":
		return "write"
	case "Read":
		return "read"
	case "Glob", "LS":
		return "glob"
	case "Grep", "Search":
		return "grep"
	case "WebFetch", "Fetch", "fetch":
		return "web_fetch"
	case "TodoWrite":
		return "todo_write"
	case "Task", "Agent":
		return "agent"
	case "Skill":
		return "skill"
	case "KillShell", "KillBash":
		return "kill_shell"
	case "BashOutput":
		return "bash_output"
	}
	return ""
}

// command judges a bash pattern by reading it like a line.
func (l *linter) command(r *rule) {
	p := r.pattern
	rule := func(pattern string) string { return "bash(" + pattern + ")" }
	if prefix, ok := strings.CutSuffix(p, ":*"); ok && !colons(prefix) {
		l.found(rule(prefix)+" and "+rule(prefix+" *"), "a colon before the * is another product's form")
	}
	if strings.ContainsFunc(p, func(c rune) bool { return c < ' ' && c != '\t' && c != '\n' }) {
		l.found("", "it holds a control character")
	}
	if clean := strings.TrimSpace(p); clean != p {
		l.found(rule(clean), "commands are matched without blanks around them")
	}
	s := newScan(p)
	switch {
	case s.operator != "":
		l.found("a rule for each command", "%q joins commands, and each is matched on its own", s.operator)
	case s.output:
		l.found("", "redirected output is no part of what rules match, and lines that write a file are always asked")
	case s.comment:
		l.found("", "comments are no part of what rules match")
	case s.doubled:
		l.found(rule(s.single), "commands are matched single-spaced")
	}
	l.name(r, rule)
}

// name judges the first word of a bash pattern.
func (l *linter) name(r *rule, rule func(string) string) {
	word, rest, _ := strings.Cut(r.rest.String(), " ")
	switch {
	case word == "" && len(r.assigns) > 0 && l.decision == Allow:
		l.found(rule(r.pattern+" *"), "it names assignments and no command")
	case word == "time" || word == "!":
		l.found(rule(rest), "%s is no command; what stands behind it is matched", word)
	case syntax.IsKeyword(word) && word != "[[":
		l.found("", "%q is a word of the shell's grammar, not a command", word)
	}
	if l.decision != Allow {
		return
	}
	switch word {
	case "export", "declare", "typeset", "local", "readonly", "let", "read", "mapfile", "readarray", "getopts", "unset", "[[":
		l.found("", "lines with %s are always asked", word)
	}
	if _, what := substitution(r.pattern); what != "" {
		l.found("", "lines with a %s are always asked", what)
	}
	if strings.ContainsAny(word, `\'"$`) || word != "[" && word != "[[" && strings.ContainsAny(word, "?[{~") {
		l.found("", "lines whose command is not a plain word are always asked")
	}
}

func (g glob) String() string { return strings.Join(g, "*") }

// colons tells whether words of the command may well end with a colon and more,
// as the scripts of package managers and images do.
func colons(prefix string) bool {
	word, _, _ := strings.Cut(prefix, " ")
	switch word {
	case "npm", "pnpm", "yarn", "bun", "bunx", "npx", "deno", "make", "just", "task", "rake", "gradle", "mvn",
		"docker", "podman", "nerdctl", "scp", "rsync", "composer", "nx", "turbo", "mix":
		return true
	}
	return strings.ContainsAny(prefix, `'"/`)
}

// path judges a pattern of paths.
func (l *linter) path(r *rule) {
	fixed, rest, starred := strings.Cut(r.pattern, "*")
	rule := func(pattern string) string { return r.tool + "(" + pattern + ")" }
	searches := r.tool == "glob" || r.tool == "grep"
	switch {
	case !starred && strings.HasSuffix(fixed, "/") && len(fixed) > 1 && !searches:
		l.found(rule(fixed+"*"), "it names a directory, and %s takes files", r.tool)
	case starred && (strings.Contains(rest, "/../") || strings.HasSuffix(rest, "/..") || strings.Contains(rest, "/./") || strings.Contains(rest, "//")):
		l.found("", "paths are cleaned before they are matched: no .., . or doubled slash behind the *")
	case starred && strings.HasSuffix(rest, "/") && !searches:
		l.found(rule(r.pattern+"*"), "no path ends with a slash")
	case strings.HasPrefix(r.pattern, "file://"):
		l.found(rule(strings.TrimPrefix(r.pattern, "file://")), "paths are no URLs")
	}
}

// scan is what stands outside the quotes of a bash pattern.
type scan struct {
	operator string // the first that joins commands
	output   bool   // a redirection to a file
	comment  bool
	doubled  bool   // more than one blank, or a tab
	single   string // the pattern single-spaced
}

func newScan(p string) scan {
	var s scan
	var b strings.Builder
	var quote byte
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '\\' && quote == '"' && i+1 < len(p) {
				b.WriteByte(c)
				i++
				c = p[i]
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\\' && i+1 < len(p):
			b.WriteByte(c)
			i++
			c = p[i]
		case c == ' ' || c == '\t':
			if c == '\t' || i+1 < len(p) && p[i+1] == ' ' {
				s.doubled = true
			}
			for i+1 < len(p) && (p[i+1] == ' ' || p[i+1] == '\t') {
				i++
			}
			c = ' '
		default:
			s.special(p, i)
		}
		b.WriteByte(c)
	}
	s.single = b.String()
	return s
}

// special looks at a character outside quotes.
func (s *scan) special(p string, i int) {
	before, after := byte(' '), byte(' ')
	if i > 0 {
		before = p[i-1]
	}
	if i+1 < len(p) {
		after = p[i+1]
	}
	c := p[i]
	joins := c == ';' || c == '\n' || c == '|' && before != '>' || c == '&' && before != '>' && before != '<' && after != '>'
	if joins && s.operator == "" {
		s.operator = string(c)
		if after == c && c != '\n' || c == '|' && after == '&' {
			s.operator += string(after)
		}
	}
	switch c {
	case '>':
		s.output = s.output || after != '('
	case '#':
		s.comment = s.comment || before == ' '
	}
}
