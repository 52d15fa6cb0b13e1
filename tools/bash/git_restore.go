package bash

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
