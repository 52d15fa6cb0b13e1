package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// inSequence gives entries the numbers that a log gives them.
func inSequence(entries []Entry) []Entry {
	for i := range entries {
		entries[i].Seq = int64(i + 1)
	}
	return entries
}

func TestCompaction(t *testing.T) { // IMP-16
	const talk = "u:a a:b+1,2 t:1 n:x t:2 a:c s u:d a:e+3 t:3"
	for _, c := range []struct {
		name    string
		compact Compaction
		want    string
	}{
		{"from a turn on", Compaction{Text: "S", Keep: 7}, "u:S u:d a:e+3 t:3=r3"},
		{"within a turn", Compaction{Text: "S", Keep: 8}, "u:S a:e+3 t:3=r3"},
		{"a number between messages", Compaction{Text: "S", Keep: 3}, "u:S a:c u:d a:e+3 t:3=r3"},
		{"everything", Compaction{Text: "S", Keep: 100}, "u:S"},
		{"results", Compaction{Cleared: []string{"2", "9"}}, "u:a a:b+1,2 t:1=r1 t:2=LEFT[x] a:c u:d a:e+3 t:3=r3"},
		{"both", Compaction{Text: "S", Keep: 6, Cleared: []string{"3"}}, "u:S a:c u:d a:e+3 t:3=LEFT"},
		{"nothing", Compaction{}, "u:a a:b+1,2 t:1=r1 t:2=r2[x] a:c u:d a:e+3 t:3=r3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries := inSequence(append(script(talk), Entry{Kind: KindCompact, Compact: &c.compact}))
			got := strings.ReplaceAll(told(History(entries)), resultCleared, "LEFT")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			validHistory(t, History(entries))
		})
	}
}

// A second compaction stands for the first one too; what the user said is known
// from the beginning on.
func TestCompactedAgain(t *testing.T) {
	entries := inSequence(append(script("u:a a:b s u:c a:d"), Entry{Kind: KindCompact, Compact: &Compaction{Text: "S1", Keep: 3}}))
	c := NewConversation(entries)
	for i, e := range append(script("u:e a:f u:g"), Entry{Kind: KindCompact, Compact: &Compaction{Text: "S2", Keep: 8}}) {
		e.Seq, e.Step = int64(len(entries)+i+1), 3
		c.Add(e)
	}
	if got := told(c.Messages()); got != "u:S2 u:g" {
		t.Errorf("the history is %s", got)
	}
	if d := cmp.Diff([]string{"a", "c", "e", "g"}, c.Said()); d != "" {
		t.Error(d)
	}
	if c.Compacted().Text != "S2" {
		t.Errorf("compacted: %+v", c.Compacted())
	}
	parts := c.Parts()
	if len(parts) != 2 || parts[0].Seq != 0 || parts[1].Seq != 8 {
		t.Errorf("parts: %+v", parts)
	}
}

// Wherever a compaction stands, the history is valid and ends as it did.
func TestCompactionKeepsTheHistoryValid(t *testing.T) {
	word := rapid.SampledFrom(strings.Fields("u:a a:b a:+1 a:c+2,3 x:d t:1 t:2 t:3 n:x s e:done e:interrupted"))
	rapid.Check(t, func(t *rapid.T) {
		entries := script(strings.Join(rapid.SliceOfN(word, 0, 25).Draw(t, "words"), " "))
		at := rapid.IntRange(0, len(entries)).Draw(t, "at")
		keep := rapid.Int64Range(1, 30).Draw(t, "keep")
		k := Entry{Kind: KindCompact, Compact: &Compaction{Text: "S", Keep: keep, Cleared: []string{"2"}}}
		with := inSequence(append(append(append([]Entry(nil), entries[:at]...), k), entries[at:]...))
		got := History(with)
		validHistory(t, got)
		c := NewConversation(nil)
		for _, e := range with {
			c.Add(e)
			validHistory(t, c.Messages())
		}
		if len(c.Said()) != len(said(with)) {
			t.Fatalf("said: %q", c.Said())
		}
	})
}

func said(entries []Entry) (texts []string) {
	for _, e := range entries {
		if e.Message != nil && e.Message.Role == RoleUser {
			texts = append(texts, e.Message.Text)
		}
	}
	return texts
}
