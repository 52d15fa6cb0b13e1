package app

import (
	"slices"
	"strings"

	"github.com/phero-agent/agent/permissions"
)

func texts(words []permissions.Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
	}
	return list
}

func allLiteral(words []permissions.Word) bool {
	return !slices.ContainsFunc(words, func(w permissions.Word) bool { return w.Kind != permissions.Literal })
}

// onlyFormats tells whether date gets no time to set.
func onlyFormats(args []permissions.Word) bool {
	for _, w := range args {
		if w.Kind == permissions.Literal && (strings.HasPrefix(w.Text, "+") || strings.HasPrefix(w.Text, "-")) {
			continue
		}
		return false
	}
	return true
}

// asksVersion tells whether a program is only asked for its version.
func asksVersion(args []permissions.Word) bool {
	if len(args) != 1 || args[0].Kind != permissions.Literal {
		return false
	}
	switch args[0].Text {
	case "--version", "-V", "-version":
		return true
	}
	return false
}

// goReads tells whether a go command only tells: it builds, tests, generates and
// downloads nothing that runs, and writes no settings.
func goReads(args []permissions.Word) bool {
	if len(args) == 0 || !allLiteral(args) {
		return false
	}
	words, options := texts(args), ""
	switch words[0] {
	case "version":
		options = "-m -v"
	case "help":
	case "doc":
		options = "-all -short -src -u -c -cmd"
	case "env":
		options = "-json -changed"
	case "list":
		options = "-m -f -json -deps -test -e -find -versions -u -retracted"
	case "mod":
		if len(words) < 2 || words[1] != "why" && words[1] != "graph" && words[1] != "verify" {
			return false
		}
		words, options = words[1:], "-m"
	default:
		return false
	}
	for _, w := range words[1:] {
		name, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(w, "-") && !slices.Contains(strings.Fields(options), "-"+strings.TrimLeft(name, "-")) {
			return false
		}
	}
	return true
}

// findTests are the words of find that begin with a dash and only test or print.
const findTests = "name iname path ipath wholename iwholename regex iregex regextype not o or a and type maxdepth mindepth size mtime mmin atime amin ctime cmin newer empty " +
	"print print0 printf ls prune perm user group executable readable writable depth xdev mount false true links daystart quit inum"

// awkReads tells whether an awk program only prints: no word of it can open a
// file or a pipe, run a command, or load another program.
func awkReads(args []permissions.Word) bool {
	for i := 0; i < len(args); i++ {
		w := args[i]
		if w.Kind == permissions.Literal && (w.Text == "-F" || w.Text == "-v") {
			i++
			continue
		}
		if strings.HasPrefix(w.Text, "-") {
			continue // checked as an option
		}
		if w.Kind != permissions.Literal {
			return false
		}
		for _, risk := range []string{"system", "getline", "|", ">", "@", "\\\n"} {
			if strings.Contains(w.Text, risk) {
				return false
			}
		}
		return true
	}
	return false
}

// sedReads tells whether every script of a sed command only prints.
func sedReads(args []permissions.Word) bool {
	given := false
	for i := 0; i < len(args); i++ {
		w := args[i]
		if w.Kind != permissions.Literal {
			if !given {
				return false
			}
			continue
		}
		text := w.Text
		switch {
		case text == "--":
			continue
		case strings.HasPrefix(text, "--expression="):
			text = text[len("--expression="):]
		case text == "--expression":
			return false
		case strings.HasPrefix(text, "--"):
			continue
		case len(text) > 1 && text[0] == '-':
			at := strings.IndexByte(text, 'e')
			if at < 0 {
				continue
			}
			if text = text[at+1:]; text == "" {
				if i++; i == len(args) || args[i].Kind != permissions.Literal {
					return false
				}
				text = args[i].Text
			}
		case given:
			continue
		}
		given = true
		if !sedScriptReads(text) {
			return false
		}
	}
	return given
}

// sedScriptReads knows scripts of addresses with p, d, q and =, and substitutions
// that only print: 40,80p; /a/,/b/d; s/x/y/g. Everything else can write or run.
func sedScriptReads(script string) bool {
	s := &sedScript{rest: script}
	for {
		s.blanks(" \t;\n")
		if s.rest == "" {
			return script != ""
		}
		if !s.command() {
			return false
		}
		s.blanks(" \t")
		if s.rest != "" && s.rest[0] != ';' && s.rest[0] != '\n' {
			return false
		}
	}
}

type sedScript struct{ rest string }

func (s *sedScript) blanks(set string) { s.rest = strings.TrimLeft(s.rest, set) }

// command reads an address, if there is one, and a command.
func (s *sedScript) command() bool {
	if s.address() {
		if strings.HasPrefix(s.rest, ",") {
			s.rest = s.rest[1:]
			if !s.address() {
				return false
			}
		}
	}
	s.blanks(" \t!")
	if s.rest == "" {
		return false
	}
	c := s.rest[0]
	s.rest = s.rest[1:]
	switch c {
	case 'p', 'd', 'q', '=':
		return true
	case 's':
		return s.substitution()
	}
	return false
}

// address reads a line number, $, or a pattern between slashes.
func (s *sedScript) address() bool {
	if s.rest == "" {
		return false
	}
	switch c := s.rest[0]; {
	case c == '/':
		s.rest = s.rest[1:]
		return s.upTo('/')
	case c == '$':
		s.rest = s.rest[1:]
		return true
	}
	digits := strings.TrimLeft(s.rest, "0123456789+~")
	found := len(digits) < len(s.rest)
	s.rest = digits
	return found
}

// upTo skips a text and the delimiter behind it, which a backslash takes for itself.
func (s *sedScript) upTo(delimiter byte) bool {
	for i := 0; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '\n', '[': // a class can hold the delimiter
			return false
		case delimiter:
			s.rest = s.rest[i+1:]
			return true
		}
	}
	return false
}

// substitution reads s/x/y/flags; the flags w and e are not among those.
func (s *sedScript) substitution() bool {
	if s.rest == "" || strings.IndexByte("/|,#:%@!_", s.rest[0]) < 0 {
		return false
	}
	delimiter := s.rest[0]
	s.rest = s.rest[1:]
	for range 2 { // what is sought, and what stands in its place
		if !s.upTo(delimiter) {
			return false
		}
	}
	s.rest = strings.TrimLeft(s.rest, "gpiI0123456789")
	return true
}
