package permissions

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/phero-agent/agent/tools"
)

// Policy decides calls. Its methods can be called at any time, also while a
// question is open (PERM-62).
type Policy struct {
	asker Asker
	slot  chan struct{} // held while a question is open

	mu      sync.Mutex
	state   *state // never changed, only replaced
	applied map[*tools.Tool]bool
}

// state is what decisions are made from.
type state struct {
	deny, ask, allow *ruleSet
	always           []Grant
	granted          map[Grant]bool
	fallback         Decision
	mode             Mode
	dir              string   // paths are relative to it
	roots            []string // where accepted edits run, with dir
	subjects         map[string]string
	unwrap           bool
	readOnly         func(Command) bool // of read-only commands; may be nil
}

// Option sets up a [Policy].
type Option func(*settings) error

type settings struct {
	state
	asker Asker
	rules map[Decision][]*rule
}

// New makes a policy. A malformed rule is an error that names it (PERM-01).
func New(opts ...Option) (*Policy, error) {
	s := &settings{rules: map[Decision][]*rule{}}
	s.subjects = subjectArguments()
	s.granted = map[Grant]bool{}
	for _, opt := range opts {
		if err := opt(s); err != nil {
			return nil, err
		}
	}
	dir, err := workingDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("the policy needs a working directory: %w", err)
	}
	s.dir = dir
	s.deny, s.ask, s.allow = newRuleSet(s.rules[Deny]), newRuleSet(s.rules[Ask]), newRuleSet(s.rules[Allow])
	return &Policy{
		asker:   s.asker,
		slot:    make(chan struct{}, 1),
		state:   &s.state,
		applied: map[*tools.Tool]bool{},
	}, nil
}

// WithAllow adds rules of calls that run unasked. Options add up.
func WithAllow(rules ...string) Option { return WithRules(Allow, sourceless(rules)...) }

// WithAsk adds rules of calls that are always asked.
func WithAsk(rules ...string) Option { return WithRules(Ask, sourceless(rules)...) }

// WithDeny adds rules of calls that are denied.
func WithDeny(rules ...string) Option { return WithRules(Deny, sourceless(rules)...) }

// WithRules adds rules that know where they come from.
func WithRules(d Decision, rules ...Rule) Option {
	return func(s *settings) error {
		if d != Ask && d != Allow && d != Deny {
			return fmt.Errorf("there are no rules of the decision %v", d)
		}
		parsed, err := parseRules(rules)
		s.rules[d] = append(s.rules[d], parsed...)
		return err
	}
}

// WithDefault sets what happens to a call that nothing matches; the default is
// Ask. Allow does not cover opaque command lines.
func WithDefault(d Decision) Option {
	return func(s *settings) error { s.fallback = d; return nil }
}

// WithMode sets the mode at the start; see [Policy.SetMode].
func WithMode(m Mode) Option {
	return func(s *settings) error { s.mode = m; return nil }
}

// WithAsker sets who is asked. Without one, calls that need asking are denied.
func WithAsker(a Asker) Option {
	return func(s *settings) error { s.asker = a; return nil }
}

// WithWorkingDir sets the directory that relative paths are taken against; the
// default is the process's at the time of New. It is the file tools' working directory.
func WithWorkingDir(dir string) Option {
	return func(s *settings) error { s.dir = dir; return nil }
}

// WithRoots adds directories in which accepted edits run unasked, beside the
// working directory. Relative ones are taken against the working directory.
func WithRoots(dirs ...string) Option {
	return func(s *settings) error { s.roots = append(s.roots, dirs...); return nil }
}

// WithSubject sets which argument of a tool its rules match. An argument named
// file_path or path is matched as a file path (PERM-16, PERM-17).
func WithSubject(tool, argument string) Option {
	return func(s *settings) error {
		if tool == "" || argument == "" {
			return errors.New("a subject needs the names of a tool and of its argument")
		}
		s.subjects[tool] = argument
		return nil
	}
}

// WithAlways restores always answers; see [Policy.Always].
func WithAlways(answers ...Grant) Option {
	return func(s *settings) error { s.grant(answers); return nil }
}

// WithUnwrap lets deny and ask rules, never allow rules, also see the command
// behind a wrapper ("sudo", "env", "sh -c '…'", "find -exec"), behind a path
// ("/bin/rm"), and with its options in another order ("rm -fr").
func WithUnwrap() Option {
	return func(s *settings) error { s.unwrap = true; return nil }
}

func sourceless(texts []string) []Rule {
	rules := make([]Rule, len(texts))
	for i, t := range texts {
		rules[i].Text = t
	}
	return rules
}

func parseRules(rules []Rule) ([]*rule, error) {
	parsed := make([]*rule, 0, len(rules))
	for _, r := range rules {
		p, err := parseRule(r)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, p)
	}
	return parsed, nil
}

// grant adds always answers that are not there yet.
func (s *state) grant(answers []Grant) {
	for _, g := range answers {
		if !s.granted[g] {
			s.granted[g] = true
			s.always = append(s.always, g)
		}
	}
}

// current returns the state to decide from.
func (p *Policy) current() *state {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// change replaces the state by a changed copy.
func (p *Policy) change(f func(*state)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := *p.state
	f(&next)
	p.state = &next
}

// SetMode changes the mode for every later decision.
func (p *Policy) SetMode(m Mode) { p.change(func(s *state) { s.mode = m }) }

// Mode returns the present mode.
func (p *Policy) Mode() Mode { return p.current().mode }

// Always lists the always answers in the order given (PERM-66).
func (p *Policy) Always() []Grant { return slices.Clone(p.current().always) }

// Grant adds always answers. They are exact texts; deny and ask rules still win.
func (p *Policy) Grant(answers ...Grant) {
	p.change(func(s *state) {
		s.always, s.granted = slices.Clone(s.always), cloneSet(s.granted)
		s.grant(answers)
	})
}

// Forget drops an always answer; it is false when there is none like it (PERM-67).
func (p *Policy) Forget(tool, subject string) bool {
	g := Grant{Tool: tool, Subject: subject}
	found := false
	p.change(func(s *state) {
		if found = s.granted[g]; !found {
			return
		}
		s.granted = cloneSet(s.granted)
		delete(s.granted, g)
		s.always = slices.DeleteFunc(slices.Clone(s.always), func(o Grant) bool { return o == g })
	})
	return found
}

func cloneSet(m map[Grant]bool) map[Grant]bool {
	c := make(map[Grant]bool, len(m)+1)
	for k := range m {
		c[k] = true
	}
	return c
}

// AddAllow adds allow rules while the policy is in use. When one is malformed
// none is added.
func (p *Policy) AddAllow(rules ...Rule) error {
	parsed, err := parseRules(rules)
	if err != nil {
		return err
	}
	p.change(func(s *state) {
		s.allow = newRuleSet(append(slices.Clone(s.allow.rules), parsed...))
	})
	return nil
}

// Remove drops every rule with this text and source, of whatever kind; it is
// false when there is none.
func (p *Policy) Remove(r Rule) bool {
	found := false
	p.change(func(s *state) {
		for _, set := range []**ruleSet{&s.deny, &s.ask, &s.allow} {
			left := slices.DeleteFunc(slices.Clone((*set).rules), func(o *rule) bool { return o.Rule == r })
			if len(left) < len((*set).rules) {
				found = true
				*set = newRuleSet(left)
			}
		}
	})
	return found
}

// Rules lists the rules: deny, ask, allow.
func (p *Policy) Rules() []Rule {
	return slices.Concat(p.RulesOf(Deny), p.RulesOf(Ask), p.RulesOf(Allow))
}

// RulesOf lists the rules of one decision, in the order given.
func (p *Policy) RulesOf(d Decision) []Rule {
	s := p.current()
	set := map[Decision]*ruleSet{Deny: s.deny, Ask: s.ask, Allow: s.allow}[d]
	var rules []Rule
	for _, r := range set.rules {
		rules = append(rules, r.Rule)
	}
	return rules
}
