package ui

import (
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"github.com/phero-agent/agent/ui/text"
)

const (
	popupRows = 6
	filesFor  = 10 * time.Second // how long a list of files is good
	maxMatch  = 50
)

// completion is the popup over the composer: commands after a "/" that begins
// the text and their arguments, files and directories after an "@" that begins a word.
type completion struct {
	kind  rune // '/', '@', ' ' for a command's argument, or 0 while it is closed
	word  string
	items []suggestion
	at    int
	gone  string // the word at which the person closed it

	files     []string // of the workspace, then its directories
	fetched   time.Time
	searching bool
	next      bool // another search is wanted when this one ends
}

// suggestion is a row of the popup.
type suggestion struct{ insert, help string }

// matchesMsg brings the files that match.
type matchesMsg struct {
	word  string
	files []string // the whole list, when it was fetched anew
	err   error
	items []suggestion
}

func (p *completion) open() bool { return p.kind != 0 && len(p.items) > 0 }

// reopen lets the popup come back that the person closed.
func (p *completion) reopen() { p.gone = "" }

// skip keeps the popup closed for a word that was not typed.
func (p *completion) skip(word string) { p.kind, p.items, p.word, p.gone = 0, nil, word, word }

func (p *completion) close() {
	p.gone = p.word
	p.kind, p.items = 0, nil
}

// update looks at the word before the cursor. files lists the workspace.
func (p *completion) update(line []rune, col, row int, table []command, files func() ([]string, error)) tea.Cmd {
	word, start := wordBefore(line, col)
	var args []suggestion
	switch {
	case start == 0 && row == 0 && strings.HasPrefix(word, "/"):
	case strings.HasPrefix(word, "@") && files != nil:
	default:
		if row == 0 {
			args = matchArgs(table, string(line[:start]), word)
		}
		if args == nil {
			p.kind, p.word, p.items, p.gone = 0, "", nil, ""
			return nil
		}
	}
	if word == p.gone && word != "" || word == p.word && p.kind != 0 {
		return nil
	}
	p.word, p.gone, p.at = word, "", 0
	if args != nil {
		p.kind, p.items = ' ', args
		return nil
	}
	if p.kind = rune(word[0]); p.kind == '/' {
		p.items = matchCommands(table, word[1:])
		return nil
	}
	return p.search(files)
}

// search looks for files away from the screen's loop: there can be many. One
// search runs at a time.
func (p *completion) search(list func() ([]string, error)) tea.Cmd {
	if p.searching {
		p.next = true
		return nil
	}
	p.searching, p.next = true, false
	word, files := p.word, p.files
	fresh := time.Since(p.fetched) < filesFor
	return func() tea.Msg {
		m := matchesMsg{word: word}
		if !fresh {
			if files, m.err = list(); m.err != nil {
				return m
			}
			files = append(files, directories(files)...)
			m.files = files
		}
		m.items = matchFiles(files, strings.TrimLeft(word, `@"`))
		return m
	}
}

// found takes what a search found, and looks again when the word is another one by now.
func (p *completion) found(m matchesMsg, list func() ([]string, error)) tea.Cmd {
	p.searching = false
	if m.files != nil {
		p.files, p.fetched = m.files, time.Now()
	}
	if p.kind != '@' {
		return nil
	}
	if m.err == nil && (m.word == p.word || p.next) { // also what is nearly right, until the rest is there
		p.items, p.at = m.items, 0
	}
	if p.next {
		return p.search(list)
	}
	return nil
}

// directories are those of the files, with a slash at their ends, in the order of the files.
func directories(files []string) (list []string) {
	seen := map[string]bool{}
	for _, f := range files {
		if strings.Contains(f, "://") { // a server's resource
			continue
		}
		from := len(list)
		for {
			i := strings.LastIndexByte(strings.TrimSuffix(f, "/"), '/')
			if i < 0 || seen[f[:i+1]] {
				break
			}
			f = f[:i+1]
			seen[f] = true
			list = append(list, f)
		}
		slices.Reverse(list[from:]) // outermost first
	}
	return list
}

func matchFiles(files []string, pattern string) []suggestion {
	var items []suggestion
	if pattern == "" {
		for _, f := range files[:min(len(files), maxMatch)] {
			items = append(items, suggestion{insert: mention(f)})
		}
		return items
	}
	for _, m := range fuzzy.Find(pattern, files) {
		if items = append(items, suggestion{insert: mention(m.Str)}); len(items) == maxMatch {
			break
		}
	}
	return items
}

// mention is a path as a prompt names it.
func mention(path string) string {
	if strings.ContainsFunc(path, unicode.IsSpace) {
		return `@"` + path + `"`
	}
	return "@" + path
}

// matchArgs are the arguments that a command of one word takes, and the word may become.
func matchArgs(table []command, before, word string) (items []suggestion) {
	name, ok := strings.CutPrefix(strings.TrimRight(before, " "), "/")
	if !ok || name == "" || !strings.HasSuffix(before, " ") {
		return nil
	}
	for _, c := range table {
		if c.Name != name && !slices.Contains(c.Aliases, name) {
			continue
		}
		for _, a := range c.Args {
			if strings.HasPrefix(a, word) && a != word {
				items = append(items, suggestion{insert: a})
			}
		}
	}
	return items
}

// wordBefore is the word that ends at the cursor, and where it starts.
func wordBefore(line []rune, col int) (string, int) {
	start := col
	for start > 0 && !unicode.IsSpace(line[start-1]) {
		start--
	}
	return string(line[start:col]), start
}

func (p *completion) move(by int) {
	p.at = (p.at + by + len(p.items)) % len(p.items)
}

// chosen is what to put in the place of the word.
func (p *completion) chosen() string { return p.items[p.at].insert }

// view draws the popup in w columns.
func (p *completion) view(t *theme, w int) []string {
	n := min(len(p.items), popupRows)
	first := max(0, min(p.at-n/2, len(p.items)-n))
	wide := 0
	for _, s := range p.items[first : first+n] {
		wide = max(wide, text.Width(s.insert))
	}
	var rows []string
	for i, s := range p.items[first : first+n] {
		row := " " + text.Pad(text.Truncate(text.Line(s.insert), w-2, t.sign.ellipsis), min(wide, w-2)) + " "
		if s.help != "" && w >= plainBelowW {
			row += " " + s.help
		}
		row = text.Pad(text.Truncate(row, w, t.sign.ellipsis), w)
		if first+i == p.at {
			row = t.selected.Render(row)
		} else {
			row = t.dim.Render(row)
		}
		rows = append(rows, row)
	}
	return rows
}
