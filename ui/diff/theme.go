package diff

import (
	"github.com/phero-agent/agent/ui/text"
	"github.com/phero-agent/agent/ui/text/syntax"
)

// Theme is how a diff looks. The zero value has no colours and is readable.
type Theme struct {
	Add, Del         text.Style // signs, and whole lines where there is no background
	AddLine, DelLine text.Style // background of changed lines; empty where colours are few
	AddWord, DelWord text.Style // what changed within a line; bold and underlined if empty
	Number           text.Style // line numbers
	Gap              text.Style // what is said between hunks, and the line between halves
	Mark             text.Style // signs for characters that would not be seen

	Syntax syntax.Theme
	ASCII  bool // signs of ASCII only, in what is not the text itself
}

// signs are the symbols in use.
type signs struct{ minus, gap, bar, left, right, tab, dot string }

func (t *Theme) signs() signs {
	if t.ASCII {
		return signs{minus: "-", gap: ":", bar: "|", left: "<", right: ">", tab: ">", dot: "."}
	}
	return signs{minus: "−", gap: "⋮", bar: "│", left: "‹", right: "›", tab: "→", dot: "·"}
}

// look is how lines of one kind are drawn.
type look struct {
	sign           string
	fg, line, word text.Style
	colored        bool // in the colours of the language, not in fg
}

func (t *Theme) look(kind byte) look {
	word := func(st text.Style) text.Style {
		if st == "" {
			return "1;4"
		}
		return st
	}
	switch kind {
	case '+':
		return look{"+", t.Add, t.AddLine, word(t.AddWord), t.AddLine != ""}
	case '-':
		return look{t.signs().minus, t.Del, t.DelLine, word(t.DelWord), t.DelLine != ""}
	}
	return look{sign: " ", colored: true}
}
