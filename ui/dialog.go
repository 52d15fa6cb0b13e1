package ui

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/human"
	"github.com/phero-agent/agent/ui/text"
)

// dialog takes the place of the composer, and the keys. It knows nothing of the
// rest of the screen: what the person decides comes back as an intent.
type dialog interface {
	title(t *theme) (left, right string)
	rows(t *theme, w int) int                        // that it wants, below its title
	view(t *theme, w, h int) ([]string, *tea.Cursor) // at most h rows
	key(k string, msg tea.KeyPressMsg, keys keymap) intent
	paste(s string)
	wantsAll() bool                      // the whole screen
	spoken(t *theme, keys keymap) spoken // in line mode
}

// intent is what the person wants; the root model does it.
type intent any

type (
	doAnswer struct { // a question for permission is decided
		id     string
		answer app.Answer
	}
	doReply struct { // questions are answered; nil: declined
		id      string
		answers map[string]human.Answer
	}
	doClose   struct{}              // the dialog closes
	doCommand struct{ line string } // a command, as typed
	doInsert  struct{ text string } // text for the composer
	doResume  struct{ id string }   // another session opens
	doKill    struct{ id string }   // a shell ends
	doConfirm struct{ dialog dialog }
	doQuit    struct{}
)

// The times of arming (decision 30).
const (
	armAfter     = 300 * time.Millisecond
	armAfterKeys = time.Second
	keysAreFresh = 2 * time.Second
	holdFor      = 50 * time.Millisecond // a decision, to see that it does not begin a word
)

// asker is a dialog that is answered: it is dim until it is armed.
type asker interface {
	dialog
	arm(on bool)
	takes(k string, keys keymap) bool // the key means something to it; else it is typing
	decides(k string) bool            // the key decides, and could begin a word
}

// question is a dialog that waits for its turn: the first of the queue is shown.
// It takes no answer until it is armed: nothing typed ahead may approve (UI-19).
type question struct {
	id     string
	callID string
	dialog asker
	asked  time.Time // when it came

	since time.Time     // of the last key, or when it was shown; zero: not shown yet
	quiet time.Duration // without a key until it is armed
	armed bool

	held  *tea.KeyPressMsg // a decision that waits for holdFor
	holds int              // counts them
}

// heldMsg ends the wait of a held decision.
type heldMsg struct {
	id    string
	holds int
}

// armMsg says that a question may be quiet for long enough by now.
type armMsg struct{ id string }

// show begins the question's arming.
func (q *question) show(now, lastKey time.Time) tea.Cmd {
	if !q.since.IsZero() {
		return nil
	}
	q.since, q.quiet = now, armAfter
	if now.Sub(lastKey) < keysAreFresh {
		q.quiet = armAfterKeys
	}
	return q.wait(q.quiet)
}

func (q *question) wait(d time.Duration) tea.Cmd {
	id := q.id
	return tea.Tick(d, func(time.Time) tea.Msg { return armMsg{id} })
}

// pressed says that a key came before the question was armed. The tick that
// runs asks for another one.
func (q *question) pressed(now time.Time) { q.since, q.quiet = now, armAfterKeys }

// tick arms the question, or waits on.
func (q *question) tick(now time.Time) tea.Cmd {
	if left := q.quiet - now.Sub(q.since); left > 0 {
		return q.wait(left)
	}
	q.arm()
	return nil
}

func (q *question) arm() {
	q.armed = true
	q.dialog.arm(true)
}

// disarm takes the answer's readiness back: the person types.
func (q *question) disarm(now time.Time) tea.Cmd {
	q.armed, q.held = false, nil
	q.dialog.arm(false)
	q.pressed(now)
	return q.wait(q.quiet)
}

// hold waits a moment before a decision counts.
func (q *question) hold(msg tea.KeyPressMsg) tea.Cmd {
	q.holds++
	q.held = &msg
	held := heldMsg{q.id, q.holds}
	return tea.Tick(holdFor, func(time.Time) tea.Msg { return held })
}

// scroller shows a window of lines.
type scroller struct {
	top, page, total int
	seen             int // the furthest line that was shown
}

// fit tells the scroller how many lines there are and how many are shown, and
// returns which.
func (s *scroller) fit(total, page int) (from, to int) {
	s.page, s.total = max(page, 1), total
	s.top = max(0, min(s.top, s.total-s.page))
	to = min(s.total, s.top+s.page)
	s.seen = max(s.seen, to)
	return s.top, to
}

// window is [scroller.fit] for lines that are there.
func (s *scroller) window(lines []string, page int) []string {
	from, to := s.fit(len(lines), page)
	return lines[from:to]
}

// show scrolls so that the lines are in the window.
func (s *scroller) show(from, to int) { s.top = max(min(s.top, from), to-s.page) }

func (s *scroller) overflows() bool { return s.total > s.page }

// complete says whether everything was on the screen once.
func (s *scroller) complete() bool { return s.seen >= s.total }

// act scrolls, and says whether the action was one of scrolling.
func (s *scroller) act(a action) bool {
	switch a {
	case actUp:
		s.top--
	case actDown:
		s.top++
	case actHalfUp:
		s.top -= max(1, s.page/2)
	case actHalfDown:
		s.top += max(1, s.page/2)
	case actPageUp:
		s.top -= max(1, s.page-1)
	case actPageDown:
		s.top += max(1, s.page-1)
	case actTop:
		s.top = 0
	case actBottom:
		s.top = s.total
	default:
		return false
	}
	s.top = max(0, min(s.top, s.total-s.page))
	return true
}

// bar draws the scrollbar's cell of each of h rows; nil when nothing overflows.
func (s *scroller) bar(t *theme, h int) []string { return scrollbar(t, h, s.top, s.page, s.total) }

// scrollbar draws a bar of h cells over total lines of which page are shown from top.
func scrollbar(t *theme, h, top, page, total int) []string {
	if total <= page || h <= 0 {
		return nil
	}
	size := max(1, h*page/total)
	at := 0
	if total > page {
		at = (h - size) * top / (total - page)
	}
	at = max(0, min(at, h-size))
	cells := make([]string, h)
	for i := range cells {
		if i >= at && i < at+size {
			cells[i] = t.sign.thumb
		} else {
			cells[i] = t.dim.Render(t.sign.track)
		}
	}
	return cells
}

// rule draws a line of w cells with a title at the left and a word at the right.
func rule(t *theme, w int, left, right string) string {
	if left == "" && right == "" {
		return t.dim.Render(strings.Repeat(t.sign.line, w))
	}
	head := t.sign.line + " "
	left = text.Truncate(left, max(0, w-6), t.sign.ellipsis)
	used := text.Width(left) + 3
	tail := ""
	if right != "" && w >= 24 {
		right = text.Truncate(right, max(0, w-used-6), t.sign.ellipsis)
		if right != "" {
			tail = " " + right + " " + t.sign.line
		}
	}
	fill := strings.Repeat(t.sign.line, max(0, w-used-text.Width(tail)))
	return t.dim.Render(head) + t.bold.Render(left) + t.dim.Render(" "+fill+tail)
}

// newInput returns a line to type in.
func newInput(placeholder string) textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	in.Placeholder = placeholder
	in.SetVirtualCursor(false)
	in.SetStyles(textinput.Styles{Cursor: textinput.CursorStyle{Shape: tea.CursorBar}})
	in.KeyMap.Paste = key.NewBinding(key.WithDisabled())
	in.Focus()
	return in
}

// insert puts a paste at an input's cursor, as one line.
func insert(in *textinput.Model, s string) {
	s = strings.ReplaceAll(cleanPaste(s), "\n", " ")
	value, at := []rune(in.Value()), in.Position()
	in.SetValue(string(value[:at]) + s + string(value[at:]))
	in.SetCursor(at + len([]rune(s)))
}

// inputView draws an input of w cells at column x of row y.
func inputView(in *textinput.Model, w, x, y int) (string, *tea.Cursor) {
	w = max(w, 2)
	in.SetWidth(w - 1)
	in.SetCursor(in.Position()) // scrolls to the cursor, also after the width changed
	c := in.Cursor()
	if c != nil {
		c.Position.X = x + min(c.Position.X, w-1)
		c.Position.Y = y
	}
	return text.Truncate(in.View(), w, ""), c
}

// confirm asks one thing that is answered by y or n.
type confirm struct {
	name  string
	lines []string
	yes   intent
	label string // of yes
}

func (c *confirm) title(*theme) (string, string) { return c.name, "" }
func (c *confirm) rows(_ *theme, w int) int      { return len(c.body(w)) + 2 }
func (c *confirm) paste(string)                  {}
func (c *confirm) wantsAll() bool                { return false }
func (c *confirm) body(w int) (lines []string) {
	for _, l := range c.lines {
		lines = append(lines, text.Wrap(text.Line(l), max(8, w))...)
	}
	return lines
}

func (c *confirm) view(t *theme, w, h int) ([]string, *tea.Cursor) {
	body := c.body(w)
	body = body[:min(len(body), max(0, h-2))]
	choices := t.accent.Render("[y]") + " " + c.label + "   " + t.accent.Render("[n]") + " no"
	return append(body, "", text.Truncate(choices, w, "")), nil
}

func (c *confirm) key(k string, _ tea.KeyPressMsg, _ keymap) intent {
	switch k {
	case "y":
		return c.yes
	case "n", "esc":
		return doClose{}
	}
	return nil
}
