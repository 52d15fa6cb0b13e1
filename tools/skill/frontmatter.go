package skill

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxName        = 64   // characters
	maxDescription = 1024 // characters

	// The YAML library needs time and memory that grow with the square of the
	// nesting, and without bound for aliases of aliases. Within these bounds the
	// worst input takes a few milliseconds.
	maxFrontmatter = 64 << 10 // bytes
	maxTokens      = 4096
	maxNesting     = 16 // of [ and {
)

// frontmatter is the YAML at the head of a SKILL.md; other keys are ignored.
type frontmatter struct {
	Name          string         `yaml:"name"`
	Description   string         `yaml:"description"`
	License       string         `yaml:"license"`
	Compatibility string         `yaml:"compatibility"`
	Metadata      map[string]any `yaml:"metadata"`
	AllowedTools  any            `yaml:"allowed-tools"`
}

// parseSkill reads the text of a SKILL.md: a line of ---, YAML, a line of ---, the body.
func parseSkill(data []byte) (*Skill, error) {
	head, body, err := split(data)
	if err != nil {
		return nil, err
	}
	var fm frontmatter
	if err := decodeYAML(head, &fm); err != nil {
		return nil, fmt.Errorf("the front matter of SKILL.md: %w", err)
	}
	allowed, err := allowedTools(fm.AllowedTools)
	if err != nil {
		return nil, err
	}
	return &Skill{
		Name:          fm.Name,
		Description:   fm.Description,
		License:       fm.License,
		Compatibility: fm.Compatibility,
		Metadata:      fm.Metadata,
		AllowedTools:  allowed,
		Body:          body,
	}, nil
}

// split returns the YAML, below an empty line so that the line numbers of
// errors are those of the file, and the body. Only whole lines of --- count, so
// that the text may hold others.
func split(data []byte) (head, body string, err error) {
	first, rest, _ := strings.Cut(text(data), "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", "", ErrMissingFrontmatter
	}
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		if strings.TrimRight(line, " \t") == "---" {
			body := strings.TrimLeft(rest[at+len(line):], "\n")
			return "\n" + rest[:at], strings.TrimRight(body, " \t\n"), nil
		}
		at += len(line) + 1
	}
	return "", "", ErrMissingFrontmatter
}

// text is a file as valid UTF-8, without a byte order mark, with one kind of line ends.
func text(data []byte) string {
	s := strings.ToValidUTF8(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\ufffd")
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// decodeYAML decodes YAML without anchors, aliases, merges and tags.
func decodeYAML(source string, into any) error {
	if len(source) > maxFrontmatter {
		return fmt.Errorf("it is longer than %d bytes", maxFrontmatter)
	}
	if i := strings.IndexFunc(source, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(source[i:])
		return fmt.Errorf("line %d holds the control character %U", 1+strings.Count(source[:i], "\n"), r)
	}
	tokens := lexer.Tokenize(source)
	if err := checkTokens(tokens); err != nil {
		return err
	}
	doc, err := parser.Parse(tokens, 0)
	if err != nil {
		return readable(err)
	}
	if len(doc.Docs) == 0 || doc.Docs[0].Body == nil {
		return nil
	}
	if err := yaml.NodeToValue(doc.Docs[0].Body, into); err != nil {
		return readable(err)
	}
	return nil
}

func checkTokens(tokens token.Tokens) error {
	if len(tokens) > maxTokens {
		return errors.New("it has too many values")
	}
	nesting := 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType:
			return fmt.Errorf("[%d:%d] anchors, aliases, merges and tags are not allowed: quote %q if it is text",
				t.Position.Line, t.Position.Column, t.Value)
		case token.SequenceStartType, token.MappingStartType:
			if nesting++; nesting > maxNesting {
				return errors.New("it is nested too deeply")
			}
		case token.SequenceEndType, token.MappingEndType:
			nesting--
		}
	}
	return nil
}

// readable is an error of the YAML library on one line, with the remedy of the most frequent mistake.
func readable(err error) error {
	text, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
	if strings.Contains(text, "mapping value is not allowed") {
		text += `; quote a value that holds ": "`
	}
	return errors.New(text)
}

// allowedTools takes a list, or a text with commas or blanks between the rules.
func allowedTools(v any) ([]string, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return splitRules(v), nil
	case []any:
		var rules []string
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("allowed-tools: %v is not a text", e)
			}
			rules = append(rules, splitRules(s)...)
		}
		return rules, nil
	}
	return nil, errors.New("allowed-tools is neither a text nor a list")
}

// splitRules splits at commas and blanks outside of parentheses.
func splitRules(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (r == ',' || unicode.IsSpace(r))
	})
}

// tidy cleans a skill's texts for the catalogue and tells why it cannot be in
// it. Names of other scripts are refused because some of their letters look
// like ASCII ones: two skills could look the same.
func (s *Skill) tidy() error {
	s.Name = strings.TrimSpace(s.Name)
	s.Description = clip(clean(s.Description), maxDescription)
	s.License, s.Compatibility = clean(s.License), clean(s.Compatibility)
	s.AllowedTools = cleanAll(s.AllowedTools)
	switch {
	case s.Name == "":
		return ErrSkillNameRequired
	case len(s.Name) > maxName || strings.ContainsFunc(s.Name, notOfNames):
		return fmt.Errorf("%w, not %q", ErrInvalidSkillName, clip(s.Name, maxName))
	case s.Description == "":
		return ErrSkillDescriptionRequired
	}
	return nil
}

func notOfNames(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -_.:", r)
}

func cleanAll(texts []string) []string {
	var cleaned []string
	for _, s := range texts {
		cleaned = append(cleaned, clean(s))
	}
	return cleaned
}

// clean makes a text one line, without control characters and without those
// that cannot be seen or that turn the order of others.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
