package ui

import (
	"strings"

	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/ui/text"
)

const splitFromW = 100

func diffCounts(before, after []byte) (int, int) {
	return strings.Count(string(after), "\n"), strings.Count(string(before), "\n")
}

func changeDiff(t *theme, c *file.Change, w int, split bool, pan int) []string {
	return strings.Split(text.Clean(string(c.After)), "\n")
}

func hunkDiff(t *theme, path string, hunks []file.Hunk, w int) []string {
	var out []string
	for _, h := range hunks {
		for _, l := range h.Lines {
			out = append(out, text.Truncate(text.Clean(l), w, ""))
		}
	}
	return out
}
