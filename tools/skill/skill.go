// Package skill loads the instructions of skills, directories with a SKILL.md,
// into a conversation when the model asks for them, so that many skills cost
// one tool.
//
//	roots ──Parser──► catalogue ──tool description──► model
//	                                                    │ skill{command, arguments}
//	SKILL.md, read afresh ──arguments──► instructions ◄─┘──► OnLoad: grants for the run
//
// [Commands] are simpler: Markdown files that a person sends as prompts by their names.
package skill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools"
)

// Skill is what a SKILL.md says. In the catalogue the texts, the body left out,
// are one line without control characters.
type Skill struct {
	Name          string // letters, digits, blanks and - _ . : of ASCII, at most 64
	Description   string // at most 1,024 characters
	License       string
	Compatibility string
	Metadata      map[string]any
	AllowedTools  []string // rules such as "bash(go test *)", as they were written
	RootPath      string   // the skill's directory, absolute
	Body          string   // the instructions
}

// Skipped is a skill, or a whole root, that was left out, and why.
type Skipped struct {
	Dir string
	Err error
}

// Input is what the model sends.
type Input struct {
	Command   string `json:"command" description:"the skill's name, as the list above has it"`
	Arguments string `json:"arguments,omitempty" description:"what the skill should work on, when it takes something"`
}

// What a call can fail with, or why a skill is skipped.
var (
	ErrNilInput                 = errors.New("the input is missing")
	ErrCommandRequired          = errors.New("a command is required: the name of a skill")
	ErrArgumentsTooLong         = errors.New("the arguments are too long for this skill")
	ErrSkillNameRequired        = errors.New("the skill has no name")
	ErrInvalidSkillName         = errors.New("a skill's name has at most 64 letters, digits, blanks and - _ . : of ASCII")
	ErrSkillDescriptionRequired = errors.New("the skill has no description")
	ErrMissingFrontmatter       = errors.New("the file does not start with front matter between two lines of ---")
)

// NotFoundError says that there is no skill of a name.
type NotFoundError struct {
	Command string
	Known   []string // the names that there are
}

func (e *NotFoundError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("there is no skill %q: no skills are installed", clip(e.Command, maxName))
	}
	return fmt.Sprintf("there is no skill %q; the skills are: %s", clip(e.Command, maxName), strings.Join(e.Known, ", "))
}

// DuplicateSkillNameError says that an earlier skill has the name, or the
// directory's name, of another.
type DuplicateSkillNameError struct{ Name, ExistingDir, DuplicateDir string }

func (e *DuplicateSkillNameError) Error() string {
	return fmt.Sprintf("%s: the name %q is taken by %s", e.DuplicateDir, e.Name, e.ExistingDir)
}

// Tool is the tool skill. Its catalogue is fixed when it is made.
type Tool struct {
	roots  []string
	parser Parser
	onLoad func(context.Context, Skill)

	entries []entry
	skipped []Skipped
	tool    *tools.Tool
}

// entry is a skill of the catalogue and where to read it again.
type entry struct {
	skill  Skill
	parser Parser
	dir    string // the parser's name for it
}

// Option configures a [Tool].
type Option func(*Tool)

// WithRoots reads skills from more directories, after the one given to [New].
// Earlier ones win, on a directory's name and on a skill's name, so pass the
// user's first (SKILL-10).
func WithRoots(roots ...string) Option {
	return func(t *Tool) { t.roots = append(t.roots, roots...) }
}

// WithOnLoad calls fn each time a skill is loaded, with the call's context and
// before the result is returned, for example to allow the skill's tools for the run.
func WithOnLoad(fn func(ctx context.Context, s Skill)) Option {
	return func(t *Tool) { t.onLoad = fn }
}

// WithParser reads the skills with p and from no directory.
func WithParser(p Parser) Option {
	return func(t *Tool) { t.parser = p }
}

// New reads the skills below skillsRootPath and the roots of [WithRoots]. A root
// that does not exist, or "", has no skills. It fails only when the parser of
// [WithParser] cannot list its skills; see [Tool.Skipped].
func New(skillsRootPath string, opts ...Option) (*Tool, error) {
	t := &Tool{roots: []string{skillsRootPath}}
	for _, o := range opts {
		o(t)
	}
	if err := t.scan(); err != nil {
		return nil, err
	}
	var err error
	t.tool, err = tools.NewTool("skill", t.describe(), t.load)
	return t, err
}

// Tool returns what the model calls.
func (t *Tool) Tool() *tools.Tool { return t.tool }

// Skipped tells which skills and roots were left out, and why.
func (t *Tool) Skipped() []Skipped { return slices.Clone(t.skipped) }

// Skills returns the catalogue, in the order of the roots.
func (t *Tool) Skills() []Skill {
	skills := make([]Skill, len(t.entries))
	for i, e := range t.entries {
		skills[i] = e.skill.clone()
	}
	return skills
}

func (s Skill) clone() Skill {
	s.AllowedTools, s.Metadata = slices.Clone(s.AllowedTools), maps.Clone(s.Metadata)
	return s
}

// scan fills the catalogue.
func (t *Tool) scan() error {
	if t.parser != nil {
		dirs, err := t.parser.List()
		if err != nil {
			return fmt.Errorf("the skills cannot be listed: %w", err)
		}
		t.add(t.parser, "", dirs)
		return nil
	}
	for _, root := range t.roots {
		if root == "" {
			continue
		}
		p := NewParser(root)
		dirs, err := p.List()
		if err != nil {
			t.skipped = append(t.skipped, Skipped{Dir: root, Err: err})
			continue
		}
		t.add(p, root, dirs)
	}
	return nil
}

// add adds the skills of one parser that are usable and whose names are free.
func (t *Tool) add(p Parser, root string, dirs []string) {
	for _, dir := range dirs {
		path := filepath.Join(root, dir)
		s, err := p.Parse(dir)
		if err == nil {
			err = s.tidy()
		}
		if err == nil {
			var same bool
			if same, err = t.taken(dir, s); same {
				continue
			}
		}
		if err != nil {
			t.skipped = append(t.skipped, Skipped{Dir: path, Err: err})
			continue
		}
		t.entries = append(t.entries, entry{skill: s.clone(), parser: p, dir: dir})
	}
}

// taken tells whether an earlier skill has the name or the directory's name of
// s. It is no error when both are the same directory, reached by two ways:
// skills are often installed in one place and linked from another.
func (t *Tool) taken(dir string, s *Skill) (same bool, err error) {
	for _, e := range t.entries {
		name := s.Name
		if !strings.EqualFold(e.skill.Name, name) {
			if name = dir; e.dir != name {
				continue
			}
		}
		if sameDir(e.skill.RootPath, s.RootPath) {
			return true, nil
		}
		return false, &DuplicateSkillNameError{Name: name, ExistingDir: e.skill.RootPath, DuplicateDir: s.RootPath}
	}
	return false, nil
}

func sameDir(a, b string) bool {
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && a != "" && realA == realB
}

func (t *Tool) find(command string) (entry, error) {
	known := make([]string, len(t.entries))
	for i, e := range t.entries {
		if strings.EqualFold(e.skill.Name, command) {
			return e, nil
		}
		known[i] = e.skill.Name
	}
	return entry{}, &NotFoundError{Command: command, Known: known}
}
