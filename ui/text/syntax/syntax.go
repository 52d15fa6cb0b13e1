// Package syntax colours source code. The rules are those of chroma: its Go
// lexer in golang.go, the others as the XML files of its repository in lexers.
// They are read when the first code is coloured: chroma's own registry would
// read all of them, and five times as many, at the start of the program.
package syntax

import (
	"embed"
	"path"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"

	"github.com/phero-agent/agent/ui/text"
)

// What is longer is not coloured: it would be felt as a stutter.
const (
	maxBytes = 16 << 10
	maxLines = 400
)

//go:embed lexers/*.xml
var files embed.FS

// languages is what can be coloured.
type languages struct {
	registry *chroma.LexerRegistry
	byFile   map[string]string // whole names and extensions, as "Makefile" and ".go", to names of languages
}

// known reads the heads of all lexers; the rules of one are read when it is used.
var known = sync.OnceValue(func() languages {
	k := languages{chroma.NewLexerRegistry(), map[string]string{}}
	k.add(golang())
	entries, err := files.ReadDir("lexers")
	if err != nil {
		return k
	}
	for _, e := range entries {
		if lexer, err := chroma.NewXMLLexer(files, path.Join("lexers", e.Name())); err == nil {
			k.add(lexer)
		}
	}
	return k
})

// add registers a lexer. Of two for the same files the one with the higher
// priority counts.
func (k languages) add(lexer chroma.Lexer) {
	k.registry.Register(lexer)
	c := lexer.Config()
	for _, glob := range c.Filenames {
		name := strings.TrimPrefix(glob, "*")
		if strings.ContainsAny(name, "*?[") {
			continue
		}
		if old, ok := k.byFile[name]; ok && priority(k.registry.Get(old)) >= priority(lexer) {
			continue
		}
		k.byFile[name] = c.Name
	}
}

func priority(l chroma.Lexer) float32 {
	if p := l.Config().Priority; p != 0 {
		return p
	}
	return 1
}

// Language returns the name of the language of a file by its name, or "" if it
// is not known.
func Language(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	byFile := known().byFile
	if lang, ok := byFile[base]; ok {
		return lang
	}
	for i := strings.IndexByte(base, '.'); i >= 0; {
		ext := base[i:]
		if lang, ok := byFile[ext]; ok {
			return lang
		}
		if lang, ok := byFile[strings.ToLower(ext)]; ok {
			return lang
		}
		n := strings.IndexByte(base[i+1:], '.')
		if n < 0 {
			break
		}
		i += 1 + n
	}
	return ""
}

// find returns the lexer of a language by its name, an alias or an extension.
func find(lang string) chroma.Lexer {
	lang = strings.ToLower(strings.Trim(lang, ".{} "))
	for _, l := range known().registry.Lexers {
		c := l.Config()
		if strings.EqualFold(c.Name, lang) {
			return l
		}
		for _, alias := range c.Aliases {
			if strings.EqualFold(alias, lang) {
				return l
			}
		}
	}
	if name, ok := known().byFile["."+lang]; ok {
		return known().registry.Get(name)
	}
	return nil
}

// Span is a piece of a line in one style.
type Span struct {
	Text  string
	Style text.Style
}

// Lines returns the lines of code in colours, tabs as spaces, or nil like [Spans].
func Lines(lang, code string, t *Theme) []string {
	spans := Spans(lang, code, t)
	if spans == nil {
		return nil
	}
	lines := make([]string, len(spans))
	var b strings.Builder
	for i, line := range spans {
		b.Reset()
		for _, s := range line {
			b.WriteString(s.Style.Render(s.Text))
		}
		lines[i] = text.Untab(b.String())
	}
	return lines
}

// Spans returns the lines of code in pieces of one style, which together are
// exactly the code. It returns nil for a language that it does not know, a theme
// without colours and code that is too long. Code must be clean text.
func Spans(lang, code string, t *Theme) (lines [][]Span) {
	code = strings.TrimSuffix(code, "\n")
	want := 1 + strings.Count(code, "\n")
	if lang == "" || *t == (Theme{}) || len(code) > maxBytes || want > maxLines {
		return nil
	}
	lexer := find(lang)
	if lexer == nil {
		return nil
	}
	defer func() { // an iterator reports errors by panicking
		if recover() != nil {
			lines = nil
		}
	}()
	tokens, err := lexer.Tokenise(nil, code)
	if err != nil {
		return nil
	}
	if lines = split(tokens, t); len(lines) > want { // a lexer may add a line end
		lines = lines[:want]
	}
	if !spells(lines, code) {
		return nil
	}
	return lines
}

// split makes lines of tokens.
func split(tokens chroma.Iterator, t *Theme) [][]Span {
	lines := [][]Span{nil}
	for tok := range tokens.Stdlib() {
		style := t.style(tok.Type)
		for i, part := range strings.Split(tok.Value, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if part != "" {
				last := len(lines) - 1
				lines[last] = append(lines[last], Span{part, style})
			}
		}
	}
	return lines
}

// spells reports whether lines are the code: colours must not change what it says.
func spells(lines [][]Span, code string) bool {
	for i, line := range lines {
		if i > 0 {
			var ok bool
			if code, ok = strings.CutPrefix(code, "\n"); !ok {
				return false
			}
		}
		for _, s := range line {
			var ok bool
			if code, ok = strings.CutPrefix(code, s.Text); !ok {
				return false
			}
		}
	}
	return code == ""
}
