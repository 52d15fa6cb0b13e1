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
		Entry{Kind: KindFound, Step: 1, Found: &Found{ID: "F", Changes: []Change{{ID: "d", Path: "/w/d`", Added: 2}}, Lost: []Lost{{Path: "/w/big", Why: "is too large"}}}},
		Entry{Kind: KindTurn, Step: 1, Turn: &Turn{Outcome: OutcomeInterrupted, Error: "by you"}},
		say("never mind"),
		back(8),
	)
	all, _, err := s.Read(l.ID())
	ok(t, err)
	x := NewExport(l.ID(), all)
	x.Created = time.Date(2026, 1, 2, 3, 4, 0, 0, time.Local)
	var md bytes.Buffer
	ok(t, x.WriteMarkdown(&md))
	want := "# fix it\n\nSession ID in WS, begun 2026-01-02 03:04.\n\n## You\n\nfix it\n\n## gpt\n\nI look.\n\n### edit\n\n```json\n{\"file_path\":\"f\"}\n```\n\n" +
		"`/w/f`: +1 −1\n\n```diff\n-a\n+b\n```\n\nResult of edit: ok\n\n````\n```\nfence\n```\n````\n\nChanged while commands ran:\n\n- `` /w/d` ``: +2 −0\n- `/w/big`, which cannot be undone\n\n*The turn ended: interrupted by you*\n"
	got := strings.NewReplacer(l.ID(), "ID", s.workspace, "WS").Replace(md.String())
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	if d := cmp.Diff([]string{"/w/d`"}, ChangedPaths(all)); d != "" { // the other one was never written
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
