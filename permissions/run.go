package permissions

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
)

type runKey struct{}

// run holds the rules that end with a run, for each policy.
type run struct {
	mu    sync.Mutex
	rules map[*Policy]*ruleSet
}

// WithRun opens a run: rules of [Policy.AllowForRun] hold in the returned
// context and everything made from it. A context that is in a run already stays
// in that one, so that sub-agents share their parent's run (PERM-73).
func WithRun(ctx context.Context) context.Context {
	if _, ok := ctx.Value(runKey{}).(*run); ok {
		return ctx
	}
	return context.WithValue(ctx, runKey{}, &run{rules: map[*Policy]*ruleSet{}})
}

// AllowForRun allows rules until the run of the context ends (PERM-70). Deny and
// ask rules still win. Outside a run it returns [ErrNoRun]; when one rule is
// malformed none is added.
func (p *Policy) AllowForRun(ctx context.Context, rules ...string) error {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return ErrNoRun
	}
	parsed, err := parseRules(sourceless(rules))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.rules[p]; old != nil {
		parsed = slices.Concat(old.rules, parsed)
	}
	r.rules[p] = newRuleSet(parsed)
	return nil
}

// runRules are the rules of the context's run, or nil.
func runRules(ctx context.Context, p *Policy) *ruleSet {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules[p]
}

// SkillGrants keeps of a skill's allowed tools what a skill may grant for a run:
// reading, the task list, and bash rules that name their program (PERM-72). It
// drops what writes or runs anything: bare bash, the writing tools, web_fetch,
// agent, shells, interpreters, wrappers, and everything malformed.
func SkillGrants(allowedTools []string) []string {
	var kept []string
	for _, text := range allowedTools {
		r, err := parseRule(Rule{Text: text})
		if err != nil || r.family {
			continue
		}
		switch r.tool {
		case "read", "glob", "grep", "todo_write", "bash_output", "skill":
			kept = append(kept, strings.TrimSpace(text))
		case "bash":
			if program := r.program(); program != "" && !runsAnything(program) {
				kept = append(kept, strings.TrimSpace(text))
			}
		}
	}
	return kept
}

// program is the literal name with which every command that a bash rule matches
// begins, or "".
func (r *rule) program() string {
	word := r.firstWord()
	if strings.ContainsAny(word, "*\\'\"$`~{?[") {
		return ""
	}
	return path.Base(word)
}

// runsAnything tells whether a program runs what its arguments say.
func runsAnything(program string) bool {
	switch program {
	case "", ".", "/", "sh", "bash", "zsh", "dash", "ksh", "fish", "csh", "tcsh", "busybox", "pwsh",
		"node", "deno", "bun", "perl", "ruby", "php", "lua", "awk", "gawk", "mawk", "osascript", "expect",
		"eval", "exec", "source", "command", "builtin", "trap", "alias", "enable", "hash",
		"sudo", "doas", "su", "runuser", "env", "xargs", "parallel", "nohup", "nice", "ionice", "timeout",
		"time", "stdbuf", "setsid", "script", "strace", "ltrace", "watch", "chroot", "unshare", "nsenter",
		"ssh", "npx", "pnpx", "bunx", "uvx", "pipx":
		return true
	}
	return strings.HasPrefix(program, "python") || strings.HasPrefix(program, "pypy")
}
