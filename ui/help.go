package ui

import "github.com/phero-agent/agent/ui/text"

// newHelp is the page of the keys. It is made from the table of keys, so it tells
// what is true.
func newHelp(table []binding) *page {
	return &page{name: "Keys", lines: func(t *theme, w int) []string { return helpLines(table, t, w) }}
}

// help is the keys and, where there are none, the commands.
func (m *Model) help() *page {
	if !m.opts.Plain {
		return newHelp(m.table)
	}
	table := m.commands
	return &page{name: "Commands", lines: func(*theme, int) (lines []string) {
		for _, c := range table {
			lines = append(lines, "/"+c.Name+"  "+c.Help)
		}
		return append(lines, "!command  runs it on the host and shows its output to the model; !!command shows it only to you",
			"@path  mentions a file", "exit  quits")
	}}
}

func helpLines(table []binding, t *theme, w int) []string {
	const keysW = 20
	var lines []string
	for i, s := range scopes(table) {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, t.bold.Render(string(s)))
		for _, b := range table {
			if b.scope != s || b.help == "" {
				continue
			}
			for n, l := range text.Wrap(b.help, max(10, w-keysW-2)) {
				keys := ""
				if n == 0 {
					keys = t.words(b.shown)
				}
				lines = append(lines, "  "+t.accent.Render(text.Pad(keys, keysW-2))+"  "+l)
			}
		}
	}
	return append(append(lines, ""), styled(t.dim, text.Wrap("In the text the keys of readline work: ctrl+a e k u w, alt+b f d.", w))...)
}
