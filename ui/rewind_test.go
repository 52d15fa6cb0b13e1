package ui

import (
	"testing"
	"time"

	"github.com/phero-agent/agent/session"
)

// Esc twice, with nothing written and nothing running, goes back to a message:
// with the files, without them, only the files, or in a copy (decision 29).
func TestRewind(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.Key("esc", "esc")
		s.wantOn(t, "there is no message of yours")
		s.app.prompts = threePrompts()
		s.Key("esc")
		s.Wait(time.Second)
		s.Key("esc") // too late
		s.wantOff(t, "Go back")
		s.Wait(time.Second)
		s.Type("x")
		s.Key("esc", "esc") // something is written
		s.wantOff(t, "Go back")
		s.Key("ctrl+u", "esc", "esc")
		s.wantOn(t, "Go back to a message")
		s.Key("esc")
		s.wantOff(t, "Go back")
		s.wantLog(t)

		s.Raw("\x1b\x1b") // at once, as over a slow line
		s.Wait(100 * time.Millisecond)
		s.wantOn(t, "Go back to a message")
		s.Key("esc")

		// Without the files.
		s.enter("/rewind")
		s.wantOn(t, "edit from here, undo its files")
		s.Key("up", "right")
		s.wantOn(t, "edit from here, files stay")
		s.Key("enter")
		s.wantLog(t, "rewind 9")
		s.wantText(t, "run the tests")
		s.Key("ctrl+u")

		// With them, after a look, and the unticked ones stay.
		s.app.plan = planOf()
		s.Key("esc", "esc", "home", "enter")
		s.wantOn(t, "Undo?")
		s.Key("space", "y")
		s.wantLog(t, "rewind 9", "plan {Turn:false From:2} false", "undo {Turn:false From:2} [{/w/app/new.go 2} {/w/logo.png 4}]", "rewind 2")
		s.wantText(t, "rename Foo to Bar\neverywhere")
		s.Key("ctrl+c")
		n := len(s.app.log())

		// Only them: the conversation stays.
		s.Key("esc", "esc", "right", "right", "enter")
		s.wantOn(t, "Undo?")
		s.Key("y")
		s.wantText(t, "")
		s.wantLog(t, append(s.app.log()[:n], "plan {Turn:false From:14} false", "undo {Turn:false From:14} [{/w/app/loop.go 1} {/w/app/new.go 2} {/w/logo.png 4}]")...)
		n += 2

		// In a copy.
		s.Key("esc", "esc", "left", "enter")
		s.wantLog(t, append(s.app.log()[:n], "fork 14")...)
		s.wantText(t, "日本語のドキュメントを書いて")
		n++

		// A no to the files is a no to all.
		s.Key("ctrl+u", "esc", "esc", "enter")
		s.Key("n")
		s.wantText(t, "")
		s.wantLog(t, append(s.app.log()[:n], "plan {Turn:false From:14} false")...)
		n++

		// All unticked: the conversation goes back alone.
		s.app.plan = planOf()[:1]
		s.Key("esc", "esc", "enter", "space")
		s.wantOn(t, "go back, files stay")
		s.Key("y")
		s.wantLog(t, append(s.app.log()[:n], "plan {Turn:false From:14} false", "rewind 14")...)
		n += 2

		// An undo that is refused leaves the conversation where it is.
		s.app.conflict = true
		s.Key("ctrl+u", "esc", "esc", "enter", "y")
		s.wantText(t, "")
		s.wantLog(t, append(s.app.log()[:n], "plan {Turn:false From:14} false", "undo {Turn:false From:14} [{/w/app/loop.go 1}]")...)
		n += 2

		// Nothing was changed since.
		s.app.plan = nil
		s.Key("ctrl+u", "esc", "esc", "enter")
		s.wantLog(t, append(s.app.log()[:n], "plan {Turn:false From:14} false", "rewind 14")...)
	})
}

// While a turn runs esc stops it, and no second esc opens anything.
func TestRewindNotWhileRunning(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.app.prompts = threePrompts()
		working(s)
		s.Key("esc", "esc")
		s.wantOff(t, "Go back")
	})
}

func TestSessionCommands(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.enter("/rename the new title")
		s.enter("/fork")
		s.wantLog(t, "rename the new title", "fork 0")
		s.enter("/export notes.md")
		s.wantOn(t, "written to /home/me/acme/notes.md")
		s.enter("/export there")
		s.wantOn(t, "there is there already")
	})
}

// The picker searches what was said a moment after the typing ends, once.
func TestSessionsSearch(t *testing.T) {
	on(t, 120, 40, Options{}, func(t *testing.T, s *stage) {
		someSessions(s)
		s.app.hits = []session.Hit{{ID: "01B", Line: "the needle is in this line"}}
		s.Key("ctrl+s")
		s.Wait(time.Second)
		s.wantOn(t, "Renamed in two files")
		s.wantOn(t, "changed 2 files: app/loop.go, app/new.go")
		s.Type("needle")
		s.wantOn(t, "0 of 3")
		s.Wait(time.Second)
		s.wantLog(t, "search needle")
		s.wantOn(t, "1 of 3", "the needle is in this line", "日本語", "is damaged")
		s.Key("enter")
		s.wantLog(t, "search needle", "resume 01B")
	})
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		someSessions(s)
		s.Key("ctrl+s", "down", "down")
		s.Wait(time.Second)
		s.wantOn(t, "session 01C cannot be read")
		s.Raw("z\x1b")
		s.Wait(time.Second)
		s.wantLog(t) // nobody waits for it any more
	})
}

// A session that only the person can decide about is asked for at the start, before the prompt is sent.
func TestOpenAtTheStart(t *testing.T) {
	on(t, 80, 24, Options{Open: "01A", Prompt: "go on"}, func(t *testing.T, s *stage) {
		s.wantLog(t, "resume 01A", `submit "go on"`)
	})
}
