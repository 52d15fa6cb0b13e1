package permissions

import (
	"context"
	"slices"
)

// By says what settled a decision.
type By string

// What settles a decision, in order: the first that speaks wins.
const (
	ByArguments By = "arguments" // they cannot be understood
	ByDenyRule  By = "deny rule"
	ByPath      By = "path" // it cannot be resolved
	ByPlan      By = "plan mode"
	ByAskRule   By = "ask rule"
	ByMode      By = "mode"
	ByAlways    By = "always answer"
	ByOpaque    By = "opaque"
	ByRun       By = "rule of this run"
	ByAllowRule By = "allow rule"
	ByReadOnly  By = "read-only list"
	ByDefault   By = "default"
)

// Trace is a decision with everything that led to it.
type Trace struct {
	Tool     string   `json:"tool"`
	Subject  string   `json:"subject"` // as in [Request]
	Raw      string   `json:"raw"`
	Mode     Mode     `json:"mode"`
	Decision Decision `json:"decision"`
	By       By       `json:"by"`
	Rule     Rule     `json:"rule,omitzero"`    // the rule that settled it
	Reason   *Reason  `json:"reason,omitempty"` // why it is asked; nil unless Decision is Ask
	Opaque   string   `json:"opaque,omitempty"` // the part of a line that makes it opaque …
	Why      string   `json:"why,omitempty"`    // … and why; or why the arguments or the path are refused
	Steps    []Step   `json:"steps,omitempty"`  // one for each thing that the call touches
}

// Step is the decision on one subject of a call. For an opaque line it says what
// the rules make of the commands that could be found in it.
type Step struct {
	Subject  string   `json:"subject"`
	Decision Decision `json:"decision"`
	By       By       `json:"by"`
	Rule     Rule     `json:"rule,omitzero"`
}

// Uncovered lists the subjects that no rule and no answer covers, each once.
func (t Trace) Uncovered() []string {
	var list []string
	for _, s := range t.Steps {
		if s.By == ByDefault && s.Decision != Allow && !slices.Contains(list, s.Subject) {
			list = append(list, s.Subject)
		}
	}
	return list
}

// Decide gives the verdict without asking anybody (PERM-12). Rules that hold for
// a run only are not seen.
func (p *Policy) Decide(tool, arguments string) Decision {
	return p.Explain(tool, arguments).Decision
}

// Explain gives the verdict and how it came about. Like Decide it sees no rules
// of a run.
func (p *Policy) Explain(tool, arguments string) Trace {
	return p.ExplainIn(context.Background(), tool, arguments)
}

// ExplainIn is Explain with the rules of the context's run, as an Asker gets it.
func (p *Policy) ExplainIn(ctx context.Context, tool, arguments string) Trace {
	_, t := p.look(ctx, tool, arguments)
	return t
}

// judge decides a call. The run's rules are found in the context.
func (s *state) judge(ctx context.Context, p *Policy, c *call) Trace {
	t := Trace{Tool: c.tool, Subject: c.subject, Raw: c.raw, Mode: s.mode, Opaque: c.line.opaque, Why: c.line.why}
	if c.refused != nil {
		t.Decision, t.By, t.Why = Deny, ByArguments, c.refused.Error()
		return t
	}
	t.Steps = make([]Step, 0, len(c.parts))
	run := runRules(ctx, p)
	for i := range c.parts {
		t.Steps = append(t.Steps, s.step(c, &c.parts[i], run))
	}
	s.settle(c, &t)
	return t
}

// step decides one part as if it were the whole call, but for the modes that
// look at the call as a whole.
func (s *state) step(c *call, part *part, run *ruleSet) Step {
	out := Step{Subject: part.text}
	decide := func(d Decision, by By, r *rule) Step {
		out.Decision, out.By = d, by
		if r != nil {
			out.Rule = r.Rule
		}
		return out
	}
	if r := s.deny.strict(c, part); r != nil {
		return decide(Deny, ByDenyRule, r)
	}
	if s.mode != ModeYolo {
		if r := s.ask.strict(c, part); r != nil {
			return decide(Ask, ByAskRule, r)
		}
	}
	if s.granted[Grant{Tool: c.tool, Subject: part.text}] && c.unresolved == nil {
		return decide(Allow, ByAlways, nil)
	}
	if r := run.loose(c, part); r != nil {
		return decide(Allow, ByRun, r)
	}
	if r := s.allow.loose(c, part); r != nil {
		return decide(Allow, ByAllowRule, r)
	}
	if s.onlyReads(c, part) {
		return decide(Allow, ByReadOnly, nil)
	}
	return decide(s.fallback, ByDefault, nil)
}

// onlyReads tells whether the judge of read-only commands lets the part run.
func (s *state) onlyReads(c *call, part *part) bool {
	if s.readOnly == nil || c.line.opaque != "" || part.command == nil {
		return false
	}
	command := part.command()
	return command != nil && s.readOnly(*command)
}

// settle makes the call's decision from those of its parts.
func (s *state) settle(c *call, t *Trace) {
	if r := s.denied(c, t); r != nil {
		t.Decision, t.By, t.Rule = Deny, ByDenyRule, *r
		return
	}
	if c.unresolved != nil {
		t.Why = "the path cannot be resolved: " + c.unresolved.Error()
		if s.deny.patterned(c.tool) {
			t.Decision, t.By = Deny, ByPath // PERM-57: a rule could mean it
			return
		}
	}
	if s.mode.refuses(c) {
		t.Decision, t.By, t.Why = Deny, ByPlan, errPlan.Error()
		return
	}
	asked := s.asked(c, t)
	switch {
	case asked == nil && s.mode.allows(c, append([]string{s.dir}, s.roots...)):
		t.Decision, t.By = Allow, ByMode
	case asked == nil && c.line.opaque != "" && s.granted[Grant{Tool: c.tool, Subject: c.raw}]:
		t.Decision, t.By = Allow, ByAlways
	default:
		s.combine(c, t, asked)
	}
}

// combine is settle where no mode and no answer settles the call as a whole.
func (s *state) combine(c *call, t *Trace, asked *Rule) {
	for i, step := range t.Steps {
		if i == 0 || worse(step.Decision, t.Decision) != t.Decision {
			t.Decision, t.By, t.Rule = step.Decision, step.By, step.Rule
		}
	}
	switch {
	case c.line.opaque != "":
		t.Decision, t.By, t.Rule = worse(Ask, s.fallback), ByOpaque, Rule{}
	case c.unresolved != nil:
		t.Decision, t.By, t.Rule = worse(Ask, s.fallback), ByPath, Rule{}
	}
	if t.Decision != Ask {
		return
	}
	reason := ReasonNoRule
	switch {
	case asked != nil:
		reason, t.By, t.Rule = ReasonAskRule, ByAskRule, *asked
	case c.line.opaque != "":
		reason = ReasonOpaque
	}
	t.Reason = &reason
}

// denied is the deny rule that matches a part, or what a rough reading of a
// suspicious line finds.
func (s *state) denied(c *call, t *Trace) *Rule {
	for _, step := range t.Steps {
		if step.By == ByDenyRule {
			return &step.Rule
		}
	}
	for i := range c.line.rough {
		if r := s.deny.strict(c, &c.line.rough[i]); r != nil {
			return &r.Rule
		}
	}
	return nil
}

// asked is the same for ask rules.
func (s *state) asked(c *call, t *Trace) *Rule {
	if s.mode == ModeYolo {
		return nil
	}
	for _, step := range t.Steps {
		if step.By == ByAskRule {
			return &step.Rule
		}
	}
	for i := range c.line.rough {
		if r := s.ask.strict(c, &c.line.rough[i]); r != nil {
			return &r.Rule
		}
	}
	return nil
}

// strict finds a rule that denies or asks the part.
func (set *ruleSet) strict(c *call, part *part) *rule {
	return set.first(c.tool, c.possible(set), part.strict, func(r *rule) bool {
		switch {
		case r.bare:
			return true
		case !c.known:
			return false // the pattern has nothing to match
		case c.paths != nil:
			return c.matchPath(r, part.strict, true)
		}
		return slices.ContainsFunc(part.strict, r.glob.match) || r.spelling.matchAny(part.vectors)
	})
}

// loose finds a rule that allows the part.
func (set *ruleSet) loose(c *call, part *part) *rule {
	if set == nil {
		return nil
	}
	return set.first(c.tool, set.anywhere(c.tool), part.allow, func(r *rule) bool {
		switch {
		case r.bare:
			return len(part.assigns) == 0 // PERM-31: a rule must spell them
		case !c.known:
			return false
		case c.paths != nil:
			return c.unresolved == nil && c.matchPath(r, part.allow, false)
		case c.tool == "bash":
			return r.allowsCommand(part)
		}
		return slices.ContainsFunc(part.allow, r.glob.match)
	})
}

// allowsCommand matches assignments one by one: a * never stands for one, and
// never reaches from one into the command (PERM-31).
func (r *rule) allowsCommand(part *part) bool {
	if len(r.assigns) != len(part.assigns) {
		return false
	}
	for i, g := range r.assigns {
		if !g.match(part.assigns[i]) {
			return false
		}
	}
	return slices.ContainsFunc(part.allow, r.rest.match)
}
