package skill

import (
	"context"
	"fmt"
	"strings"
)

const (
	placeholder = "$ARGUMENTS"

	// maxExpanded bounds what many placeholders and long arguments make together, in bytes.
	maxExpanded = 1 << 20
)

func (t *Tool) load(ctx context.Context, in *Input) (string, error) {
	if in == nil {
		return "", ErrNilInput
	}
	return t.Load(ctx, *in)
}

// Load returns the instructions of a skill, as the model gets them, and calls
// the hook of [WithOnLoad]. The body is read afresh; all else, the allowed tools
// above all, is what it was when the catalogue was made, so that nothing that
// was written to the file since can allow itself more (SKILL-18).
func (t *Tool) Load(ctx context.Context, in Input) (string, error) {
	command := strings.TrimSpace(in.Command)
	if command == "" {
		return "", ErrCommandRequired
	}
	e, err := t.find(command)
	if err != nil {
		return "", err
	}
	fresh, err := e.parser.Parse(e.dir)
	if err != nil {
		return "", fmt.Errorf("the skill %q cannot be read: %w", e.skill.Name, err)
	}
	s := e.skill.clone()
	s.Body = fresh.Body
	body, err := expand(s.Body, in.Arguments)
	if err != nil {
		return "", err
	}
	if t.onLoad != nil {
		t.onLoad(ctx, s)
	}

	var b strings.Builder
	fmt.Fprintf(&b, "Skill: %s\n", s.Name)
	if s.RootPath != "" {
		fmt.Fprintf(&b, "Directory: %s (paths in the skill are relative to it)\n", s.RootPath)
	}
	if len(s.AllowedTools) > 0 {
		fmt.Fprintf(&b, "Allowed tools: %s\n", strings.Join(s.AllowedTools, ", "))
	}
	b.WriteString("\n" + body)
	return b.String(), nil
}

// expand puts the arguments in the place of each $ARGUMENTS, or after a body
// that has none. What the arguments hold is not expanded again (SKILL-14, SKILL-15).
func expand(body, arguments string) (string, error) {
	arguments = strings.TrimSpace(arguments)
	n := strings.Count(body, placeholder)
	if len(arguments) > 0 && len(body)+max(n, 1)*len(arguments) > maxExpanded {
		return "", ErrArgumentsTooLong
	}
	switch {
	case n > 0:
		return strings.ReplaceAll(body, placeholder, arguments), nil
	case arguments != "":
		return body + "\n\nARGUMENTS: " + arguments, nil
	}
	return body, nil
}
