package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/phero-agent/agent/permissions"
)

// Permissions are the policy of the application with what it is made of: the
// presets, the person's rules, and the always answers of the workspace and the
// session.
type Permissions struct {
	policy   *permissions.Policy
	opts     Options
	reading  *readOnly
	warnings []string // for the person, at the start

	mu        sync.Mutex
	workspace answers
	session   answers
	others    []place // of sessions that are not open
}

// newPermissions makes the policy. A rule that can never match stops it where the
// rule should deny or ask. The functions are called at each decision.
func newPermissions(opts Options, asker permissions.Asker, sandbox, dir func() string) (*Permissions, error) {
	p := &Permissions{opts: opts}
	p.reading = &readOnly{workspace: opts.Workspace, reach: func() reach { return p.readReach(sandbox()) }, dir: dir}
	allow, ask, deny := presetRules(opts.roots()...)
	settings := []permissions.Option{
		permissions.WithWorkingDir(opts.Workspace), permissions.WithRoots(opts.Roots...), permissions.WithUnwrap(), permissions.WithReadOnly(p.reading.allows),
	}
	for _, of := range []struct {
		decision       permissions.Decision
		preset, person []permissions.Rule
	}{{permissions.Deny, deny, opts.Deny}, {permissions.Ask, ask, opts.Ask}, {permissions.Allow, allow, opts.Allow}} {
		settings = append(settings, permissions.WithRules(of.decision, of.preset...), permissions.WithRules(of.decision, cover(of.decision, of.person)...))
		for _, f := range permissions.Lint(of.decision, of.person, permissions.KnownTools()) {
			if f.Fatal() {
				return nil, errors.New(f.String())
			}
			p.warnings = append(p.warnings, f.String())
		}
	}
	settings = append(settings, subjects(opts.Servers)...)
	if opts.Interactive {
		settings = append(settings, permissions.WithAsker(asker))
	}
	var err error
	if p.policy, err = permissions.New(settings...); err != nil {
		return nil, err
	}
	p.workspace.path = workspaceAnswers(opts.StateDir, opts.Workspace)
	if p.workspace.list, err = readAnswers(p.workspace.path); err == nil {
		err = p.hold(WorkspaceScope, p.workspace.list)
	}
	if err != nil {
		p.warnings = append(p.warnings, err.Error())
	}
	return p, nil
}

// readReach is how much of the list of read-only commands holds.
func (p *Permissions) readReach(sandbox string) reach {
	switch {
	case sandbox == sandboxHolds:
		return readBoxed
	case sandbox != "" && p.saidReads():
		return readInside
	}
	return readNothing
}

// Offer is what the second step of always offers for one subject: the exact
// subject, or one of the wider rules, the narrowest first.
type Offer struct {
	Always
	Wider []Always
}

// Covers tells whether a wider answer covers the exact subject as well; else both
// are kept.
func (o Offer) Covers(wider Always) bool {
	return !strings.HasSuffix(wider.Rule, " *)") || strings.HasPrefix(o.String(), strings.TrimSuffix(wider.Rule, "*)"))
}

// offers lists what an always answer to a request can be.
func (p *Permissions) offers(req permissions.Request, trace permissions.Trace) (offers []Offer) {
	uncovered := trace.Uncovered()
	for _, subject := range req.Subjects {
		if req.Reason != permissions.ReasonOpaque && !slices.Contains(uncovered, subject) {
			continue // a rule allows it already
		}
		o := Offer{Always: Always{Tool: req.Tool, Subject: subject}}
		for _, rule := range p.policy.Wider(req.Tool, subject) {
			o.Wider = append(o.Wider, Always{Rule: rule})
		}
		if c, ok := permissions.ParseCommand(subject); ok && req.Tool == "bash" && p.reading.reach() == readNothing && p.reading.reads(c, readInside) {
			o.Wider = []Always{{Rule: ReadingRule}}
		}
		offers = append(offers, o)
	}
	return offers
}

// OpenPermissions makes the policy without an application, for who only looks at
// it. It finds out which sandbox works here, and knows the answers of every session.
func OpenPermissions(ctx context.Context, opts Options) (*Permissions, error) {
	s, err := openSandbox(opts, nil, nil)
	if err != nil {
		return nil, err
	}
	defer s.close()
	p, err := newPermissions(opts, nil, s.name, func() string { return opts.Workspace })
	if err != nil {
		return nil, err
	}
	if err := p.begin(s); err != nil {
		return nil, err
	}
	s.start(func() {})
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	known, _ := os.ReadDir(filepath.Join(opts.Workspace, ".phero", "sessions")) // there may be none yet
	for _, e := range known {
		path := sessionAnswers(opts.StateDir, e.Name())
		list, err := readAnswers(path)
		if err != nil {
			p.warnings = append(p.warnings, err.Error())
		}
		if len(list) > 0 {
			p.others = append(p.others, place{"always, session " + e.Name(), &answers{path: path, list: list}})
		}
	}
	return p, nil
}

// Warnings are for the person: rules that never match, answers that cannot be read.
func (p *Permissions) Warnings() []string { return p.warnings }

// Explain decides a call, and tells how.
func (p *Permissions) Explain(tool, arguments string) permissions.Trace {
	return p.policy.Explain(tool, arguments)
}
