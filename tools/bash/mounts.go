package bash

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// Access is what a command can do with what is mounted.
type Access string

// The kinds of access, in the order in which they win at the same path.
const (
	Private  Access = "private"   // empty, in memory, gone with the command
	Writable Access = "writable"  // the host's
	ReadOnly Access = "read-only" // the host's
	Hidden   Access = "hidden"    // empty and read-only
)

func (a Access) rank() int {
	return slices.Index([]Access{Private, Writable, ReadOnly, Hidden}, a)
}

// Mount is a part of the file system that a sandboxed command sees.
type Mount struct {
	Path   string // inside
	Source string // on the host; "" when there is none
	Access Access
	Why    string // for a person

	root string // below it, a missing path is reserved; "" when it must exist
}

// SystemPaths are the directories of the host that a sandbox shows, read-only.
func SystemPaths() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc",
		"/nix/store", "/gnu/store",
	}
}

// ErrPathTooBroad refuses a workspace or a path that would show too much.
var ErrPathTooBroad = errors.New("the path is too broad for a sandbox: choose a directory inside it")

// arrange orders mounts so that the most specific one wins (SBX-17): parents
// first, and of several at one path only the strictest. What its parent shows
// already, and as read-only, is left out: each mount costs bwrap a look at all others.
func arrange(mounts []Mount) []Mount {
	depth := func(m Mount) int { return strings.Count(m.Path, "/") }
	sorted := slices.Clone(mounts)
	slices.SortStableFunc(sorted, func(a, b Mount) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Access.rank(), b.Access.rank()))
	})
	var out []Mount
	for i, m := range sorted {
		if i+1 < len(sorted) && sorted[i+1].Path == m.Path || shown(out, m) {
			continue
		}
		out = append(out, m)
	}
	return out
}

// shown tells whether a mount adds nothing to those above it: the nearest is
// read-only as well, and has the same file there.
func shown(above []Mount, m Mount) bool {
	var nearest Mount
	for _, a := range above {
		if contains(a.Path, m.Path) && len(a.Path) > len(nearest.Path) {
			nearest = a
		}
	}
	return nearest.Path != "" && nearest.Access == ReadOnly && m.Access == ReadOnly &&
		m.Source == filepath.Join(nearest.Source, strings.TrimPrefix(m.Path, nearest.Path))
}

// homeDirectory is the person's home as given and as resolved. Where HOME is
// unset or makes no sense, the system is asked.
func homeDirectory() (given, resolved string) {
	home := os.Getenv("HOME")
	if !filepath.IsAbs(home) || filepath.Clean(home) == "/" {
		home = ""
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) && filepath.Clean(u.HomeDir) != "/" {
			home = u.HomeDir
		}
	}
	if home == "" {
		return "", ""
	}
	home = filepath.Clean(home)
	if r, err := filepath.EvalSymlinks(home); err == nil {
		return home, r
	}
	return home, home
}

// contains tells whether path is dir or below it. Both are clean.
func contains(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// CheckWorkspace says whether a directory can be a sandbox's workspace, without
// the work of making one: [ErrPathTooBroad] where it would show too much.
func CheckWorkspace(dir string) error {
	_, resolved, err := sourcePath(dir)
	if err != nil {
		return err
	}
	return checkBreadth(resolved)
}

// checkBreadth refuses what would show the home directory, or a directory that
// belongs to the system (SBX-09).
func checkBreadth(resolved string) error {
	given, home := homeDirectory()
	for _, h := range []string{given, home} {
		if h != "" && contains(resolved, h) {
			return fmt.Errorf("%w: %s contains the home directory", ErrPathTooBroad, resolved)
		}
	}
	switch resolved {
	case "/", "/home", "/root", "/Users", "/etc", "/usr", "/var", "/run", "/var/run", "/tmp", "/var/tmp", "/private",
		"/opt", "/srv", "/mnt", "/media", "/boot", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
		"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/local":
		return fmt.Errorf("%w: %s belongs to the system", ErrPathTooBroad, resolved)
	}
	for _, d := range []string{"/proc", "/sys", "/dev"} {
		if contains(d, resolved) {
			return fmt.Errorf("%w: %s belongs to the kernel", ErrPathTooBroad, resolved)
		}
	}
	return nil
}

// sourcePath checks a path of the host that is to be mounted, and resolves it.
func sourcePath(path string) (abs, resolved string, err error) {
	if strings.ContainsRune(path, 0) || path == "" {
		return "", "", fmt.Errorf("%q cannot be mounted: it is not a path", path)
	}
	if abs, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	if resolved, err = filepath.EvalSymlinks(abs); err != nil {
		return "", "", fmt.Errorf("%s cannot be mounted: %w", abs, reason(err))
	}
	if err := checkBreadth(resolved); err != nil {
		return "", "", err
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", "", fmt.Errorf("%s cannot be mounted: %w", abs, reason(err))
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return "", "", fmt.Errorf("%s cannot be mounted: it is neither a file nor a directory, and a mount of a socket or device reaches what is behind it", abs)
	}
	return abs, resolved, nil
}

// reason is an error of the file system without the path, which the caller names.
func reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// linkInside is the first symlink on the way from the workspace to a path
// below it; "" is none.
func linkInside(workspace, path string) string {
	rel, err := filepath.Rel(workspace, path)
	if err != nil {
		return ""
	}
	at := workspace
	for part := range strings.SplitSeq(rel, "/") {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if err != nil {
			return ""
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return at
		}
	}
	return ""
}
