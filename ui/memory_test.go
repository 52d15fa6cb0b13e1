package ui

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
)

// A day of use does not make the screen larger: every hour a long session is opened,
// read from end to end, resized and worked in.
func TestMemoryIsFlat(t *testing.T) {
	m := filled(120, 40, 10_000)
	var entries []session.Entry
	for i := range 10_000 {
		entries = append(entries, session.Entry{Kind: session.KindMessage, Message: &session.Message{Role: session.RoleAssistant, Text: fmt.Sprintf("Reply %d with *some* words.\n\n- one\n- two\n", i)}})
	}
	shot := []byte(strings.Repeat("what a command prints\n", 10_000))
	hour := func(n int) {
		m.apply(app.Opened{ID: fmt.Sprint(n), Entries: entries}, nil)
		for _, w := range []int{80, 200, 120} {
			m.Update(tea.WindowSizeMsg{Width: w, Height: 40})
			m.View()
		}
		m.transcript.act(actTop)
		for range 200 {
			m.transcript.act(actPageDown)
			m.View()
		}
		m.transcript.act(actBottom)
		for k := range 2 * watched {
			call := aCall(fmt.Sprint(n, "-", k), "bash", `{"command":"make"}`)
			m.apply(app.TurnStarted{}, nil)
			m.apply(modelSays("", call), nil)
			m.apply(app.ToolStarted{Call: call}, nil)
			m.apply(app.ToolOutput{CallID: call.ID, Chunk: shot}, nil)
			m.View()
			m.apply(result(call.ID, session.StatusOK, `{"output":"end","exit_code":0}`), nil)
			m.apply(app.ReplyDelta{Text: "Some words of a reply.\n\n"}, nil)
			m.apply(app.TurnEnded{}, nil)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	hour(0)
	hour(1)
	before := heap()
	for n := range 22 {
		hour(2 + n)
	}
	after := heap()
	if grown := int64(after) - int64(before); grown > 2<<20 {
		t.Errorf("from the second hour to the last the heap grew by %d kB, to %d kB", grown>>10, after>>10)
	}
	if after > 60<<20 {
		t.Errorf("the heap is %d MB", after>>20)
	}
	runtime.KeepAlive(m)
}
