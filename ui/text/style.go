package text

import (
	"strconv"
	"strings"
)

// Style is the parameters of an SGR sequence, as "1;36" for bold cyan. The empty
// style adds nothing.
type Style string

// Reset ends all styles.
const Reset = "\x1b[m"

// StyleOf returns what a renderer, as the Render method of a lipgloss style,
// puts before its text. Use it for styles of characters, not of blocks.
func StyleOf(render func(...string) string) Style {
	before, _, _ := strings.Cut(render("x"), "x")
	var p pen
	for before != "" {
		n, width := next(before)
		if params, ok := sgrParams(before[:n]); width == escape && ok {
			p.apply(params)
		}
		before = before[n:]
	}
	return p.style()
}

// Render returns s in the style. Styles inside of s are laid over it, and where
// they end the style is taken up again.
func (st Style) Render(s string) string {
	if st == "" || s == "" {
		return s
	}
	open := st.Open()
	if strings.Contains(s, Reset) {
		s = strings.ReplaceAll(s, Reset, Reset+open)
	}
	return open + s + Reset
}

// Open returns the sequence that begins the style.
func (st Style) Open() string {
	if st == "" {
		return ""
	}
	return "\x1b[" + string(st) + "m"
}

// With returns a style that adds o to st.
func (st Style) With(o Style) Style {
	switch {
	case st == "":
		return o
	case o == "":
		return st
	}
	return st + ";" + o
}

// color is a colour of a pen: none, one of 256 (kind 1) or RGB (kind 2).
type color struct {
	kind    uint8
	r, g, b uint8 // r is the index when kind is 1
}

type attrs uint8

const (
	bold attrs = 1 << iota
	faint
	italic
	underline
	reverse
	strike
)

// attrCodes are the SGR codes of attributes, in the order of their bits. Blinking
// and concealed text are left out: nothing may hide.
const attrCodes = "123479"

// pen is how text is drawn.
type pen struct {
	fg, bg color
	attrs  attrs
}

// apply changes the pen by the parameters of an SGR sequence.
func (p *pen) apply(params string) {
	for {
		field, rest, more := strings.Cut(params, ";")
		code, sub, _ := strings.Cut(field, ":")
		n, _ := strconv.Atoi(code)
		switch {
		case n == 38 || n == 48:
			var c color
			if sub != "" {
				c = colorOf(strings.Split(sub, ":"))
			} else {
				c, rest = colorAhead(rest)
				more = rest != ""
			}
			if n == 38 {
				p.fg = c
			} else {
				p.bg = c
			}
		case n == 4 && sub == "0":
			p.attrs &^= underline
		default:
			p.code(n)
		}
		if !more {
			return
		}
		params = rest
	}
}

func (p *pen) code(n int) {
	switch {
	case n == 0:
		*p = pen{}
	case n < 10:
		if i := strings.IndexByte(attrCodes, byte('0'+n)); i >= 0 {
			p.attrs |= 1 << i
		}
	case n == 21: // doubly underlined
		p.attrs |= underline
	case n == 22:
		p.attrs &^= bold | faint
	case n == 23:
		p.attrs &^= italic
	case n == 24:
		p.attrs &^= underline
	case n == 27:
		p.attrs &^= reverse
	case n == 29:
		p.attrs &^= strike
	case n >= 30 && n < 38:
		p.fg = color{kind: 1, r: uint8(n - 30)}
	case n == 39:
		p.fg = color{}
	case n >= 40 && n < 48:
		p.bg = color{kind: 1, r: uint8(n - 40)}
	case n == 49:
		p.bg = color{}
	case n >= 90 && n < 98:
		p.fg = color{kind: 1, r: uint8(n - 90 + 8)}
	case n >= 100 && n < 108:
		p.bg = color{kind: 1, r: uint8(n - 100 + 8)}
	}
}

// colorAhead takes the fields of a colour off the front of params, as 5;208.
func colorAhead(params string) (c color, rest string) {
	n := 2
	if strings.HasPrefix(params, "2;") {
		n = 4
	}
	fields := strings.SplitN(params, ";", n+1)
	if len(fields) > n {
		rest = fields[n]
		fields = fields[:n]
	}
	return colorOf(fields), rest
}

// colorOf reads the fields 5,index or 2,r,g,b or 2,space,r,g,b.
func colorOf(fields []string) color {
	at := func(i int) uint8 {
		n, _ := strconv.ParseUint(fields[i], 10, 8)
		return uint8(n)
	}
	switch {
	case len(fields) >= 2 && fields[0] == "5":
		return color{kind: 1, r: at(1)}
	case len(fields) == 4 && fields[0] == "2":
		return color{2, at(1), at(2), at(3)}
	case len(fields) >= 5 && fields[0] == "2":
		return color{2, at(2), at(3), at(4)}
	}
	return color{}
}

// style returns the pen as the parameters of one SGR sequence.
func (p pen) style() Style {
	var b []byte
	for i := range len(attrCodes) {
		if p.attrs&(1<<i) != 0 {
			b = append(b, attrCodes[i], ';')
		}
	}
	b = p.fg.appendTo(b, 30)
	b = p.bg.appendTo(b, 40)
	return Style(strings.TrimSuffix(string(b), ";"))
}

func (c color) appendTo(b []byte, base int64) []byte {
	switch {
	case c.kind == 0:
		return b
	case c.kind == 1 && c.r < 8:
		b = strconv.AppendInt(b, base+int64(c.r), 10)
	case c.kind == 1 && c.r < 16:
		b = strconv.AppendInt(b, base+60+int64(c.r-8), 10)
	case c.kind == 1:
		b = append(strconv.AppendInt(b, base+8, 10), ";5;"...)
		b = strconv.AppendInt(b, int64(c.r), 10)
	default:
		b = append(strconv.AppendInt(b, base+8, 10), ";2"...)
		for _, v := range []uint8{c.r, c.g, c.b} {
			b = strconv.AppendInt(append(b, ';'), int64(v), 10)
		}
	}
	return append(b, ';')
}

// open returns the sequence that sets this pen on a terminal without styles.
func (p pen) open() string { return p.style().Open() }

// change returns the sequence from pen p to pen o.
func (p pen) change(o pen) string {
	switch {
	case p == o:
		return ""
	case o == pen{}:
		return Reset
	case p == pen{}:
		return o.open()
	}
	return Reset + o.open() // not one sequence: so a style around finds where its part ends
}
