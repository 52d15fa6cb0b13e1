package syntax

import (
	"github.com/alecthomas/chroma/v2"

	"github.com/phero-agent/agent/ui/text"
)

// Theme is how the parts of code look. The zero value colours nothing.
type Theme struct {
	Keyword   text.Style
	Type      text.Style // types and classes
	Function  text.Style // functions, where they are named
	Builtin   text.Style // what the language brings, and its constants
	Attribute text.Style // attributes, decorators, keys
	Tag       text.Style // elements of markup, headings
	String    text.Style
	Number    text.Style
	Comment   text.Style
	Operator  text.Style
	Inserted  text.Style // in a diff
	Deleted   text.Style
}

// Dark returns the colours for a dark background. Like those of [Light] they have
// a contrast of at least 4.5 to 1, also on the tints of changed lines in a diff.
func Dark() Theme {
	return Theme{
		Keyword: "38;2;198;146;233", Type: "38;2;229;192;123", Function: "38;2;97;175;239", Builtin: "38;2;86;182;194",
		Attribute: "38;2;209;154;102", Tag: "38;2;235;135;143", String: "38;2;152;195;121", Number: "38;2;209;154;102",
		Comment: "3;38;2;152;158;170", Operator: "38;2;171;178;191", Inserted: "38;2;152;195;121", Deleted: "38;2;235;135;143",
	}
}

// Light returns the colours for a light background.
func Light() Theme {
	return Theme{
		Keyword: "38;2;134;44;160", Type: "38;2;122;82;0", Function: "38;2;21;88;170", Builtin: "38;2;0;107;117",
		Attribute: "38;2;143;72;0", Tag: "38;2;176;38;46", String: "38;2;40;112;32", Number: "38;2;143;72;0",
		Comment: "3;38;2;98;104;116", Operator: "38;2;73;78;88", Inserted: "38;2;40;112;32", Deleted: "38;2;176;38;46",
	}
}

func (t *Theme) style(tt chroma.TokenType) text.Style {
	switch tt {
	case chroma.KeywordType, chroma.NameClass, chroma.NameException, chroma.NameNamespace:
		return t.Type
	case chroma.KeywordConstant, chroma.NameConstant, chroma.LiteralStringEscape:
		return t.Builtin
	case chroma.NameTag, chroma.GenericHeading, chroma.GenericSubheading:
		return t.Tag
	case chroma.NameAttribute, chroma.NameDecorator, chroma.NameProperty, chroma.NameLabel:
		return t.Attribute
	case chroma.GenericInserted:
		return t.Inserted
	case chroma.GenericDeleted:
		return t.Deleted
	case chroma.OperatorWord:
		return t.Keyword
	}
	switch tt.SubCategory() {
	case chroma.NameFunction:
		return t.Function
	case chroma.NameBuiltin:
		return t.Builtin
	case chroma.LiteralString:
		return t.String
	case chroma.LiteralNumber:
		return t.Number
	}
	switch tt.Category() {
	case chroma.Keyword:
		return t.Keyword
	case chroma.Comment:
		return t.Comment
	case chroma.Operator:
		return t.Operator
	}
	return ""
}
