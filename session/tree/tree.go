package tree

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/phero-agent/agent/tools/file"
)

// Limits of what is kept beforehand, in bytes.
const (
	MaxKept      = 1 << 20   // of one file
	MaxKeptInAll = 200 << 20 // of all files of a session together
)

// maxHashed is the largest file that is looked into at all, in bytes.
const maxHashed = 64 << 20

// maxHashedInAll is how much is looked into in one scan, in bytes.
const maxHashedInAll = 1 << 30

// maxFiles is how many files a workspace may have.
const maxFiles = 200_000

// Tree watches a workspace. Its methods may be called at the same time.
type Tree struct {
	root string // absolute, links resolved
	keep func([]byte) (hash string, err error)

	mu    sync.Mutex
	top   *folder
	repos []*repo
	last  int64 // when the last scan began, in nanoseconds; 0: there was none

	opening sync.Mutex   // of repos, during a scan
	kept    atomic.Int64 // bytes
}

// New makes the tree of a workspace, an absolute path with its links resolved.
// keep puts a content away, so that its hash is enough to get it back.
func New(root string, keep func([]byte) (hash string, err error)) *Tree {
	return &Tree{root: root, keep: keep}
}

// State is what is at a path at one time.
type State struct {
	Mode fs.FileMode // with the type: a file, a link or a directory
	Hash string      // SHA-256 of the content, of a link its target; "" for a directory, or nothing
	Gone bool        // there is nothing
}

// Change is a path that is not what it was.
type Change struct {
	Path          string // below the workspace, with slashes
	Before, After State
}

// Lost is a path that changed and cannot be taken back.
type Lost struct {
	Path string
	Why  string // in words that follow the path
}

// Found is what changed between two scans, by path.
type Found struct {
	Changes []Change
	Lost    []Lost
	Moved   bool // a repository has another commit checked out
}

// ErrTooMany says that a workspace has too many files to be compared at each command.
var ErrTooMany = fmt.Errorf("there are more than %d files that git does not ignore", maxFiles)

// Scan compares the workspace with what it was at the last scan. Without want the
// changes are only taken note of, as at the first scan, when everything is new. After
// an error the next scan is a first one again.
func (t *Tree) Scan(ctx context.Context, want bool) (Found, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	top, err := openTop(t.root)
	if err != nil {
		return Found{}, err
	}
	defer top.close()
	first := t.top == nil
	if first {
		t.top = &folder{fresh: true}
		t.openAbove()
	}
	s := &scan{ctx: ctx, tree: t, top: top, began: time.Now().UnixNano(), want: want && !first}
	s.loadIndexes()
	s.walk()
	found := s.settle()
	if err := cmp.Or(s.err, ctx.Err()); err != nil {
		t.top, t.repos = nil, nil
		return Found{}, err
	}
	t.last = s.began
	for _, r := range t.repos {
		if r.moves() {
			found.Moved = true
		}
	}
	return found, nil
}

// sig is what lstat tells of a path: it differs when the content, the mode or the
// file itself does.
type sig struct {
	size, mtime, ctime int64 // bytes; nanoseconds
	ino                uint64
	mode               fs.FileMode
}

// tick is how long the clock of a file system may stand still, in nanoseconds.
const tick = int64(20 * time.Millisecond)

// racy tells whether the path may change once more without its times changing.
func (s sig) racy(now int64) bool { return max(s.mtime, s.ctime) > now-tick }

// old tells whether the path is as it was when a scan began.
func (s sig) old(scan int64) bool { return s.ctime != 0 && !s.racy(scan) }

func (s sig) isDir() bool { return s.mode.IsDir() }

// content is what a file holds, as far as it is known.
type content struct {
	oid  string // the bytes are those of this object; "" none
	repo *repo  // of the object
	hash string // SHA-256; "" not known
	kept bool   // under the hash
	why  string // it is not kept, in words
}

// node is a file or a link.
type node struct {
	name string
	sig  sig
	racy bool
	content
}

// folder is a directory that is covered.
type folder struct {
	path  string // below the workspace, "" or with a slash at the end
	sig   sig
	racy  bool
	fresh bool // was never listed
	quiet bool // what is new in it was there before, and only came into view
	only  bool // is ignored, but git tracks files in it: only those count

	rules   *file.IgnoreRules // its own and those from above
	from    *file.IgnoreRules // those from above, that it was listed with
	repo    *repo             // nil: none
	stale   bool              // to be listed again whatever its times say
	files   []*node           // by name
	folders []*folder         // by path
}

// delta is a path that may have changed.
type delta struct {
	path     string
	in       *folder
	was, now *node // nil: there was, or is, nothing; a folder has no content
	quiet    bool
}

func byPath(a, b delta) int { return strings.Compare(a.path, b.path) }

// merge puts what was at a path and what is there now together, where a file
// became a directory or the other way round.
func merge(deltas []delta) []delta {
	slices.SortStableFunc(deltas, func(a, b delta) int {
		return cmp.Or(byPath(a, b), order(a)-order(b))
	})
	out := deltas[:0]
	for _, d := range deltas {
		if n := len(out); n > 0 && out[n-1].path == d.path && out[n-1].now == nil && d.was == nil {
			out[n-1].now, out[n-1].in, out[n-1].quiet = d.now, d.in, false
			continue
		}
		out = append(out, d)
	}
	return out
}

func order(d delta) int {
	if d.now == nil {
		return 0
	}
	return 1
}
