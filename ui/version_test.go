package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/file"
)

// askedWrite is a question about a new file.
func askedWrite(id, path, content string) app.Asked {
	a := app.Asked{ID: id, Call: aCall("c"+id, "write", ""), Change: &file.Change{Path: path, After: []byte(content)}}
	a.Request.Tool = "write"
	return a
}

// edits makes the screen give its terminal to an editor that runs a line of shell on its file.
func (s *stage) edits(t *testing.T, line string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+line+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VISUAL", path)
	s.model.exec = func(c tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
		return func() tea.Msg { return done(c.Run()) }
	}
}

// Decision 12: o gives the proposal to the editor, under the file's own name; what
// comes back is the answer.
func TestOwnVersion(t *testing.T) {
	for _, c := range []struct{ name, editor, want, shows string }{
		{"changed", `printf mine >"$1"; test "${1##*/}" = a.go`, `answer 1 {Allow:true Always:[] Scope: Feedback:} version "mine"`, ""},
		{"emptied", `: >"$1"`, `answer 1 {Allow:true Always:[] Scope: Feedback:} version ""`, ""},
		{"as it was", `true`, "", "you changed nothing"},
		{"failed", `printf mine >"$1"; exit 1`, "", "so nothing is changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
				s.edits(t, c.editor)
				s.emit(askedWrite("1", "/home/me/acme/a.go", "package a\n"))
				s.Wait(2 * time.Second)
				s.Key("o")
				s.Wait(2 * time.Second)
				if c.want != "" {
					s.wantLog(t, c.want)
					s.wantOff(t, "Allow write?")
					return
				}
				s.wantLog(t)
				s.wantOn(t, "Allow write?", c.shows)
			})
		})
	}
}

// What was typed for the editor answers nothing after it closed.
func TestOwnVersionDisarms(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.edits(t, "true")
		s.emit(askedWrite("1", "/home/me/acme/a.go", "package a\n"))
		s.Wait(2 * time.Second)
		s.Send(versionMsg{doOwnVersion{"1", s.model.question().dialog.(*permission).asked.Change}, "package a\n"})
		s.Key("y")
		s.wantLog(t)
		s.wantOn(t, "typing goes to your draft")
	})
}

// A version for a question that is gone is not lost.
func TestOwnVersionTooLate(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	m := filled(80, 24, 1)
	m.gotVersion(versionMsg{doOwnVersion{"1", &file.Change{Path: "/w/a.go"}}, "mine"})
	_, path, ok := strings.Cut(m.transcript.items[len(m.transcript.items)-1].plain(), "it is kept in ")
	if kept, err := os.ReadFile(path); !ok || err != nil || string(kept) != "mine" {
		t.Errorf("kept %q in %q: %v", kept, path, err)
	}
}

// Where there is no text to edit, o is a letter of the draft.
func TestOwnVersionOfACommand(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(askedBash("1", "make"))
		s.Wait(2 * time.Second)
		s.Key("o")
		s.wantText(t, "o")
		s.wantLog(t)
	})
}
