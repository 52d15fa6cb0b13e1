package ui

import (
	"bytes"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
)

const (
	frame      = 50 * time.Millisecond // the least time between two batches: each costs the renderer the whole screen
	maxWaiting = 1 << 20               // bytes of one command's output that wait for a frame
	keptTail   = 256 << 10             // bytes that stay of it when more wait
	maxReply   = 16 << 10              // bytes of replies in one batch: a key must not wait while more is drawn
)

// Pump carries events from the application's goroutines to the screen, at most
// one batch a frame. Emit never blocks, and what is durable is never dropped;
// deltas and output merge. Of a flood of output the newest part is kept and
// the lines of the rest are counted (UI-22).
type Pump struct {
	mu     sync.Mutex
	queue  []*pending
	open   map[mergeKey]*pending // what a later piece can still be added to
	ready  chan struct{}
	closed chan struct{}
	once   sync.Once
	last   time.Time // of the newest batch; only next uses it
	behind bool      // more of a reply waits than the last batch took; the same
}

// batch is what happened since the last frame.
type batch struct {
	events  []app.Event
	skipped map[string]int // lines of output that were left out, by call
}

// pending is an event that waits, with what was merged into it.
type pending struct {
	event           app.Event
	text, reasoning strings.Builder
	shown           int // bytes of text that were in a batch before
	chunk           []byte
	skipped         int
}

type mergeKey struct {
	kind  byte
	id    string
	index int
}

// NewPump returns a pump for one screen.
func NewPump() *Pump {
	return &Pump{
		open:   map[mergeKey]*pending{},
		ready:  make(chan struct{}, 1),
		closed: make(chan struct{}),
	}
}

// Emit hands an event to the screen. It can be called from any goroutine, also
// before the screen runs and after it ended.
func (p *Pump) Emit(e app.Event) {
	p.mu.Lock()
	p.add(e)
	p.mu.Unlock()
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

// Close ends the wait for events.
func (p *Pump) Close() { p.once.Do(func() { close(p.closed) }) }

// next waits for events. Update asks for it again after each batch.
func (p *Pump) next() tea.Msg {
	select {
	case <-p.ready:
	case <-p.closed:
		return nil
	}
	if wait := frame - time.Since(p.last); wait > 0 && !p.behind {
		select {
		case <-time.After(wait):
		case <-p.closed:
			return nil
		}
	}
	p.last = time.Now()
	return p.take()
}

// take empties the queue, but for what of a reply is more than a batch takes and for
// what came after that.
func (p *Pump) take() batch {
	p.mu.Lock()
	queue := p.queue
	p.queue = nil
	clear(p.open)
	p.mu.Unlock()

	b := batch{events: make([]app.Event, 0, len(queue))}
	room := maxReply
	for i, w := range queue {
		switch e := w.event.(type) {
		case app.ReplyDelta:
			rest := w.reply(&e, room)
			w.event = e
			if rest {
				b.events = append(b.events, e)
				p.putBack(queue[i:])
				return b
			}
			room -= len(e.Text)
		case app.ToolOutput:
			e.Chunk = w.chunk
			w.event = e
			if w.skipped > 0 {
				if b.skipped == nil {
					b.skipped = map[string]int{}
				}
				b.skipped[e.CallID] += w.skipped
			}
		}
		b.events = append(b.events, w.event)
	}
	p.behind = false
	return b
}

// reply fills in what of a piece of reply fits into the room, and says whether more
// of it is left.
func (w *pending) reply(e *app.ReplyDelta, room int) (rest bool) {
	e.Text, e.Reasoning = w.text.String()[w.shown:], ""
	if w.shown == 0 {
		e.Reasoning = w.reasoning.String()
	}
	if len(e.Text) <= room {
		return false
	}
	for cut := 1; cut < utf8.UTFMax && cut <= room && !utf8.RuneStart(e.Text[room]); cut++ {
		room-- // no character is torn
	}
	e.Text = e.Text[:room]
	w.shown += room
	return true
}

// putBack queues again what did not fit, before what came meanwhile.
func (p *Pump) putBack(queue []*pending) {
	p.behind = true
	p.mu.Lock()
	p.queue = append(queue, p.queue...)
	p.mu.Unlock()
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

// add queues e, or merges it into what waits. Pieces merge past pieces of other
// sources, never past any other event.
func (p *Pump) add(e app.Event) {
	var key mergeKey
	switch e := e.(type) {
	case app.ReplyDelta:
		key = mergeKey{kind: 'r', id: e.Parent}
	case app.ToolOutput:
		key = mergeKey{kind: 'o', id: e.CallID}
	case app.CallDelta:
		key = mergeKey{kind: 'c', id: e.Parent, index: e.Index}
	default:
		clear(p.open)
		p.queue = append(p.queue, &pending{event: e})
		return
	}
	w := p.open[key]
	if w == nil {
		w = &pending{event: e}
		p.open[key] = w
		p.queue = append(p.queue, w)
	}
	switch e := e.(type) {
	case app.ReplyDelta:
		w.text.WriteString(e.Text)
		w.reasoning.WriteString(e.Reasoning)
	case app.ToolOutput:
		w.write(e.Chunk)
	case app.CallDelta:
		w.event = e
	}
}

// write adds output, and leaves out the oldest lines when too much waits.
func (w *pending) write(chunk []byte) {
	w.chunk = append(w.chunk, chunk...)
	if len(w.chunk) <= maxWaiting {
		return
	}
	cut := len(w.chunk) - keptTail
	if i := bytes.IndexByte(w.chunk[cut:], '\n'); i >= 0 {
		cut += i + 1
	}
	w.skipped += bytes.Count(w.chunk[:cut], []byte{'\n'})
	w.chunk = append([]byte(nil), w.chunk[cut:]...)
}
