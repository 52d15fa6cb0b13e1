package ui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing is in the help that does nothing: every action of the table is handled
// somewhere, and every action that is declared has a key.
func TestEveryKeyDoesSomething(t *testing.T) {
	handled, inTable, declared := actionsInSource(t)
	for name := range declared {
		switch {
		case !inTable[name]:
			t.Errorf("%s has no key", name)
		case !handled[name]:
			t.Errorf("%s is in the table of keys, and nothing handles it", name)
		}
	}
}

// actionsInSource finds the act… names: declared and bound in keys.go, handled elsewhere.
func actionsInSource(t *testing.T) (handled, inTable, declared map[string]bool) {
	handled, inTable, declared = map[string]bool{}, map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		into := handled
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for _, id := range n.Names {
					if name == "keys.go" && strings.HasPrefix(id.Name, "act") && id.Name != "actNone" {
						declared[id.Name] = true
					}
				}
				return false
			case *ast.Ident:
				if name == "keys.go" {
					into = inTable
				}
				if strings.HasPrefix(n.Name, "act") {
					into[n.Name] = true
				}
			}
			return true
		})
	}
	return handled, inTable, declared
}

func TestKeysAreBoundOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range bindings() {
		for _, k := range b.keys {
			id := string(b.scope) + " " + k
			if seen[id] {
				t.Errorf("%s is bound twice", id)
			}
			seen[id] = true
		}
		if b.help != "" && b.shown == "" {
			t.Errorf("%v has a help without keys", b)
		}
	}
}

// Keys that some terminals cannot tell from others are not bound.
func TestNoAmbiguousKeys(t *testing.T) {
	for _, b := range bindings() {
		for _, k := range b.keys {
			switch k {
			case "ctrl+m", "ctrl+i", "ctrl+h", "ctrl+[", "ctrl+q":
				t.Errorf("%s: %s", b.scope, k)
			}
		}
	}
}
