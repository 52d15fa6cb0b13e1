package bash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ErrBubblewrapNotFound says that there is no bwrap to run.
var ErrBubblewrapNotFound = errors.New("bubblewrap was not found: on Linux, install the package bubblewrap")

// BubblewrapRunner runs commands in a sandbox made by bubblewrap (Linux).
//
// Of the host a command sees [SystemPaths], read-only, and the workspace,
// writable. /tmp, /run and the home directory are private and empty, so sockets
// and keys there are out of reach. It has no network, no terminal, no
// capability, its own process and user namespaces, and the environment of
// [DefaultEnvAllowlist]. Sockets inside the workspace can be reached. Memory,
// processes and disk are not limited, but for the private directories.
type BubblewrapRunner struct {
	bwrap     string
	options   func() map[string]bool // that this bwrap has, asked once
	workspace string                 // as it was given, absolute
	real      string                 // the same, resolved
	home      string                 // "" when there is none to hide
	network   bool
	trees     []tree // the workspace, and writable directories beside it
	writables []string
	settings  []func(*BubblewrapRunner) error
	fixed     []Mount  // system, workspace and what the options mount
	protected []Mount  // inside the workspace; looked at before each command
	env       []string // for tools whose caches are somewhere else inside
	roots     []string // of sources that the host's tools can read as well
	git       gitGuards
	sources   cacheSources

	shareCaches bool

	mu       sync.Mutex
	live     int // commands that run
	ahead    int // sandboxes that wait for a command
	reserved reservations
}

// BubblewrapOption configures a [BubblewrapRunner]. Repeated options add up.
type BubblewrapOption func(*BubblewrapRunner)

// WithNetwork shares the host's network. Commands then also reach every
// service on localhost and abstract Unix sockets, such as X11's.
func WithNetwork(on bool) BubblewrapOption {
	return func(r *BubblewrapRunner) { r.network = on }
}

// WithWritablePaths mounts paths of the host writable, at the same place.
// Relative ones are of the process's directory; a missing one is an error.
func WithWritablePaths(paths ...string) BubblewrapOption {
	return func(r *BubblewrapRunner) { r.writables = append(r.writables, paths...) }
}

// WithReadOnlyPaths mounts paths of the host read-only. The most specific
// mount wins, so they can be inside the workspace or a writable directory; one
// that is missing there is reserved, so that no command can make it.
func WithReadOnlyPaths(paths ...string) BubblewrapOption { return withPaths(ReadOnly, paths) }

// WithHidden makes paths empty and read-only for commands. Inside the workspace
// or a writable directory, one that is missing is reserved, so that no command
// can make it.
func WithHidden(paths ...string) BubblewrapOption { return withPaths(Hidden, paths) }

func withPaths(access Access, paths []string) BubblewrapOption {
	return func(r *BubblewrapRunner) {
		r.settings = append(r.settings, func(r *BubblewrapRunner) error {
			for _, p := range paths {
				if err := r.add(p, access); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// NewBubblewrapRunner makes a runner whose commands can write in the workspace.
// It starts nothing; [BubblewrapRunner.Probe] tells whether it works here.
func NewBubblewrapRunner(workspace string, opts ...BubblewrapOption) (*BubblewrapRunner, error) {
	r, err := newWalls(workspace, opts)
	if err != nil {
		return nil, err
	}
	if r.bwrap, err = findBubblewrap(r.real); err != nil {
		return nil, err
	}
	r.options = sync.OnceValue(func() map[string]bool {
		out, _ := exec.Command(r.bwrap, "--help").CombinedOutput()
		options := map[string]bool{}
		for word := range strings.FieldsSeq(string(out)) {
			options[word] = true
		}
		return options
	})
	return r, nil
}

// newWalls works out what a command may see.
func newWalls(workspace string, opts []BubblewrapOption) (*BubblewrapRunner, error) {
	abs, resolved, err := sourcePath(workspace)
	if err != nil {
		return nil, fmt.Errorf("the workspace: %w", err)
	}
	if info, err := os.Stat(resolved); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the workspace %s is not a directory", abs)
	}
	r := &BubblewrapRunner{workspace: abs, real: resolved, trees: []tree{{abs, resolved}}, reserved: reservations{map[string]string{}, map[string]*os.File{}}}
	r.home, _ = homeDirectory()
	r.fixed = append(systemMounts(), r.workspaceMounts()...)
	for _, o := range opts {
		o(r)
	}
	for _, path := range r.writables { // others can be inside of them
		if err := r.addWritable(path); err != nil {
			return nil, err
		}
	}
	for _, set := range r.settings {
		if err := set(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// findBubblewrap looks in PATH, but never where a command could have put it.
func findBubblewrap(workspace string) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := exec.LookPath(filepath.Join(dir, "bwrap"))
		if err != nil {
			continue
		}
		resolved, err := filepath.EvalSymlinks(path)
		if err == nil && !contains(workspace, resolved) && !contains(workspace, path) {
			return path, nil
		}
	}
	return "", ErrBubblewrapNotFound
}

func (r *BubblewrapRunner) workspaceMounts() []Mount {
	mounts := []Mount{{Path: r.workspace, Source: r.real, Access: Writable, Why: "the workspace"}}
	if r.real != r.workspace {
		mounts = append(mounts, Mount{Path: r.real, Source: r.real, Access: Writable, Why: "the workspace, without symlinks"})
	}
	for _, dir := range []string{"/tmp", "/run"} {
		mounts = append(mounts, Mount{Path: dir, Access: Private, Why: "private to each command"})
	}
	if r.home != "" {
		mounts = append(mounts, Mount{Path: r.home, Access: Private, Why: "the home directory, private to each command"})
	}
	return mounts
}

// Command builds the sandbox of one command. bwrap itself gets the command's
// environment and nothing more, because the sandbox shows it in /proc/1.
func (r *BubblewrapRunner) Command(_ context.Context, command string, opts RunOptions) (*exec.Cmd, error) {
	if opts.Reach == Host {
		return nil, fmt.Errorf("%w: the sandbox does not reach the host", ErrReachUnsupported)
	}
	shell, err := sandboxShell()
	if err != nil {
		return nil, err
	}
	filter, err := seccompFile()
	if err != nil {
		return nil, err
	}
	mounts, err := r.begin(opts)
	if err != nil {
		filter.Close()
		return nil, err
	}
	args := r.args(mounts, opts)
	if filter != nil {
		args = append(args, "--seccomp", strconv.Itoa(fdFilter))
	}
	args = append(args, "--", shell)
	if opts.attended {
		args = append(args, supervised1(command)...)
	} else {
		args = append(args, bashArgs(command)...)
	}
	cmd := exec.Command(r.bwrap, args...)
	cmd.Env = r.environment(opts)
	if filter != nil {
		cmd.ExtraFiles = []*os.File{filter} // fdFilter; whoever starts the command closes it
	}
	return cmd, nil
}

// sandboxShell is bash, outside of what the home directory holds.
func sandboxShell() (string, error) {
	for _, p := range []string{"/bin/bash", "/usr/bin/bash"} {
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	path, err := bashPath()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// begin looks at what has to be protected now, and counts the command.
func (r *BubblewrapRunner) begin(opts RunOptions) ([]Mount, error) {
	mounts := append(slices.Clone(r.fixed), r.sources.mounts(opts.Reach)...)
	r.mu.Lock()
	defer r.mu.Unlock()
	protected := slices.Clone(r.protected)
	if r.live == 0 && !opts.ahead {
		r.git.begin()
		r.reserved.recheck()
	}
	protected = append(protected, r.git.mounts()...)
	for _, m := range protected {
		m, err := r.present(m)
		if err != nil {
			r.release()
			return nil, err
		}
		mounts = append(mounts, r.both(m)...)
	}
	switch {
	case opts.ahead:
		r.ahead++
	case opts.attended:
		r.live++
	}
	return arrange(mounts), nil
}

// present is the mount that protects a path as it is now. A missing path is
// reserved by an empty directory at its first missing part. r.mu is held.
func (r *BubblewrapRunner) present(m Mount) (Mount, error) {
	if m.root == "" {
		return m, nil
	}
	if link := linkInside(m.root, m.Path); link != "" {
		return m, fmt.Errorf("%s became a symbolic link, so it cannot be protected: make it a real one", link)
	}
	missing, err := r.reserved.reserve(m.root, m.Path)
	if err != nil {
		return m, err
	}
	if missing != "" {
		m.Path, m.Access, m.Source = missing, Hidden, ""
		m.Why += "; it does not exist, and no command can make it"
	}
	return m, nil
}

// finish is called once a command is over, or a sandbox that waits for one. The
// mount points of reserved paths stay as long as there is any, because removing
// one unmounts it there too.
func (r *BubblewrapRunner) finish(opts RunOptions) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if opts.ahead {
		r.ahead--
		r.release()
		return nil
	}
	r.live--
	r.release()
	return r.git.restore()
}

// release removes the mount points that nothing uses. r.mu is held.
func (r *BubblewrapRunner) release() {
	if r.live+r.ahead > 0 {
		return
	}
	r.reserved.release()
}

func (r *BubblewrapRunner) reached(opts RunOptions) Reach {
	if r.network {
		return max(opts.Reach, Network)
	}
	return opts.Reach
}

// environment is the command's, with the private caches in place of the host's.
func (r *BubblewrapRunner) environment(opts RunOptions) []string {
	env := opts.Env
	if env == nil {
		env = inherit(DefaultEnvAllowlist())
	}
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, dir, _ := strings.Cut(e, "=")
		switch name {
		case "TMPDIR", "TMP", "TEMP":
			return dir != "/tmp" // what the host calls so is not there
		}
		return false
	})
	env = append(env, r.env...)
	return dedupe(append(env, opts.ExtraEnv...))
}

// Mounts tells what a command sees and why, in the order of mounting.
func (r *BubblewrapRunner) Mounts() ([]Mount, error) {
	mounts, err := r.begin(RunOptions{attended: true})
	if err != nil {
		return nil, err
	}
	r.finish(RunOptions{})
	return mounts, nil
}

// Workspace is the directory that commands can write, as it was given.
func (r *BubblewrapRunner) Workspace() string { return r.workspace }

// ReadOnlyRoots are the directories of toolchains, of their sources and of
// [WithReadOnlyPaths] outside the workspace: what commands can read there, the
// host's tools may read as well.
func (r *BubblewrapRunner) ReadOnlyRoots() []string {
	roots := slices.Clone(r.roots)
	slices.Sort(roots)
	return slices.Compact(roots)
}
