package ui

import (
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/bash"
)

// Decision 19: t and h give a command more, once, where a sandbox holds it.
func TestWiderReach(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		ask := func(a app.Asked, key string) {
			s.emit(a)
			s.Wait(2 * time.Second)
			s.Key(key)
			s.Wait(time.Second)
		}
		ask(inSandbox("npm ci"), "t")
		ask(inSandbox("npm ci"), "h")
		s.wantLog(t, "answer 1 {Allow:true Always:[] Scope: Feedback:} network", "answer 1 {Allow:true Always:[] Scope: Feedback:} host")

		// Where no sandbox holds they are letters as any other.
		s.emit(askedBash("2", "make"))
		s.Wait(2 * time.Second)
		s.wantOff(t, "[t]", "[h]")
		s.Key("t", "h")
		s.wantText(t, "th")
		s.wantOn(t, "Allow bash?")
		s.Key("esc")

		// Typed ahead they widen nothing.
		s.emit(inSandbox("npm ci"))
		s.Type("the")
		s.Wait(3 * time.Second)
		s.Type("tha")
		s.wantText(t, "ththetha")
		s.Key("esc")
		s.wantLog(t, "answer 1 {Allow:true Always:[] Scope: Feedback:} network", "answer 1 {Allow:true Always:[] Scope: Feedback:} host",
			"answer 2 {Allow:false Always:[] Scope: Feedback:}", "answer 1 {Allow:false Always:[] Scope: Feedback:}")
	})
}

// A command that failed for want of reach runs again by its own key, never by y or enter.
func TestRerun(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(failedFor(bash.Network, "the network is off in the sandbox")...)
		s.Wait(2 * time.Second)
		s.Key("y", "a", "e", "enter")
		s.Wait(time.Second)
		s.wantLog(t)
		s.wantText(t, "")
		s.Key("t")
		s.Wait(time.Second)
		s.wantLog(t, "answer 1 {Allow:true Always:[] Scope: Feedback:} network")
		again := aCall("call-1", "bash", `{"command":"npm ci"}`)
		s.emit(app.ToolStarted{Call: again, Time: time.Now()}, app.ToolOutput{CallID: "call-1", Chunk: []byte("added 3 packages\n")})
		s.wantOn(t, "added 3 packages")
		s.wantOff(t, "failed")
		s.emit(result("call-1", session.StatusOK, `{"output":"added 3 packages","exit_code":0,"reach":"network"}`))
		s.wantOn(t, "with the network")
	})
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(failedFor(bash.Host, "/home/me/x is out of reach in the sandbox")...)
		s.Wait(2 * time.Second)
		s.Key("t")
		s.wantLog(t)
		s.wantText(t, "t") // it is no answer here
		s.Wait(2 * time.Second)
		s.Key("n")
		s.Wait(time.Second)
		s.wantLog(t, "answer 1 {Allow:false Always:[] Scope: Feedback:}")
	})
}

// After a silence of a running command the keys that end it are shown, until it speaks.
func TestSilentCommand(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		c := aCall("c", "bash", `{"command":"make"}`)
		s.emit(app.TurnStarted{}, userSays("go"), modelSays("", c), app.ToolStarted{Call: c, Time: time.Now()})
		s.Wait(40 * time.Second)
		s.wantOff(t, "no output for")
		s.emit(app.ToolSilent{CallID: "c", Since: time.Now().Add(-30 * time.Second)})
		s.Wait(2 * time.Second)
		s.wantOn(t, "no output for 0:3", "ctrl+b background", "esc stop")
		s.emit(app.ToolOutput{CallID: "c", Chunk: []byte("there\n")})
		s.wantOff(t, "no output for")
	})
}

// What an interrupted command printed is shown in a session that is resumed, too.
func TestInterruptedOutputIsShown(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(userSays("go"), modelSays("", aCall("c", "bash", `{"command":"make"}`)),
			result("c", session.StatusInterrupted, "interrupted by the user; the output until then:\nhalf of it"))
		s.wantOn(t, "half of it", "interrupted")
	})
}
