package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
)

// versionLines is how much of a difference the model is told, in lines.
const versionLines = 400

// version is what the person wrote instead of a proposal (decision 12).
type version struct {
	proposed *file.Change
	content  []byte
}

// approved remembers what the person saw of a call and, where it is not nil, what
// they wrote instead.
func (b *toolbox) approved(call string, c *file.Change, own *string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if own != nil {
		theirs := *c
		theirs.After = []byte(*own)
		b.mine[call] = &version{proposed: c, content: theirs.After}
		c = &theirs
	}
	b.shown[call] = c
}

// versionOf is what the person wrote instead of what a call proposes, nil for
// a call that is carried out as it is.
func (b *toolbox) versionOf(call string) *version {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mine[call]
}

func (b *toolbox) dropVersion(call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.mine, call)
}

// theirVersion writes what the person wrote in place of what the call proposes, as
// a change of the person, and tells the model the difference.
func (a *App) theirVersion(_ *tools.Tool, next tools.Handler) tools.Handler {
	return func(ctx context.Context, arguments string) (any, error) {
		call, _ := tools.ToolCallFromContext(ctx)
		v := a.box.versionOf(call.ID)
		if v == nil {
			return next(ctx, arguments)
		}
		defer a.box.dropVersion(call.ID)
		if err := a.box.write.Replace(ctx, v.proposed, v.content); err != nil {
			return nil, err
		}
		return fmt.Sprintf("The user changed your proposal in their editor: %s holds the user's version now, not yours. From your proposal to theirs:\n%s",
			a.relative(v.proposed.Path), v.difference()), nil
	}
}

// difference is what the person made of the proposal, as hunks.
func (v *version) difference() string {
	var b strings.Builder
	left := versionLines
	for _, h := range file.Hunks(v.proposed.After, v.content, 2) {
		fmt.Fprintf(&b, "@@ line %d @@\n", h.New)
		for _, line := range h.Lines {
			if left--; left < 0 {
				return b.String() + "[more is not shown; read the file]"
			}
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
