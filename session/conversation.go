package session

// Conversation is the model's history of a session that goes on. It is built
// from the entries as they are committed, by the code that builds it from a log:
// a resumed session sends what the one before it would have sent.
type Conversation struct{ h history }

// NewConversation begins with the entries of a log; nil for a new session.
func NewConversation(entries []Entry) *Conversation {
	c := &Conversation{h: history{open: map[string]*slot{}, written: map[string][]string{}}}
	for _, e := range entries {
		c.h.add(e)
	}
	c.h.settle(resultCrashed)
	return c
}

// Add takes the next entry.
func (c *Conversation) Add(e Entry) { c.h.add(e) }

// Messages is the history now, as [History] makes it. Every call must have its result.
func (c *Conversation) Messages() []Message { return c.h.messages() }
