package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/tools/regular"
)

// maxInstructions is how much of one AGENTS.md the model is told, in bytes.
const maxInstructions = 32 << 10

// instruction is a file that tells the agent how to work (IMP-05).
type instruction struct {
	path  string
	owner string // "the developer" or "the project"
	text  string
}

// readInstructions are the person's own file and the AGENTS.md files from the
// workspace's root down to the person's directory; CLAUDE.md where there is no
// AGENTS.md. It also says of what is there and cannot be told why that is so: a link
// of the repository must not tell the model what is outside of it.
func readInstructions(opts Options) (list []instruction, left []string) {
	add := func(owner, path string, data []byte, err error) bool {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false
		case err != nil && !errors.Is(err, regular.ErrTooLong):
			if p := (*fs.PathError)(nil); errors.As(err, &p) {
				err = p.Err
			}
			left = append(left, fmt.Sprintf("the model is not told %s: %v", file.Shown(opts.Workspace, path), err))
			return false
		}
		text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
		if err != nil {
			text += fmt.Sprintf("\n[cut at %d bytes: read %s for the rest]", maxInstructions, path)
		}
		list = append(list, instruction{path: path, owner: owner, text: text})
		return true
	}
	for _, path := range opts.ownInstructions() {
		data, err := regular.Read(path, maxInstructions)
		if add("the developer", path, data, err) {
			break
		}
	}
	root, err := os.OpenRoot(opts.Workspace)
	if err != nil {
		return list, append(left, fmt.Sprintf("the model is not told the AGENTS.md of the project: %v", err))
	}
	defer root.Close()
	for _, dir := range directories(opts.Workspace, opts.Dir) {
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
			data, err := regular.ReadIn(root, filepath.Join(dir, name), maxInstructions)
			if add("the project", filepath.Join(opts.Workspace, dir, name), data, err) {
				break
			}
		}
	}
	return list, left
}

// ownInstructions are where the person's own may be; the first one counts.
func (o *Options) ownInstructions() (paths []string) {
	if o.ConfigDir != "" {
		paths = append(paths, filepath.Join(o.ConfigDir, "AGENTS.md"))
	}
	if o.Home != "" {
		paths = append(paths, filepath.Join(o.Home, ".claude", "CLAUDE.md"))
	}
	return paths
}

// directories are those from root down to dir, relative to root.
func directories(root, dir string) []string {
	list := []string{"."}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return list
	}
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		list = append(list, filepath.Join(list[len(list)-1], part))
	}
	return list
}

// Memory says which instructions the model is told, and what is left out.
func (a *App) Memory() string {
	list, left := readInstructions(a.opts)
	var b strings.Builder
	b.WriteString("Instructions that the model is always told:\n")
	for _, i := range list {
		fmt.Fprintf(&b, "\n  %s (of %s, %d bytes)", file.Shown(a.opts.Workspace, i.path), i.owner, len(i.text))
	}
	if len(list) == 0 {
		b.WriteString("\n  none yet")
	}
	for _, l := range left {
		b.WriteString("\n  " + l)
	}
	b.WriteString("\n\n/init writes an AGENTS.md for this repository")
	if own := a.opts.ownInstructions(); len(own) > 0 {
		b.WriteString("; " + own[0] + " is yours, for all of them")
	}
	return b.String() + ". What you change counts from the next start on."
}
