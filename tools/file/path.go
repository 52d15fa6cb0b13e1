package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks is how many symlinks one path may lead through.
const maxLinks = 40

// ResolvePath resolves path as the tools do: a leading ~ is the home directory,
// a relative path is taken against dir, "." and ".." are cleaned away, and every
// symlink is followed, also a dangling one. The leaf need not exist. A path that
// leads out of dir is an error that matches [ErrPathOutsideWorkingDirectory].
// With dir "" nothing is confined and the process's directory counts (FILE-09).
func ResolvePath(dir, path string) (string, error) {
	o, err := newOptions([]Option{WithWorkingDirectory(dir)})
	if err != nil {
		return "", err
	}
	_, resolved, err := o.resolve(path, false)
	return resolved, err
}

// resolve returns the resolved path and the allowed directory that holds it, ""
// where nothing is confined. The read-only roots count when reading.
func (o *options) resolve(path string, reading bool) (root, resolved string, err error) {
	abs, err := absolute(path, o.workingDir)
	if err != nil {
		return "", "", err
	}
	if resolved, err = resolveLinks(abs); err != nil {
		return "", "", err
	}
	if o.workingDir == "" {
		return "", resolved, nil
	}
	for _, r := range o.roots(reading) {
		if p, ok := beneath(r, resolved); ok && len(r) > len(root) {
			root, abs = r, p
		}
	}
	if root == "" {
		return "", "", fmt.Errorf("%s: %w %s", path, ErrPathOutsideWorkingDirectory, o.workingDir)
	}
	return root, abs, nil
}

// roots lists the directories that a call may reach, resolved.
func (o *options) roots(reading bool) []string {
	more := o.moreRoots
	if reading {
		more = slices.Concat(more, o.readRoots)
	}
	roots := []string{o.workingDir}
	for _, r := range more {
		abs, err := absolute(r, o.workingDir)
		if err != nil {
			continue
		}
		if real, err := resolveLinks(abs); err == nil && filepath.Dir(real) != real {
			roots = append(roots, real)
		}
	}
	return roots
}

// Shown is an absolute path as a model is shown it, and as every tool takes it:
// relative to the working directory where it lies below it.
func Shown(workingDir, path string) string {
	rel, below := strings.CutPrefix(path, strings.TrimSuffix(workingDir, string(filepath.Separator))+string(filepath.Separator))
	if workingDir == "" || !below {
		return path
	}
	if strings.HasPrefix(rel, "~") { // which would stand for the home directory
		rel = "." + string(filepath.Separator) + rel
	}
	return rel
}

// absolute makes a path absolute against dir, or the process's directory.
func absolute(path, dir string) (string, error) {
	if path == "" {
		return "", ErrPathRequired
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("path %q holds a NUL byte", path)
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("path %s: %w", path, err)
		}
		path = filepath.Join(home, path[1:])
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	if dir != "" {
		return filepath.Join(dir, path), nil
	}
	return filepath.Abs(path)
}

// resolveLinks follows every symlink of a clean absolute path. What does not
// exist is kept as it is written, so that a dangling link gives the path that a
// write would make (FILE-05).
func resolveLinks(path string) (string, error) {
	vol := filepath.VolumeName(path)
	done := vol + string(filepath.Separator)
	rest := strings.Split(path[len(vol):], string(filepath.Separator))
	links := 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			for _, r := range rest {
				if r == ".." {
					return "", &fs.PathError{Op: "resolve", Path: path, Err: fs.ErrNotExist}
				}
			}
			return filepath.Join(append([]string{next}, rest...)...), nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s leads through more than %d symlinks, or in a circle", path, maxLinks)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			vol = filepath.VolumeName(target)
			done = vol + string(filepath.Separator)
			target = target[len(vol):]
		}
		rest = append(strings.Split(filepath.FromSlash(target), string(filepath.Separator)), rest...)
	}
	return done, nil
}

// beneath tells whether path is root or below it. Where names differ in case
// only, the file system is asked; the path returned is then spelled as root is.
func beneath(root, path string) (string, bool) {
	prefix := strings.TrimSuffix(root, string(filepath.Separator))
	if path == root || strings.HasPrefix(path, prefix+string(filepath.Separator)) {
		return path, true
	}
	n := len(prefix)
	if len(path) < n || !strings.EqualFold(path[:n], prefix) || len(path) > n && path[n] != filepath.Separator {
		return "", false
	}
	a, errA := os.Stat(root)
	b, errB := os.Stat(path[:n])
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		return "", false
	}
	return root + path[n:], true
}
