package permissions

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/phero-agent/agent/tools/file"
)

// paths resolves paths and patterns for one decision, each directory once.
type paths struct {
	dir      string
	resolved map[string]string // "" means that it cannot be resolved
}

func newPaths(dir string) *paths { return &paths{dir: dir, resolved: map[string]string{}} }

// absolute cleans a path as the file tools do, without looking at the disk: ~ is
// the home directory, everything else is relative to the working directory.
func (p *paths) absolute(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return path, err
		}
		path = filepath.Join(home, path[1:])
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	return filepath.Clean(path), nil
}

// workingDir makes a directory absolute; an empty one is the process's.
func workingDir(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir), nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return newPaths(here).absolute(dir)
}

// resolve returns a path as the file tools open it and as it is written: clean
// and absolute, but with its links.
func (p *paths) resolve(path string) (resolved, written string, err error) {
	written, err = p.absolute(path)
	if err != nil {
		return "", written, err
	}
	resolved, err = file.ResolvePath("", written)
	return resolved, written, err
}

// pattern returns a pattern of paths in both ways. Only what stands before the
// first * is resolved, up to its last slash (PERM-53); a pattern that begins
// with * stays as it is. The resolved one is "" when there is none.
func (p *paths) pattern(pattern string) (resolved, written string) {
	fixed, _, starred := strings.Cut(pattern, "*")
	if fixed == "" {
		return pattern, pattern
	}
	tail := ""
	if starred {
		slash := strings.LastIndexByte(fixed, '/')
		tail = pattern[slash+1:]
		fixed = fixed[:slash+1]
	}
	dir, err := p.absolute(fixed)
	if err != nil {
		return "", pattern
	}
	join := func(dir string) string {
		if !starred {
			return dir
		}
		return strings.TrimSuffix(dir, "/") + "/" + tail
	}
	real, ok := p.resolved[dir]
	if !ok {
		real, _ = file.ResolvePath("", dir)
		p.resolved[dir] = real
	}
	if real == "" {
		return "", join(dir)
	}
	return join(real), join(dir)
}

// matchPath tells whether a rule matches a path subject. Allow rules match what
// is opened; deny and ask rules match also what is written (PERM-54).
func (c *call) matchPath(r *rule, texts []string, strict bool) bool {
	resolved, written := c.paths.pattern(r.pattern)
	for _, text := range texts {
		if resolved != "" && newGlob(resolved).match(text) {
			return true
		}
		if strict && written != resolved && newGlob(written).match(text) {
			return true
		}
	}
	return false
}

// below tells whether the call's path lies below one of the directories.
func (c *call) below(dirs []string) bool {
	if c.paths == nil {
		return false
	}
	for _, dir := range dirs {
		real, _, err := c.paths.resolve(dir)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(real, c.subject)
		if err == nil && rel != "." && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
