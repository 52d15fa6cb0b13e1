package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestRequirementsAreTested fails when a requirement that counts as done is
// named by no test. Tests name them in comments beside what they check; "FILE-01
// to FILE-04" names all four.
func TestRequirementsAreTested(t *testing.T) {
	named := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".txtar") {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			nameAll(named, string(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.Open("testdata/requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		id := strings.TrimSpace(lines.Text())
		switch {
		case id == "" || strings.HasPrefix(id, "#"):
		case seen[id]:
			t.Errorf("%s is listed twice", id)
		case !named[id]:
			t.Errorf("%s is done, and no test names it", id)
		}
		seen[id] = true
	}
}

var requirement = regexp.MustCompile(`\b((?:CORE|LOOP|AGENT|HUMAN|FILE|BASH|SBX|SKILL|WEB|TODO|SAFE|PERM|UI|SESS|UNDO|IMP)-)(\d\d\d?)(?:(?: to |\.\.|–)(?:[A-Z]+-)?(\d\d\d?))?`)

func nameAll(named map[string]bool, text string) {
	for _, m := range requirement.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[3] != "" {
			last, _ = strconv.Atoi(m[3])
		}
		for n := first; n <= last; n++ {
			named[fmt.Sprintf("%s%02d", m[1], n)] = true
		}
	}
}
