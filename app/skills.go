package app

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/phero-agent/agent/app/trust"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/skill"
)

// skills are the skills and the commands of the person and of the repository, as
// they were at the start.
type skills struct {
	opts     Options
	tool     *skill.Tool
	commands []skill.Command
	skipped  []skill.Skipped // commands and skills that cannot be used
}

// openSkills reads what there is; loaded is called each time the model loads a
// skill. The person's come first and win (SKILL-10).
func openSkills(opts Options, loaded func(context.Context, skill.Skill)) (*skills, error) {
	s := &skills{opts: opts}
	var roots, commands []string
	if opts.ConfigDir != "" {
		roots, commands = append(roots, filepath.Join(opts.ConfigDir, "skills")), append(commands, filepath.Join(opts.ConfigDir, "commands"))
	}
	if opts.Home != "" {
		roots = append(roots, below(opts.Home, ".agents/skills", ".claude/skills")...)
		commands = append(commands, below(opts.Home, ".claude/commands")...)
	}
	roots = append(roots, below(opts.Workspace, ".agents/skills", ".claude/skills")...)
	commands = append(commands, below(opts.Workspace, ".phero/commands", ".claude/commands")...)
	var err error
	if s.tool, err = skill.New("", skill.WithRoots(roots...), skill.WithOnLoad(loaded)); err != nil {
		return nil, err
	}
	s.commands, s.skipped = skill.Commands(commands...)
	s.skipped = append(s.tool.Skipped(), s.skipped...)
	return s, nil
}

func below(base string, dirs ...string) []string {
	for i, dir := range dirs {
		dirs[i] = filepath.Join(base, filepath.FromSlash(dir))
	}
	return dirs
}

// ofProject tells whether something came with the repository.
func (s *skills) ofProject(path string) bool {
	rel, err := filepath.Rel(s.opts.Workspace, path)
	return err == nil && filepath.IsLocal(rel)
}

// skillItem is what of a repository's skill must be trusted: what it grants, with
// the instructions that would use it.
func (s *skills) skillItem(one skill.Skill) trust.Item {
	content, _ := json.Marshal([]any{one.Name, one.AllowedTools, one.Body}) // strings: cannot fail
	item := trust.Item{Name: "skill " + s.relative(one.RootPath), Content: content}
	if grants := permissions.SkillGrants(one.AllowedTools); len(grants) > 0 {
		item.Effects = []string{"when it is loaded, these run unasked until the turn's end: " + strings.Join(grants, ", ")}
	}
	return item
}

// commandItem is a repository's command: its text is sent in the person's name.
func (s *skills) commandItem(c skill.Command) trust.Item {
	content, _ := json.Marshal([]any{c.Name, c.AllowedTools, c.Body}) // strings: cannot fail
	effect := "the command /" + c.Name + ": " + c.Description
	if grants := permissions.SkillGrants(c.AllowedTools); len(grants) > 0 {
		effect += "; these run unasked until the turn's end: " + strings.Join(grants, ", ")
	}
	return trust.Item{Name: s.relative(c.Path), Content: content, Effects: []string{effect}}
}

// untrusted are the items of the repository that the person has not accepted.
func (s *skills) untrusted() (items []trust.Item) {
	for _, one := range s.tool.Skills() {
		if item := s.skillItem(one); s.ofProject(one.RootPath) && len(item.Effects) > 0 && !s.trusts(item) {
			items = append(items, item)
		}
	}
	for _, c := range s.commands {
		if item := s.commandItem(c); s.ofProject(c.Path) && !s.trusts(item) {
			items = append(items, item)
		}
	}
	return items
}

func (s *skills) trusts(item trust.Item) bool {
	return s.opts.Trust != nil && s.opts.Trust.Trusts(item)
}

func (s *skills) relative(path string) string { return file.Shown(s.opts.Workspace, path) }

// ProjectItems are what the repository's skills and commands would loosen and the
// person has not accepted yet (IMP-03).
func ProjectItems(opts Options) ([]trust.Item, error) {
	s, err := openSkills(opts, nil)
	if err != nil {
		return nil, err
	}
	return s.untrusted(), nil
}

// CheckSkills says how many skills and commands there are, and what was left out and why.
func CheckSkills(opts Options) (n int, skipped []skill.Skipped, err error) {
	s, err := openSkills(opts, nil)
	if err != nil {
		return 0, nil, err
	}
	return len(s.tool.Skills()) + len(s.commands), s.skipped, nil
}

// skillLoaded allows for the run what the skill may grant (SKILL-11, PERM-70).
func (a *App) skillLoaded(ctx context.Context, s skill.Skill) {
	if a.skills.ofProject(s.RootPath) && !a.skills.trusts(a.skills.skillItem(s)) {
		if len(permissions.SkillGrants(s.AllowedTools)) > 0 {
			a.emit(Notice{Level: Warning, Text: fmt.Sprintf("the skill %s came with the repository and is not trusted: its tools are asked as always (agent trust)", s.Name)})
		}
		return
	}
	a.grant(ctx, "the skill "+s.Name, s.AllowedTools)
}

// grant allows tools until the end of the turn, and says so.
func (a *App) grant(ctx context.Context, who string, allowed []string) {
	grants := permissions.SkillGrants(allowed)
	if len(grants) == 0 {
		return
	}
	if err := a.perms.policy.AllowForRun(ctx, grants...); err != nil {
		a.emit(Notice{Level: Warning, Text: fmt.Sprintf("%s allows nothing: %v", who, err)})
		return
	}
	a.emit(Notice{Level: Info, Text: fmt.Sprintf("%s may run until this turn ends: %s", who, strings.Join(grants, ", "))})
}

//go:embed init.md
var initPrompt string

// WriteInstructions asks the model for a first AGENTS.md, or a better one.
func (a *App) WriteInstructions(hint string) {
	typed := strings.TrimSpace("/init " + hint)
	a.submit(queued{shown: typed, expand: func(context.Context) (string, error) {
		return strings.TrimSpace(initPrompt + "\n" + hint), nil
	}})
}

// Command is a skill or a Markdown file that the person can send as "/name arguments".
type Command struct {
	Name string
	Hint string // of its arguments, as "[file]"
	Help string
}

// Commands are what the person can send by its name: commands before skills of the
// same name. What came with the repository counts after trust.
func (a *App) Commands() (list []Command) {
	s, taken := a.skills, map[string]bool{}
	for _, c := range s.commands {
		if !s.ofProject(c.Path) || s.trusts(s.commandItem(c)) {
			list, taken[strings.ToLower(c.Name)] = append(list, Command{Name: c.Name, Hint: c.ArgumentHint, Help: c.Description}), true
		}
	}
	for _, one := range s.tool.Skills() {
		if name := slash(one.Name); !taken[name] {
			list, taken[name] = append(list, Command{Name: name, Help: one.Description}), true
		}
	}
	return list
}

// slash is a skill's name as a person types it.
func slash(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// RunCommand sends a command or skill with arguments. What it allows holds until
// the turn ends, as when the model loads a skill (decision 39).
func (a *App) RunCommand(name, arguments string) error {
	s, typed := a.skills, strings.TrimSpace("/"+name+" "+arguments)
	for _, c := range s.commands {
		if !strings.EqualFold(c.Name, name) || s.ofProject(c.Path) && !s.trusts(s.commandItem(c)) {
			continue
		}
		a.submit(queued{shown: typed, expand: func(ctx context.Context) (string, error) {
			a.grant(ctx, "/"+c.Name, c.AllowedTools)
			return c.Expand(arguments)
		}})
		return nil
	}
	for _, one := range s.tool.Skills() {
		if !strings.EqualFold(slash(one.Name), name) {
			continue
		}
		a.submit(queued{shown: typed, expand: func(ctx context.Context) (string, error) {
			text, err := s.tool.Load(ctx, skill.Input{Command: one.Name, Arguments: arguments})
			return typed + "\n\n" + text, err
		}})
		return nil
	}
	if a.runPrompt(name, arguments) {
		return nil
	}
	return fmt.Errorf("there is no command /%s", name)
}

// roots are the directories of skills outside of the workspace: tools and
// commands can read them and run what is there (SKILL-19, decision 18).
func (s *skills) roots() (roots []string) {
	for _, one := range s.tool.Skills() {
		dir, err := filepath.EvalSymlinks(one.RootPath)
		if err == nil && !s.ofProject(dir) && !slices.Contains(roots, dir) {
			roots = append(roots, dir)
		}
	}
	return roots
}

// Skills lists the skills and commands, where they are, and what was left out and
// why (SKILL-09).
func (a *App) Skills() string { return a.skills.String() }

func (s *skills) String() string {
	var b strings.Builder
	for _, one := range s.tool.Skills() {
		fmt.Fprintf(&b, "%s — %s\n  %s\n", one.Name, one.Description, s.relative(one.RootPath))
		if len(one.AllowedTools) == 0 {
			continue
		}
		state := ""
		if item := s.skillItem(one); s.ofProject(one.RootPath) && len(item.Effects) > 0 && !s.trusts(item) {
			state = " (not trusted: asked as always)"
		}
		fmt.Fprintf(&b, "  allowed tools: %s%s\n", strings.Join(one.AllowedTools, ", "), state)
	}
	for _, c := range s.commands {
		state := ""
		if s.ofProject(c.Path) && !s.trusts(s.commandItem(c)) {
			state = " (not trusted: it cannot be used yet)"
		}
		fmt.Fprintf(&b, "/%s — %s\n  %s%s\n", c.Name, c.Description, s.relative(c.Path), state)
	}
	if b.Len() == 0 {
		b.WriteString("There are no skills. They are directories with a SKILL.md in ~/.agents/skills, ~/.claude/skills and\n~/.config/phero/skills, and in .agents/skills and .claude/skills of a repository.\n")
	}
	for _, left := range s.skipped {
		fmt.Fprintf(&b, "left out: %s: %v\n", s.relative(left.Dir), left.Err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
