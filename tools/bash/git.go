package bash

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/phero-agent/agent/tools/regular"
)

// WithGitProtection keeps commands from planting programs that git runs on the
// host: hooks, the config, and what they include are read-only, the rest of the
// repository is writable, so commits work. It holds for the workspace and for
// each directory of [WithWritablePaths]; one without a repository gets none. Of
// repositories in subdirectories, those that are submodules, or that a command
// makes git take for one, are covered.
func WithGitProtection() BubblewrapOption {
	return func(r *BubblewrapRunner) {
		r.settings = append(r.settings, func(r *BubblewrapRunner) error {
			for _, t := range r.trees {
				r.git = append(r.git, &gitGuard{workspace: t.real})
			}
			return nil
		})
	}
}

// gitGuards protect the repositories of several directories.
type gitGuards []*gitGuard

func (gs gitGuards) begin() {
	for _, g := range gs {
		g.begin()
	}
}

func (gs gitGuards) mounts() (mounts []Mount) {
	for _, g := range gs {
		mounts = append(mounts, g.mounts()...)
	}
	return mounts
}

func (gs gitGuards) restore() (notes []string) {
	for _, g := range gs {
		notes = append(notes, g.restore()...)
	}
	return notes
}

func (gs gitGuards) enter() {
	for _, g := range gs {
		g.enter()
	}
}

func (gs gitGuards) leave() (notes []string) {
	for _, g := range gs {
		notes = append(notes, g.leave()...)
	}
	return notes
}

// gitGuard protects the repository of a workspace in two ways. Everything that
// exists and names programs is mounted read-only, and every directory on the
// way to it is a mount of its own, because a directory above a mount can be
// renamed. What does not exist cannot be mounted without breaking git, so it is
// looked for after each command: a `commondir`, a `config.worktree` or a new git
// directory could send git to a config that the command wrote.
type gitGuard struct {
	workspace string
	unmounted bool // nothing is mounted, so contents are compared as well

	mu    sync.Mutex
	live  int               // commands that run, where they are counted here
	known map[string]bool   // suspects that were there before the commands that run
	links map[string]string // links that stand for protected directories
	files map[string]saved  // protected files as they were, when unmounted
	trees map[string]string // suspects in repositories inside this one, with their contents
}

// saved is a file as it was.
type saved struct {
	text string
	mode fs.FileMode
}

// gitDirs is where the repository of a workspace is.
type gitDirs struct {
	dir    string // what .git is, or points to
	common string // the same, or the repository whose worktree this is
}

const (
	gitWhy    = "the repository, for commits"
	gitProWhy = "git would run programs that it names"
)

// mounts protects the repository as it is now.
func (g *gitGuard) mounts() []Mount {
	dot := filepath.Join(g.workspace, ".git")
	info, err := os.Lstat(dot)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir() && isEmpty(dot):
		return []Mount{{Path: dot, Source: dot, Access: Hidden, Why: "reserved for a repository", root: g.workspace}}
	case err != nil:
		return nil
	case info.IsDir():
		return g.protect(gitDirs{dot, dot})
	}
	mounts := []Mount{{Path: dot, Source: dot, Access: ReadOnly, Why: "it says where the repository is", root: g.workspace}}
	if d, ok := pointedTo(g.workspace, dot); ok {
		mounts = append(mounts, g.protect(d)...)
	}
	return mounts
}

func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// pointedTo follows a .git file to the git directory of a worktree or a
// submodule. It is mounted only when it points back, since a file that came
// with the workspace could name any directory.
func pointedTo(workspace, dot string) (gitDirs, bool) {
	dir, ok := readPath(dot, "gitdir: ", workspace)
	if !ok || checkBreadth(dir) != nil {
		return gitDirs{}, false
	}
	if back, ok := readPath(filepath.Join(dir, "gitdir"), "", dir); ok {
		common := filepath.Dir(filepath.Dir(dir))
		says, ok := readPath(filepath.Join(dir, "commondir"), "", dir)
		if ok && back == dot && says == common && filepath.Base(filepath.Dir(dir)) == "worktrees" && isGitDir(common) {
			return gitDirs{dir, common}, checkBreadth(common) == nil
		}
		return gitDirs{}, false
	}
	for _, tree := range configValues(filepath.Join(dir, "config"), "worktree") {
		if resolved, ok := resolve(tree, dir); ok && resolved == workspace && isGitDir(dir) {
			return gitDirs{dir, dir}, true
		}
	}
	return gitDirs{}, false
}

// readPath reads a file that holds a path, and resolves that.
func readPath(file, prefix, base string) (string, bool) {
	data, err := regular.Read(file, 4096)
	if err != nil {
		return "", false
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok {
		return "", false
	}
	return resolve(path, base)
}

func resolve(path, base string) (string, bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	// The last part may be a .git file, whose directory must be real.
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", false
	}
	path = filepath.Join(dir, filepath.Base(path))
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return path, true
}

func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// protect mounts a repository and everything that hangs on it.
func (g *gitGuard) protect(d gitDirs) []Mount {
	p := gitMounts{guard: g}
	p.writable(d.common)
	p.gitDir(d.common)
	p.worktrees(filepath.Join(d.common, "worktrees"))
	p.modules(filepath.Join(d.common, "modules"))
	for _, path := range configValues(filepath.Join(d.common, "config"), "path", "hookspath") {
		if in := g.insideWorkspace(path, d.common); in != "" {
			p.readOnly(in, g.workspace)
		}
	}
	return p.mounts
}

// insideWorkspace is where a path of the config is, when commands could write it.
func (g *gitGuard) insideWorkspace(path, common string) string {
	if strings.HasPrefix(path, "~") {
		return ""
	}
	for _, base := range []string{common, g.workspace} { // include.path and core.hooksPath differ in this
		p := path
		if !filepath.IsAbs(p) {
			p = filepath.Join(base, p)
		}
		if p = filepath.Clean(p); p != g.workspace && contains(g.workspace, p) && isThere(p) && linkInside(g.workspace, p) == "" {
			return p
		}
	}
	return ""
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// gitMounts collects the mounts of a repository.
type gitMounts struct {
	guard  *gitGuard
	mounts []Mount
}

func (p *gitMounts) writable(dir string) {
	p.mounts = append(p.mounts, Mount{Path: dir, Source: dir, Access: Writable, Why: gitWhy})
}

// readOnly protects a path; one that is missing is reserved below root.
func (p *gitMounts) readOnly(path, root string) {
	p.mounts = append(p.mounts, Mount{Path: path, Source: path, Access: ReadOnly, Why: gitProWhy, root: root})
}

// present protects those of the names that exist in a git directory.
func (p *gitMounts) present(dir string, names ...string) {
	for _, name := range names {
		if path := filepath.Join(dir, name); isThere(path) {
			p.readOnly(path, dir)
		}
	}
}

func (p *gitMounts) gitDir(dir string) {
	p.present(dir, "config", "config.worktree")
	hooks := filepath.Join(dir, "hooks")
	if target, err := os.Readlink(hooks); err == nil {
		p.guard.remember(hooks, target)
		if resolved, err := filepath.EvalSymlinks(hooks); err == nil && contains(p.guard.workspace, resolved) {
			p.readOnly(resolved, p.guard.workspace)
		}
		return
	}
	p.readOnly(hooks, dir)
}

func (p *gitMounts) worktrees(dir string) {
	for i, name := range subdirectories(dir) {
		if i == 0 {
			p.writable(dir)
		}
		p.writable(filepath.Join(dir, name))
		p.present(filepath.Join(dir, name), "commondir", "gitdir", "config.worktree")
	}
}

// modules finds the git directories of submodules, whose names can have slashes.
func (p *gitMounts) modules(dir string) {
	for i, name := range subdirectories(dir) {
		if i == 0 {
			p.writable(dir)
		}
		sub := filepath.Join(dir, name)
		if !isGitDir(sub) {
			p.modules(sub)
			continue
		}
		p.writable(sub)
		p.gitDir(sub)
		p.modules(filepath.Join(sub, "modules"))
	}
}

func subdirectories(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// maxGitFile bounds what is read of a config or a hook.
const maxGitFile = 1 << 20

// configValues reads the values of keys, whatever their section, from a git
// config. It is no parser: it may find too much, never too little, but for
// values with continued lines.
func configValues(file string, keys ...string) []string {
	data, err := regular.Read(file, maxGitFile)
	if err != nil {
		return nil
	}
	var values []string
	for line := range strings.Lines(string(data)) {
		line = afterSection(strings.TrimSpace(line)) // a key can follow its section
		key, value, ok := strings.Cut(line, "=")
		if ok && slices.Contains(keys, strings.ToLower(strings.TrimSpace(key))) {
			values = append(values, strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return values
}

// afterSection is what follows the [section "name"] at the start of a line.
func afterSection(line string) string {
	if !strings.HasPrefix(line, "[") {
		return line
	}
	quoted := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case ']':
			if !quoted {
				return line[i+1:]
			}
		}
	}
	return ""
}
