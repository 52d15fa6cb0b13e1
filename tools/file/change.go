package file

import "io/fs"

// Change is one write to a file: what a call would do ([EditTool.Preview]) or
// did ([WithOnWrite]).
type Change struct {
	Path    string      `json:"path"` // resolved, absolute
	Before  []byte      `json:"before"`
	After   []byte      `json:"after"`
	Existed bool        `json:"existed"`
	Perm    fs.FileMode `json:"perm"`
	Dirs    []string    `json:"dirs,omitempty"` // directories that the write makes, outermost first
}

// Hunk is a run of lines of a diff, with the lines around it.
type Hunk struct {
	Old   int      `json:"old"`   // number of its first line before the change, from 1
	New   int      `json:"new"`   // number of its first line after the change, from 1
	Lines []string `json:"lines"` // each begins with ' ', '-' or '+'; without line ends
}
