package ui

import (
	"fmt"
	"strings"
)

// KeysReference is the table of keys as Markdown, for the documentation.
func KeysReference() string {
	var b strings.Builder
	b.WriteString("| where | key | does |\n|---|---|---|\n")
	table := bindings()
	for _, s := range scopes(table) {
		where := string(s)
		for _, row := range table {
			if row.scope != s || row.help == "" {
				continue
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", where, row.shown, row.help)
			where = ""
		}
	}
	return b.String()
}

// CommandsReference is the table of slash commands as Markdown, with more that the
// application brings.
func CommandsReference(more ...Command) string {
	var b strings.Builder
	b.WriteString("| command | also | does |\n|---|---|---|\n")
	for _, c := range commandTable(more) {
		also := ""
		if len(c.Aliases) > 0 {
			also = "`/" + strings.Join(c.Aliases, "` `/") + "`"
		}
		fmt.Fprintf(&b, "| `/%s` | %s | %s |\n", c.Name, also, strings.ReplaceAll(c.Help, "<", "&lt;"))
	}
	return b.String()
}
