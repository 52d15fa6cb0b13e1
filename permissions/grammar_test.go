//go:build unix

package permissions

import (
	"math/rand/v2"
	"strings"
)

// bend changes a line in a random place or two.
func bend(r *rand.Rand, line string) string {
	for range 1 + r.IntN(2) {
		at := r.IntN(len(line) + 1)
		switch r.IntN(6) {
		case 0, 1, 2:
			line = line[:at] + pick(r, fragments) + line[at:]
		case 3:
			to := min(len(line), at+1+r.IntN(3))
			line = line[:at] + line[to:]
		case 4:
			to := min(len(line), at+1+r.IntN(12))
			line = line[:at] + line[at:to] + line[at:]
		case 5:
			if at < len(line) {
				line = line[:at] + pick(r, fragments) + line[at+1:]
			}
		}
	}
	return line
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// fragments are texts at which readers of shell text go wrong.
var fragments = []string{
	" ", "\t", "\n", "\r", "\v", "\f", "\\\n", " \\\n", "\\", "'", `"`, "`", "$", "$'", `$"`, "#", " # ", "!", "! ", "~", "*", "?",
	"(", ")", "{", "}", "{ ", "; }", "[", "]", "[[ ", " ]]", "((", "))", "$(", "${", "$[", "$((", "<(", ">(", "!(", "@(",
	";", ";;", ";&", "&", "&&", "|", "||", "|&", "&>", "&>/dev/null", ">/dev/null", "2>&1", "<&-", ">&-", "<&1", ">&1x", "<&3-", "3<&1", "{v}<here", "{PATH}<here",
	"<<E\n", "<<'E'\n", `<<"E"` + "\n", "<<\\E\n", "<<E\"O\"F\n", "<<-E\n\t", "\nE\n", "\nEOF\n", "\n\tE\n", "<<<", " <<< ",
	planted, " " + planted, "\n" + planted, ";" + planted, "./" + planted, "echo", "cat", "ls", "true", "test -v ", "[ -v ", "printf -v", "printf -vPATH ", "printf %n ", "%n", "cd ", "wait -p",
	"PATH=.", "PATH=. ", "PATH", "=", "+=", ":", "x", "a[0]", "'a[$(" + planted + ")]'", `a[\$\(` + planted + `\)]`, `$'a[\x24(` + planted + `)]'`, "-v", "-n", "--", "-p ",
	"time ", "time -p ", "coproc ", "coproc N ", "function f ", "f() ", "if ", "; then ", "; fi", "for x in ", "for PATH in . ", "select x in ", "; do ", "; done", "while ", "case x in ", "x) ", " esac", "in ",
	"\"${x:-'", "'}", "\"}", "'}\"", "${x#'", "${x%\"", "${x/", "${x//'/}", "}'", "\\}", "\\'", "\\\"", "\"'\"", "'\"'", "(a)", "|b)", ";;& ", " in ", "{ :; }", "=~ ", "#{", "$#", "${#", "$$", "$\"", "~/", "%1", "&1", "2>",
	"${x:=", "${PATH:=.}", "${x@P}", "${!x}", "${x:0}", "${a[0]}", "$x", `"$x"`, "$@", "{a,b}", "{-v,PATH}", "\u00a0", "\u2028", "\xff", "\x01", "\x7f",
}

// grammar makes lines that are mostly well formed.
type grammar struct {
	r     *rand.Rand
	depth int
}

func newGrammar(r *rand.Rand) *grammar { return &grammar{r: r} }

func (g *grammar) line() string {
	var b strings.Builder
	for i := range 1 + g.r.IntN(3) {
		if i > 0 {
			b.WriteString(pick(g.r, []string{" && ", " || ", "; ", " | ", " & ", "\n", " |& ", ";", "|"}))
		}
		b.WriteString(g.command())
	}
	return b.String()
}

func (g *grammar) command() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 3 || g.r.IntN(3) > 0 {
		return g.simple()
	}
	switch g.r.IntN(10) {
	case 0:
		return "(" + g.line() + ")"
	case 1:
		return "{ " + g.line() + "; }"
	case 2:
		return "if " + g.command() + "; then " + g.line() + "; fi"
	case 3:
		return "for " + pick(g.r, []string{"x", "y", "PATH", "_", "http_proxy", "x1"}) + " in " + g.words() + "; do " + g.line() + "; done"
	case 4:
		return "case " + g.word() + " in " + pick(g.r, []string{"", "("}) + g.word() + pick(g.r, []string{") ", "|x) ", ")\n", ") # a\n"}) + g.line() +
			pick(g.r, []string{" ;; esac", " ;;& *) true; esac", "\nesac", " ;& x) true ;; esac"})
	case 5:
		return "while " + g.command() + "; do " + g.line() + "; break; done"
	case 6:
		return pick(g.r, []string{"! ", "time ", "time -p ", "coproc "}) + g.command()
	case 7:
		return "f() { " + g.line() + "; }"
	case 8:
		return "cat <<" + pick(g.r, []string{"E", "'E'", "-E", `E"O"F`}) + "\n" + g.words() + "\n" + pick(g.r, []string{"E", "EOF", "\tE", "\\\nE"}) + "\n" + g.simple()
	}
	return "[[ " + g.word() + " ]]"
}

func (g *grammar) simple() string {
	name := pick(g.r, []string{"echo", "echo", "true", ":", "test", "[", "printf", "cat", "ls", "wait", "cd", "type", planted, "$x", "PATH=.", "PATH=. ls", "unset"})
	line := name + " " + g.words()
	if name == "[" {
		line += " ]"
	}
	if g.r.IntN(4) == 0 {
		line += pick(g.r, []string{" 2>&1", " >/dev/null", " </dev/null", " <&-", " # note", " >f", " <<< x", " {v}<&1"})
	}
	return line
}

func (g *grammar) words() string {
	var words []string
	for range g.r.IntN(4) {
		words = append(words, g.word())
	}
	return strings.Join(words, " ")
}

func (g *grammar) word() string {
	return pick(g.r, []string{"a", "-n", "-v", "-vPATH", `-"$x"`, `"""$x"`, "%n", "PATH", ".", "x", "=", "'a b'", `"a $x"`, "$x", `"$x"`, "${x:-a}", "${PATH:=.}", "$y", `"$y"`, "$x$y",
		"{-v,PATH}", "*", "a[0]", `a[\$\(` + planted + `\)]`, "'a[$(" + planted + ")]'", `$'a[\x24(` + planted + `)]'`, `"-v a[\$\(` + planted + `\)]"`,
		`"${x:-"a b"}"`, `"${x:-'a'}"`, `${x:-'}'}`, `"${x:-'}'}"`, `${x#'}'}`, `"${x#'}'}"`, `"${x%"}"}"`, `"${x/'/'/}"`, `${x/\}/a}`, `"${x:+\}}"`, `${x:-a;` + planted + `}`, `"${x:-;` + planted + `}"`,
		`$"a"`, `$'a\'b'`, `"$'a'"`, `'"'`, `"'"`, `\'`, `\"`, "a#b", "#a", "(a)", "a(b)", "~", "%1", "$#", "${#x}", "${#}", "$$",
		`a[\$`, `\(` + planted + `\)]`, "`" + planted + "`", "$(" + planted + ")", "'" + planted + "'", planted, "!", "-o", "-a", "]", "--", "-p", `\` + "\n"})
}
