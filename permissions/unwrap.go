package permissions

import (
	"path"
	"slices"
	"strings"
)

// maxWrappers is how many wrappers inside one another are looked behind.
const maxWrappers = 8

// unwrapPart adds what a command runs behind wrappers to what deny and ask rules
// see: for each command found there its text, and its words for rules that know
// its options in any order.
func (w *walker) unwrapPart(p *part, items []item) {
	var words []string
	for _, it := range items {
		if it.kind == argument {
			words = append(words, it.value)
		}
	}
	w.unwrapWords(p, words, 0)
}

func (w *walker) unwrapWords(p *part, words []string, depth int) {
	if len(words) == 0 || depth > maxWrappers {
		return
	}
	words = slices.Clone(words)
	words[0] = path.Base(words[0])
	p.vectors = append(p.vectors, words)
	p.strict = distinct(append(slices.Clip(p.strict), strings.Join(words, " "))...)
	if words[0] == "git" {
		if rest := git.skip(words[1:]); len(rest) < len(words)-1 {
			p.strict = distinct(append(slices.Clip(p.strict), strings.Join(append([]string{"git"}, rest...), " "))...)
		}
	}
	if script, ok := shellScript(words); ok {
		w.unwrapScript(p, script)
	}
	for _, inner := range behind(words) {
		w.unwrapWords(p, inner, depth+1)
	}
}

// unwrapScript adds the commands of a command string.
func (w *walker) unwrapScript(p *part, script string) {
	if w.depth >= maxWrappers {
		return
	}
	inner := splitNested(script, true, w.depth+1)
	for _, found := range append(inner.parts, inner.rough...) {
		p.strict = distinct(append(slices.Clip(p.strict), found.strict...)...)
		p.vectors = append(p.vectors, found.vectors...)
	}
}

// shellScript is the script that a shell or eval gets as an argument.
func shellScript(words []string) (string, bool) {
	switch words[0] {
	case "eval":
		return strings.Join(words[1:], " "), len(words) > 1
	case "sh", "bash", "zsh", "dash", "ksh":
	default:
		return "", false
	}
	for i := 1; i < len(words)-1; i++ {
		option := words[i]
		if !strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "+") {
			break
		}
		switch {
		case strings.HasPrefix(option, "--"):
			if option == "--rcfile" || option == "--init-file" {
				i++
			}
		case strings.Contains(option, "c"):
			rest := words[i+1:]
			for len(rest) > 1 && (strings.HasPrefix(rest[0], "-") || strings.HasPrefix(rest[0], "+")) {
				rest = rest[1:] // options go on behind -c
			}
			return rest[0], true
		case option == "-o" || option == "+o" || option == "-O" || option == "+O":
			i++
		}
	}
	return "", false
}

// behind lists the commands that a wrapper runs.
func behind(words []string) [][]string {
	name, args := words[0], words[1:]
	switch {
	case name == "find":
		return findCommands(args)
	case name == "env":
		if found := splitString(args); found != nil {
			return [][]string{found}
		}
	case name == "command" && len(args) > 0 && (args[0] == "-v" || args[0] == "-V"):
		return nil // it only tells what would run
	}
	o, ok := wrapper(name)
	if !ok {
		return nil
	}
	rest := o.skip(args)
	for range o.operands {
		if len(rest) > 0 {
			rest = rest[1:]
		}
	}
	for o.assigns && len(rest) > 0 && strings.Contains(rest[0], "=") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return nil
	}
	return [][]string{rest}
}

// splitString is the command of env -S.
func splitString(args []string) []string {
	for i, arg := range args {
		switch {
		case (arg == "-S" || arg == "--split-string") && i+1 < len(args):
			return append(strings.Fields(args[i+1]), args[i+2:]...)
		case strings.HasPrefix(arg, "-S"):
			return append(strings.Fields(arg[2:]), args[i+1:]...)
		case strings.HasPrefix(arg, "--split-string="):
			return append(strings.Fields(arg[len("--split-string="):]), args[i+1:]...)
		}
	}
	return nil
}

// findCommands are the commands of find's -exec and its kind.
func findCommands(args []string) [][]string {
	var found [][]string
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end] != ";" && args[end] != "+" {
				end++
			}
			if end > i+1 {
				found = append(found, args[i+1:end])
			}
			i = end
		}
	}
	return found
}

// options tells how a program's leading options are read.
type options struct {
	valued   string   // short options with a value
	long     []string // long options with a value in the next word
	operands int      // words between the options and the command
	assigns  bool     // NAME=value may stand before the command
}

var git = options{valued: "Cc", long: []string{"--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}}

// wrapper knows the programs that run the command behind their options.
func wrapper(name string) (options, bool) {
	switch name {
	case "command", "builtin", "nohup", "setsid":
		return options{}, true
	case "exec":
		return options{valued: "a"}, true
	case "env":
		return options{valued: "uCS", long: []string{"--unset", "--chdir"}, assigns: true}, true
	case "nice":
		return options{valued: "n", long: []string{"--adjustment"}}, true
	case "ionice":
		return options{valued: "cn", long: []string{"--class", "--classdata"}}, true
	case "timeout":
		return options{valued: "ks", long: []string{"--kill-after", "--signal"}, operands: 1}, true
	case "time":
		return options{valued: "fo", long: []string{"--format", "--output"}}, true
	case "stdbuf":
		return options{valued: "ioe", long: []string{"--input", "--output", "--error"}}, true
	case "sudo":
		return options{valued: "ugpCDhRrtTU", assigns: true, long: []string{"--user", "--group", "--prompt", "--close-from",
			"--chdir", "--host", "--chroot", "--role", "--type", "--command-timeout", "--other-user"}}, true
	case "doas":
		return options{valued: "uCa"}, true
	case "xargs":
		return options{valued: "adEILnPs", long: []string{"--arg-file", "--delimiter", "--max-args", "--max-procs",
			"--max-chars", "--max-lines", "--replace", "--process-slot-var"}}, true
	}
	return options{}, false
}

// skip drops leading options and their values.
func (o options) skip(args []string) []string {
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			return args[1:]
		case len(arg) < 2 || arg[0] != '-':
			return args
		}
		args = args[1:]
		if o.takesNext(arg) && len(args) > 0 {
			args = args[1:]
		}
	}
	return nil
}

// takesNext tells whether the value of an option is the next word.
func (o options) takesNext(arg string) bool {
	if strings.HasPrefix(arg, "--") {
		return slices.Contains(o.long, arg)
	}
	at := strings.IndexAny(arg[1:], o.valued)
	return o.valued != "" && at == len(arg)-2
}
