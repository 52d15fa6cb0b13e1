package uitest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// named are keys of one or more bytes. Those with a letter or a number take
// modifiers as parameters; of the others the code point stands in CSI u.
var named = map[string]struct {
	plain string
	final byte // of CSI 1;mod X
	num   int  // of CSI num;mod ~
	code  rune // of CSI code;mod u
}{
	"up": {"\x1b[A", 'A', 0, 0}, "down": {"\x1b[B", 'B', 0, 0}, "right": {"\x1b[C", 'C', 0, 0}, "left": {"\x1b[D", 'D', 0, 0},
	"home": {"\x1b[H", 'H', 0, 0}, "end": {"\x1b[F", 'F', 0, 0},
	"insert": {"\x1b[2~", 0, 2, 0}, "delete": {"\x1b[3~", 0, 3, 0}, "pgup": {"\x1b[5~", 0, 5, 0}, "pgdown": {"\x1b[6~", 0, 6, 0},
	"f1": {"\x1bOP", 'P', 0, 0}, "f2": {"\x1bOQ", 'Q', 0, 0}, "f3": {"\x1bOR", 0, 13, 0}, "f4": {"\x1bOS", 'S', 0, 0},
	"f5": {"\x1b[15~", 0, 15, 0}, "f6": {"\x1b[17~", 0, 17, 0}, "f7": {"\x1b[18~", 0, 18, 0}, "f8": {"\x1b[19~", 0, 19, 0},
	"f9": {"\x1b[20~", 0, 20, 0}, "f10": {"\x1b[21~", 0, 21, 0}, "f11": {"\x1b[23~", 0, 23, 0}, "f12": {"\x1b[24~", 0, 24, 0},
	"enter": {"\r", 0, 0, '\r'}, "tab": {"\t", 0, 0, '\t'}, "esc": {"\x1b", 0, 0, 0x1b},
	"backspace": {"\x7f", 0, 0, 0x7f}, "space": {" ", 0, 0, ' '},
}

// KeyBytes returns what a terminal sends for a key, as "ctrl+c"; false when there is no such key.
func KeyBytes(name string) (string, bool) {
	mod, rest := 0, name
	for i, prefix := range []string{"shift+", "alt+", "ctrl+"} {
		if strings.Contains(rest, prefix) {
			mod |= 1 << i
			rest = strings.Replace(rest, prefix, "", 1)
		}
	}
	const shift, alt, ctrl = 1, 2, 4
	key, ok := named[rest]
	if !ok {
		r, n := utf8.DecodeRuneInString(rest)
		if n == 0 || n != len(rest) {
			return "", false
		}
		key.plain, key.code = rest, r
	}
	letter := key.code >= 'a' && key.code <= 'z'
	switch {
	case mod == 0:
		return key.plain, true
	case key.final != 0:
		return fmt.Sprintf("\x1b[1;%d%c", mod+1, key.final), true
	case key.num != 0:
		return fmt.Sprintf("\x1b[%d;%d~", key.num, mod+1), true
	case mod == shift && rest == "tab":
		return "\x1b[Z", true
	case mod == shift && letter:
		return strings.ToUpper(rest), true
	case mod == alt && rest != "esc":
		return "\x1b" + key.plain, true
	case mod&shift == 0 && mod&ctrl != 0 && letter && !strings.Contains("him", rest):
		raw := string(key.code & 0x1f)
		if mod&alt != 0 {
			raw = "\x1b" + raw
		}
		return raw, true
	}
	return fmt.Sprintf("\x1b[%d;%du", key.code, mod+1), true
}

// Click presses and releases the left button on a cell.
func (s *Screen) Click(x, y int) {
	s.Raw(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1))
}

// Drag presses the left button on a cell, moves to another and releases it there.
func (s *Screen) Drag(x, y, toX, toY int) {
	s.Raw(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<32;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, toX+1, toY+1, toX+1, toY+1))
}

// Wheel turns the wheel over a cell by n notches, down if positive.
func (s *Screen) Wheel(x, y, n int) {
	button := 65
	if n < 0 {
		button, n = 64, -n
	}
	s.Raw(strings.Repeat(fmt.Sprintf("\x1b[<%d;%d;%dM", button, x+1, y+1), n))
}
