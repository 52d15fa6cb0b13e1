package app

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools/file"
)

// reach is how much the list of read-only commands holds (decision 7).
type reach int

const (
	readNothing reach = iota // no sandbox, and the person did not say yes
	readInside               // no sandbox: the shorter list, paths in the workspace only
	readBoxed                // the sandbox holds: what is read is what it shows
)

// readOnly judges commands that only read. Options are checked against lists of
// known ones: what nobody looked at is asked.
type readOnly struct {
	workspace string
	reach     func() reach
	dir       func() string // where the next command starts
}

// allows is the judge of the policy.
func (r *readOnly) allows(c permissions.Command) bool { return r.reads(c, r.reach()) }

// reads tells whether the command only reads, within a reach.
func (r *readOnly) reads(c permissions.Command, within reach) bool {
	name, args := c.Words[0].Text, c.Words[1:]
	var program reader
	known := false
	switch within {
	case readBoxed:
		if program, known = boxedReader(name); !known {
			program, known = plainReader(name)
		}
	case readInside:
		program, known = plainReader(name)
	}
	if !known {
		return false
	}
	if name == "git" {
		sub, rest := gitCommand(args)
		if program, known = gitReader(sub, rest); !known || within == readInside && !tameGit(r.workspace, r.bases(c)) {
			return false
		}
		args = rest
	}
	operands, ok := program.operands(args)
	if !ok || program.check != nil && !program.check(args) {
		return false
	}
	bases := r.bases(c)
	for _, word := range append(operands, c.Inputs...) {
		if !r.mayRead(word, bases, within) {
			return false
		}
	}
	return within == readBoxed || len(bases) > 0 && !slices.ContainsFunc(bases, func(dir string) bool { return !r.inside(dir) })
}

// bases are the directories that the command may run in, nil where that is not known.
func (r *readOnly) bases(c permissions.Command) []string {
	dir := r.dir()
	switch {
	case c.Moves:
		return nil
	case c.Into == "":
		return []string{dir}
	case filepath.IsAbs(c.Into):
		return []string{dir, c.Into}
	}
	return []string{dir, filepath.Join(dir, c.Into)}
}

// mayRead tells whether what a word names may be read unasked: no file that
// usually holds secrets, and without the sandbox nothing outside of the workspace.
func (r *readOnly) mayRead(word permissions.Word, bases []string, within reach) bool {
	boxed := within == readBoxed
	switch {
	case secretName(word.Text):
		return false
	case word.Kind == permissions.Varies || len(bases) == 0:
		return boxed && !leads(word)
	case !boxed && (slices.Contains(strings.Split(word.Text, "/"), "..") || strings.ContainsAny(word.Text, "[")):
		return false // links before .. and classes are read in more than one way
	}
	for _, base := range bases {
		p := word.Text
		if !filepath.IsAbs(p) {
			p = filepath.Join(base, p)
		}
		for _, name := range named(word, p) {
			real, err := file.ResolvePath("", name)
			rel, _ := filepath.Rel(base, name)
			switch {
			case err != nil, secretName(real), !boxed && !r.inside(real):
				return false
			case leads(word) && strings.HasPrefix(rel, "-"):
				return false // the program takes this file's name for an option
			}
		}
	}
	return true
}

// leads tells whether a word's first character is of a pattern, which can be any.
func leads(word permissions.Word) bool {
	return word.Kind == permissions.Pattern && strings.IndexByte("*?[", word.Text[0]) >= 0
}

// named are the paths that a word with the path p stands for. Of those that begin
// with a dot bash names none that its pattern does not begin so.
func named(word permissions.Word, p string) []string {
	star := strings.IndexAny(p, "*?[")
	if word.Kind != permissions.Pattern || star < 0 { // */.. is cleaned away
		return []string{p}
	}
	found, err := filepath.Glob(p)
	if err != nil {
		return []string{p}
	}
	if !strings.HasPrefix(filepath.Base(p), ".") {
		found = slices.DeleteFunc(found, func(f string) bool { return strings.HasPrefix(filepath.Base(f), ".") })
	}
	return append(found, filepath.Dir(p[:star]+"x"))
}

// inside tells whether a path lies in the workspace. Links are followed.
func (r *readOnly) inside(p string) bool {
	real, err := file.ResolvePath("", p)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(r.workspace, real)
	return err == nil && filepath.IsLocal(rel)
}

// secretName tells whether a path, or an object of git, is called like files
// that hold secrets; see secretRules.
func secretName(text string) bool {
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == ':' || r == '=' }) {
		for _, pattern := range secretNames() {
			if ok, err := path.Match(pattern, name); ok || err != nil {
				return true
			}
		}
	}
	return false
}

// reader tells which options of a program only read. "*" is every letter, and
// every long option.
type reader struct {
	flags  string // short options without a value
	valued string // short options with one, attached or as the next word
	long   string // long options, separated by blanks; a value can follow =
	single bool   // long options have one dash, and no letters are bundled
	texts  int    // the first operands that name no files; -1: all
	most   int    // operands; 0: any number
	check  func(args []permissions.Word) bool
}

// free tells whether no option of the program does anything but read.
func (p reader) free() bool { return p.flags == "*" && p.long == "*" && !p.single }

// operands returns the operands that may name files; false where an option is
// not known to only read, or cannot be told from an operand.
func (p reader) operands(args []permissions.Word) (files []permissions.Word, ok bool) {
	count, texts, ended := 0, p.texts, false
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case p.free() && (ended || !strings.HasPrefix(word.Text, "-")):
		case word.Kind == permissions.Literal && word.Text == "--" && !ended && !p.single:
			ended = true
			continue
		case p.free():
			continue
		case word.Kind == permissions.Varies || p.most > 0 && word.Kind != permissions.Literal:
			return nil, false // it may be split into several words
		case !ended && mayBeOption(word):
			letter, takesNext, known := p.option(word)
			if !known {
				return nil, false
			}
			if letter == 'e' {
				texts = 0 // the pattern or script is the option's
			}
			if takesNext {
				i++
				if i < len(args) && (args[i].Kind != permissions.Literal || strings.HasPrefix(args[i].Text, "-") && args[i].Text != "-") {
					return nil, false
				}
			}
			continue
		}
		if count++; texts >= 0 && count > texts {
			files = append(files, word)
		}
	}
	return files, p.most == 0 || count <= p.most
}

// mayBeOption tells whether a program could take the word for an option. Of a
// pattern's names mayRead sees to that.
func mayBeOption(word permissions.Word) bool {
	return len(word.Text) > 1 && word.Text[0] == '-'
}

// option tells whether an option only reads, which letter of it has a value, and
// whether that is the next word.
func (p reader) option(word permissions.Word) (letter rune, takesNext, known bool) {
	if word.Kind != permissions.Literal {
		return 0, false, false
	}
	if strings.HasPrefix(word.Text, "--") || p.single {
		name, _, _ := strings.Cut(strings.TrimLeft(word.Text, "-"), "=")
		if name == "regexp" || name == "expression" {
			letter = 'e'
		}
		number := p.single && name != "" && strings.Trim(name, "0123456789") == ""
		return letter, false, number || p.long == "*" || slices.Contains(strings.Fields(p.long), name)
	}
	for i, c := range word.Text[1:] {
		switch {
		case strings.ContainsRune(p.valued, c):
			return c, i == len(word.Text)-2, true
		case c >= '0' && c <= '9' || p.flags == "*" || strings.ContainsRune(p.flags, c):
		default:
			return 0, false, false
		}
	}
	return 0, false, true
}
