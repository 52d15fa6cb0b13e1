package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
)

// planOf is an undo of four files: one changed, one that is removed again, one
// that somebody changed since, and a binary one.
func planOf() []session.Planned {
	long := strings.Repeat("a line that stays\n", 20)
	return []session.Planned{
		{Change: file.Change{Path: "/w/app/loop.go", Existed: true, Before: []byte(long + "new\nlines\n" + long), After: []byte(long + "old\n" + long)}, Now: "1"},
		{Change: file.Change{Path: "/w/app/new.go", Existed: true, Before: []byte("package app\n")}, Removes: true, Now: "2"},
		{
			Change: file.Change{Path: "/w/README.md", Existed: true, Before: []byte("# B\n\nmine\n"), After: []byte("# A\n")}, Now: "3",
			Conflict: "was changed since", Recorded: []byte("# B\n"),
		},
		{Change: file.Change{Path: "/w/logo.png", Existed: true, Before: []byte("\x00\x01"), After: []byte("\x00")}, Now: "4"},
	}
}

// Only ticked files are undone, as they were seen; what somebody else changed is
// ticked by the person or not at all (UNDO-04, UNDO-06).
func TestRevert(t *testing.T) {
	on(t, 100, 30, Options{}, func(t *testing.T, s *stage) {
		s.app.plan = planOf()
		s.enter("/undo turn")
		s.wantOn(t, "undo 3 files")
		s.wantOn(t, "was changed since")
		s.Key("enter") // approves nothing
		s.Key("space", "down", "down")
		s.wantOn(t, "It was changed since, not by this session")
		s.wantOn(t, "mine")
		s.Key("y")
		s.wantLog(t, "plan {Turn:true From:0} false", "undo {Turn:true From:0} [{/w/app/new.go 2} {/w/logo.png 4}]")
		s.wantOff(t, "Undo?")
	})
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.app.plan = planOf()[2:3]
		s.enter("/redo")
		s.Key("y") // nothing is ticked
		s.wantOn(t, "Redo?")
		s.Key("space", "y")
		s.wantLog(t, "plan {Turn:false From:0} true", "redo {Turn:false From:0} [{/w/README.md 3}]")
		s.enter("/undo")
		s.Key("esc")
		s.wantOff(t, "Undo?")
		s.wantLog(t, "plan {Turn:false From:0} true", "redo {Turn:false From:0} [{/w/README.md 3}]", "plan {Turn:false From:0} false")
	})
}

func TestDiffOfTheSession(t *testing.T) {
	on(t, 100, 30, Options{}, func(t *testing.T, s *stage) {
		s.enter("/diff")
		s.wantOn(t, "this session changed no files")
		s.app.plan = planOf()
		s.enter("/diff")
		s.wantOn(t, "Changed in this session")
		s.Key("down", "down", "y", "space")
		s.wantOn(t, "mine")
		s.Key("q")
		s.wantOff(t, "Changed in this session")
		s.wantLog(t)
	})
}

// What commands changed says so, and what may not be theirs is not ticked. UNDO-09
func TestRevertOfCommands(t *testing.T) {
	plan := planOf()[:2]
	plan[0].Found = &session.Found{Commands: []string{"sed -i s/old/new/ app/loop.go"}, Lost: []session.Lost{{Path: "/w/big", Why: "was changed: 1.0 GB, too large"}}}
	plan[1].Found = &session.Found{Commands: []string{"npm run dev", "go generate"}, Doubt: "several commands ran at the same time"}
	on(t, 100, 30, Options{}, func(t *testing.T, s *stage) {
		s.app.plan = plan
		s.enter("/undo")
		s.wantOn(t, "Changed while sed -i s/old/new/ app/loop.go ran.")
		s.wantOn(t, "1 file that it changed cannot be undone.")
		s.wantOn(t, "undo 1 file")
		s.Key("down")
		s.wantOn(t, "Changed while npm run dev and go generate ran.")
		s.wantOn(t, "It may not be the command's: several commands ran at the same time.")
		s.Key("y")
		s.wantLog(t, "plan {Turn:false From:0} false", "undo {Turn:false From:0} [{/w/app/loop.go 1}]")
	})
}

// A command's call says how many files changed while it ran, and what cannot be
// undone is said at once; many files of an undo are not all named.
func TestFoundInTheTranscript(t *testing.T) {
	on(t, 100, 30, Options{}, func(t *testing.T, s *stage) {
		f := &session.Found{ID: "x", CallIDs: []string{"c1"}, Commands: []string{"make"}, Lost: []session.Lost{{Path: "/w/big", Why: "was changed: 1.0 GB, too large"}}}
		undo := &session.Undo{}
		for i := range 20 {
			c := session.Change{ID: fmt.Sprint(i), Path: fmt.Sprintf("/w/f%02d", i), After: "1", Added: 1}
			f.Changes, undo.Changes = append(f.Changes, c), append(undo.Changes, c.ID)
		}
		s.emit(
			app.Committed{Entry: session.Entry{Kind: session.KindMessage, Message: &session.Message{Role: session.RoleAssistant, Calls: []tools.ToolCall{{ID: "c1", Name: "bash", Arguments: `{"command":"make"}`}}}}},
			app.Committed{Entry: session.Entry{Kind: session.KindFound, Found: f}},
			app.Committed{Entry: session.Entry{Kind: session.KindMessage, Message: &session.Message{Role: session.RoleTool, CallID: "c1", Status: session.StatusOK, Text: `{"output":"","exit_code":0}`}}},
			app.Committed{Entry: session.Entry{Kind: session.KindUndo, Undo: undo}},
		)
		s.wantOn(t, "20 files changed")
		s.wantOn(t, "cannot be undone: /w/big was changed: 1.0 GB, too large")
		s.wantOn(t, "/w/f07 and 12 more")
	})
}

// FILES lists what changed; enter opens the changes of the selected file.
func TestFilesPaneOpensTheChanges(t *testing.T) {
	on(t, 120, 40, Options{}, func(t *testing.T, s *stage) {
		s.app.plan = []session.Planned{
			{Change: file.Change{Path: "/home/me/acme/a.go", After: []byte("package a\n")}},
			{Change: file.Change{Path: "/home/me/acme/b.go", Before: []byte("old b\n"), After: []byte("new b\n"), Existed: true}},
		}
		for _, p := range s.app.plan {
			c := p.Change
			ch := session.Change{ID: c.Path, Path: c.Path, Existed: c.Existed}
			ch.Added, ch.Removed = c.Counts()
			s.emit(app.Committed{Entry: session.Entry{Kind: session.KindChange, Change: &ch}}, app.Committed{Entry: session.Entry{Kind: session.KindDone, Done: ch.ID}})
		}
		s.Key("ctrl+t", "j", "j")
		x, y, _ := s.Find("b.go")
		if !s.Cell(x, y).Reverse {
			t.Error("the second file is not selected")
		}
		s.Key("enter")
		s.wantOn(t, "Changed in this session", "+ new b")
		s.Key("esc")
		s.wantOn(t, "FILES")
	})
}
