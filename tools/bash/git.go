package bash

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// WithGitProtection keeps commands from planting programs that git runs on the
// host: hooks, the config, and what they include are read-only, the rest of the
// repository is writable, so commits work. A workspace without a repository
// gets none. Repositories in subdirectories are not covered.
func WithGitProtection() BubblewrapOption {
	return func(r *BubblewrapRunner) {
		r.settings = append(r.settings, func(r *BubblewrapRunner) error {
			r.git = &gitGuard{workspace: r.real}
			return nil
		})
	}
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
	data, err := os.ReadFile(file)
	if err != nil || len(data) > 4096 {
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

// configValues reads the values of keys, whatever their section, from a git
// config. It is no parser: it may find too much, never too little, but for
// values with continued lines.
func configValues(file string, keys ...string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var values []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if i := strings.LastIndexByte(line, ']'); i >= 0 && strings.HasPrefix(strings.TrimSpace(line), "[") {
			line = line[i+1:] // a key can follow its section
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && slices.Contains(keys, strings.ToLower(strings.TrimSpace(key))) {
			values = append(values, strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return values
}

// remember keeps a link that cannot be mounted, to put it back.
func (g *gitGuard) remember(link, target string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.links == nil {
		g.links = map[string]string{}
	}
	if _, ok := g.links[link]; !ok {
		g.links[link] = target
	}
}

// begin notes what is there, before the first of the commands that run at a time.
func (g *gitGuard) begin() {
	known := map[string]bool{}
	for _, s := range g.suspects() {
		known[s] = true
	}
	files := g.contents()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known, g.links, g.files = known, nil, files
}

// enter and leave count the commands of a runner without mounts.
func (g *gitGuard) enter() {
	g.mu.Lock()
	g.live++
	first := g.live == 1
	g.mu.Unlock()
	if first {
		g.begin()
	}
}

func (g *gitGuard) leave() []string {
	g.mu.Lock()
	g.live--
	g.mu.Unlock()
	return g.restore()
}

// contents reads what would be mounted read-only; nil when it is.
func (g *gitGuard) contents() map[string]saved {
	if !g.unmounted {
		return nil
	}
	files := map[string]saved{}
	read := func(path string) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
			return
		}
		if data, err := os.ReadFile(path); err == nil {
			files[path] = saved{string(data), info.Mode().Perm()}
		}
	}
	for _, m := range g.mounts() {
		if m.Access != ReadOnly {
			continue
		}
		read(m.Path)
		for _, name := range activeHooks(m.Path) {
			read(filepath.Join(m.Path, name))
		}
	}
	return files
}

// putBack restores protected files that were changed. g.mu is held.
func (g *gitGuard) putBack() []string {
	var notes []string
	for _, path := range slices.Sorted(maps.Keys(g.files)) {
		was := g.files[path]
		if now, err := os.ReadFile(path); err == nil && string(now) == was.text {
			continue
		}
		_ = os.Rename(path, path+".refused")
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(was.text), was.mode); err != nil {
			notes = append(notes, fmt.Sprintf("[warning: %s was changed, and could not be put back: %v. Do not run git here before it is]", path, reason(err)))
			continue
		}
		notes = append(notes, fmt.Sprintf("[put %s back as it was: git runs programs that it names]", path))
	}
	return notes
}

// suspects lists the files that can send git to another config or name
// programs, and that no mount protects while they do not exist.
func (g *gitGuard) suspects() []string {
	dot := filepath.Join(g.workspace, ".git")
	dirs := gitDirs{dot, dot}
	if info, err := os.Lstat(dot); err != nil {
		return nil
	} else if !info.IsDir() {
		var ok bool
		if dirs, ok = pointedTo(g.workspace, dot); !ok {
			return nil
		}
	}
	var found []string
	add := func(dir string, names ...string) {
		for _, name := range names {
			if path := filepath.Join(dir, name); isThere(path) {
				found = append(found, path)
			}
		}
	}
	add(dirs.common, "commondir", "config", "config.worktree")
	for _, hook := range activeHooks(filepath.Join(dirs.common, "hooks")) {
		add(dirs.common, filepath.Join("hooks", hook))
	}
	for _, name := range subdirectories(filepath.Join(dirs.common, "worktrees")) {
		dir := filepath.Join(dirs.common, "worktrees", name)
		add(dir, "config.worktree")
		if to, ok := readPath(filepath.Join(dir, "commondir"), "", dir); !ok || to != dirs.common {
			add(dir, "commondir")
		}
	}
	modules := gitMounts{guard: &gitGuard{workspace: g.workspace}}
	modules.modules(filepath.Join(dirs.common, "modules"))
	for _, m := range modules.mounts {
		if m.Access == Writable && isGitDir(m.Path) {
			add(m.Path, "commondir", "config.worktree")
			if namesPrograms(filepath.Join(m.Path, "config")) {
				add(m.Path, "config")
			}
			for _, hook := range activeHooks(filepath.Join(m.Path, "hooks")) {
				add(m.Path, filepath.Join("hooks", hook))
			}
		}
	}
	return found
}

// namesPrograms tells whether a config has keys that make git run something.
func namesPrograms(config string) bool {
	return len(configValues(config, "path", "hookspath", "fsmonitor", "sshcommand", "pager", "editor", "askpass",
		"clean", "smudge", "process", "command", "textconv", "driver", "helper", "program", "external",
		"gitproxy", "uploadpack", "receivepack", "packobjectshook", "update", "cmd", "tool")) > 0
}

func activeHooks(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sample") && !strings.HasSuffix(e.Name(), ".refused") {
			names = append(names, e.Name())
		}
	}
	return names
}

// restore takes out of git's way what commands planted, and says so. Nothing
// is deleted: a file gets the ending .refused.
func (g *gitGuard) restore() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	notes := g.putBack()
	for _, path := range g.suspects() {
		if g.known[path] {
			continue
		}
		refused := path + ".refused"
		if err := os.Rename(path, refused); err != nil {
			notes = append(notes, fmt.Sprintf("[warning: %s can make git run programs, and could not be moved away: %v. Do not run git here before it is removed]", path, reason(err)))
			continue
		}
		notes = append(notes, fmt.Sprintf("[moved %s to %s: it could make git run programs outside the sandbox]", path, refused))
	}
	for link, target := range g.links {
		if now, err := os.Readlink(link); err == nil && now == target {
			continue
		}
		_ = os.Rename(link, link+".refused")
		if err := os.Symlink(target, link); err == nil {
			notes = append(notes, fmt.Sprintf("[put %s back: it is a link to %s]", link, target))
		}
	}
	return notes
}

// RestoreGit looks for what commands that still run may have planted in the
// repository, as is done when a command ends. Call it before running git on the
// host while background shells run. It returns lines that say what was done.
func (r *BubblewrapRunner) RestoreGit() []string {
	if r.git == nil {
		return nil
	}
	return r.git.restore()
}
