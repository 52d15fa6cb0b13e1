package ui

import (
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
// the text, files after an "@" that begins a word.
type completion struct {
	kind  rune // '/', '@', or 0 while it is closed
	word  string
	items []suggestion
	at    int
	gone  string // the word at which the person closed it

	files   []string
	fetched time.Time
	asked   int // counts the searches, so that an old answer is ignored
}

// suggestion is a row of the popup.
type suggestion struct{ insert, help string }

// matchesMsg brings the files that match.
type matchesMsg struct {
	asked int
	files []string // the whole list, when it was fetched anew
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
	switch {
	case start == 0 && row == 0 && strings.HasPrefix(word, "/"):
	case strings.HasPrefix(word, "@") && files != nil:
	default:
		p.kind, p.word, p.items, p.gone = 0, "", nil, ""
		return nil
	}
	if word == p.gone {
		return nil
	}
	if word == p.word && p.kind != 0 {
		return nil
	}
	p.word, p.gone, p.at = word, "", 0
	p.kind = rune(word[0])
	p.asked++
	if p.kind == '/' {
		p.items = matchCommands(table, word[1:])
		return nil
	}
	return p.search(files)
}

// search looks for files away from the screen's loop: there can be many.
func (p *completion) search(list func() ([]string, error)) tea.Cmd {
	asked, pattern, files := p.asked, p.word[1:], p.files
	fresh := time.Since(p.fetched) < filesFor
	return func() tea.Msg {
		m := matchesMsg{asked: asked}
		if !fresh {
			var err error
			if files, err = list(); err != nil {
				return failure{err}
			}
			m.files = files
		}
		m.items = matchFiles(files, pattern)
		return m
	}
}

func (p *completion) found(m matchesMsg) {
	if m.files != nil {
		p.files, p.fetched = m.files, time.Now()
	}
	if m.asked == p.asked && p.kind == '@' {
		p.items, p.at = m.items, 0
	}
}

func matchFiles(files []string, pattern string) []suggestion {
	var items []suggestion
	if pattern == "" {
		for _, f := range files[:min(len(files), maxMatch)] {
			items = append(items, suggestion{insert: "@" + f})
		}
		return items
	}
	for _, m := range fuzzy.Find(pattern, files) {
		if items = append(items, suggestion{insert: "@" + m.Str}); len(items) == maxMatch {
			break
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
