package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// Reasoning is an item of its own, folded, with its length and time, seen live and from the log.
func TestThought(t *testing.T) {
	on(t, 80, 24, Options{}, func(t *testing.T, s *stage) {
		s.emit(app.TurnStarted{}, app.ReplyDelta{Reasoning: strings.Repeat("word ", 400)})
		s.Wait(3 * time.Second)
		s.wantOn(t, "▸ Thinking 0:03 · ~500 tokens")
		s.emit(app.ReplyDelta{Text: "So."})
		s.Wait(5 * time.Second)
		s.wantOn(t, "▸ Thought 0:03 · ~500 tokens", "So.")

		m := modelSays("So.").(app.Committed)
		m.Entry.Message.Reasoning, m.Entry.Message.Thought = "hm\nand more", time.Minute
		s.emit(app.Opened{Entries: []session.Entry{m.Entry}})
		s.wantOn(t, "▸ Thought 1:00 · ~2 tokens  hm")
		s.wantOff(t, "and more")
	})
}
