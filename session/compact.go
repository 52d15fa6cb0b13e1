package session

import "slices"

// Compaction makes the history shorter, and nothing else: the log keeps all that
// it stands for.
type Compaction struct {
	// Text stands for everything before the message whose entry has the number
	// Keep, as a message of the user. "" where only results were cleared.
	Text string `json:"text,omitempty"`
	Keep int64  `json:"keep,omitempty"`

	Cleared []string `json:"cleared,omitempty"` // calls whose results were left out
	Read    []string `json:"read,omitempty"`    // files that had been read in what Text stands for

	Before int    `json:"before"`          // tokens of the request, an estimate
	After  int    `json:"after"`           // likewise
	Usage  *Usage `json:"usage,omitempty"` // of the requests that made the text
}

// resultCleared stands for a result that a compaction left out.
const resultCleared = "[left out to make room: make the call again if you need it]"

// compact applies a compaction. One that names what is not there changes nothing.
func (c *Conversation) compact(k *Compaction) {
	if len(k.Cleared) > 0 {
		c.clear(k.Cleared)
	}
	if k.Text == "" {
		return
	}
	n := slices.IndexFunc(c.groups, func(g *group) bool { return g.seq >= k.Keep })
	if n < 0 {
		n = len(c.groups)
	}
	c.groups = slices.Insert(slices.Clone(c.groups[n:]), 0, &group{message: Message{Role: RoleUser, Text: k.Text}})
	c.compacted = k
}

func (c *Conversation) clear(calls []string) {
	gone := map[string]bool{}
	for _, id := range calls {
		gone[id] = true
	}
	for _, g := range c.groups {
		for _, s := range g.results {
			if s.result != nil && gone[s.call] {
				r := *s.result
				r.Text, r.Images = resultCleared, nil
				s.result = &r
			}
		}
	}
}

// Part is a message of the history with all that must stay with it: the results
// of a reply's calls, and notes.
type Part struct {
	Seq      int64 // of the message's entry; 0 for one that stands for something
	Messages []Message
	Cleared  bool // its results were left out before
}

// Parts is the history in the pieces that a compaction can part it into.
func (c *Conversation) Parts() []Part {
	parts := make([]Part, len(c.groups))
	for i, g := range c.groups {
		parts[i] = Part{Seq: g.seq, Messages: c.appendGroup(nil, g)}
		parts[i].Cleared = slices.ContainsFunc(g.results, func(s *slot) bool { return s.result != nil && s.result.Text == resultCleared })
	}
	return parts
}

// Said lists what the user said, from the beginning on, also what was compacted.
func (c *Conversation) Said() []string { return slices.Clone(c.said) }

// Compacted is the newest compaction with a text, nil where there was none.
func (c *Conversation) Compacted() *Compaction { return c.compacted }
