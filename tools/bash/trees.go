package bash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tree is a directory whose files commands can write and that has protected
// paths inside: the workspace, or one of [WithWritablePaths].
type tree struct{ given, real string }

// inside is a path below the tree, resolved but for what is below; "" when it is elsewhere.
func (t tree) inside(path string) string {
	for _, root := range []string{t.given, t.real} {
		if path != root && contains(root, path) {
			return filepath.Join(t.real, strings.TrimPrefix(path, root))
		}
	}
	return ""
}

// inside is the tree that a path is below, and the path there.
func (r *BubblewrapRunner) inside(path string) (t tree, in string) {
	for _, t := range r.trees {
		if in := t.inside(path); in != "" {
			return t, in
		}
	}
	return tree{}, ""
}

// addWritable mounts a path of the host writable.
func (r *BubblewrapRunner) addWritable(path string) error {
	abs, resolved, err := sourcePath(path)
	if err != nil {
		return err
	}
	if info, err := os.Stat(resolved); err == nil && info.IsDir() {
		r.trees = append(r.trees, tree{abs, resolved})
	}
	r.mount(abs, resolved, Writable)
	return nil
}

// add mounts a path of the host that is not to be written.
func (r *BubblewrapRunner) add(path string, access Access) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if t, in := r.inside(abs); in != "" {
		return r.protect(t, in, access)
	}
	abs, resolved, err := sourcePath(path)
	if err != nil {
		return err
	}
	if access == Hidden {
		r.fixed = append(r.fixed, Mount{Path: resolved, Access: Hidden, Why: "hidden by the settings"})
		return nil
	}
	if info, err := os.Stat(resolved); err == nil && info.IsDir() {
		r.roots = append(r.roots, abs)
	}
	r.mount(abs, resolved, access)
	return nil
}

// mount shows a path under both of its names.
func (r *BubblewrapRunner) mount(abs, resolved string, access Access) {
	const why = "mounted by the settings"
	r.fixed = append(r.fixed, Mount{Path: resolved, Source: resolved, Access: access, Why: why})
	if abs != resolved {
		r.fixed = append(r.fixed, Mount{Path: abs, Source: resolved, Access: access, Why: why})
	}
}

// protect keeps a path inside a tree from being written, made or moved.
func (r *BubblewrapRunner) protect(t tree, path string, access Access) error {
	if link := linkInside(t.real, path); link != "" {
		return fmt.Errorf("%s cannot be protected, because it is a symbolic link that a command could replace: make it a real one", link)
	}
	r.protected = append(r.protected, Mount{Path: path, Source: path, Access: access, Why: "protected in the workspace", root: t.real})
	return nil
}

// both shows a mount below a tree under both of its names.
func (r *BubblewrapRunner) both(m Mount) []Mount {
	mounts := []Mount{m}
	for _, t := range r.trees {
		if t.given != t.real && contains(t.real, m.Path) {
			other := m
			other.Path = filepath.Join(t.given, strings.TrimPrefix(m.Path, t.real))
			mounts = append(mounts, other)
		}
	}
	return mounts
}
