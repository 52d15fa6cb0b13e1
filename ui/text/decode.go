package text

import "unicode/utf8"

// sink takes what a [decoder] finds.
type sink interface {
	ascii(run []byte)              // printable ASCII
	rune(r rune)                   // any other character that may be shown
	control(c byte)                // \a \b \t \n \r and \f \v
	csi(final byte, params []byte) // a control sequence; params only digits, ';' and ':'
}

// Limits of what a sequence may take before the decoder gives it up.
const (
	maxParams = 64
	maxString = 64 << 10
)

type state uint8

const (
	ground state = iota
	afterEsc
	inEsc    // ESC and intermediate bytes: waits for the final byte
	inCSI    // collects parameters
	inString // OSC, DCS, APC, PM, SOS: swallowed up to its end
)

// decoder splits terminal output, in pieces of any size, into characters and
// controls. Strings such as OSC are swallowed, characters that are invisible or
// that reorder others dropped.
type decoder struct {
	state   state
	params  []byte
	odd     bool // the control sequence has other bytes than parameters of ours
	swallow int  // bytes of a string so far
	osc     bool // the string ends at BEL and at a line's end too
	lead    bool // the last byte of the string was 0xC2, of which 0x9C makes ST
	partial []byte
	filter  filter
}

// feed decodes p.
func (d *decoder) feed(p []byte, to sink) {
	for len(p) > 0 {
		if d.state != ground {
			n := d.sequence(p, to)
			p = p[n:]
			continue
		}
		if len(d.partial) > 0 {
			p = d.join(p, to)
			continue
		}
		if n := asciiRun(p); n > 0 {
			d.filter.reset(rune(p[n-1]))
			to.ascii(p[:n])
			p = p[n:]
			continue
		}
		if p[0] < utf8.RuneSelf {
			d.control(p[0], to)
			p = p[1:]
			continue
		}
		if !utf8.FullRune(p) {
			d.partial = append(d.partial, p...)
			return
		}
		r, n := utf8.DecodeRune(p)
		d.rune(r, to)
		p = p[n:]
	}
}

// flush ends the text: an incomplete character is shown as one that is broken.
func (d *decoder) flush(to sink) {
	for range d.partial {
		d.rune(utf8.RuneError, to)
	}
	d.partial = d.partial[:0]
	d.state = ground
}

// join completes the character of which the last piece had the beginning.
func (d *decoder) join(p []byte, to sink) []byte {
	for len(p) > 0 && !utf8.FullRune(d.partial) {
		d.partial = append(d.partial, p[0])
		p = p[1:]
	}
	if !utf8.FullRune(d.partial) {
		return nil
	}
	r, size := utf8.DecodeRune(d.partial)
	if r != utf8.RuneError || size > 1 {
		d.partial = d.partial[:0]
		d.rune(r, to)
		return p
	}
	// The byte that broke the character may begin another.
	last := d.partial[len(d.partial)-1]
	for range len(d.partial) - 1 {
		d.rune(r, to)
	}
	d.partial = d.partial[:0]
	return append([]byte{last}, p...)
}

func asciiRun(p []byte) int {
	for i, c := range p {
		if c < 0x20 || c >= 0x7f {
			return i
		}
	}
	return len(p)
}

func (d *decoder) control(c byte, to sink) {
	switch c {
	case 0x1b:
		d.state = afterEsc
	case '\a', '\b', '\t', '\n', '\v', '\f', '\r':
		d.filter.reset(0)
		to.control(c)
	}
}

func (d *decoder) rune(r rune, to sink) {
	switch r {
	case 0x9b:
		d.begin(inCSI, false)
	case 0x9d:
		d.begin(inString, true)
	case 0x90, 0x98, 0x9e, 0x9f:
		d.begin(inString, false)
	default:
		if r >= 0xa0 {
			d.filter.rune(r, to)
		}
	}
}

func (d *decoder) begin(s state, osc bool) {
	d.state, d.osc, d.odd, d.lead, d.swallow = s, osc, false, false, 0
	d.params = d.params[:0]
}

// sequence reads on in a sequence and returns how many bytes it took.
func (d *decoder) sequence(p []byte, to sink) int {
	if d.state == inString {
		return d.inString(p)
	}
	c := p[0]
	switch {
	case c == 0x1b:
		d.state = afterEsc
	case c < 0x20 || c == 0x7f: // carried out inside of a sequence; CAN and SUB end it
		if c == 0x18 || c == 0x1a {
			d.state = ground
			return 1
		}
		was := d.state
		d.control(c, to)
		d.state = was
	case c >= 0x80:
		d.state = ground
		return 0
	case d.state == afterEsc:
		d.escape(c)
	case d.state == inEsc:
		if c >= 0x30 {
			d.state = ground
		}
	case c >= 0x40:
		d.state = ground
		if !d.odd {
			to.csi(c, d.params)
		}
	case c >= '0' && c <= ';' && len(d.params) < maxParams:
		d.params = append(d.params, c)
	default:
		d.odd = true
	}
	return 1
}

func (d *decoder) escape(c byte) {
	switch c {
	case '[':
		d.begin(inCSI, false)
	case ']':
		d.begin(inString, true)
	case 'P', 'X', '^', '_':
		d.begin(inString, false)
	default:
		d.state = ground
		if c < 0x30 {
			d.state = inEsc
		}
	}
}

// inString swallows a string, which ends at ST, at any other escape, and so that
// a stray beginning cannot hide what follows, after 64 KiB; an OSC ends at a
// line's end as well.
func (d *decoder) inString(p []byte) int {
	for i, c := range p {
		lead := d.lead
		d.lead = c == 0xc2
		switch {
		case c == 0x1b:
			d.state = afterEsc
			return i + 1
		case c == '\n' && d.osc:
			d.state = ground
			return i
		case c == 0x18, c == 0x1a, c == '\a' && d.osc, c == 0x9c && lead:
			d.state = ground
			return i + 1
		}
		if d.swallow++; d.swallow >= maxString {
			d.state = ground
			return i + 1
		}
	}
	return len(p)
}
