package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/phero-agent/agent/tools/todo"
)

func back(to int64) Entry { return Entry{Kind: KindRewind, Rewind: &Rewind{To: to}} }

// The person goes back to before one of their messages, and the model no longer
// sees what followed it.
func TestRewind(t *testing.T) {
	talk := inSequence(script("u:a n:x a:b+1 t:1 e:done s u:c a:d e:done s u:e a:f"))
	var seqs []int64
	c := NewConversation(talk)
	for _, p := range c.Prompts() {
		seqs = append(seqs, p.Seq)
	}
	if d := cmp.Diff([]int64{1, 6, 9}, seqs); d != "" {
		t.Fatal(d)
	}
	next := int64(len(talk))
	add := func(e Entry) {
		next++
		e.Seq = next
		talk = append(talk, e)
		c.Add(e)
	}
	is := func(want string) {
		t.Helper()
		if got := told(c.Messages()); got != want {
			t.Errorf("the history is %s, want %s", got, want)
		}
		if d := cmp.Diff(History(talk), c.Messages()); d != "" {
			t.Errorf("resumed it is another one: %s", d)
		}
		if d := cmp.Diff(History(Active(talk)), c.Messages()); d != "" {
			t.Errorf("without what was left out it is another one: %s", d)
		}
	}
	add(back(9))
	is("u:a[x] a:b+1 t:1=r1 u:c a:d")
	add(Entry{Kind: KindNote, Note: "gone back"})
	add(Entry{Kind: KindMessage, Step: 4, Message: &Message{Role: RoleUser, Text: "g"}})
	is("u:a[x] a:b+1 t:1=r1 u:c a:d u:g[gone back]")
	add(back(9)) // is not there any more
	is("u:a[x] a:b+1 t:1=r1 u:c a:d u:g[gone back]")
	add(back(6))
	is("u:a[x] a:b+1 t:1=r1")
	add(back(1))
	is("")
	if len(c.Said()) != 0 || len(c.Prompts()) != 0 {
		t.Errorf("said: %q", c.Said())
	}
}

// A rewind to before a compaction brings back what that stood for, and the task
// list is the one of the time.
func TestRewindBehindACompaction(t *testing.T) {
	first := []todo.Item{{Content: "one", Status: todo.Pending}}
	c := NewConversation(inSequence([]Entry{
		say("a"),
		{Kind: KindTodo, Todo: first},
		say("b"),
		{Kind: KindTodo, Todo: nil},
		{Kind: KindCompact, Compact: &Compaction{Text: "S", Keep: 5}},
		say("c"),
	}))
	if got := told(c.Messages()); got != "u:S u:c" {
		t.Fatal(got)
	}
	c.Add(back(3))
	if got := told(c.Messages()); got != "u:a" || c.Compacted() != nil {
		t.Errorf("the history is %s, compacted: %v", got, c.Compacted())
	}
	if d := cmp.Diff(first, c.Todo()); d != "" {
		t.Error(d)
	}
}

// Wherever rewinds stand, the history is valid, and the same live and resumed.
func TestRewindKeepsTheHistoryValid(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("u:a u:b a:c a:d+1 a:+2,3 x:e t:1 t:2 t:3 n:x s e:done e:interrupted"))
	rapid.Check(t, func(t *rapid.T) {
		entries := script(strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "words"), " "))
		for range rapid.IntRange(0, 4).Draw(t, "rewinds") {
			at := rapid.IntRange(0, len(entries)).Draw(t, "at")
			to := rapid.Int64Range(1, int64(at)+1).Draw(t, "to")
			entries = append(entries[:at:at], append([]Entry{back(to)}, entries[at:]...)...)
		}
		entries = inSequence(entries)
		c := NewConversation(nil)
		for _, e := range entries {
			c.Add(e)
			validHistory(t, c.Messages())
		}
		if d := cmp.Diff(told(History(entries)), told(NewConversation(entries).Messages())); d != "" {
			t.Fatal(d)
		}
		for _, p := range c.Prompts() {
			if p.Text == "" {
				t.Fatal("an empty prompt")
			}
		}
	})
}
