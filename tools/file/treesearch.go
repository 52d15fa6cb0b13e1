package file

import (
	"context"
	"io"
	"os"
	"sync/atomic"
)

// searchTree searches the files of a walk on all processors, and collects in path
// order. It stops when the collector is full.
func searchTree(parent context.Context, w *walk, q *query, c *collector) error {
	ctx, stop := context.WithCancel(parent)
	defer stop()
	t := &treeSearch{ctx: ctx, walk: w, query: q, pool: newPool(ctx)}
	t.searchers = make([]searcher, t.pool.size)
	t.scratches = make([]scratch, t.pool.size)
	for i := range t.searchers {
		t.searchers[i].query = q
	}
	w.sorted = true
	top := &branch{folder: w.start(), done: make(chan struct{})}
	t.pool.push(t.enter(top))
	t.pool.start()
	t.collect(top, c)
	stop()
	t.pool.wait()
	c.truncated = c.truncated || t.skipped.Load()
	return parent.Err()
}

// batchFiles is how many files of a directory one task searches.
const batchFiles = 32

type treeSearch struct {
	ctx       context.Context
	walk      *walk
	query     *query
	pool      *pool
	searchers []searcher
	scratches []scratch
	held      atomic.Int64
	skipped   atomic.Bool // a file was too large for multiline
}

// branch is a folder, or the rest of a large one, or a batch of its files, as a leaf of
// the tree of results.
type branch struct {
	folder *folder
	after  entry     // of a folder: the last entry that an earlier branch has
	files  []entry   // of a batch
	parts  []*branch // of a folder, in path order
	out    []string
	again  bool // out was thrown away
	done   chan struct{}
}

// enter lists a folder and pushes what is in it.
func (t *treeSearch) enter(b *branch) func(int) {
	return func(worker int) {
		defer close(b.done)
		if b.folder.open() != nil {
			return
		}
		defer b.folder.release()
		var tasks []func(int)
		add := func(part *branch, task func(int)) {
			part.done = make(chan struct{})
			b.parts = append(b.parts, part)
			tasks = append(tasks, task)
		}
		entries, next := b.folder.list(t.ctx, &t.scratches[worker], b.after)
		for len(entries) > 0 {
			if entries[0].kind == isFolder {
				part := &branch{folder: b.folder.child(entries[0].name)}
				add(part, t.enter(part))
				entries = entries[1:]
				continue
			}
			n := 1
			for n < len(entries) && n < batchFiles && entries[n].kind != isFolder {
				n++
			}
			b.folder.users.Add(1)
			part := &branch{folder: b.folder, files: entries[:n]}
			add(part, t.searchBatch(part))
			entries = entries[n:]
		}
		if next.name != "" {
			b.folder.users.Add(1)
			part := &branch{folder: b.folder, after: next}
			add(part, t.enter(part))
		}
		t.pool.push(tasks...)
	}
}

func (t *treeSearch) searchBatch(b *branch) func(int) {
	return func(worker int) {
		defer close(b.done)
		defer b.folder.release()
		for _, e := range b.files {
			if t.ctx.Err() != nil {
				return
			}
			b.out = append(b.out, t.search(&t.searchers[worker], b.folder, e)...)
		}
		size := 0
		for _, s := range b.out {
			size += len(s)
		}
		if t.held.Add(int64(size)) > t.query.held {
			t.held.Add(int64(-size))
			b.out, b.again = nil, true
		}
	}
}

// search searches one entry of a folder. What cannot be read has no results.
func (t *treeSearch) search(s *searcher, f *folder, e entry) []string {
	file, err := f.openEntry(e)
	if err != nil {
		return nil
	}
	defer file.Close()
	out, skipped := s.search(t.ctx, entryPath(Shown(t.walk.opts.workingDir, f.file(e.name)), t.query.mode), file)
	if skipped {
		t.skipped.Store(true)
	}
	return out
}

// openEntry opens a file, or the one that a link leads to if it may be read.
func (f *folder) openEntry(e entry) (io.ReadCloser, error) {
	if e.kind == isFile {
		return f.handle.open(e.name)
	}
	p, info, err := f.link(e.name)
	if err != nil {
		return nil, err
	}
	defer p.close()
	file, _, err := p.open(info, os.O_RDONLY)
	return file, err
}

// collect takes the results in path order until the collector is full.
func (t *treeSearch) collect(top *branch, c *collector) {
	stack := []*branch{top}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		select {
		case <-b.done:
		case <-t.ctx.Done():
			return
		}
		if b.again {
			b.out = t.searchAgain(b)
		} else {
			for _, s := range b.out {
				t.held.Add(-int64(len(s)))
			}
		}
		if !c.add(b.out) {
			return
		}
		for i := len(b.parts) - 1; i >= 0; i-- {
			stack = append(stack, b.parts[i])
		}
		b.parts, b.out, b.files = nil, nil, nil
	}
}

// searchAgain opens the folder anew, as its handle may be closed.
func (t *treeSearch) searchAgain(b *branch) []string {
	again := &folder{walk: t.walk, path: b.folder.path}
	if again.path == "" {
		again = t.walk.start()
	} else if again.open() != nil {
		return nil
	}
	defer again.release()
	s := &searcher{query: t.query}
	var out []string
	for _, e := range b.files {
		out = append(out, t.search(s, again, e)...)
	}
	return out
}
