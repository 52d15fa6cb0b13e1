package file

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/phero-agent/agent/tools"
)

// GlobTool finds files by name.
type GlobTool struct {
	tool *tools.Tool
	opts *options
}

// GlobInput is the input of glob.
type GlobInput struct {
	Pattern string `json:"pattern" description:"such as **/*.go, src/**/*_test.ts or {a,b}/*.md; ** stands for any number of directories"`
	Path    string `json:"path,omitempty" description:"the directory to search in; the working directory without it"`
}

// GlobOutput is the result of glob.
type GlobOutput struct {
	Paths     []string `json:"paths"`               // absolute, newest first
	Truncated bool     `json:"truncated,omitempty"` // there are more
}

const globDescription = `Finds files by name, the most recently changed first. *.go looks in one directory only, **/*.go in all below it too.
What .gitignore ignores is left out, and so are node_modules and .git, unless path names them. When truncated is true there are more: narrow the pattern or the path.`

// NewGlobTool returns the glob tool.
func NewGlobTool(opts ...Option) (*GlobTool, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	t := &GlobTool{opts: o}
	t.tool, err = tools.NewTool("glob", globDescription, t.handle)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Tool returns the tool that the model calls.
func (t *GlobTool) Tool() *tools.Tool { return t.tool }

func (t *GlobTool) handle(ctx context.Context, in *GlobInput) (*GlobOutput, error) {
	if in == nil {
		return nil, ErrNilInput
	}
	if strings.TrimSpace(in.Pattern) == "" {
		return nil, ErrPatternRequired
	}
	base, rest := splitBase(in.Pattern)
	if slices.Contains(strings.Split(rest, "/"), "..") {
		return nil, fmt.Errorf("pattern %q: .. cannot follow a wildcard; name the directory with path", in.Pattern)
	}
	pattern, err := compileGlob(rest)
	if err != nil {
		return nil, err
	}
	w, err := t.opts.walkFrom(in.Path, base)
	if errors.Is(err, fs.ErrNotExist) && base != "" {
		return &GlobOutput{Paths: []string{}}, nil
	}
	if err != nil {
		return nil, err
	}
	defer w.close()
	w.depth = pattern.depth
	w.want = func(path, _ string) bool { return pattern.match(path) }
	return t.newest(ctx, w)
}

// walkFrom opens the directory that a call names, with base below it.
func (o *options) walkFrom(path, base string) (*walk, error) {
	if path == "" {
		path = "."
	}
	if filepath.IsAbs(base) {
		path = base
	} else if base != "" {
		path = strings.TrimSuffix(path, "/") + "/" + base
	}
	root, resolved, err := o.resolve(path, true)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(resolved)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", resolved, unwrapPath(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", resolved)
	}
	return o.newWalk(resolved, root)
}

// newest runs the walk and keeps the newest files, as many as may be returned.
func (t *GlobTool) newest(ctx context.Context, w *walk) (*GlobOutput, error) {
	best := make([]newestFiles, newPool(ctx).size)
	var found atomic.Int64
	err := w.visitAll(ctx, func(worker int, f *folder, files []entry) {
		for _, e := range files {
			if e.kind == isFolder {
				continue
			}
			if ctx.Err() != nil {
				return
			}
			time, ok := f.time(e)
			if !ok {
				continue
			}
			found.Add(1)
			best[worker].keep(globbed{f.file(e.name), time}, t.opts.maxResults)
		}
	})
	if err != nil {
		return nil, err
	}
	var all newestFiles
	for _, b := range best {
		all = append(all, b...)
	}
	slices.SortFunc(all, func(a, b globbed) int { return a.compare(b) })
	if n := t.opts.maxResults; n > 0 && len(all) > n {
		all = all[:n]
	}
	out := &GlobOutput{Paths: []string{}, Truncated: int(found.Load()) > len(all)}
	used := 0
	for _, g := range all {
		path := showBytes(g.path)
		used += utf8.RuneCountInString(path) + 1
		if t.opts.maxChars > 0 && used > t.opts.maxChars {
			out.Truncated = true
			break
		}
		out.Paths = append(out.Paths, path)
	}
	return out, nil
}

// time returns when a file was changed last, a link's from what it leads to.
func (f *folder) time(e entry) (int64, bool) {
	if e.kind == isFile {
		return f.handle.modified(e.name)
	}
	p, info, err := f.link(e.name)
	if err != nil {
		return 0, false
	}
	p.close()
	return info.ModTime().UnixNano(), true
}

type globbed struct {
	path string
	time int64 // of the last change, in nanoseconds
}

// compare puts the newest first, and paths of one time in their order.
func (g globbed) compare(h globbed) int {
	return cmp.Or(cmp.Compare(h.time, g.time), strings.Compare(g.path, h.path))
}

// newestFiles is a heap with the oldest on top, so that a walk over any number of
// files holds as many as it returns. Without a limit it is in no order.
type newestFiles []globbed

func (n newestFiles) Len() int           { return len(n) }
func (n newestFiles) Less(i, j int) bool { return n[i].compare(n[j]) > 0 }
func (n newestFiles) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *newestFiles) Push(x any)        { *n = append(*n, x.(globbed)) }
func (n *newestFiles) Pop() any {
	last := (*n)[len(*n)-1]
	*n = (*n)[:len(*n)-1]
	return last
}

func (n *newestFiles) keep(g globbed, most int) {
	switch {
	case most == 0:
		*n = append(*n, g)
	case len(*n) < most:
		heap.Push(n, g)
	case g.compare((*n)[0]) < 0:
		(*n)[0] = g
		heap.Fix(n, 0)
	}
}
