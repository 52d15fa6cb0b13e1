package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/phero-agent/agent"

// arrows are the imports that each package may have of this module, by prefix.
var arrows = map[string][]string{
	"":                       {"app", "ui", "tools", "permissions", "session"},
	"tools":                  {},
	"tools/agent":            {"tools"},
	"tools/bash":             {"tools", "tools/regular"},
	"tools/file":             {"tools"},
	"tools/human":            {"tools"},
	"tools/mcp":              {"tools"},
	"tools/regular":          {},
	"tools/skill":            {"tools", "tools/regular"},
	"tools/todo":             {"tools"},
	"tools/web":              {"tools"},
	"permissions":            {"tools", "tools/file"},
	"session":                {"session/tree", "tools", "tools/file", "tools/todo"},
	"session/tree":           {"tools/file", "tools/regular"},
	"app":                    {"app/config", "app/mcp", "app/trust", "session", "session/tree", "permissions", "tools", "tools/*"},
	"app/catalogue":          {"app"},
	"app/catalogue/generate": {},
	"app/config":             {"app/trust", "permissions", "tools/file", "tools/regular"},
	"app/doctor":             {"app", "app/openai", "session"},
	"app/mcp":                {"app/config", "tools", "tools/bash", "tools/file", "tools/human", "tools/mcp"},
	"app/openai":             {"app", "session", "tools", "tools/file"},
	"app/script":             {"app", "session", "tools"},
	"app/trust":              {"tools/file"},
	"ui":                     {"app", "session", "permissions", "tools", "tools/file", "tools/todo", "tools/human", "tools/bash", "ui/list", "ui/md", "ui/diff", "ui/text", "ui/text/syntax"},
	"ui/diff":                {"tools/file", "ui/text", "ui/text/syntax"},
	"ui/list":                {"ui/text"},
	"ui/md":                  {"ui/text", "ui/text/syntax"},
	"ui/text/syntax":         {"ui/text"},
	"ui/text":                {},
	"ui/uitest":              {},
}

// TestArrows holds the plan of the house: who may import whom.
func TestArrows(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	type pkg struct {
		ImportPath string
		Imports    []string
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; seen++ {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := room(p.ImportPath)
		allowed, ok := arrows[name]
		if !ok {
			t.Errorf("package %s has no row in the table of arrows", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				continue
			}
			if !slices.ContainsFunc(allowed, func(a string) bool { return points(a, name, room(imp)) }) {
				t.Errorf("%s must not import %s", p.ImportPath, imp)
			}
		}
	}
	if seen < len(arrows) {
		t.Errorf("%d packages, %d rows: a row of the table has no package", seen, len(arrows))
	}
}

func room(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

// points tells whether an arrow of the table allows an import.
func points(arrow, from, to string) bool {
	if dir, ok := strings.CutSuffix(arrow, "/*"); ok {
		return strings.HasPrefix(to, dir+"/")
	}
	return arrow == to || from == "" && strings.HasPrefix(to, arrow+"/")
}
