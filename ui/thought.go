package ui

import (
	"strings"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/ui/text"
)

// thoughtItem is the reasoning of the model: folded, one row with its time and length.
type thoughtItem struct {
	entry
	text  strings.Builder
	begun time.Time     // zero where it comes from the log
	took  time.Duration // until it was done
	done  bool
}

func (r *thoughtItem) Final() bool      { return r.done }
func (r *thoughtItem) plain() string    { return r.text.String() }
func (r *thoughtItem) Estimate(int) int { return 1 }

// end says that nothing more comes.
func (r *thoughtItem) end() {
	r.done = true
	if !r.begun.IsZero() {
		r.took = r.look.now.Sub(r.begun)
	}
}

func (r *thoughtItem) Lines(w int) []string {
	t := r.look.theme
	head := r.head()
	if !r.open {
		return append(r.spaced(), t.dim.Render(text.Truncate(head+"  "+r.glimpse(), w, t.sign.ellipsis)))
	}
	out := append(r.spaced(), t.dim.Render(text.Truncate(head, w, t.sign.ellipsis)))
	for _, l := range text.Wrap(strings.TrimSpace(text.Clean(r.text.String())), max(1, w-2)) {
		out = append(out, "  "+t.dim.Render(l))
	}
	return out
}

// head says "Thought 0:12 · ~340 tokens".
func (r *thoughtItem) head() string {
	sign := r.look.theme.sign
	mark, word, took := sign.folded, "Thought", r.took
	if !r.done {
		word, took = "Thinking", r.look.now.Sub(r.begun)
	}
	if r.open {
		mark = sign.unfolded
	}
	head := mark + " " + word
	if took >= time.Second {
		head += " " + clock(took)
	}
	return head + " " + sign.dot + " ~" + app.Tokens(max(1, r.text.Len()/bytesPerToken)) + " tokens"
}

const bytesPerToken = 4 // about

// glimpse is the line that comes in, or the first one of all.
func (r *thoughtItem) glimpse() string {
	s := strings.TrimSpace(r.text.String())
	if i := strings.LastIndexByte(s, '\n'); i >= 0 && !r.done {
		s = s[i+1:]
	} else if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return text.Line(s)
}
