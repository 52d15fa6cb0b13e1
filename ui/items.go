package ui

import (
	"fmt"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/ui/list"
	"github.com/phero-agent/agent/ui/md"
	"github.com/phero-agent/agent/ui/text"
)

// look is what all items are drawn with.
type look struct {
	theme     *theme
	now       time.Time
	spin      int  // the step of the spinner
	still     bool // it does not move
	workspace string
}

func (k *look) spinner() string {
	if k.still {
		return k.theme.sign.running
	}
	frames := k.theme.sign.spinner
	return frames[k.spin%len(frames)]
}

// item is an entry of the transcript.
type item interface {
	list.Item
	plain() string  // its text, to copy and to find
	unfold(on bool) // shows all of it, or the usual part
	unfolded() bool
	message() bool // begins something that [ and ] go to
	setGap()       // leaves an empty row above
	lead() int     // empty rows above
}

// entry is what items have in common.
type entry struct {
	look *look
	gap  bool
	open bool
}

func (e *entry) unfold(on bool) { e.open = on }
func (e *entry) unfolded() bool { return e.open }
func (e *entry) message() bool  { return false }
func (e *entry) setGap()        { e.gap = true }

func (e *entry) lead() int {
	if e.gap {
		return 1
	}
	return 0
}

func (e *entry) spaced() []string { return make([]string, e.lead()) }

// userItem is a message of the person.
type userItem struct {
	entry
	seq    int64 // of the log's entry
	text   string
	images int
}

const userLines = 20 // of a message, until it is unfolded

func (u *userItem) Final() bool   { return true }
func (u *userItem) plain() string { return u.text }
func (u *userItem) message() bool { return true }

func (u *userItem) Estimate(w int) int { return 1 + 1 + len(u.text)/max(w-2, 1) }

func (u *userItem) Lines(w int) []string {
	t := u.look.theme
	out := u.spaced()
	bar := t.user.Render(t.sign.user) + " "
	lines := text.Wrap(text.Clean(u.text), max(1, w-2))
	more := 0
	if !u.open && len(lines) > userLines+5 {
		more = len(lines) - userLines
		lines = lines[:userLines]
	}
	for _, l := range lines {
		out = append(out, bar+l)
	}
	if u.images > 0 {
		out = append(out, bar+t.dim.Render("with "+plural(u.images, "image", "images")))
	}
	if more > 0 {
		out = append(out, bar+t.dim.Render(fmt.Sprintf("%s %d more lines %s enter", t.sign.ellipsis, more, t.sign.dot)))
	}
	return out
}

// replyItem is text of the model, also while it comes in.
type replyItem struct {
	entry
	doc  md.Stream
	rows []string // of the last look, while it comes in
	size int      // bytes that came
	done bool     // nothing more comes
	cut  bool     // the reply did not come to its end
}

func (r *replyItem) write(s string) {
	r.size += len(s)
	r.doc.Write(s)
}

func (r *replyItem) Final() bool   { return r.done }
func (r *replyItem) plain() string { return r.doc.Source() }
func (r *replyItem) message() bool { return true }
func (r *replyItem) Release()      { r.doc.Release() }

func (r *replyItem) Estimate(w int) int { return 1 + r.doc.Estimate(w) }

func (r *replyItem) Lines(w int) []string {
	t := r.look.theme
	out := r.rows[:0] // a long reply is looked at with every piece that comes
	if r.gap {
		out = append(out, "")
	}
	out = append(out, r.doc.Lines(t.md, w)...)
	if r.cut {
		out = append(out, t.warn.Render(t.sign.ellipsis+" cut off"))
	}
	if r.rows = out; r.done {
		r.rows = nil
	}
	return out
}

// noteItem is a line that is neither the person's nor the model's.
type noteItem struct {
	entry
	level app.Level
	sign  string
	text  string
}

func (n *noteItem) Final() bool        { return true }
func (n *noteItem) plain() string      { return n.text }
func (n *noteItem) Estimate(w int) int { return 1 + len(n.text)/max(w-2, 1) }

func (n *noteItem) Lines(w int) []string {
	t := n.look.theme
	style := t.dim
	switch n.level {
	case app.Warning:
		style = t.warn
	case app.Error:
		style = t.fail
	}
	out := n.spaced()
	for i, l := range text.Wrap(text.Clean(n.text), max(1, w-2)) {
		head := "  "
		if i == 0 {
			head = n.sign + " "
		}
		out = append(out, style.Render(head+l))
	}
	return out
}

// turnNote says how a turn ended that did not end well.
func turnNote(t *theme, outcome session.Outcome, err string) (level app.Level, sign, words string) {
	switch outcome {
	case session.OutcomeInterrupted:
		return app.Warning, t.sign.denied, "stopped by you"
	case session.OutcomeTimeout:
		words = "stopped: the turn took too long"
	case session.OutcomeLimit:
		words = "stopped at a limit"
	case session.OutcomeFailed:
		words = "the turn failed"
	default:
		return app.Info, "", ""
	}
	if err != "" {
		words = err
	}
	return app.Error, t.sign.failed, words
}
