package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/session"
)

//go:embed compact.md
var compactPrompt string

// How full the window may be, in percent of it. Near the limit results of old
// calls are left out first, which needs no model; where that is not enough, a
// summary stands for all but the newest parts (IMP-16).
const (
	fullAt       = 80 // a request above this is made smaller before it is sent
	clearedBelow = 55 // leaving out results is enough when the request is below this after it
	keptResults  = 25 // results in the newest parts of this size are not left out
	keptParts    = 15 // newest parts of this size stay beside the summary
	wordsOfUser  = 15 // of the user's own words beside the summary
	chunkOfModel = 40 // of the record in one request for a summary
)

// keptAsked is how many parts stay at most when the person asks for a summary.
const keptAsked = 4

// assumedWindow is taken, in tokens, where the model's window is not known.
const assumedWindow = 64_000

// clearedFrom is the size in bytes from which a result is worth leaving out.
const clearedFrom = 500

// ErrNothingToCompact says that the history is as short as it can be.
var ErrNothingToCompact = errors.New("there is nothing to compact: the conversation is short")

// compaction is one at work.
type compaction struct {
	window int // in tokens
	keep   string
	parts  []session.Part
	sizes  []int // of the parts, in bytes
	before int   // of the whole request, in bytes
	entry  session.Compaction
}

func (a *App) newCompaction(keep string) *compaction {
	a.saving.mu.Lock()
	parts := a.talk.Parts()
	a.saving.mu.Unlock()
	c := &compaction{window: a.window(), keep: keep, parts: parts, before: a.gauge.fixed}
	if c.window == 0 {
		c.window = assumedWindow
	}
	for _, p := range parts {
		n := weight(p.Messages)
		c.sizes = append(c.sizes, n)
		c.before += n
	}
	return c
}

// newest is the index from which on the parts together have at most percent of the window.
func (c *compaction) newest(g *gauge, percent int) int {
	left := g.bytes(c.window) * percent / 100
	for i := len(c.parts); i > 0; i-- {
		if left -= c.sizes[i-1]; left < 0 {
			return i
		}
	}
	return 0
}

// Compact makes the conversation shorter; keep says what the summary must not
// lose. Cancel stops it, and nothing is changed then.
func (a *App) Compact(keep string) {
	a.mu.Lock()
	busy := a.running || a.closed
	if !busy {
		a.running = true
		a.working.Go(func() {
			a.aside(func(ctx context.Context) {
				if err := a.compactNow(ctx, keep); err != nil {
					a.emit(Notice{Level: Error, Text: fmt.Sprintf("not compacted: %v", err)})
				}
			})
			a.release()
		})
	}
	a.mu.Unlock()
	if busy {
		a.emit(Notice{Level: Error, Text: fmt.Sprintf("not compacted: %v", ErrBusy)})
	}
}

func (a *App) compactNow(ctx context.Context, keep string) error {
	if a.log == nil {
		return ErrNothingToCompact
	}
	if _, err := a.provider(ctx); err != nil {
		return err
	}
	return a.compact(ctx, a.newCompaction(keep), true)
}

// compact leaves out old results, or makes a summary when that is not enough or
// the person asked for one.
func (a *App) compact(ctx context.Context, c *compaction, asked bool) error {
	c.entry.Before = a.gauge.tokens(c.before)
	after := c.before
	if !asked {
		after -= c.clear(c.newest(&a.gauge, keptResults))
		if a.gauge.tokens(after) <= c.window*clearedBelow/100 {
			return a.compacted(c, after)
		}
	}
	from := c.newest(&a.gauge, keptParts)
	if asked { // also where the window has room
		from = max(from, len(c.parts)-keptAsked)
	}
	for from < len(c.parts) && c.parts[from].Seq == 0 {
		from++ // an earlier summary: the new one stands for it too
	}
	if from == 0 || from == 1 && c.parts[0].Seq == 0 {
		if len(c.entry.Cleared) > 0 {
			return a.compacted(c, after)
		}
		return ErrNothingToCompact
	}
	c.entry.Keep = 1 + c.parts[len(c.parts)-1].Seq
	if from < len(c.parts) {
		c.entry.Keep = c.parts[from].Seq
	}
	summary, err := a.summary(ctx, c, c.parts[:from])
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && asked:
		return err
	case err != nil:
		a.emit(Notice{Level: Warning, Text: fmt.Sprintf("no summary could be made, the conversation goes on without its beginning: %v", err)})
	}
	c.entry.Text = a.standIn(c, from, summary)
	kept := weight([]session.Message{{Text: c.entry.Text}})
	for _, n := range c.sizes[from:] {
		kept += n
	}
	return a.compacted(c, a.gauge.fixed+kept)
}

// compacted puts a compaction into the log, and so into the history. What the
// beginning of the conversation had told of the moment is told again.
func (a *App) compacted(c *compaction, after int) error {
	c.entry.After = a.gauge.tokens(after)
	a.commit(session.Entry{Kind: session.KindCompact, Compact: &c.entry})
	if c.entry.Text != "" {
		a.tellAnew()
	}
	a.emit(Usage{Last: session.Usage{Input: c.entry.After}, Window: a.window(), Estimated: true, Cost: a.tally.dollars()})
	return nil
}

// clear leaves out the large results before the part with the index n, and
// returns how many bytes that saves.
func (c *compaction) clear(n int) (saved int) {
	for i, p := range c.parts[:n] {
		for _, m := range p.Messages {
			if size := len(m.Text) + len(m.Images)*imageBytes; m.Role == session.RoleTool && size >= clearedFrom {
				c.entry.Cleared = append(c.entry.Cleared, m.CallID)
				saved += size
				c.sizes[i] -= size
			}
		}
	}
	return saved
}

// standIn is the text that stands for the parts before the index from: all that
// is kept word for word, and the summary.
func (a *App) standIn(c *compaction, from int, summary string) string {
	a.saving.mu.Lock()
	said, earlier := a.talk.Said(), a.talk.Compacted()
	a.saving.mu.Unlock()
	for _, p := range c.parts[from:] {
		if p.Messages[0].Role == session.RoleUser {
			said = said[:len(said)-1] // it is in the history itself
		}
	}
	if earlier != nil {
		c.entry.Read = slices.Clone(earlier.Read)
	}
	c.entry.Read = filesRead(c.entry.Read, c.parts[:from])

	var b strings.Builder
	b.WriteString("The conversation before this was compacted to make room; this stands for it.\n")
	if len(said) > 0 {
		b.WriteString("\nWhat the user said, oldest first:\n")
		for _, text := range shorten(said, a.gauge.bytes(c.window)*wordsOfUser/100) {
			fmt.Fprintf(&b, "<said>\n%s\n</said>\n", text)
		}
	}
	if changed := a.journal.Changed(); len(changed) > 0 {
		b.WriteString("\nFiles that you changed:\n")
		for _, f := range changed {
			fmt.Fprintf(&b, "- %s\n", a.relative(f.Path))
		}
	}
	if len(c.entry.Read) > 0 {
		b.WriteString("\nFiles that you read (read again what you need):\n- " + strings.Join(c.entry.Read, "\n- ") + "\n")
	}
	if summary == "" {
		summary = "(none could be made)"
	}
	b.WriteString("\n<summary>\n" + summary + "\n</summary>\nThis was the state at the end of that part. The conversation goes on behind it:")
	return b.String()
}

// shorten cuts the longest texts in their middle until all together have at most
// so many bytes. Shorter ones stay as they are.
func shorten(texts []string, most int) []string {
	sizes := make([]int, len(texts))
	for i, t := range texts {
		sizes[i] = len(t)
	}
	slices.Sort(sizes)
	// The largest size that all may have: the small ones leave their rest to the others.
	each := 0
	for i, n := range sizes {
		if each = most / (len(sizes) - i); n > each {
			break
		}
		most -= n
		each = n
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = middleOut(t, each)
	}
	return out
}

// middleOut keeps the start and the end of a text.
func middleOut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	half := max(0, most/2-20)
	return strings.ToValidUTF8(s[:half], "") + fmt.Sprintf("\n[… %d bytes left out …]\n", len(s)-2*half) + strings.ToValidUTF8(s[len(s)-half:], "")
}
