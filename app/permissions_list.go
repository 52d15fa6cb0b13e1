package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/permissions"
)

// Listed is a row of [Permissions.List].
type Listed struct {
	Decision permissions.Decision `json:"decision"`
	Rule     string               `json:"rule"`
	Source   string               `json:"source"`
}

// List lists every rule, always answer and list that decides, with where it comes from.
func (p *Permissions) List() (list []Listed) {
	for _, d := range []permissions.Decision{permissions.Deny, permissions.Ask, permissions.Allow} {
		for _, r := range p.policy.RulesOf(d) {
			if !strings.HasPrefix(r.Source, "always, ") {
				list = append(list, Listed{d, r.Text, r.Source})
			}
		}
	}
	switch p.reading.reach() {
	case readBoxed:
		list = append(list, Listed{permissions.Allow, ReadingRule, builtIn + ", the long list: the sandbox holds"})
	case readInside:
		list = append(list, Listed{permissions.Allow, ReadingRule, builtIn + ", the shorter list: there is no sandbox"})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.places() {
		for _, a := range at.list {
			list = append(list, Listed{permissions.Allow, a.String(), at.name})
		}
	}
	return list
}

// widestRule is the greatest column of rules; longer ones push their source to the right.
const widestRule = 58

// RulesText shows a list of rules for a person. Rules of several tools with the
// same pattern and source stand in one line.
func RulesText(list []Listed) string {
	type row struct {
		Listed
		tools []string
	}
	var rows []row
	for _, l := range list {
		tool, pattern, _ := strings.Cut(l.Rule, "(")
		i := slices.IndexFunc(rows, func(r row) bool {
			_, same, found := strings.Cut(r.Rule, "(")
			return found && same == pattern && r.Decision == l.Decision && r.Source == l.Source && !strings.HasPrefix(l.Source, "always, ")
		})
		if i < 0 {
			rows = append(rows, row{l, []string{tool}})
			continue
		}
		rows[i].tools = append(rows[i].tools, tool)
	}
	width := 0
	for i, r := range rows {
		if len(r.tools) > 1 {
			_, pattern, _ := strings.Cut(r.Rule, "(")
			rows[i].Rule = strings.Join(r.tools, ", ") + " (" + pattern
		}
		width = max(width, min(widestRule, len(rows[i].Rule)))
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%-5s  %-*s  %s\n", r.Decision, width, strings.ReplaceAll(r.Rule, "\n", "\n       "), r.Source)
	}
	return b.String()
}

// Permissions is /permissions: it lists the mode, the person's rules and the
// always answers, or drops an answer: "forget bash(go test *)".
func (a *App) Permissions(args string) (string, error) {
	if text, ok := strings.CutPrefix(args, "forget "); ok {
		text = strings.TrimSpace(text)
		from, err := a.perms.Forget(text)
		if err != nil {
			return "", err
		}
		if len(from) == 0 {
			return "", fmt.Errorf("there is no always answer %q; /permissions lists them", text)
		}
		return fmt.Sprintf("forgotten: %s (%s)", text, strings.Join(from, "; ")), nil
	}
	if args != "" {
		return "", errors.New("write /permissions, or /permissions forget and an always answer as it is listed")
	}
	list := a.perms.List()
	shown := slices.DeleteFunc(slices.Clone(list), func(l Listed) bool { return l.Source == builtIn })
	return fmt.Sprintf("mode %s; %d built-in rules, which agent permissions list shows\n%s", a.Mode(), len(list)-len(shown), strings.TrimSuffix(RulesText(shown), "\n")), nil
}
