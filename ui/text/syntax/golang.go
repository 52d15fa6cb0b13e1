package syntax

import c "github.com/alecthomas/chroma/v2"

// golang is chroma's lexer for Go, without templates in raw strings.
func golang() c.Lexer {
	return c.MustNewLexer(&c.Config{Name: "Go", Aliases: []string{"go", "golang"}, Filenames: []string{"*.go"}}, goRules)
}

func goRules() c.Rules {
	types := []string{
		"uint", "uint8", "uint16", "uint32", "uint64", "int", "int8", "int16", "int32", "int64", "float32", "float64",
		"complex64", "complex128", "byte", "rune", "string", "bool", "error", "uintptr", "any", "comparable",
	}
	calls := append([]string{
		"print", "println", "panic", "recover", "close", "complex", "real", "imag", "len", "cap", "append", "copy",
		"delete", "new", "make", "clear", "min", "max",
	}, types...)
	return c.Rules{
		"root": {
			{Pattern: `\s+`, Type: c.TextWhitespace},
			{Pattern: `//[^\n\r]*`, Type: c.CommentSingle},
			{Pattern: `/\*(.|\n)*?\*/`, Type: c.CommentMultiline},
			{Pattern: `(import|package)\b`, Type: c.KeywordNamespace},
			{Pattern: `(var|func|struct|map|chan|type|interface|const)\b`, Type: c.KeywordDeclaration},
			{Pattern: c.Words(``, `\b`, "break", "default", "select", "case", "defer", "go", "else", "goto", "switch",
				"fallthrough", "if", "range", "continue", "for", "return"), Type: c.Keyword},
			{Pattern: `(true|false|iota|nil)\b`, Type: c.KeywordConstant},
			{Pattern: c.Words(``, `\b(?=\()`, calls...), Type: c.NameBuiltin},
			{Pattern: c.Words(``, `\b`, types...), Type: c.KeywordType},
			{Pattern: `0[xX][0-9a-fA-F_]+(\.[0-9a-fA-F_]*)?([pP][+-]?[0-9_]+)?i?`, Type: c.LiteralNumberHex},
			{Pattern: `0[bB][01_]+i?`, Type: c.LiteralNumberBin},
			{Pattern: `([0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9_]+)?i?`, Type: c.LiteralNumberFloat},
			{Pattern: `[0-9][0-9_]*[eE][+-]?[0-9_]+i?`, Type: c.LiteralNumberFloat},
			{Pattern: `0[oO]?[0-7_]+i?`, Type: c.LiteralNumberOct},
			{Pattern: `[0-9][0-9_]*i?`, Type: c.LiteralNumberInteger},
			{Pattern: `'(\\['"\\abfnrtv]|\\x[0-9a-fA-F]{2}|\\[0-7]{1,3}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|[^\\\n])'`, Type: c.LiteralStringChar},
			{Pattern: "`[^`]*`?", Type: c.LiteralString},
			{Pattern: `"(\\.|[^"\\\n])*"?`, Type: c.LiteralString},
			{Pattern: `(<<=|>>=|<<|>>|<=|>=|&\^=|&\^|\+=|-=|\*=|/=|%=|&=|\|=|&&|\|\||<-|\+\+|--|==|!=|:=|\.\.\.|[+\-*/%&^|<>=!~])`, Type: c.Operator},
			{Pattern: `[A-Za-z_]\w*(?=\s*\()`, Type: c.NameFunction},
			{Pattern: `[()\[\]{}.,;:]`, Type: c.Punctuation},
			{Pattern: `[^\W\d]\w*`, Type: c.NameOther},
			{Pattern: `.`, Type: c.Text},
		},
	}
}
