package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// UI-02: the program stands on these modules, directly and not only in tests.
func TestModules(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{join .Imports "\n"}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := strings.Fields(string(list))
	for _, m := range []string{
		"charm.land/bubbletea/v2", "charm.land/lipgloss/v2", "charm.land/bubbles/v2",
		"github.com/sergi/go-diff", "mvdan.cc/sh/v3", "github.com/openai/openai-go/v3",
	} {
		direct := slices.ContainsFunc(strings.Split(string(mod), "\n"), func(line string) bool {
			return strings.HasPrefix(strings.TrimSpace(line), m+" v") && !strings.Contains(line, "// indirect")
		})
		if !direct {
			t.Errorf("go.mod does not require %s directly", m)
		}
		if !slices.ContainsFunc(imports, func(i string) bool { return i == m || strings.HasPrefix(i, m+"/") }) {
			t.Errorf("nothing imports %s", m)
		}
	}
}

// UI-03: the top level is as it was given, and the release is described.
func TestTopLevel(t *testing.T) {
	for _, name := range []string{"main.go", "app", "ui", "tools", "permissions", "session", "go.mod", "go.sum", ".goreleaser.yaml", "README.md"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	rooms := []string{"app", "ui", "tools", "permissions", "session"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(rooms, path)) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && filepath.Dir(path) != "." {
			t.Errorf("%s: Go code in another folder of the top level", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Version int
		Builds  []struct {
			Binary       string
			Goos, Goarch []string
		}
	}
	if err := yaml.Unmarshal(text, &release); err != nil {
		t.Fatal(err)
	}
	if release.Version != 2 || len(release.Builds) != 1 || release.Builds[0].Binary != "agent" ||
		!slices.Equal(release.Builds[0].Goos, []string{"linux", "darwin", "windows"}) || !slices.Equal(release.Builds[0].Goarch, []string{"amd64", "arm64"}) {
		t.Errorf("the release builds %+v", release)
	}
}
