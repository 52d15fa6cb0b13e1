package ui

import (
	"bytes"
	"fmt"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
	"github.com/phero-agent/agent/ui/diff"
	"github.com/phero-agent/agent/ui/text"
)

const (
	splitFromW  = 100 // columns from which a diff can be side by side
	diffContext = 3   // lines around a change
)

// content is the body of a dialog: some lines, and below them a diff of which
// only what is seen is rendered.
type content struct {
	head   []string
	diff   *diff.View // nil: there is none
	layout diff.Layout
}

func (c *content) len() int {
	n := len(c.head)
	if c.diff != nil {
		n += c.diff.Len(c.layout.Split)
	}
	return n
}

// rows returns the lines from up to to.
func (c *content) rows(from, to int) []string {
	n := len(c.head)
	out := append([]string(nil), c.head[min(from, n):min(to, n)]...)
	if c.diff != nil && to > n {
		out = append(out, c.diff.Rows(c.layout, max(0, from-n), to-n)...)
	}
	return out
}

// pannable says whether a line of the diff is longer than its columns.
func (c *content) pannable() bool { return c.diff != nil && c.diff.MaxPan(c.layout) > 0 }

// changeDiff is the diff of what a call would write; where it is binary there
// are only the sizes, as a line.
func changeDiff(t *theme, c *file.Change) (*diff.View, string) {
	if binary(c.Before) || binary(c.After) {
		return nil, fmt.Sprintf("binary: %s, was %s", text.Size(int64(len(c.After))), text.Size(int64(len(c.Before))))
	}
	return diff.New(c.Path, file.Hunks(c.Before, c.After, diffContext), t.diff), ""
}

func binary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }

// writtenDiff is the first rows of the diffs of what a call wrote, and how many
// there are in all. The log keeps only the beginning of a very long one.
func writtenDiff(t *theme, changes []session.Change, w, most int) (rows []string, total int) {
	for _, c := range changes {
		v := diff.New(c.Path, c.Hunks, t.diff)
		added, removed := v.Counts()
		total += v.Len(false) + max(0, c.Added-added) + max(0, c.Removed-removed)
		rows = append(rows, v.Rows(diff.Layout{Width: w}, 0, most-len(rows))...)
	}
	return rows, total
}
