// Package md renders markdown, also while it is still arriving, to lines of a
// terminal.
//
//	Write ──► cleaned ──► open block ──► a later block begins ──► finished: rendered once
//	                          │
//	                          └──► rendered again when it grew and lines are asked for
//
// A CommonMark block cannot change once a later top-level block has begun, so
// only the last block is ever parsed and rendered again. An open listing is not
// even that: its lines are added as plain text, and coloured when it is closed.
// What stays the same however a document arrives is what [Stream.Lines] returns
// after [Stream.Finish].
package md

import (
	"github.com/phero-agent/agent/ui/text"
	"github.com/phero-agent/agent/ui/text/syntax"
)

// Theme is how the parts of a document look. The zero value has no colours and
// is readable: every part has signs as well.
type Theme struct {
	Heading text.Style // also its # signs
	Strong  text.Style // bold if empty
	Emph    text.Style // italic if empty
	Strike  text.Style // struck through if empty
	Code    text.Style // code within text
	Block   text.Style // listings, where no syntax colour applies
	Link    text.Style // a link's text
	URL     text.Style // the address behind it
	Quote   text.Style // the bar before quoted lines
	Marker  text.Style // bullets and numbers
	Rule    text.Style // thematic breaks and the lines of tables

	Syntax syntax.Theme
	ASCII  bool // signs of ASCII only
}

// signs are the symbols in use.
type signs struct{ bullet, bar, line, cross string }

func (t *Theme) signs() signs {
	if t.ASCII {
		return signs{bullet: "-", bar: "|", line: "-", cross: "+"}
	}
	return signs{bullet: "•", bar: "│", line: "─", cross: "┼"}
}

func (t *Theme) strong() text.Style { return or(t.Strong, "1") }
func (t *Theme) emph() text.Style   { return or(t.Emph, "3") }
func (t *Theme) strike() text.Style { return or(t.Strike, "9") }

func or(st, other text.Style) text.Style {
	if st == "" {
		return other
	}
	return st
}
