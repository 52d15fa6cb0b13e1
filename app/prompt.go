package app

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"
)

//go:embed prompt.md
var promptTemplate string

// maxInstructions is how much of one AGENTS.md the model is told, in bytes.
const maxInstructions = 32 << 10

// systemPrompt is what the model is told before everything else. It is the same
// bytes for the whole session (decision 26); what changes goes into notes.
func systemPrompt(opts Options) (string, error) {
	t, err := template.New("prompt").Parse(promptTemplate)
	if err != nil {
		return "", err
	}
	dir, err := filepath.Rel(opts.Workspace, opts.Dir)
	if err != nil || dir == "." || strings.HasPrefix(dir, "..") {
		dir = ""
	}
	var b strings.Builder
	err = t.Execute(&b, map[string]any{
		"Workspace":    opts.Workspace,
		"Dir":          dir,
		"Platform":     runtime.GOOS + "/" + runtime.GOARCH,
		"Instructions": instructions(opts.Workspace, opts.Dir),
		"Added":        strings.TrimSpace(opts.AddPrompt),
	})
	return b.String(), err
}

// instruction is a file that tells the agent how to work here.
type instruction struct{ Path, Text string }

// instructions are the AGENTS.md files from the workspace's root down to the
// person's directory; CLAUDE.md where there is no AGENTS.md.
func instructions(workspace, dir string) (list []instruction) {
	for _, d := range directories(workspace, dir) {
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
			path := filepath.Join(d, name)
			data, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			text := strings.ToValidUTF8(string(data), "\uFFFD")
			if len(text) > maxInstructions {
				text = strings.ToValidUTF8(text[:maxInstructions], "") + fmt.Sprintf("\n[cut at %d bytes: read %s for the rest]", maxInstructions, path)
			}
			list = append(list, instruction{Path: path, Text: strings.TrimSpace(text)})
			break
		}
	}
	return list
}

// directories are those from root down to dir.
func directories(root, dir string) []string {
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		return []string{root}
	}
	list := []string{root}
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		list = append(list, filepath.Join(list[len(list)-1], part))
	}
	return list
}
