package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/phero-agent/agent/tools"
)

// GrepTool searches the contents of files.
type GrepTool struct {
	tool *tools.Tool
	opts *options
}

// GrepInput is the input of grep.
type GrepInput struct {
	Pattern    string `json:"pattern" description:"a regular expression in Go's syntax (RE2), matched line by line"`
	Path       string `json:"path,omitempty" description:"the file or directory to search; the working directory without it"`
	OutputMode string `json:"output_mode,omitempty" enum:"files_with_matches,content,count" description:"files_with_matches (default): paths only; content: the matching lines; count: how many lines match in each file"`
	Glob       string `json:"glob,omitempty" description:"search only files whose path matches, such as *.go or src/**/*.{ts,tsx}; ! at the front leaves them out"`
	Type       string `json:"type,omitempty" description:"search only files of a type, such as go, js, py, rust or md"`
	I          bool   `json:"-i,omitempty" description:"ignore case"`
	N          *bool  `json:"-n,omitempty" description:"show line numbers (content only, default true)"`
	A          int    `json:"-A,omitempty" description:"lines to show after each match (content only)"`
	B          int    `json:"-B,omitempty" description:"lines to show before each match (content only)"`
	C          int    `json:"-C,omitempty" description:"lines to show before and after each match (content only)"`
	Multiline  bool   `json:"multiline,omitempty" description:"let matches span lines; . then matches line ends too"`
	HeadLimit  int    `json:"head_limit,omitempty" description:"return at most this many entries"`
}

// GrepOutput is the result of grep.
type GrepOutput struct {
	Output    []string `json:"output"`              // in path order; paths below the working directory are relative to it
	Truncated bool     `json:"truncated,omitempty"` // there is more
}

const grepDescription = `Searches file contents with a regular expression (RE2 syntax: no look-around, no back references; escape ( ) { } [ ] . * + ? to match them as they are).
By default only the paths of matching files come back; output_mode "content" shows the lines as path:number:line, and -A, -B, -C lines around them as path-number-line.
What .gitignore ignores, node_modules and .git are left out, unless path names them; binary files always are. Narrow with path, glob or type. When truncated is true there is more.`

// NewGrepTool returns the grep tool.
func NewGrepTool(opts ...Option) (*GrepTool, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	t := &GrepTool{opts: o}
	t.tool, err = tools.NewTool("grep", grepDescription, t.handle)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Tool returns the tool that the model calls.
func (t *GrepTool) Tool() *tools.Tool { return t.tool }

func (t *GrepTool) handle(ctx context.Context, in *GrepInput) (*GrepOutput, error) {
	if in == nil {
		return nil, ErrNilInput
	}
	q, err := t.query(in)
	if err != nil {
		return nil, err
	}
	want, err := fileFilter(in.Glob, in.Type)
	if err != nil {
		return nil, err
	}
	c := &collector{chars: t.opts.maxChars, entries: t.opts.maxResults}
	if in.HeadLimit > 0 && (c.entries == 0 || in.HeadLimit < c.entries) {
		c.entries = in.HeadLimit
	}
	if c.entries > 0 {
		q.entries = c.entries + 1
	}
	path := in.Path
	if path == "" {
		path = "."
	}
	root, resolved, err := t.opts.resolve(path, true)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(resolved)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", resolved, unwrapPath(err))
	}
	if !info.IsDir() {
		if err := t.searchFile(ctx, root, resolved, q, c); err != nil {
			return nil, err
		}
		return c.output(), nil
	}
	w, err := t.opts.newWalk(resolved, root)
	if err != nil {
		return nil, err
	}
	defer w.close()
	w.want = want
	if err := searchTree(ctx, w, q, c); err != nil {
		return nil, err
	}
	return c.output(), nil
}

// query checks the input, and compiles it.
func (t *GrepTool) query(in *GrepInput) (*query, error) {
	if in.Pattern == "" {
		return nil, ErrPatternRequired
	}
	q := &query{mode: in.OutputMode, numbers: in.N == nil || *in.N, multiLimit: t.opts.maxFileSize, held: 16 << 20}
	switch q.mode {
	case "":
		q.mode = modeFiles
	case modeFiles, modeContent, modeCount:
	default:
		return nil, fmt.Errorf("%w, not %q", ErrInvalidOutputMode, in.OutputMode)
	}
	if min(in.A, in.B, in.C, in.HeadLimit) < 0 {
		return nil, errors.New("-A, -B, -C and head_limit cannot be negative")
	}
	if q.mode != modeContent && in.A+in.B+in.C > 0 {
		return nil, ErrContextFlagsRequireContentMode
	}
	const most = 1000
	q.before, q.after = min(max(in.B, in.C), most), min(max(in.A, in.C), most)
	var err error
	q.matcher, err = compileMatcher(in.Pattern, in.I, in.Multiline)
	return q, err
}

// fileFilter returns what tells whether a file is to be searched, by its path
// below the start of the search and its name.
func fileFilter(glob, typ string) (func(path, name string) bool, error) {
	byType, err := typeFilter(typ)
	if err != nil {
		return nil, err
	}
	if glob == "" {
		return func(_, name string) bool { return byType(name) }, nil
	}
	pattern, out := strings.CutPrefix(glob, "!")
	g, err := compileGlob(strings.TrimPrefix(pattern, "/"))
	if err != nil {
		return nil, err
	}
	names := !strings.Contains(pattern, "/")
	return func(path, name string) bool {
		if names {
			path = name
		}
		return byType(name) && g.match(path) != out
	}, nil
}

// searchFile searches one file that the model named.
func (t *GrepTool) searchFile(ctx context.Context, root, path string, q *query, c *collector) error {
	p, info, err := openFile(root, path)
	if err != nil {
		return err
	}
	defer p.close()
	f, _, err := p.open(info, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	entries, skipped := (&searcher{query: q}).search(ctx, entryPath(Shown(t.opts.workingDir, path), q.mode), f)
	c.add(entries)
	c.truncated = c.truncated || skipped
	return ctx.Err()
}

// collector holds the entries that are returned.
type collector struct {
	entries   int // at most; 0 is no limit
	chars     int // at most; 0 is no limit
	used      int // characters
	out       []string
	truncated bool
}

// add takes entries, and tells false when one did not fit.
func (c *collector) add(entries []string) bool {
	for _, e := range entries {
		n := utf8.RuneCountInString(e) + 1
		if c.entries > 0 && len(c.out) >= c.entries || c.chars > 0 && c.used+n > c.chars {
			c.truncated = true
			return false
		}
		c.used += n
		c.out = append(c.out, e)
	}
	return true
}

func (c *collector) output() *GrepOutput {
	out := c.out
	if n := len(out); n > 0 && out[n-1] == "--" {
		out = out[:n-1]
	}
	if out == nil {
		out = []string{}
	}
	return &GrepOutput{Output: out, Truncated: c.truncated}
}

// entryPath quotes a path that would make an entry ambiguous: one with a line end,
// another control character, or something that looks like a line number.
func entryPath(path, mode string) string {
	odd := !utf8.ValidString(path)
	for i, r := range path {
		odd = odd || unicode.IsControl(r)
		if r == ':' && mode != modeFiles && i+1 < len(path) && path[i+1] >= '0' && path[i+1] <= '9' {
			odd = true
		}
	}
	if odd && mode != modeFiles {
		return strconv.Quote(path)
	}
	return path
}
