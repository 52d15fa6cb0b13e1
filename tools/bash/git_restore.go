package bash

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools/regular"
)

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
	files, linked := g.contents(), g.linked()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known, g.links, g.files, g.trees = known, nil, files, linked
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
		if err != nil {
			return
		}
		if data, err := regular.Read(path, maxGitFile); err == nil {
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
		if now, err := regular.Read(path, maxGitFile); err == nil && string(now) == was.text {
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
	dirs, ok := g.dirs()
	if !ok {
		return nil
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
			found = append(found, dirSuspects(m.Path)...)
		}
	}
	return found
}

// linked lists the suspects of repositories inside the workspace that hang on
// the index. They are not mounted, so their contents count.
func (g *gitGuard) linked() map[string]string {
	contents := map[string]string{}
	dirs, ok := g.dirs()
	if !ok {
		return contents
	}
	const depth = 5 // of repositories in repositories
	for _, path := range linkedSuspects(dirs.dir, g.workspace, filepath.Join(dirs.common, "modules"), depth) {
		data, err := regular.Read(path, maxGitFile)
		contents[path] = fmt.Sprint(string(data), err)
	}
	return contents
}

// dirs is where the repository is now.
func (g *gitGuard) dirs() (gitDirs, bool) {
	dot := filepath.Join(g.workspace, ".git")
	info, err := os.Lstat(dot)
	if err != nil {
		return gitDirs{}, false
	}
	if info.IsDir() {
		return gitDirs{dot, dot}, true
	}
	return pointedTo(g.workspace, dot)
}

// namesPrograms tells whether a config has keys that make git run something, or
// cannot be read.
func namesPrograms(config string) bool {
	if _, err := regular.Read(config, maxGitFile); err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
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
	planted := slices.DeleteFunc(g.suspects(), func(path string) bool { return g.known[path] })
	linked := g.linked()
	for _, path := range slices.Sorted(maps.Keys(linked)) {
		if was, ok := g.trees[path]; !ok || was != linked[path] {
			planted = append(planted, path)
		}
	}
	for _, path := range planted {
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
	return r.git.restore()
}
