package ui

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

const (
	maxUndo    = 200 // changes of the text that can be taken back
	maxShown   = 100 // lines of a text that comes back, until it becomes a chip
	promptCols = 2   // the sign before the text
)

// composer is where the person writes. Long pastes are shown as chips, and are
// whole again when the text is sent. The draft stays through every dialog.
type composer struct {
	area  textarea.Model
	chips []chip
	past  []draft // before each change, for taking it back
	kills killRing
	words bool // the key before was typed text, which undo takes back by the word

	own     bool // it is a command of the person's own
	changes int  // counts the states of the text

	newlineKey string   // that this terminal can tell from enter
	wants      int      // rows
	rows       []string // as drawn
	old        bool     // rows are of another state
}

// draft is a state of the text.
type draft struct {
	text      string
	line, col int
}

func newComposer(t *theme) *composer {
	a := textarea.New()
	a.Prompt = ""
	a.ShowLineNumbers = false
	a.EndOfBufferCharacter = ' '
	a.CharLimit = 0
	a.DynamicHeight = true
	a.MaxHeight = 8
	a.MaxContentHeight = 10_000
	a.MaxWidth = 0
	a.SetVirtualCursor(false)
	a.SetStyles(textarea.Styles{Cursor: textarea.CursorStyle{Shape: tea.CursorBar}})
	a.SetPromptFunc(promptCols, func(p textarea.PromptInfo) string {
		if p.LineNumber == 0 {
			return t.sign.prompt + " "
		}
		return "  "
	})
	a.KeyMap = composerKeys()
	a.SetWidth(80)
	a.Focus()
	return &composer{area: a, newlineKey: "ctrl+j", wants: 1, old: true}
}

// composerKeys are the keys that edit. The ones of the table in keys.go never
// reach the text area.
func composerKeys() textarea.KeyMap {
	on := func(keys ...string) key.Binding { return key.NewBinding(key.WithKeys(keys...)) }
	return textarea.KeyMap{
		CharacterForward:        on("right", "ctrl+f"),
		CharacterBackward:       on("left", "ctrl+b"),
		WordForward:             on("alt+right", "ctrl+right", "alt+f"),
		WordBackward:            on("alt+left", "ctrl+left", "alt+b"),
		LineNext:                on("down"),
		LinePrevious:            on("up"),
		DeleteWordBackward:      on("alt+backspace", "ctrl+w", "ctrl+backspace"),
		DeleteWordForward:       on("alt+delete", "alt+d", "ctrl+delete"),
		UppercaseWordForward:    on("alt+u"),
		LowercaseWordForward:    on("alt+l"),
		CapitalizeWordForward:   on("alt+c"),
		DeleteAfterCursor:       on("ctrl+k"),
		DeleteBeforeCursor:      on("ctrl+u"),
		InsertNewline:           on("shift+enter", "alt+enter", "ctrl+j"),
		DeleteCharacterBackward: on("backspace", "ctrl+h"),
		DeleteCharacterForward:  on("delete", "ctrl+d"),
		LineStart:               on("home", "ctrl+a"),
		LineEnd:                 on("end", "ctrl+e"),
		InputBegin:              on("alt+<", "ctrl+home"),
		InputEnd:                on("alt+>", "ctrl+end"),
	}
}

// resize gives the composer its columns, margin not counted, and the most rows it may take.
func (c *composer) resize(w, most int) {
	c.area.MaxHeight = most
	c.area.SetWidth(max(w, promptCols+2))
	c.edited()
}

// edited measures the text anew and scrolls to the cursor, which the text area
// does only when it is updated.
func (c *composer) edited() {
	c.area.DynamicHeight = true
	c.area, _ = c.area.Update(nil)
	c.wants, c.old = c.area.Height(), true
	c.own = strings.HasPrefix(c.area.Value(), "!")
	c.changes++
}

// height is the number of rows that the text wants.
func (c *composer) height() int { return c.wants }

// shown is the text with its chips as labels.
func (c *composer) shown() string { return c.area.Value() }

// text is the text with its chips as what was pasted.
func (c *composer) text() string { return c.expand(c.area.Value()) }

func (c *composer) empty() bool { return c.area.Length() == 0 && c.area.LineCount() <= 1 }

// set replaces the text; the cursor is at its end.
func (c *composer) set(s string) {
	c.remember()
	if n := strings.Count(s, "\n") + 1; n > maxShown || len(s) > maxShown*chipCells {
		s = c.newChip(c.expand(s), n)
	}
	c.area.SetValue(s)
	c.edited()
}

// clear empties the composer after its text was sent.
func (c *composer) clear() {
	c.area.Reset()
	c.chips, c.past = nil, nil
	c.edited()
}

// prepend puts messages that came back before the text.
func (c *composer) prepend(s string) {
	if s == "" {
		return
	}
	if !c.empty() {
		s += "\n" + c.shown()
	}
	c.set(s)
}

// key edits the text. What is typed in a row is taken back by the word.
func (c *composer) key(msg tea.KeyPressMsg) {
	before := c.area.Value()
	state := draft{before, c.area.Line(), c.area.Column()}
	if msg.Text != "" {
		c.leaveChip()
	}
	c.area, _ = c.area.Update(msg)
	c.edited()
	after := c.area.Value()
	cuts, backward := cutKey(msg.String())
	if !cuts {
		c.kills.other()
	}
	typed := msg.Text != "" && msg.Text != " "
	defer func() { c.words = typed && after != before }()
	if after == before {
		return
	}
	if !typed || !c.words {
		c.push(state)
	}
	if len(after) < len(before) {
		c.dropBroken(before)
		if cuts {
			c.kills.cut(c.removed(before), backward)
		}
	}
}

// newline puts a line end in at the cursor.
func (c *composer) newline() { c.key(tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}) }

// continued replaces a backslash before the cursor by a line end, and says whether there was one.
func (c *composer) continued() bool {
	line := c.line()
	if col := c.area.Column(); col == 0 || col != len(line) || line[col-1] != '\\' {
		return false
	}
	c.key(tea.KeyPressMsg{Code: tea.KeyBackspace})
	c.newline()
	return true
}

// replaceWord puts s in the place of the word before the cursor.
func (c *composer) replaceWord(word, s string) {
	c.remember()
	for range utf8.RuneCountInString(word) {
		c.area, _ = c.area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	c.area.InsertString(s)
	c.edited()
}

// yank puts in what was cut last.
func (c *composer) yank() {
	if cut, ok := c.kills.newest(); ok {
		c.putIn(cut)
	}
}

// yankOlder replaces what yank put in by what was cut before it.
func (c *composer) yankOlder() {
	if cut, ok := c.kills.older(); ok {
		c.undo()
		c.putIn(cut)
	}
}

func (c *composer) putIn(cut string) {
	c.remember()
	c.leaveChip()
	c.area.InsertString(cut)
	c.edited()
	c.kills.inRow, c.kills.yanked = false, true
}

// line is the line with the cursor.
func (c *composer) line() []rune {
	lines := strings.Split(c.area.Value(), "\n")
	return []rune(lines[min(c.area.Line(), len(lines)-1)])
}

// removed is what the text lacks of before, at the cursor.
func (c *composer) removed(before string) string {
	after := c.area.Value()
	lines := strings.Split(after, "\n")
	at := 0
	for _, l := range lines[:min(c.area.Line(), len(lines)-1)] {
		at += len(l) + 1
	}
	at += len(string(c.line()[:c.area.Column()]))
	return before[at : at+len(before)-len(after)]
}

func (c *composer) remember() {
	c.words = false
	c.kills.other()
	c.push(draft{c.area.Value(), c.area.Line(), c.area.Column()})
}

func (c *composer) push(d draft) {
	if len(c.past) == maxUndo {
		c.past = append(c.past[:0], c.past[1:]...)
	}
	c.past = append(c.past, d)
}

// undo takes the last change of the text back.
func (c *composer) undo() {
	if len(c.past) == 0 {
		return
	}
	c.words = false
	c.kills.other()
	d := c.past[len(c.past)-1]
	c.past = c.past[:len(c.past)-1]
	c.area.SetValue(d.text)
	c.area.MoveToBegin()
	for range d.line {
		c.area.CursorEnd() // from another row of a long line the cursor may stay in it
		c.area.CursorDown()
	}
	c.area.SetCursorColumn(d.col)
	c.edited()
}

// atFirstRow and atLastRow say whether up and down leave the text.
func (c *composer) atFirstRow() bool {
	return c.area.Line() == 0 && c.area.LineInfo().RowOffset == 0
}

func (c *composer) atLastRow() bool {
	info := c.area.LineInfo()
	return c.area.Line() == c.area.LineCount()-1 && info.RowOffset >= info.Height-1
}

func (c *composer) atEnd() bool {
	return c.atLastRow() && c.area.Column() == len(c.line())
}

// view draws h rows, and tells where the cursor is in them.
func (c *composer) view(t *theme, h int) ([]string, *tea.Cursor) {
	cursor := c.area.Cursor()
	if c.empty() {
		rows := make([]string, h)
		hint := "type here"
		if c.area.Width() >= plainBelowW {
			hint += "; " + c.newlineKey + " for a new line"
		}
		rows[0] = t.accent.Render(t.sign.prompt) + " " + t.dim.Render(hint)
		return rows, cursor
	}
	if c.old || len(c.rows) != h {
		if c.area.Height() != h {
			c.area.DynamicHeight = false
			c.area.SetHeight(h)
			c.area, _ = c.area.Update(nil)
		}
		c.rows = strings.Split(c.area.View(), "\n")
		for len(c.rows) < h {
			c.rows = append(c.rows, "")
		}
		c.rows, c.old = c.rows[:h], false
		cursor = c.area.Cursor()
	}
	return c.rows, cursor
}
