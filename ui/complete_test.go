package ui

import (
	"fmt"
	"slices"
	"testing"
)

func TestDirectories(t *testing.T) {
	got := directories([]string{"a/b/c.go", "main.go", "a/d.go", "x/y.go"})
	if want := []string{"a/", "a/b/", "x/"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCompleteFilesAndDirectories(t *testing.T) {
	files := func() ([]string, error) { return []string{"app/loop.go", "my notes.md", "main.go"}, nil }
	on(t, 80, 24, Options{Files: files}, func(t *testing.T, s *stage) {
		s.Type("see @ap")
		s.wantOn(t, "@app/", "@app/loop.go")
		s.Key("tab")
		if s.model.composer.text() != "see @app/loop.go " { // the best match first
			s.Key("ctrl+c")
			s.Type("see @app")
			s.Key("tab") // into the directory
			s.wantText(t, "see @app/")
			s.wantOn(t, "@app/loop.go")
		}
		s.Key("ctrl+c")
		s.Type("@notes")
		s.Key("enter")
		s.wantText(t, `@"my notes.md" `)
		s.Key("ctrl+c")
		s.Type("@nothing like it")
		s.wantOff(t, "@my")
	})
}

func TestCompleteArguments(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Type("/mod")
		s.Key("down", "tab") // /mode
		s.wantText(t, "/mode ")
		s.wantOn(t, "plan", "edits")
		s.Type("pl")
		s.wantOff(t, "edits")
		s.Key("enter")
		s.wantOn(t, "plan ·")
		s.Type("/mode ")
		s.Key("enter") // the command alone
		s.wantOn(t, "ask ·")
	})
}

// fiftyThousand are the files of a large repository.
func fiftyThousand() []string {
	var files []string
	for i := range 50_000 {
		files = append(files, fmt.Sprintf("services/group%02d/component%03d/internal/handler_%d.go", i%40, i%700, i))
	}
	return append(files, directories(files)...)
}

// One key after an @ in a workspace of 50,000 files, beside the screen's loop.
func BenchmarkComplete(b *testing.B) {
	files := fiftyThousand()
	for _, pattern := range []string{"h", "hand", "handler_49999"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				matchFiles(files, pattern)
			}
		})
	}
}
