package ui

import (
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/bash"
)

// IMP-28, IMP-29: what a shell prints is seen while it runs, and its end is told in a line.
func TestShellsAreWatched(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		shell := bash.ShellInfo{ID: "bash_1", Command: "make serve", Started: time.Now(), Running: true, Tail: "building\n"}
		s.emit(app.Shells{List: []bash.ShellInfo{shell}})
		s.app.shells = []bash.ShellInfo{{ID: "bash_1", Running: true, Tail: "building\n\x1b[32mserving\x1b[0m\nget /\n"}}
		s.Wait(3 * time.Second)
		s.wantOff(t, "serving") // nobody looks
		s.Key("ctrl+t")
		s.Wait(3 * time.Second)
		s.wantOn(t, "SHELLS", "make serve", "serving", "get /")

		over := shell
		over.Running, over.ExitCode, over.Tail = false, 2, "building\nbroke\n"
		s.emit(app.Shells{List: []bash.ShellInfo{over}})
		s.Send(shellsMsg(s.app.shells)) // asked for before the end
		s.Wait(time.Second)
		s.wantOn(t, "broke")
		s.wantOff(t, "serving")
		s.Key("esc")
		s.wantOn(t, "✗ bash_1 ended with exit 2 after 0:06: make serve")
		s.emit(app.Shells{List: []bash.ShellInfo{over}})
		if n := len(s.model.transcript.items); n != 1 {
			t.Errorf("%d notes for one end", n)
		}
	})
}
