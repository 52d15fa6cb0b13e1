package ui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// vim is the keys of vi in the composer, an option: esc leaves the insert mode, in
// which everything is as without it. Motions work within the line.
type vim struct {
	on     bool
	normal bool
	count  string // digits that were typed
	op     string // "d", "c" or "y", which waits for a motion; "r", which waits for a letter; "g"
	yanked string // what was cut or copied last; with a line end: whole lines
}

// key does a key, and tells whether it was one of vi's.
func (v *vim) key(c *composer, msg tea.KeyPressMsg) bool {
	k := msg.String()
	switch {
	case !v.on:
		return false
	case !v.normal:
		if k != "esc" {
			return false
		}
		v.normal = true
		if c.area.Column() > 0 {
			v.press(c, tea.KeyLeft)
		}
		return true
	case k == "esc":
		pending := v.op != "" || v.count != ""
		v.op, v.count = "", ""
		return pending
	case v.op == "r" && msg.Text != "":
		v.op = ""
		c.remember()
		v.press(c, tea.KeyDelete)
		c.key(msg)
		v.press(c, tea.KeyLeft)
		return true
	case len(k) != 1 || msg.Text == "":
		return false
	case k >= "1" && k <= "9" || k == "0" && v.count != "":
		v.count += k
		return true
	}
	v.do(c, k)
	return true
}

// insert leaves the normal mode; so does sending.
func (v *vim) insert() { v.normal, v.op, v.count = false, "", "" }

func (v *vim) do(c *composer, k string) {
	op, n := v.op, v.times()
	v.op = ""
	if op == "d" || op == "c" || op == "y" {
		v.count = ""
		if k == op {
			v.lines(c, op, n)
		} else if to, ok := motion(c.line(), c.area.Column(), k, n); ok {
			v.upTo(c, op, k, to)
		}
		return
	}
	if op == "g" {
		v.count = ""
		if k == "g" {
			c.area.MoveToBegin()
		}
		c.edited()
		return
	}
	if strings.Contains("dcyrg", k) {
		v.op = k
		return
	}
	v.count = ""
	if to, ok := motion(c.line(), c.area.Column(), k, n); ok {
		c.area.SetCursorColumn(to)
		c.edited()
		return
	}
	v.edit(c, k, n)
}

// times is the count that was typed, 1 without one.
func (v *vim) times() int {
	n := 0
	for _, r := range v.count {
		n = min(n*10+int(r-'0'), 1000)
	}
	return max(n, 1)
}

// edit does the keys that are neither motions nor wait for one.
func (v *vim) edit(c *composer, k string, n int) {
	line, col := c.line(), c.area.Column()
	switch k {
	case "i":
		v.insert()
	case "a":
		v.insert()
		c.area.SetCursorColumn(min(col+1, len(line)))
	case "I":
		v.insert()
		c.area.SetCursorColumn(firstWord(line))
	case "A":
		v.insert()
		c.area.CursorEnd()
	case "o", "O":
		v.insert()
		c.remember()
		if k == "o" {
			c.area.CursorEnd()
			c.area.InsertString("\n")
		} else {
			c.area.CursorStart()
			c.area.InsertString("\n")
			c.area.CursorUp()
		}
	case "x":
		v.upTo(c, "d", "l", min(col+n, len(line)))
	case "X":
		v.upTo(c, "d", "h", max(col-n, 0))
	case "D":
		v.upTo(c, "d", "l", len(line))
	case "C":
		v.upTo(c, "c", "l", len(line))
	case "s":
		v.upTo(c, "c", "l", min(col+n, len(line)))
	case "S":
		v.lines(c, "c", n)
	case "j":
		for range n {
			c.area.CursorDown()
		}
	case "k":
		for range n {
			c.area.CursorUp()
		}
	case "G":
		c.area.MoveToEnd()
	case "p", "P":
		v.put(c, k == "p", n)
	case "u":
		c.undo()
	case "~":
		if col < len(line) {
			r := line[col]
			if unicode.IsUpper(r) {
				r = unicode.ToLower(r)
			} else {
				r = unicode.ToUpper(r)
			}
			c.remember()
			v.press(c, tea.KeyDelete)
			c.area.InsertString(string(r))
		}
	}
	c.edited()
}

// put puts in what was cut: whole lines below or above, else after or before the cursor.
func (v *vim) put(c *composer, after bool, n int) {
	if v.yanked == "" {
		return
	}
	c.remember()
	text := strings.Repeat(v.yanked, n)
	if whole, ok := strings.CutSuffix(text, "\n"); ok {
		if after {
			c.area.CursorEnd()
			c.area.InsertString("\n" + whole)
		} else {
			c.area.CursorStart()
			c.area.InsertString(text)
		}
		return
	}
	if after {
		c.area.SetCursorColumn(min(c.area.Column()+1, len(c.line())))
	}
	c.area.InsertString(text)
}

// upTo cuts, changes or copies from the cursor to a column of the line.
func (v *vim) upTo(c *composer, op, k string, to int) {
	line, from := c.line(), c.area.Column()
	if (k == "e" || k == "$") && to < len(line) { // these take the letter that they stand on
		to++
	}
	if k == "w" && op == "c" { // as vi does: not the blanks behind the word
		for to > from+1 && unicode.IsSpace(line[to-1]) {
			to--
		}
	}
	if to < from {
		from, to = to, from
	}
	v.yanked = string(line[from:to])
	c.area.SetCursorColumn(from)
	if op != "y" && to > from {
		before := c.area.Value()
		c.remember()
		for range to - from {
			v.press(c, tea.KeyDelete)
		}
		c.dropBroken(before)
	}
	if op == "c" {
		v.insert()
	}
	c.edited()
}

// lines cuts, changes or copies whole lines.
func (v *vim) lines(c *composer, op string, n int) {
	all := strings.Split(c.area.Value(), "\n")
	from := c.area.Line()
	to := min(from+n, len(all))
	v.yanked = strings.Join(all[from:to], "\n") + "\n"
	if op == "y" {
		return
	}
	rest := append(append([]string(nil), all[:from]...), all[to:]...)
	if op == "c" {
		rest = append(append(append([]string(nil), all[:from]...), ""), all[to:]...)
		v.insert()
	}
	c.remember()
	c.area.SetValue(strings.Join(rest, "\n"))
	c.area.MoveToBegin()
	for range min(from, max(0, len(rest)-1)) {
		c.area.CursorEnd()
		c.area.CursorDown()
	}
	c.area.CursorStart()
	c.edited()
}

func (v *vim) press(c *composer, code rune) { c.area, _ = c.area.Update(tea.KeyPressMsg{Code: code}) }

// motion is the column that a motion leads to, n times over.
func motion(line []rune, col int, k string, n int) (to int, ok bool) {
	to = col
	for range n {
		switch k {
		case "h":
			to--
		case "l":
			to++
		case "0":
			to = 0
		case "^":
			to = firstWord(line)
		case "$":
			to = len(line) - 1
		case "w":
			to = nextWord(line, to)
		case "b":
			to = wordStart(line, to)
		case "e":
			to = wordEnd(line, to)
		default:
			return col, false
		}
	}
	if k == "w" || k == "l" {
		return max(0, min(to, len(line))), true
	}
	return max(0, min(to, len(line)-1)), true
}

func firstWord(line []rune) int {
	i := 0
	for i < len(line) && unicode.IsSpace(line[i]) {
		i++
	}
	return i
}

// class tells blanks, letters and all other characters apart.
func class(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
		return 1
	}
	return 2
}

func nextWord(line []rune, at int) int {
	for i := at; i < len(line); i++ {
		if at = i + 1; i+1 < len(line) && class(line[i]) != class(line[i+1]) && class(line[i+1]) != 0 {
			break
		}
	}
	return at
}

func wordStart(line []rune, at int) int {
	at--
	for at > 0 && class(line[at]) == 0 {
		at--
	}
	for at > 0 && class(line[at-1]) == class(line[at]) {
		at--
	}
	return at
}

func wordEnd(line []rune, at int) int {
	at++
	for at < len(line) && class(line[at]) == 0 {
		at++
	}
	for at+1 < len(line) && class(line[at+1]) == class(line[at]) {
		at++
	}
	return at
}
