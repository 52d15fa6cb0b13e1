package session

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/file"
)

func TestExport(t *testing.T) {
	s := newStore(t)
	l := create(t, s)
	entries := put(t, l,
		say("fix it"),
		Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleAssistant, Model: "gpt", Text: "I look.", Calls: []tools.ToolCall{{ID: "1", Name: "edit", Arguments: `{"file_path":"f"}`}}}},
		Entry{Kind: KindChange, Step: 1, Change: &Change{ID: "c", CallID: "1", Path: "/w/f", Added: 1, Removed: 1, Hunks: []file.Hunk{{Old: 1, New: 1, Lines: []string{"-a", "+b"}}}}},
		Entry{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleTool, CallID: "1", Status: StatusOK, Text: "```\nfence\n```\n"}},
		Entry{Kind: KindTurn, Step: 1, Turn: &Turn{Outcome: OutcomeInterrupted, Error: "by you"}},
		say("never mind"),
		back(7),
	)
	all, _, err := s.Read(l.ID())
	ok(t, err)
	x := NewExport(l.ID(), all)
	x.Created = time.Date(2026, 1, 2, 3, 4, 0, 0, time.Local)
	var md bytes.Buffer
	ok(t, x.WriteMarkdown(&md))
	want := "# fix it\n\nSession ID in WS, begun 2026-01-02 03:04.\n\n## You\n\nfix it\n\n## gpt\n\nI look.\n\n### edit\n\n```json\n{\"file_path\":\"f\"}\n```\n\n" +
		"`/w/f`: +1 −1\n\n```diff\n-a\n+b\n```\n\nResult of edit: ok\n\n````\n```\nfence\n```\n````\n\n*The turn ended: interrupted by you*\n"
	got := strings.NewReplacer(l.ID(), "ID", s.workspace, "WS").Replace(md.String())
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	var out bytes.Buffer
	ok(t, x.WriteJSON(&out))
	var back Export
	ok(t, json.Unmarshal(out.Bytes(), &back))
	if d := cmp.Diff(entries, back.Entries[1:]); d != "" || back.ID != l.ID() || back.Title != "fix it" || back.Workspace != s.workspace {
		t.Errorf("%+v %s", back, d)
	}
}
