package ui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

const (
	chipLines = 10   // a paste of more lines becomes a chip
	chipCells = 1000 // and so does one of more characters
)

// chip is a paste that is shown by a label.
type chip struct{ label, content string }

func (c *composer) expand(s string) string {
	var pairs []string
	for _, chip := range c.chips {
		pairs = append(pairs, chip.label, chip.content)
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// paste puts text in at the cursor. What is long, or cannot be shown as it is, becomes a chip.
func (c *composer) paste(s string) {
	s = cleanPaste(s)
	if s == "" {
		return
	}
	c.remember()
	c.leaveChip()
	lines := strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
	if lines > chipLines || len(s) > chipCells || strings.ContainsRune(s, '\t') {
		s = c.newChip(s, lines)
	}
	c.area.InsertString(s)
	c.edited()
}

// attach mentions the file of an image, as a chip.
func (c *composer) attach(path string) {
	c.remember()
	c.leaveChip()
	c.area.InsertString(c.label("image", `@"`+path+`"`) + " ")
	c.edited()
}

func (c *composer) newChip(content string, lines int) string {
	what := fmt.Sprintf("%d lines", lines)
	if lines == 1 {
		what = fmt.Sprintf("%d characters", utf8.RuneCountInString(content))
	}
	return c.label(what, content)
}

// label makes a chip, and returns what stands for it.
func (c *composer) label(what, content string) string {
	label := "[pasted " + what + "]"
	for n := 2; c.chipAt(label) >= 0; n++ {
		label = fmt.Sprintf("[pasted %s #%d]", what, n)
	}
	c.chips = append(c.chips, chip{label, content})
	return label
}

func (c *composer) chipAt(label string) int {
	for i, chip := range c.chips {
		if chip.label == label {
			return i
		}
	}
	return -1
}

// cleanPaste makes line ends \n, and drops all other control characters but tabs.
func cleanPaste(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, s)
}

// leaveChip moves the cursor out of a chip, so that nothing is put into its label.
func (c *composer) leaveChip() {
	line, col := string(c.line()), c.area.Column()
	for _, chip := range c.chips {
		at := strings.Index(line, chip.label)
		if at < 0 {
			continue
		}
		from := utf8.RuneCountInString(line[:at])
		if to := from + utf8.RuneCountInString(chip.label); from < col && col < to {
			c.area.SetCursorColumn(to)
			return
		}
	}
}

// dropBroken removes what is left of a chip after a part of its label was removed.
func (c *composer) dropBroken(before string) {
	for _, chip := range c.chips {
		if !strings.Contains(before, chip.label) || strings.Contains(c.area.Value(), chip.label) {
			continue
		}
		line, col := c.line(), c.area.Column()
		left, right := string(line[:col]), string(line[col:])
		head, tail := 0, 0
		for n := range chip.label {
			if n > head && strings.HasSuffix(left, chip.label[:n]) {
				head = n
			}
			if m := len(chip.label) - n; n > 0 && m > tail && strings.HasPrefix(right, chip.label[n:]) {
				tail = m
			}
		}
		for range utf8.RuneCountInString(chip.label[:head]) {
			c.area, _ = c.area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
		}
		for range tail {
			c.area, _ = c.area.Update(tea.KeyPressMsg{Code: tea.KeyDelete})
		}
	}
}
