package file

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// maxGlob is the longest pattern taken, in bytes.
const maxGlob = 4096

// globPattern is a compiled glob. It is a regular expression in the end, so that
// no pattern takes more than linear time, whatever its braces and stars.
type globPattern struct {
	re     *regexp.Regexp
	suffix string // every match ends so
	depth  int    // directories that a match can be in; negative is no limit
	easy   bool   // in its directories, what ends so matches
}

// compileGlob takes *, ?, [abc], [!a-z], {a,b}, and ** as a whole name for any
// number of directories. A backslash makes the next character plain.
func compileGlob(glob string) (*globPattern, error) {
	if len(glob) > maxGlob {
		return nil, fmt.Errorf("the pattern has %d bytes, at most %d are taken", len(glob), maxGlob)
	}
	c := globCompiler{glob: glob}
	c.out.WriteString(`(?s)\A`)
	if err := c.compile(); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", glob, err)
	}
	c.out.WriteString(`\z`)
	re, err := regexp.Compile(c.out.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", glob, err)
	}
	g := &globPattern{re: re, depth: strings.Count(glob, "/")}
	if strings.Contains(glob, "**") || strings.Contains(glob, "{") {
		g.depth = -1
	}
	if !strings.HasSuffix(glob, "}") && !strings.HasSuffix(glob, "]") {
		g.suffix = glob[strings.LastIndexAny(glob, `*?[]{}\/`)+1:]
	}
	name, deep := strings.CutPrefix(glob, "**/")
	g.easy = glob == "**" || name == "*"+g.suffix && (deep || g.depth == 0)
	return g, nil
}

func (g *globPattern) match(path string) bool {
	switch {
	case !strings.HasSuffix(path, g.suffix):
		return false
	case g.easy:
		return g.depth < 0 || !strings.Contains(path, "/")
	}
	return g.re.MatchString(path)
}

// globCompiler turns a glob into a regular expression.
type globCompiler struct {
	glob  string
	at    int
	depth int // of braces
	out   strings.Builder
}

func (c *globCompiler) compile() error {
	for c.at < len(c.glob) {
		ch := c.glob[c.at]
		switch {
		case ch == '*':
			c.star()
			continue
		case ch == '?':
			c.out.WriteString(`[^/]`)
		case ch == '[':
			if err := c.class(); err != nil {
				return err
			}
			continue
		case ch == '{':
			c.depth++
			c.out.WriteString(`(?:`)
		case ch == '}' && c.depth > 0:
			c.depth--
			c.out.WriteString(`)`)
		case ch == ',' && c.depth > 0:
			c.out.WriteString(`|`)
		case ch == '\\':
			if c.at++; c.at == len(c.glob) {
				return fmt.Errorf("a backslash ends it")
			}
			c.plain()
			continue
		default:
			c.plain()
			continue
		}
		c.at++
	}
	if c.depth > 0 {
		return fmt.Errorf("a { is not closed")
	}
	return nil
}

// plain takes bytes up to the next special one as they are.
func (c *globCompiler) plain() {
	end := c.at + 1
	for end < len(c.glob) && !strings.ContainsRune(`*?[{},\`, rune(c.glob[end])) {
		end++
	}
	c.out.WriteString(regexp.QuoteMeta(c.glob[c.at:end]))
	c.at = end
}

// star takes a run of stars: "**" as a whole name is any number of directories.
func (c *globCompiler) star() {
	start := c.at
	for c.at < len(c.glob) && c.glob[c.at] == '*' {
		c.at++
	}
	whole := c.at-start == 2 && (start == 0 || strings.ContainsRune("/{,", rune(c.glob[start-1])))
	switch {
	case whole && strings.HasPrefix(c.glob[c.at:], "/"):
		c.out.WriteString(`(?:[^/]+/)*`)
		c.at++
	case whole && (c.at == len(c.glob) || c.depth > 0 && strings.ContainsRune("},", rune(c.glob[c.at]))):
		c.out.WriteString(`.*`)
	default:
		c.out.WriteString(`[^/]*`)
	}
}

// class takes a set such as [a-z] or [!0-9].
func (c *globCompiler) class() error {
	end := bracketEnd(c.glob, c.at)
	if end == 0 {
		return fmt.Errorf("a [ is not closed")
	}
	set := c.glob[c.at+1 : end]
	c.at = end + 1
	c.out.WriteByte('[')
	if set[0] == '!' || set[0] == '^' {
		c.out.WriteString(`^/`)
		set = set[1:]
	}
	for i, r := range set {
		switch {
		case r == '\\' || r == '-':
			c.out.WriteRune(r)
		case strings.ContainsRune(`[]^&~`, r) && (i == 0 || set[i-1] != '\\'):
			c.out.WriteString(`\` + string(r))
		default:
			c.out.WriteRune(r)
		}
	}
	c.out.WriteByte(']')
	return nil
}

// splitBase cuts the directories without special characters off the front of a
// pattern: "src/api/**/*.go" is searched in src/api only.
func splitBase(pattern string) (base, rest string) {
	pattern = filepath.ToSlash(pattern)
	end := strings.IndexAny(pattern, `*?[{\`)
	if end < 0 {
		end = len(pattern)
	}
	cut := strings.LastIndexByte(pattern[:end], '/')
	if cut < 0 {
		return "", pattern
	}
	base = pattern[:cut]
	if base == "" {
		base = "/"
	}
	return path.Clean(base), pattern[cut+1:]
}
