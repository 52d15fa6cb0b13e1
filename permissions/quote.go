package permissions

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// unquote is a word without its quotes and escapes. Expansions stay as written.
func (w *walker) unquote(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			unescape(&b, joinLines(w.source(p)), "")
		case *syntax.SglQuoted:
			if p.Dollar {
				unescapeC(&b, p.Value)
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if isLit(q) {
					unescape(&b, strings.ReplaceAll(w.source(q), "\\\n", ""), "$`\"\\")
				} else {
					b.WriteString(w.source(q))
				}
			}
		default:
			b.WriteString(w.source(p))
		}
	}
	return b.String()
}

// unescape removes backslashes, inside double quotes only those before the
// characters in only.
func unescape(b *strings.Builder, s, only string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
}

// unescapeC reads the escapes of $'…'.
func unescapeC(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c == 'x':
			i += number(b, s[i+1:], 16, 2, false)
		case c == 'u':
			i += number(b, s[i+1:], 16, 4, true)
		case c == 'U':
			i += number(b, s[i+1:], 16, 8, true)
		case c >= '0' && c <= '7':
			i += number(b, s[i:], 8, 3, false) - 1
		case c == 'c' && i+1 < len(s):
			i++
			b.WriteByte(s[i] & 0x1f)
		default:
			if at := strings.IndexByte("abeEfnrtv", c); at >= 0 {
				c = "\a\b\x1b\x1b\f\n\r\t\v"[at]
			}
			b.WriteByte(c)
		}
	}
}

// number writes the character of a number at the beginning of s, and returns how
// many digits it has.
func number(b *strings.Builder, s string, base, most int, char bool) int {
	n := 0
	for n < most && n < len(s) {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	if n == 0 {
		return 0
	}
	v, _ := strconv.ParseUint(s[:n], base, 64)
	if char && v <= utf8.MaxRune {
		b.WriteRune(rune(v))
	} else {
		b.WriteByte(byte(v))
	}
	return n
}
