package file

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// clip shortens text to n characters, with a mark where it was cut.
func clip(text string, n int) string {
	if len(text) <= n || utf8.RuneCountInString(text) <= n {
		return text
	}
	return text[:runeOffset(text, n)] + "…"
}

// runeOffset returns where in text its character number n begins.
func runeOffset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// showBytes makes text valid UTF-8: a byte that is none is shown as \xNN.
func showBytes(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[text[i]>>4])
			b.WriteByte(hex[text[i]&15])
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// plural gives "1 line" and "2 lines".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
