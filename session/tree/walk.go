package tree

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/phero-agent/agent/tools/file"
)

// scan is one look at the workspace.
type scan struct {
	ctx   context.Context
	tree  *Tree
	top   *dir
	began int64
	want  bool

	files  atomic.Int64 // new ones
	hashed atomic.Int64 // bytes

	mu     sync.Mutex
	deltas []delta
	err    error
}

// openAbove finds the repository that the workspace is in, and the rules from above.
func (t *Tree) openAbove() {
	for at := t.root; ; at = filepath.Dir(at) {
		prefix, err := filepath.Rel(at, t.root)
		if err != nil {
			return
		}
		if prefix = filepath.ToSlash(prefix) + "/"; prefix == "./" {
			prefix = ""
		}
		if r := openRepo(at, "", prefix); r != nil {
			t.repos = append(t.repos, r)
			t.top.repo, t.top.from = r, r.outer
			for dir, base := at, 0; dir != t.root; {
				if text, err := readRules(dir); err == nil {
					t.top.from = file.ParseIgnore(text, base, t.top.from)
				}
				name, _, _ := strings.Cut(prefix[base:], "/")
				dir, base = filepath.Join(dir, name), base+len(name)+1
			}
			return
		}
		if filepath.Dir(at) == at {
			return
		}
	}
}

func readRules(path string) ([]byte, error) {
	d, err := openTop(path)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.rules()
}

// maxRules is how much of one .gitignore counts, in bytes.
const maxRules = 4 << 20

func (d *dir) rules() ([]byte, error) {
	s, err := d.stat(".gitignore")
	if err != nil || !s.mode.IsRegular() {
		return nil, err
	}
	return d.read(".gitignore", s.mode, maxRules)
}

// loadIndexes reads the indexes again that changed. Where tracked files are in other
// directories now, all are listed again: they may be in ignored ones.
func (s *scan) loadIndexes() {
	for _, r := range s.tree.repos {
		if r.load(s.began) {
			s.tree.top.outdate()
		}
	}
}

func (f *folder) outdate() {
	f.stale = true
	for _, sub := range f.folders {
		sub.outdate()
	}
}

// walk visits every folder, from as many goroutines as there are processors.
func (s *scan) walk() {
	var (
		mu    sync.Mutex
		more  = sync.NewCond(&mu)
		queue = []*folder{s.tree.top}
		busy  int
		wg    sync.WaitGroup
	)
	work := func() {
		var deltas []delta
		mu.Lock()
		defer mu.Unlock()
		for {
			for len(queue) == 0 && busy > 0 {
				more.Wait()
			}
			if len(queue) == 0 {
				more.Broadcast()
				s.mu.Lock()
				s.deltas = append(s.deltas, deltas...)
				s.mu.Unlock()
				return
			}
			f := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			busy++
			mu.Unlock()
			deltas = s.visit(f, deltas)
			mu.Lock()
			busy--
			queue = append(queue, f.folders...)
			more.Broadcast()
		}
	}
	for range min(8, runtime.GOMAXPROCS(0)) {
		wg.Go(work)
	}
	wg.Wait()
	if s.files.Load() > maxFiles {
		s.err = ErrTooMany
	}
}

// visit compares a folder with what it was.
func (s *scan) visit(f *folder, deltas []delta) []delta {
	if s.ctx.Err() != nil || s.files.Load() > maxFiles {
		return deltas
	}
	d, err := s.top.sub(f.path)
	if err != nil {
		f.quiet = f.quiet || f.fresh
		return deltas // it cannot be looked into, or goes away just now: the next scan sees it
	}
	defer d.close()
	self, err := d.self()
	if err != nil {
		return deltas
	}
	if f.fresh || f.stale || f.racy || self != f.sig {
		if !f.fresh && self.mode != f.sig.mode {
			deltas = append(deltas, delta{in: f, path: strings.TrimSuffix(f.path, "/"), was: &node{sig: f.sig}, now: &node{sig: self}})
		}
		f.sig, f.racy = self, self.racy(s.began)
		deltas = s.list(f, d, deltas)
		f.fresh, f.stale, f.quiet = false, false, false
		return deltas
	}
	for _, n := range f.files {
		now, err := d.stat(n.name)
		switch {
		case err == nil && now == n.sig && !n.racy:
		case err == nil && (now.mode.IsRegular() || isLink(now)):
			deltas = append(deltas, s.changed(f, n, now))
		default: // it went away, or is something else, since the directory was looked at
			f.racy = true
		}
		if n.name == ".gitignore" && err == nil && now != n.sig {
			s.readRules(f, d)
		}
	}
	return deltas
}

// changed takes note of a file that may hold something else now.
func (s *scan) changed(f *folder, n *node, now sig) delta {
	was := *n
	n.sig, n.racy = now, now.racy(s.began)
	return delta{in: f, path: f.path + n.name, was: &was, now: n}
}

func isLink(s sig) bool { return s.mode.Type() == linkType }

// readRules reads the rules of a folder again. Folders below that were listed with
// others are listed again.
func (s *scan) readRules(f *folder, d *dir) {
	text, _ := d.rules()
	f.rules = file.ParseIgnore(text, len(f.repo.path(f.path)), f.from)
	for _, sub := range f.folders {
		sub.inherit(f, sub.only)
	}
}

// list lists a folder again.
func (s *scan) list(f *folder, d *dir, deltas []delta) []delta {
	names, err := d.names()
	if err != nil {
		return deltas
	}
	slices.Sort(names)
	if _, ok := slices.BinarySearch(names, ".git"); ok {
		s.tree.openNested(f, s.began)
	}
	s.readRules(f, d)
	files, folders := map[string]*node{}, map[string]*folder{}
	for _, n := range f.files {
		files[n.name] = n
	}
	for _, sub := range f.folders {
		folders[sub.path] = sub
	}
	f.files, f.folders = make([]*node, 0, len(names)), nil
	for _, name := range names {
		now, err := d.stat(name)
		covered, only := f.covers(name, now.isDir())
		if err != nil || !covered {
			if err == nil { // it only went out of sight
				delete(files, name)
				delete(folders, f.path+name+"/")
			}
			continue
		}
		quiet := f.quiet || f.stale && now.old(s.tree.last)
		switch {
		case now.isDir():
			sub := folders[f.path+name+"/"]
			if delete(folders, f.path+name+"/"); sub == nil {
				sub = &folder{path: f.path + name + "/", sig: now, fresh: true, quiet: quiet}
				deltas = append(deltas, delta{in: f, path: f.path + name, now: &node{sig: now}, quiet: quiet})
			}
			sub.inherit(f, only)
			f.folders = append(f.folders, sub)
		case now.mode.IsRegular() || isLink(now):
			n := files[name]
			if delete(files, name); n == nil {
				s.files.Add(1)
				n = &node{name: name, sig: now, racy: now.racy(s.began)}
				deltas = append(deltas, delta{in: f, path: f.path + name, now: n, quiet: quiet})
			} else if now != n.sig || n.racy {
				deltas = append(deltas, s.changed(f, n, now))
			}
			f.files = append(f.files, n)
		}
	}
	for _, n := range files {
		deltas = append(deltas, delta{in: f, path: f.path + n.name, was: n})
	}
	for _, sub := range folders {
		deltas = sub.removed(deltas)
	}
	return deltas
}

// inherit takes over what holds in the folder above, unless the folder is a
// repository of its own. Where that is new the folder is listed again.
func (f *folder) inherit(from *folder, only bool) {
	if f.repo != nil && f.repo != from.repo && f.repo.base == f.path {
		return
	}
	f.stale = f.stale || f.from != from.rules || f.only != only || f.repo != from.repo
	f.repo, f.from, f.only = from.repo, from.rules, only
}

// covers tells whether a name counts, and of an ignored directory whether only
// what git tracks in it does.
func (f *folder) covers(name string, isDir bool) (covered, only bool) {
	if strings.EqualFold(name, ".git") || strings.EqualFold(name, ".phero") {
		return false, false
	}
	path := f.repo.path(f.path + name)
	if !f.only && !file.Skipped(name) && !f.rules.Ignored(path, name, isDir) {
		return true, false
	}
	switch {
	case f.repo == nil:
		return false, false
	case isDir:
		return f.repo.dirs[path+"/"], true
	}
	return f.tracks(f.path + name), false
}

func (f *folder) tracks(path string) bool {
	return f.repo != nil && find(f.repo.index, f.repo.path(path)) != nil
}

// removed lists a folder that is gone with all that was in it.
func (f *folder) removed(deltas []delta) []delta {
	deltas = append(deltas, delta{in: f, path: strings.TrimSuffix(f.path, "/"), was: &node{sig: f.sig}})
	for _, n := range f.files {
		deltas = append(deltas, delta{in: f, path: f.path + n.name, was: n})
	}
	for _, sub := range f.folders {
		deltas = sub.removed(deltas)
	}
	return deltas
}

// openNested takes a folder with a .git for a repository of its own, as it is in
// a submodule, or after git init.
func (t *Tree) openNested(f *folder, now int64) {
	top := filepath.Join(t.root, filepath.FromSlash(f.path))
	if f.repo != nil && f.repo.top == top {
		return
	}
	r := openRepo(top, f.path, "")
	if r == nil {
		return
	}
	r.load(now)
	f.repo, f.from, f.only = r, r.outer, false
	t.opening.Lock()
	defer t.opening.Unlock()
	t.repos = append(t.repos, r)
}
