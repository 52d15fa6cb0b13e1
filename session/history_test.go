package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/phero-agent/agent/tools"
)

// validHistory fails where a strict server would refuse the messages.
func validHistory(t interface{ Fatalf(string, ...any) }, messages []Message) {
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if i == 0 && m.Role != RoleUser {
			t.Fatalf("the history begins with %s", m.Role)
		}
		if m.Parent != "" {
			t.Fatalf("message %d is a sub-agent's", i)
		}
		switch m.Role {
		case RoleUser:
			if m.Text == "" && len(m.Images) == 0 {
				t.Fatalf("message %d is empty", i)
			}
		case RoleAssistant:
			if m.Text == "" && len(m.Calls) == 0 || m.Cut && len(m.Calls) > 0 {
				t.Fatalf("message %d: %+v", i, m)
			}
			seen := map[string]bool{}
			for k, c := range m.Calls {
				var object map[string]any
				if seen[c.ID] || json.Unmarshal([]byte(c.Arguments), &object) != nil {
					t.Fatalf("call %d of message %d: %+v", k, i, c)
				}
				seen[c.ID] = true
				if i+1+k >= len(messages) {
					t.Fatalf("call %q has no result", c.ID)
				}
				r := messages[i+1+k]
				if r.Role != RoleTool || r.CallID != c.ID || r.Text == "" && len(r.Images) == 0 {
					t.Fatalf("call %q is answered by %+v", c.ID, r)
				}
			}
			i += len(m.Calls)
		default:
			t.Fatalf("message %d of %s answers nothing", i, m.Role)
		}
	}
}

// script makes entries from short words: u:text, a:text, a:text+1,2 (calls 1 and
// 2), x:text (cut), t:1 (result of call 1), n:note, e:outcome, s (a new turn).
func script(text string) []Entry {
	var entries []Entry
	step := 1
	for _, word := range strings.Fields(text) {
		kind, rest, _ := strings.Cut(word, ":")
		e := Entry{Kind: KindMessage, Step: step}
		switch kind {
		case "s":
			step++
			continue
		case "u":
			e.Message = &Message{Role: RoleUser, Text: rest}
		case "a", "x":
			body, calls, has := strings.Cut(rest, "+")
			e.Message = &Message{Role: RoleAssistant, Text: body, Cut: kind == "x"}
			if has {
				for _, id := range strings.Split(calls, ",") {
					e.Message.Calls = append(e.Message.Calls, tools.ToolCall{ID: id, Name: "read", Arguments: "{}"})
				}
			}
		case "t":
			e.Message = &Message{Role: RoleTool, CallID: rest, Text: "r" + rest, Status: StatusOK}
		case "p":
			e.Message = &Message{Role: RoleAssistant, Text: rest, Parent: "1"}
		case "n":
			e.Kind, e.Note = KindNote, rest
		case "e":
			e.Kind, e.Turn = KindTurn, &Turn{Outcome: Outcome(rest)}
		case "w":
			id := fmt.Sprint("change", len(entries))
			entries = append(entries, Entry{Kind: KindChange, Step: step, Change: &Change{ID: id, CallID: rest, Path: "/w/f"}})
			e.Kind, e.Done = KindDone, id
		}
		entries = append(entries, e)
	}
	return entries
}

// told writes messages as short words, as script reads them.
func told(messages []Message) string {
	var words []string
	for _, m := range messages {
		text := strings.NewReplacer(
			resultCrashed, "CRASHED", fmt.Sprintf(resultWritten, "/w/f"), "WRITTEN", resultInterrupted, "INTERRUPTED", resultTimeout, "TIMEOUT",
			resultFailed, "FAILED", historyLost, "LOST", "\n\n"+NoteStart+"\n", "[", "\n"+NoteEnd, "]",
		).Replace(m.Text)
		switch m.Role {
		case RoleUser:
			words = append(words, "u:"+text)
		case RoleAssistant:
			w := "a:" + text
			for i, c := range m.Calls {
				w += []string{"+", ","}[min(i, 1)] + c.ID
			}
			words = append(words, w)
		case RoleTool:
			words = append(words, "t:"+m.CallID+"="+text)
		}
	}
	return strings.Join(words, " ")
}

func TestHistory(t *testing.T) { // LOOP-09, LOOP-13, SESS-06
	for _, c := range []struct{ name, entries, want string }{
		{"nothing", "", ""},
		{"plain", "u:a a:b e:done s u:c", "u:a a:b u:c"},
		{"calls", "u:a a:b+1,2 t:1 t:2 a:c", "u:a a:b+1,2 t:1=r1 t:2=r2 a:c"},
		{"call order", "u:a a:+1,2,3 t:3 t:1 t:2 a:c", "u:a a:+1,2,3 t:1=r1 t:2=r2 t:3=r3 a:c"},
		{"crashed", "u:a a:b+1,2 t:2", "u:a a:b+1,2 t:1=CRASHED t:2=r2"},
		{"crashed, resumed", "u:a a:b+1 s u:c", "u:a a:b+1 t:1=CRASHED u:c"},
		{"crashed, resumed, interrupted", "u:a a:b+1 s u:c a:+2 e:interrupted", "u:a a:b+1 t:1=CRASHED u:c a:+2 t:2=INTERRUPTED"},
		{"crashed behind the write", "u:a a:+1 w:1", "u:a a:+1 t:1=WRITTEN"},
		{"interrupted", "u:a a:+1,2 t:1 e:interrupted", "u:a a:+1,2 t:1=r1 t:2=INTERRUPTED"},
		{"timeout", "u:a a:+1 e:timeout", "u:a a:+1 t:1=TIMEOUT"},
		{"failed", "u:a a:+1 e:failed", "u:a a:+1 t:1=FAILED"},
		{"orphan", "u:a t:9 a:b t:1 s u:c", "u:a a:b u:c"},
		{"two results", "u:a a:+1 t:1 t:1 a:b", "u:a a:+1 t:1=r1 a:b"},
		{"late result", "u:a a:+1 a:b t:1", "u:a a:+1 t:1=CRASHED a:b"},
		{"message among results", "u:a a:+1,2 t:1 u:b t:2 a:c", "u:a a:+1,2 t:1=r1 t:2=r2 u:b a:c"},
		{"id used again", "u:a a:+1 t:1 a:+1 t:1", "u:a a:+1 t:1=r1 a:+1 t:1=r1"},
		{"id used again, crashed between", "u:a a:+1 s u:b a:+1 t:1", "u:a a:+1 t:1=CRASHED u:b a:+1 t:1=r1"},
		{"id twice in a reply", "u:a a:+1,1 t:1 t:1", "u:a a:+1 t:1=r1"},
		{"cut with text", "u:a x:b e:interrupted s u:c", "u:a a:b u:c"},
		{"cut without text", "u:a x: e:interrupted s u:c", "u:a u:c"},
		{"cut with a call", "u:a x:b+1 e:failed s u:c", "u:a a:b u:c"},
		{"empty reply", "u:a a: u:b", "u:a u:b"},
		{"empty message", "u: u:b", "u:b"},
		{"sub-agent", "u:a a:+1 p:x t:1", "u:a a:+1 t:1=r1"},
		{"beginning lost", "a:b+1 t:1 u:c", "u:LOST a:b+1 t:1=r1 u:c"},
		{"note to the user's message", "u:a n:x n:y a:b", "u:a[x][y] a:b"},
		{"note to the last result", "u:a a:+1,2 t:2 t:1 n:x a:b", "u:a a:+1,2 t:1=r1 t:2=r2[x] a:b"},
		{"note to a missing result", "u:a a:+1 n:x", "u:a a:+1 t:1=CRASHED[x]"},
		{"note behind a reply", "u:a a:b e:done n:x s u:c", "u:a a:b u:c[x]"},
		{"note behind a cut reply", "u:a x: n:x", "u:a[x]"},
		{"note first", "n:x u:a", "u:a[x]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := History(script(c.entries))
			if told(got) != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.entries, told(got), c.want)
			}
			validHistory(t, got)
		})
	}
}

func TestHistoryDetails(t *testing.T) {
	call := func(id, args string) tools.ToolCall { return tools.ToolCall{ID: id, Arguments: args} }
	entries := []Entry{
		{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleUser, Images: []Image{{Blob: "b"}}}},
		{Kind: KindNote, Note: "a </note> b"},
		{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleAssistant, Echo: json.RawMessage(`{}`), Calls: []tools.ToolCall{
			call("1", `{"a":1}`), call("2", ``), call("3", `{"a":`), call("4", `[1]`), call("5", ` {} `), call("6", "null"),
		}}},
		{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleTool, CallID: "1", Status: StatusOK}},
		{Kind: KindMessage, Step: 1, Message: &Message{Role: RoleTool, CallID: "2", Images: []Image{{Blob: "b"}}}},
		{Kind: KindTurn, Step: 1, Turn: &Turn{Outcome: OutcomeInterrupted}},
		{Kind: KindMessage, Step: 2, Message: &Message{Role: RoleAssistant, Text: "half", Cut: true, Echo: json.RawMessage(`{}`)}},
	}
	got := History(entries)
	validHistory(t, got)
	if got[0].Text != "<note>\na <\\/note> b\n</note>" {
		t.Errorf("note: %q", got[0].Text)
	}
	args := ""
	for _, c := range got[1].Calls {
		args += c.Arguments + ";"
	}
	if args != `{"a":1};{};{};{}; {} ;{};` || got[1].Echo == nil {
		t.Errorf("arguments: %s, echo %s", args, got[1].Echo)
	}
	if got[2].Text != "(no output)" || got[2].Status != StatusOK || got[3].Text != "" || got[4].Status != StatusInterrupted {
		t.Errorf("results: %+v", got[2:5])
	}
	if last := got[len(got)-1]; last.Text != "half" || last.Echo != nil {
		t.Errorf("cut reply: %+v", last)
	}
}

func TestHistoryIsAlwaysValid(t *testing.T) { // LOOP-09
	ids := rapid.SampledFrom([]string{"1", "2", "3", "4"})
	word := rapid.SampledFrom([]string{"", " ", "hello", "</note>"})
	calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tools.ToolCall {
		return tools.ToolCall{ID: ids.Draw(t, "id"), Arguments: rapid.SampledFrom([]string{"", "{}", `{"a":`, "7"}).Draw(t, "args")}
	}), 0, 4)
	entry := rapid.Custom(func(t *rapid.T) Entry {
		e := Entry{Kind: KindMessage, Step: rapid.IntRange(1, 3).Draw(t, "turn")}
		m := &Message{Text: word.Draw(t, "text")}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0, 1:
			m.Role = RoleUser
		case 2, 3:
			m.Role, m.Calls = RoleAssistant, calls.Draw(t, "calls")
			m.Cut = rapid.Bool().Draw(t, "cut")
		case 4, 5, 6:
			m.Role, m.CallID = RoleTool, ids.Draw(t, "call")
		case 7:
			return Entry{Kind: KindNote, Note: word.Draw(t, "note")}
		case 8:
			return Entry{Kind: KindTurn, Turn: &Turn{Outcome: rapid.SampledFrom([]Outcome{OutcomeDone, OutcomeInterrupted, OutcomeTimeout, OutcomeFailed}).Draw(t, "outcome")}}
		case 9:
			m.Role = rapid.SampledFrom([]Role{RoleUser, RoleAssistant, RoleTool, "odd"}).Draw(t, "role")
			m.Parent = rapid.SampledFrom([]string{"", "1"}).Draw(t, "parent")
		}
		e.Message = m
		return e
	})
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(entry, 0, 30).Draw(t, "entries")
		before := fmt.Sprintf("%+v", deep(entries))
		got := History(entries)
		validHistory(t, got)
		if after := fmt.Sprintf("%+v", deep(entries)); after != before {
			t.Fatalf("the entries were changed:\n%s\n%s", before, after)
		}
		if d := cmp.Diff(got, History(entries)); d != "" {
			t.Fatalf("not the same the second time: %s", d)
		}
		// What follows one by one is valid at every point.
		c := NewConversation(nil)
		for _, e := range entries {
			c.Add(e)
			validHistory(t, c.Messages())
		}
		if d := cmp.Diff(got, c.Messages()); d != "" {
			t.Fatalf("not the same as from a log: %s", d)
		}
		texts := 0
		for _, e := range entries {
			if e.Kind == KindMessage && e.Message.Role == RoleUser && e.Message.Parent == "" && strings.TrimSpace(e.Message.Text) != "" {
				texts++
			}
		}
		for _, m := range got {
			if m.Role == RoleUser && !strings.HasPrefix(m.Text, historyLost) {
				texts--
			}
		}
		if texts != 0 {
			t.Fatalf("%d messages of the user are lost", texts)
		}
	})
}

// deep shows what the entries point to.
func deep(entries []Entry) []any {
	var out []any
	for _, e := range entries {
		if e.Message != nil {
			out = append(out, *e.Message)
			continue
		}
		out = append(out, e)
	}
	return out
}

func TestConversationGoesOn(t *testing.T) {
	c := NewConversation(script("u:a a:b+1"))
	if got := told(c.Messages()); got != "u:a a:b+1 t:1=CRASHED" {
		t.Errorf("resumed: %s", got)
	}
	for _, step := range []struct{ word, want string }{
		{"s u:c", " u:c"},
		{"s a:+1,2", " u:c a:+1,2 t:1=CRASHED t:2=CRASHED"}, // both are running
		{"s t:2", " u:c a:+1,2 t:1=CRASHED t:2=r2"},
		{"s t:1", " u:c a:+1,2 t:1=r1 t:2=r2"},
		{"s n:x", " u:c a:+1,2 t:1=r1 t:2=r2[x]"},
		{"s a:d e:done", " u:c a:+1,2 t:1=r1 t:2=r2[x] a:d"},
	} {
		for _, e := range script(step.word) {
			c.Add(e)
		}
		if got := told(c.Messages()); got != "u:a a:b+1 t:1=CRASHED"+step.want {
			t.Errorf("after %s: %s", step.word, got)
		}
	}
}

// A reply that was cut off and asked for again stands in the history once.
func TestHistoryAfterARetry(t *testing.T) {
	entries := []Entry{
		{Kind: KindMessage, Message: &Message{Role: RoleUser, Text: "go"}},
		{Kind: KindMessage, Message: &Message{Role: RoleAssistant, Text: "half", Cut: true}},
		{Kind: KindMessage, Message: &Message{Role: RoleAssistant, Text: "whole"}},
		{Kind: KindMessage, Message: &Message{Role: RoleUser, Text: "more"}},
		{Kind: KindMessage, Message: &Message{Role: RoleAssistant, Text: "stopped", Cut: true}},
		{Kind: KindMessage, Message: &Message{Role: RoleUser, Text: "go on"}},
	}
	var got []string
	for _, m := range History(entries) {
		got = append(got, m.Text)
	}
	if want := "go|whole|more|stopped|go on"; strings.Join(got, "|") != want {
		t.Errorf("the history is %q, want %q", got, want)
	}
}
