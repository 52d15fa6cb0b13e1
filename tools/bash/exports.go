package bash

import "strings"

// parseExports reads what `export -p` prints: one line for each exported
// variable, its value quoted, so that it can hold newlines. Arrays, which no
// command inherits, and variables without a value are left out. ok is false
// when the text is anything else.
func parseExports(text string) (vars map[string]string, ok bool) {
	vars = map[string]string{}
	for text != "" {
		rest, found := strings.CutPrefix(text, "export ")
		if !found { // bash without POSIX mode
			if rest, found = strings.CutPrefix(text, "declare "); !found {
				return nil, false
			}
		}
		array := false
		if attributes, after, found := strings.Cut(rest, " "); found && strings.HasPrefix(attributes, "-") {
			array, rest = strings.ContainsAny(attributes, "aA"), after
		}
		end := strings.IndexAny(rest, "=\n")
		if end < 0 {
			return nil, false
		}
		name := rest[:end]
		rest = rest[end:]
		value, set := "", rest[0] == '='
		if set {
			if value, rest, ok = bashWord(rest[1:]); !ok {
				return nil, false
			}
		}
		if text, ok = strings.CutPrefix(rest, "\n"); !ok {
			return nil, false
		}
		if set && !array {
			vars[name] = value
		}
	}
	return vars, true
}

// bashWord reads a word as bash quotes it, up to the first newline that is not quoted.
func bashWord(text string) (word, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		n := 0
		switch {
		case text[i] == '\n':
			return b.String(), text[i:], true
		case text[i] == '"':
			n = doubleQuoted(&b, text[i+1:])
		case strings.HasPrefix(text[i:], "$'"):
			i++
			n = ansiQuoted(&b, text[i+1:])
		default:
			b.WriteByte(text[i])
			continue
		}
		if n == 0 {
			return "", "", false
		}
		i += n
	}
	return "", "", false
}

// doubleQuoted reads up to the closing quote, and tells how many bytes that
// were; 0 when there is none.
func doubleQuoted(b *strings.Builder, text string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return i + 1
		case text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0:
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(text[i])
		}
	}
	return 0
}

// ansiQuoted does the same for the rest of $'…'.
func ansiQuoted(b *strings.Builder, text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] == '\'' {
			return i + 1
		}
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		if i++; i == len(text) {
			return 0
		}
		if at := strings.IndexByte(`abefnrtvE`, text[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b"[at])
			continue
		}
		digits, code := 0, byte(0)
		for ; digits < 3 && i+digits < len(text) && text[i+digits] >= '0' && text[i+digits] <= '7'; digits++ {
			code = code<<3 | (text[i+digits] - '0')
		}
		if digits == 0 {
			b.WriteByte(text[i]) // a quote or a backslash
			continue
		}
		b.WriteByte(code)
		i += digits - 1
	}
	return 0
}
