package file

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
)

// machine is a pattern prepared for an automaton over bytes.
//
// The automaton is wider than the pattern in two places: word boundaries are taken
// as given, and a character that is not ASCII is any run of bytes from 0x80 up.
// Line ends end every attempt, as no match in line mode holds one.
type machine struct {
	prog    *syntax.Prog
	class   [256]uint8 // bytes that no part of the pattern tells apart have one class
	classes int
	sample  []byte // one byte of each class
	exact   bool   // on a line of plain ASCII it is not wider
	wide    []bool // by instruction: takes characters that are not ASCII
}

func newMachine(prog *syntax.Prog) *machine {
	m := &machine{prog: prog, exact: true, wide: make([]bool, len(prog.Inst))}
	var cut [257]bool // where a class begins
	for _, c := range []int{'\n', '\n' + 1, '\r', '\r' + 1, 0x80, 0xc0} {
		cut[c] = true
	}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		switch in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			was := false
			for c := range 0x80 {
				if is := in.MatchRune(rune(c)); is != was {
					cut[c], was = true, is
				}
			}
			m.wide[i] = takesWide(in)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
				m.exact = false
			}
		}
	}
	for c := range 256 {
		if c == 0 || cut[c] {
			m.sample = append(m.sample, byte(c))
		}
		m.class[c] = uint8(len(m.sample) - 1)
	}
	m.classes = len(m.sample)
	return m
}

// takesWide tells whether an instruction takes any character that is not ASCII.
func takesWide(in *syntax.Inst) bool {
	switch {
	case in.Op == syntax.InstRuneAny || in.Op == syntax.InstRuneAnyNotNL:
		return true
	case len(in.Rune) == 1:
		r := in.Rune[0]
		if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				if f >= 0x80 {
					return true
				}
			}
		}
		return r >= 0x80
	}
	return len(in.Rune) > 0 && in.Rune[len(in.Rune)-1] >= 0x80
}

// Limits of the states that a dfa keeps.
const (
	maxStates  = 4000
	maxFlushes = 30 // then the pattern has too many states, and the regular expression does better
)

// States of the table besides the offsets of real ones.
const (
	unknown int32 = 0
	matched int32 = -1
)

// dfa runs a machine. It makes its states when it needs them.
type dfa struct {
	*machine
	table   []int32 // by state, then class: where the next state begins
	threads [][]uint32
	states  map[string]int32
	start   int32 // at the start of a line
	flushes int
	gaveUp  bool
	doubt   bool // it was wider than the pattern on plain ASCII too

	// Of the state that is being made.
	set   []uint32
	seen  []bool
	stack []uint32
	match bool
}

func newDFA(m *machine) *dfa {
	d := &dfa{machine: m, seen: make([]bool, 2*len(m.prog.Inst))}
	d.flush()
	return d
}

func (d *dfa) flush() {
	d.table = append(d.table[:0], make([]int32, d.classes)...) // offset 0 is no state
	d.threads = append(d.threads[:0], nil)
	d.states = map[string]int32{}
	d.begin()
	d.follow(uint32(d.prog.Start), true, false)
	d.start = d.intern()
}

// scan returns the index of the byte with which the first match is certain: the
// last one of it, or the "\n" after it. -1 when no line of text may match.
func (d *dfa) scan(text []byte) int {
	s := d.start
	if s == matched {
		if len(text) == 0 {
			return -1
		}
		return 0
	}
	table, class := d.table, &d.class
	for i := 0; i < len(text); i++ {
		next := table[int(s)+int(class[text[i]])]
		if next > 0 {
			s = next
			continue
		}
		if next == unknown {
			if next = d.step(s, text[i]); d.gaveUp {
				return i
			}
			table = d.table
		}
		if next == matched {
			return i
		}
		s = next
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		next := table[int(s)+int(class['\n'])]
		if next == unknown {
			next = d.step(s, '\n')
		}
		if next == matched {
			return len(text) - 1
		}
	}
	return -1
}

// step makes the state that follows s on a byte, and enters it into the table.
func (d *dfa) step(s int32, c byte) int32 {
	from := d.threads[int(s)/d.classes]
	if len(d.threads) > maxStates {
		from = slices.Clone(from)
		if d.flushes++; d.flushes > maxFlushes {
			d.gaveUp = true
			return unknown
		}
		d.flush()
		s = 0 // it is not in the table any more
	}
	d.begin()
	for _, t := range from {
		d.advance(t, c)
	}
	var next int32
	switch {
	case c == '\n' && !d.match:
		next = d.start
	case c == '\n' || d.match:
		next = matched
	default:
		d.follow(uint32(d.prog.Start), false, false) // a match may begin anywhere
		next = d.intern()
	}
	if s > 0 {
		d.table[int(s)+int(d.class[c])] = next
	}
	return next
}

// advance adds what follows one thread on a byte. A thread is an instruction that
// takes a character or waits for the line's end; from len(prog.Inst) up it is one
// within the bytes of a character.
func (d *dfa) advance(t uint32, c byte) {
	n := uint32(len(d.prog.Inst))
	if t >= n {
		if c >= 0x80 && c < 0xc0 {
			d.add(t)
			d.follow(d.prog.Inst[t-n].Out, false, false)
		}
		return
	}
	in := &d.prog.Inst[t]
	switch {
	case in.Op == syntax.InstEmptyWidth:
		if c == '\r' {
			d.add(t)
		} else if c == '\n' {
			d.follow(in.Out, false, true)
		}
	case c == '\n':
	case c >= 0x80:
		if d.wide[t] {
			d.add(t + n)
			d.follow(in.Out, false, false)
		}
	case in.MatchRune(rune(c)):
		d.follow(in.Out, false, false)
	}
}

func (d *dfa) begin() {
	clear(d.seen)
	d.set, d.match = d.set[:0], false
}

func (d *dfa) add(t uint32) {
	if !d.seen[t] {
		d.seen[t] = true
		d.set = append(d.set, t)
	}
}

// follow adds the threads that an instruction leads to without a character.
func (d *dfa) follow(pc uint32, lineStart, lineEnd bool) {
	d.stack = append(d.stack[:0], pc)
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.seen[pc] {
			continue
		}
		in := &d.prog.Inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			d.seen[pc] = true
			d.stack = append(d.stack, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			d.seen[pc] = true
			d.stack = append(d.stack, in.Out)
		case syntax.InstMatch:
			d.match = true
		case syntax.InstEmptyWidth:
			op := syntax.EmptyOp(in.Arg)
			switch {
			case op&(syntax.EmptyBeginLine|syntax.EmptyBeginText) != 0:
				if lineStart || lineEnd {
					d.doubt = d.doubt || lineEnd // "$^" holds on an empty line only
					d.stack = append(d.stack, in.Out)
				}
			case op&(syntax.EmptyEndLine|syntax.EmptyEndText) == 0 || lineEnd:
				d.seen[pc] = true
				d.stack = append(d.stack, in.Out)
			default:
				d.add(pc)
			}
		case syntax.InstFail:
		default:
			d.add(pc)
		}
	}
}

// intern returns the state of the threads collected.
func (d *dfa) intern() int32 {
	if d.match {
		return matched
	}
	slices.Sort(d.set)
	key := make([]byte, 0, 4*len(d.set))
	for _, t := range d.set {
		key = binary.NativeEndian.AppendUint32(key, t)
	}
	if s, ok := d.states[string(key)]; ok {
		return s
	}
	s := int32(len(d.table))
	d.table = append(d.table, make([]int32, d.classes)...)
	d.threads = append(d.threads, slices.Clone(d.set))
	d.states[string(key)] = s
	return s
}
