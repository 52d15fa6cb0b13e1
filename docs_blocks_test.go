//go:build unix

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app/config"
)

// block is a fenced block of a document.
type block struct {
	doc  string // the document's path
	tag  string // all that stands behind the fence
	text string
}

// blockChecks are the checks of blocks by their tags. A block whose tag is not here
// fails TestDocsFences: nothing stands in a document as code that no test looks at.
var blockChecks = map[string]func(t *testing.T, b block){
	"sh":          checkShell,
	"sh tutorial": inTutorial,
	"sh fails":    inTutorial,
	"sh screen":   inTutorial,
	"toml":        checkSettings,
	"yaml":        checkWorkflow,
	"text arrows": checkArrows,
}

var fence = regexp.MustCompile("(?ms)^```([^\n`]*)\n(.*?)^```$")

func fences(t *testing.T, doc string) (list []block) {
	for _, m := range fence.FindAllStringSubmatch(document(t, doc), -1) {
		list = append(list, block{doc, strings.TrimSpace(m[1]), m[2]})
	}
	return list
}

// code is what looks like a block and is none that fences finds.
var code = regexp.MustCompile("(?m)^[ \t]+```.*|^~~~.*|^<pre.*|^```.*|(?:\\A|\n\n)(?: {4}|\t).*")

// TestDocsFences checks every block of every document by its tag.
func TestDocsFences(t *testing.T) {
	for _, doc := range documents(t) {
		if m := code.FindString(fence.ReplaceAllString(document(t, doc), "")); m != "" {
			t.Errorf("%s: %q is a block that no check sees: write ``` at the line's start, and a tag", doc, m)
		}
		for _, b := range fences(t, doc) {
			check := blockChecks[b.tag]
			if check == nil {
				t.Errorf("%s: no check takes the tag %q of a block: %.60q", b.doc, b.tag, b.text)
				continue
			}
			check(t, b)
		}
	}
}

// inTutorial: the block is run by TestTutorial, which reads one document.
func inTutorial(t *testing.T, b block) {
	if b.doc != tutorial {
		t.Errorf("%s: a block %q is run in %s only", b.doc, b.tag, tutorial)
	}
}

// commentedSetting is a setting that the reference shows with its default.
var commentedSetting = regexp.MustCompile(`(?m)^# (\w+ = )`)

// checkSettings reads a settings file as a start does, with what is commented out too.
func checkSettings(t *testing.T, b block) {
	file := filepath.Join(t.TempDir(), "config.toml")
	writeFile(t, file, []byte(commentedSetting.ReplaceAllString(b.text, "$1")))
	if err := config.Check(file); err != nil {
		t.Errorf("%s: %v", b.doc, err)
	}
}

// checkArrows holds a drawing of who imports whom against the code: each room
// imports the one that its arrow points to. A line that begins with a corner begins in main.
func checkArrows(t *testing.T, b block) {
	imports := roomImports(t)
	arrow := regexp.MustCompile(`─*►`)
	drawn := 0
	for line := range strings.Lines(b.text) {
		rooms := arrow.Split(strings.TrimSpace(line), -1)
		for i := 1; i < len(rooms); i++ {
			for _, from := range roomNames(rooms[i-1]) {
				for _, to := range roomNames(rooms[i]) {
					drawn++
					if !slices.Contains(imports[from], to) {
						t.Errorf("%s: %s does not import %s", b.doc, from, to)
					}
				}
			}
		}
	}
	if drawn < 10 {
		t.Errorf("%s: %d arrows are drawn", b.doc, drawn)
	}
}

// roomNames are the rooms that a drawing names in one place, as "tools/{file,bash}".
func roomNames(s string) (names []string) {
	s = strings.TrimSpace(s)
	if dir, list, ok := strings.Cut(s, "{"); ok {
		for name := range strings.SplitSeq(strings.TrimSuffix(list, "}"), ",") {
			names = append(names, dir+strings.TrimSpace(name))
		}
		return names
	}
	for name := range strings.SplitSeq(s, ",") {
		switch name = strings.TrimSpace(name); name {
		case "main", "└":
			names = append(names, "")
		default:
			names = append(names, name)
		}
	}
	return names
}

// roomImports are the rooms of this module that each one imports.
func roomImports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, module+"/") {
				imports[room(p.ImportPath)] = append(imports[room(p.ImportPath)], room(imp))
			}
		}
	}
	return imports
}
