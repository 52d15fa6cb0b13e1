package app

import (
	_ "embed"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed prompt.md
var promptTemplate string

// systemPrompt is what the model is told before everything else. It is the same
// bytes for the whole session (decision 26); what changes goes into notes.
func systemPrompt(opts Options, instructions []instruction) string {
	stands := ""
	if dir, err := filepath.Rel(opts.Workspace, opts.Dir); err == nil && dir != "." && filepath.IsLocal(dir) {
		stands = "\nThe developer stands in its directory " + dir + "."
	}
	// A template of text/template would keep every method of every type in the program.
	parts := []string{strings.NewReplacer(
		"{workspace}", opts.Workspace, "{stands}", stands, "{platform}", runtime.GOOS+"/"+runtime.GOARCH,
	).Replace(strings.TrimSpace(promptTemplate))}
	for _, i := range instructions {
		parts = append(parts, "Instructions of "+i.owner+", from "+i.path+":", i.text)
	}
	if added := strings.TrimSpace(opts.AddPrompt); added != "" {
		parts = append(parts, added)
	}
	return strings.Join(parts, "\n\n")
}
