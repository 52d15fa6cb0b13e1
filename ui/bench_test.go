package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
)

// filled is a screen of w by h cells with n items in its transcript.
func filled(w, h, n int) *Model {
	m := New(&recorder{}, NewPump(), Options{})
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	var entries []session.Entry
	for i := 0; len(entries) < n; i++ {
		id := fmt.Sprint("c", i)
		for _, msg := range []session.Message{
			{Role: session.RoleUser, Text: fmt.Sprint("prompt ", i)},
			{Role: session.RoleAssistant, Text: "Some **words** about it.\n\n- one\n- two\n"},
			{Role: session.RoleAssistant, Calls: []tools.ToolCall{aCall(id, "bash", `{"command":"make"}`)}},
			{Role: session.RoleTool, CallID: id, Status: session.StatusOK, Text: `{"output":"one\ntwo\n","exit_code":0}`},
		} {
			entries = append(entries, session.Entry{Kind: session.KindMessage, Message: &msg})
		}
	}
	m.apply(app.Opened{ID: "x", Entries: entries}, nil)
	return m
}

// A frame must cost less than a millisecond, however long the transcript is.
func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n, " items"), func(b *testing.B) {
			m := filled(200, 60, n)
			m.status.running = true
			m.View()
			for b.Loop() {
				m.Update(tickMsg{})
				m.View()
			}
		})
	}
}

// The first frame after a resize must cost less than 50 ms.
func BenchmarkResize(b *testing.B) {
	m := filled(120, 40, 10_000)
	m.View()
	for i := 0; b.Loop(); i++ {
		m.Update(tea.WindowSizeMsg{Width: 80 + 40*(i%2), Height: 40})
		m.View()
	}
}

func BenchmarkScroll(b *testing.B) {
	m := filled(200, 60, 10_000)
	m.View()
	for i := 0; b.Loop(); i++ {
		m.transcript.list.Scroll(3 - 6*(i/500%2))
		m.View()
	}
}

// The time for a token must not grow with what came before.
func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("A paragraph of *markdown* with `code` in it, as models write it.\n\n", 20) + "```go\nfunc f() { return }\n```\n\n"
	for _, size := range []int{10 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size>>10, " kB before"), func(b *testing.B) {
			m := filled(120, 40, 100)
			m.apply(app.TurnStarted{}, nil)
			m.apply(app.ReplyDelta{Text: strings.Repeat(text, size/len(text))}, nil)
			m.View()
			for i := 0; b.Loop(); i++ {
				at := i * 16 % (len(text) - 16)
				m.apply(app.ReplyDelta{Text: text[at : at+16]}, nil)
				m.View()
			}
		})
	}
}

// UI-07: 2,000 changed lines open in less than 200 ms.
func BenchmarkDiffDialog(b *testing.B) {
	var before, after strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&before, "\tx%d := old(%d)\n", i, i)
		fmt.Fprintf(&after, "\tx%d := renewed(%d)\n", i, i)
	}
	a := app.Asked{ID: "1", Call: aCall("c", "write", ""), Change: &file.Change{Path: "/w/a.go", Existed: true, Before: []byte(before.String()), After: []byte(after.String())}}
	a.Request.Tool = "write"
	m := filled(120, 40, 100)
	for b.Loop() {
		m.apply(a, nil)
		m.View()
		m.close("1")
	}
}

func BenchmarkFlood(b *testing.B) {
	m := filled(120, 40, 100)
	call := aCall("flood", "bash", `{"command":"yes"}`)
	m.apply(modelSays("", call), nil)
	m.apply(app.ToolStarted{Call: call}, nil)
	chunk := []byte(strings.Repeat("yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n", 8<<10))
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		m.apply(app.ToolOutput{CallID: "flood", Chunk: chunk}, nil)
		m.View()
	}
}

// Opening a session of 10,000 entries.
func BenchmarkResume(b *testing.B) {
	for b.Loop() {
		filled(120, 40, 10_000).View()
	}
}
