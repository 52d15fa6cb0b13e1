package file

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// kind is what a directory entry is.
type kind uint8

const (
	isOther kind = iota // a device, FIFO or socket: never opened
	isFile
	isFolder
	isLink
)

// entry is a name in a directory.
type entry struct {
	name string
	kind kind
}

// walk goes through the directories below top, by descriptor: no name on the way
// is followed if it is a link, whatever happens to the tree meanwhile.
type walk struct {
	opts   *options
	root   string  // absolute path of where it starts
	top    *handle // the same, open
	prefix string  // root below the directory where ignore rules start; "" or with a slash at the end
	ignore *IgnoreRules
	depth  int  // of directories below root that are entered; negative is no limit
	sorted bool // folders are listed in path order

	// want picks files by their path below root, before the ignore rules are asked.
	want func(path, name string) bool
}

// folder is one directory of a walk.
type folder struct {
	walk   *walk
	path   string // below root, "" or with a slash at the end
	depth  int
	ignore *IgnoreRules
	handle *handle
	users  atomic.Int32 // the last one closes the handle
}

// newWalk starts at a resolved directory.
func (o *options) newWalk(root, base string) (*walk, error) {
	p, err := openPlaceDir(base, root)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	top, err := openTop(p)
	if err != nil {
		return nil, err
	}
	w := &walk{opts: o, root: root, top: top, depth: -1}
	if !o.noIgnore {
		w.findRules()
	}
	return w, nil
}

func (w *walk) close() { w.top.close() }

// ignoreFiles have the patterns of what searches leave out; the later one decides.
// The second is for what git tracks and an agent need not see, or with ! the other
// way about.
var ignoreFiles = [...]string{".gitignore", ".agentignore"}

// findRules reads the [ignoreFiles] from the repository's root down to the
// start of the walk. Without a repository the working directory is the root, or
// the start itself. When the start is ignored it was named all the same, and the
// rules from above do not count (FILE-84).
func (w *walk) findRules() {
	base := w.root
	for dir := w.root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			base = dir
			break
		}
		if filepath.Dir(dir) == dir {
			if _, ok := beneath(w.opts.workingDir, w.root); ok && w.opts.workingDir != "" {
				base = w.opts.workingDir
			}
			break
		}
	}
	rel, err := filepath.Rel(base, w.root)
	if err != nil || rel == "." {
		return
	}
	dir, path := base, ""
	names := strings.Split(rel, string(filepath.Separator))
	for i, name := range names {
		for _, file := range ignoreFiles {
			w.ignore = ParseIgnore(readRules(filepath.Join(dir, file)), len(path), w.ignore)
		}
		path += name
		if Skipped(name) || w.ignore.Ignored(path, name, true) {
			w.ignore, w.prefix = nil, ""
			return
		}
		path += "/"
		dir = filepath.Join(base, filepath.Join(names[:i+1]...))
	}
	w.prefix = path
}

// readRules reads one of the [ignoreFiles] of a directory above the walk.
func readRules(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	return text
}

// Skipped tells of directories that no search enters unless it is told to (FILE-78).
func Skipped(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", "node_modules":
		return true
	}
	return false
}

// start returns the first folder.
func (w *walk) start() *folder {
	f := &folder{walk: w, ignore: w.ignore, handle: w.top}
	f.users.Store(2) // the walk itself is one
	return f
}

// open opens a folder before its first use; it fails when it is not a directory any more.
func (f *folder) open() error {
	if f.handle != nil {
		return nil
	}
	h, err := f.walk.top.sub(strings.TrimSuffix(f.path, "/"))
	if err != nil {
		return err
	}
	f.handle = h
	f.users.Store(1)
	return nil
}

func (f *folder) release() {
	if f.users.Add(-1) == 0 {
		f.handle.close()
	}
}

// run is a part of a folder, in path order, so that one of any size is never held whole.
type run struct {
	most    int   // entries of a run; twice as many are held
	after   entry // the run begins behind it; without a name it is the first one
	entries []entry
	end     entry // the last one, with a name when others follow
	rules   bool  // one of the ignoreFiles was seen
}

func (r *run) add(e entry) {
	if e.kind == isFile && slices.Contains(ignoreFiles[:], e.name) {
		r.rules = true
	}
	if r.after.name != "" && inPathOrder(e, r.after) <= 0 || r.end.name != "" && inPathOrder(e, r.end) > 0 {
		return
	}
	if r.entries = append(r.entries, e); len(r.entries) == 2*r.most {
		r.cut()
	}
}

func (r *run) cut() {
	slices.SortFunc(r.entries, inPathOrder)
	clear(r.entries[r.most:])
	r.entries = r.entries[:r.most]
	r.end = r.entries[r.most-1]
}

// list returns what a search looks at: the files that are wanted and not ignored, and
// the folders to enter. It begins behind an entry; next has a name when others follow.
// Of a search that was cancelled it returns nothing.
func (f *folder) list(ctx context.Context, s *scratch, after entry) (kept []entry, next entry) {
	w := f.walk
	r := run{most: w.opts.maxListed, after: after}
	if after.name != "" {
		f.handle.rewind()
	}
	f.handle.list(ctx, s, r.add)
	if r.end.name != "" && len(r.entries) > r.most {
		r.cut()
	}
	if r.rules && after.name == "" && !w.opts.noIgnore {
		for _, file := range ignoreFiles {
			f.ignore = ParseIgnore(f.handle.readSmall(file, maxIgnoreFile), len(w.prefix)+len(f.path), f.ignore)
		}
	}
	kept = r.entries[:0]
	for _, e := range r.entries {
		if ctx.Err() != nil {
			return nil, entry{}
		}
		if f.keeps(e) {
			kept = append(kept, e)
		}
	}
	if w.sorted {
		slices.SortFunc(kept, inPathOrder)
	}
	return kept, r.end
}

func (f *folder) keeps(e entry) bool {
	w := f.walk
	switch e.kind {
	case isOther:
		return false
	case isFolder:
		if w.depth >= 0 && f.depth >= w.depth {
			return false
		}
	default:
		if !w.want(f.path+e.name, e.name) {
			return false
		}
	}
	if w.opts.noIgnore {
		return true
	}
	if Skipped(e.name) {
		return false
	}
	return f.ignore == nil || !f.ignore.Ignored(w.prefix+f.path+e.name, e.name, e.kind == isFolder)
}

// inPathOrder sorts entries so that a walk meets whole paths in the order of their bytes.
func inPathOrder(a, b entry) int {
	n := min(len(a.name), len(b.name))
	if c := strings.Compare(a.name[:n], b.name[:n]); c != 0 {
		return c
	}
	return int(a.at(n)) - int(b.at(n))
}

// at returns a byte of the name, which in a folder's path a slash follows.
func (e entry) at(i int) byte {
	if i < len(e.name) {
		return e.name[i]
	}
	if e.kind == isFolder && i == len(e.name) {
		return '/'
	}
	return 0
}

// file returns the absolute path of a file in f.
func (f *folder) file(name string) string {
	return strings.TrimSuffix(f.walk.root, string(filepath.Separator)) + string(filepath.Separator) + filepath.FromSlash(f.path) + name
}

// child returns a folder in f.
func (f *folder) child(name string) *folder {
	return &folder{walk: f.walk, path: f.path + name + "/", depth: f.depth + 1, ignore: f.ignore}
}

// link resolves a symlink to a file that may be read: inside of the allowed directories (FILE-86).
func (f *folder) link(name string) (*place, fs.FileInfo, error) {
	root, resolved, err := f.walk.opts.resolve(f.file(name), true)
	if err != nil {
		return nil, nil, err
	}
	return openFile(root, resolved)
}

// openPlaceDir opens a resolved directory below an allowed one.
func openPlaceDir(base, dir string) (*os.Root, error) {
	if base == "" || base == dir {
		return openDir(dir)
	}
	p, err := openPlace(base, dir)
	if err != nil {
		return nil, err
	}
	if len(p.missing) > 0 {
		err = fs.ErrNotExist
	} else {
		err = p.step(p.name)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p.dir, nil
}

// visitAll calls visit for every folder with its files, from the workers of a pool.
func (w *walk) visitAll(ctx context.Context, visit func(worker int, f *folder, files []entry)) error {
	p := newPool(ctx)
	scratches := make([]scratch, p.size)
	var enter func(f *folder, after entry) func(int)
	enter = func(f *folder, after entry) func(int) {
		return func(worker int) {
			if f.open() != nil {
				return
			}
			defer f.release()
			var tasks []func(int)
			files, next := f.list(ctx, &scratches[worker], after)
			for _, e := range files {
				if e.kind == isFolder {
					tasks = append(tasks, enter(f.child(e.name), entry{}))
				}
			}
			if next.name != "" {
				f.users.Add(1)
				tasks = append(tasks, enter(f, next))
			}
			p.push(tasks...)
			visit(worker, f, files)
		}
	}
	p.push(enter(w.start(), entry{}))
	p.start()
	p.wait()
	return ctx.Err()
}

// readSmall returns the first bytes of a file in the directory; none if it cannot be read.
func (h *handle) readSmall(name string, limit int64) []byte {
	f, err := h.open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, limit))
	return text
}
