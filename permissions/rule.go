package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is a rule and where it came from, such as a settings file; the source is
// only shown.
type Rule struct {
	Text   string `json:"rule"`
	Source string `json:"source,omitempty"`
}

// rule is a parsed Rule.
type rule struct {
	Rule
	index   int    // its place among the rules of its kind
	tool    string // the tool's name, or its beginning when family
	family  bool   // mcp_<server>_*
	bare    bool   // without a pattern: every call
	pattern string
	glob    glob

	assigns  []glob // a bash pattern's leading assignments …
	rest     glob   // … and what follows them
	spelling *spelling
}

func invalid(text, format string, args ...any) error {
	return fmt.Errorf("%w %q: %s", ErrInvalidRule, text, fmt.Sprintf(format, args...))
}

// parseRule reads "tool" or "tool(pattern)": the pattern is everything between
// the first ( and the final ) (PERM-03).
func parseRule(r Rule) (*rule, error) {
	text := strings.TrimSpace(r.Text)
	out := &rule{Rule: r}
	tool, rest, patterned := strings.Cut(text, "(")
	if patterned {
		if !strings.HasSuffix(rest, ")") {
			return nil, invalid(r.Text, "write tool or tool(pattern), with ) at its end")
		}
		out.pattern = strings.TrimSuffix(rest, ")")
		if out.pattern == "" {
			return nil, invalid(r.Text, "the pattern is empty; %s alone means every call", tool)
		}
	}
	out.bare = !patterned
	if tool == "" {
		return nil, invalid(r.Text, "it names no tool; write tool or tool(pattern)")
	}
	if server, ok := strings.CutPrefix(tool, "mcp_"); ok {
		if server, ok = strings.CutSuffix(server, "_*"); ok && server != "" {
			tool, out.family = strings.TrimSuffix(tool, "*"), true
		}
	}
	if i := strings.IndexFunc(tool, notInName); i >= 0 {
		return nil, invalid(r.Text, "%q cannot be part of a tool's name; the one wildcard is mcp_<server>_*", tool[i:i+1])
	}
	if strings.ContainsRune(out.pattern, 0) {
		return nil, invalid(r.Text, "the pattern holds a NUL byte")
	}
	out.tool = tool
	out.glob = newGlob(out.pattern)
	if tool == "bash" && patterned {
		out.compileCommand()
	}
	return out, nil
}

func notInName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
}

// compileCommand takes the leading assignments off a bash pattern.
func (r *rule) compileCommand() {
	rest := r.pattern
	for isAssignment(rest) {
		end := wordEnd(rest)
		r.assigns = append(r.assigns, newGlob(rest[:end]))
		rest = strings.TrimPrefix(rest[end:], " ")
	}
	r.rest = newGlob(rest)
	if len(r.assigns) == 0 {
		r.spelling = newSpelling(rest)
	}
}

// isAssignment tells whether a text begins with NAME= or NAME+=.
func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && validName(strings.TrimSuffix(name, "+"))
}

func validName(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if !(c >= 'a' && c <= 'z' || s[i] == '_' || i > 0 && s[i] >= '0' && s[i] <= '9') {
			return false
		}
	}
	return s != ""
}

// wordEnd is where a pattern's first word ends: at a blank outside quotes.
func wordEnd(s string) int {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '\\' && quote == '"' {
				i++
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\\':
			i++
		case c == ' ':
			return i
		}
	}
	return len(s)
}

// ruleSet is the rules of one decision. It is never changed once made.
type ruleSet struct {
	rules    []*rule
	tools    map[string]*toolRules
	families []*rule
}

// toolRules finds a tool's rules by the first word of what they match.
type toolRules struct {
	any   []*rule            // bare ones, and patterns whose first word is not literal
	words map[string][]*rule // the others
}

func newRuleSet(rules []*rule) *ruleSet {
	s := &ruleSet{rules: make([]*rule, len(rules)), tools: map[string]*toolRules{}}
	for i, from := range rules {
		r := new(rule)
		*r = *from // another set may be reading it
		r.index = i
		s.rules[i] = r
		if r.family {
			s.families = append(s.families, r)
			continue
		}
		t := s.tools[r.tool]
		if t == nil {
			t = &toolRules{words: map[string][]*rule{}}
			s.tools[r.tool] = t
		}
		if w := r.firstWord(); w != "" {
			t.words[w] = append(t.words[w], r)
		} else {
			t.any = append(t.any, r)
		}
	}
	return s
}

// firstWord is the word with which every command that the rule matches begins,
// or "" when there is no such word. Only bash rules are found by it.
func (r *rule) firstWord() string {
	if r.tool != "bash" || r.bare || len(r.assigns) > 0 {
		return ""
	}
	word, _, more := strings.Cut(r.glob[0], " ")
	if !more && len(r.glob) > 1 {
		return ""
	}
	return word
}

// anywhere lists the tool's rules that no first word finds.
func (s *ruleSet) anywhere(tool string) []*rule {
	if t := s.tools[tool]; t != nil {
		return t.any
	}
	return nil
}

// possible are those of a set's rules of anywhere that can match a part of a long
// line: their longest literal text stands in some part. To look once through the
// whole line is cheaper than through every part for every rule.
func (c *call) possible(set *ruleSet) []*rule {
	rules := set.anywhere(c.tool)
	if len(rules) < 8 || len(c.parts)+len(c.line.rough) < 4 {
		return rules
	}
	if found, ok := c.filtered[set]; ok {
		return found
	}
	if c.everything == "" {
		var b strings.Builder
		for _, parts := range [][]part{c.parts, c.line.rough} {
			for i := range parts {
				for _, text := range parts[i].strict {
					b.WriteString(text)
					b.WriteByte(0)
				}
			}
		}
		c.everything = b.String()
	}
	var found []*rule
	for _, r := range rules {
		if r.bare || r.spelling != nil || strings.Contains(c.everything, r.glob.longest()) {
			found = append(found, r)
		}
	}
	if c.filtered == nil {
		c.filtered = map[*ruleSet][]*rule{}
	}
	c.filtered[set] = found
	return found
}

// first returns the first rule of the tool that matches, or nil: of those that
// can stand anywhere, and of those that the first words of the texts find.
func (s *ruleSet) first(tool string, anywhere []*rule, texts []string, match func(*rule) bool) *rule {
	var found *rule
	try := func(rules []*rule) {
		for _, r := range rules {
			if found != nil && r.index > found.index {
				return
			}
			if match(r) {
				found = r
				return
			}
		}
	}
	try(anywhere)
	if t := s.tools[tool]; t != nil {
		for _, text := range texts {
			if len(t.words) > 0 {
				word, _, _ := strings.Cut(text, " ")
				try(t.words[word])
			}
		}
	}
	for _, r := range s.families {
		if strings.HasPrefix(tool, r.tool) && len(tool) > len(r.tool) {
			try([]*rule{r})
		}
	}
	return found
}

// patterned tells whether any rule of the tool has a pattern.
func (s *ruleSet) patterned(tool string) bool {
	t := s.tools[tool]
	if t == nil {
		return false
	}
	return len(t.words) > 0 || slices.ContainsFunc(t.any, func(r *rule) bool { return !r.bare })
}
