package permissions

import "strings"

// roughParts reads a line without regard to quotes: it is cut at everything that
// can separate commands. Only deny and ask rules see the result, for lines that
// bash may read differently from the parser (PERM-36, PERM-83).
func roughParts(src string) []part {
	r := &rough{
		unquote:   strings.NewReplacer("'", "", `"`, "", `\`, ""),
		fragments: map[string]bool{},
		texts:     map[string]bool{},
	}
	r.add(src)
	r.split(src)
	if strings.Contains(src, "\\\n") {
		r.split(strings.ReplaceAll(src, "\\\n", ""))
	}
	return r.parts
}

type rough struct {
	unquote   *strings.Replacer
	fragments map[string]bool // that were split
	texts     map[string]bool // that were added
	parts     []part
}

func (r *rough) split(src string) {
	for fragment := range strings.FieldsFuncSeq(src, separates) {
		if r.fragments[fragment] {
			continue
		}
		r.fragments[fragment] = true
		r.add(fragment)
		r.add(strings.TrimLeft(fragment, "-")) // behind <&-
		for rest := strings.TrimLeft(fragment, " \t$!"); rest != ""; {
			r.add(rest)
			word, after, _ := strings.Cut(rest, " ")
			if !skipped(word) {
				break
			}
			rest = strings.TrimLeft(after, " \t")
			if word == "coproc" { // the next word may be the coprocess's name
				_, after, _ = strings.Cut(rest, " ")
				r.add(after)
			}
		}
	}
}

func separates(c rune) bool {
	return strings.ContainsRune(";&|\n(){}`\r", c) || c < ' ' && c != '\t'
}

// skipped tells whether a command can stand behind the word.
func skipped(word string) bool {
	switch word {
	case "if", "then", "else", "elif", "do", "while", "until", "time", "-p", "--", "!", "coproc":
		return true
	}
	word = strings.TrimLeft(word, "0123456789")
	return isAssignment(word) || strings.HasPrefix(word, "<") || strings.HasPrefix(word, ">")
}

// add adds a text single-spaced, with and without its quotes.
func (r *rough) add(text string) {
	text = squeeze(text)
	for _, t := range distinct(text, r.unquote.Replace(text)) {
		if t != "" && !r.texts[t] {
			r.texts[t] = true
			r.parts = append(r.parts, plainPart(t))
		}
	}
}
