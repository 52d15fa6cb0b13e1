package bash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ErrLandlockNotFound says that the kernel cannot restrict processes by Landlock.
var ErrLandlockNotFound = errors.New("this kernel has no Landlock: Linux 5.13 or newer is needed, with landlock among the security modules")

// LandlockRunner is the weaker sandbox for machines where bubblewrap cannot
// work, such as containers. The kernel restricts the command's process.
//
// It covers: writes only below the workspace, the writable paths and a private
// temp directory, which is also the home directory; reads only of the system,
// the workspace and what is mounted in [BubblewrapRunner]; no TCP from kernel
// 6.7 on; no signals to, and no abstract sockets of, other processes from 6.12 on.
//
// It does not cover: UDP and Unix sockets in older kernels, other processes'
// names, memory and processor use; and inside the workspace nothing can be
// read-only or hidden. What commands change in the repository's config and
// hooks is put back after each command. It never counts as the sandbox.
//
// The program must call [MaybeHelper] first in main.
type LandlockRunner struct {
	walls *BubblewrapRunner // what would be mounted
	privateDir
}

// NewLandlockRunner takes the options of [NewBubblewrapRunner]. Close
// removes the private directory.
func NewLandlockRunner(workspace string, opts ...BubblewrapOption) (*LandlockRunner, error) {
	if landlockVersion() < 1 {
		return nil, ErrLandlockNotFound
	}
	walls, err := newWalls(workspace, opts)
	if err != nil {
		return nil, err
	}
	private, err := newPrivateDir()
	if err != nil {
		return nil, err
	}
	for _, g := range walls.git {
		g.unmounted = true
	}
	return &LandlockRunner{walls: walls, privateDir: private}, nil
}

// landlockRules is what the helper is told.
type landlockRules struct {
	Network  bool
	List     []string // directories whose names can be listed
	Read     []string // directories and files
	Write    []string
	Devices  []string
	Commands []string
}

const helperName = "phero-landlock"

// Command runs bash in a helper, which is this program again, see [MaybeHelper].
func (r *LandlockRunner) Command(_ context.Context, command string, opts RunOptions) (*exec.Cmd, error) {
	if opts.Reach == Host {
		return nil, fmt.Errorf("%w: the sandbox does not reach the host", ErrReachUnsupported)
	}
	shell, err := sandboxShell()
	if err != nil {
		return nil, err
	}
	if opts.attended {
		r.walls.git.enter()
	}
	rules := r.rules(opts)
	rules.Commands = append([]string{shell}, bashArgs(command)...)
	spec, err := json.Marshal(rules)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{helperName, string(spec)}
	cmd.Dir = opts.Dir
	cmd.Env = r.environment(opts)
	return cmd, nil
}

func (r *LandlockRunner) reached(opts RunOptions) Reach { return r.walls.reached(opts) }

func (r *LandlockRunner) hides(path string) bool { return r.walls.hides(path) }

func (r *LandlockRunner) finish(RunOptions) []string {
	return r.walls.git.leave()
}

// environment has the private directory in place of the home directory, and
// tells tools where what they look for there really is.
func (r *LandlockRunner) environment(opts RunOptions) []string {
	env := r.walls.environment(RunOptions{Env: opts.Env})
	own := []string{"HOME=" + r.privateDir.path, "TMPDIR=" + r.privateDir.path}
	for name, path := range map[string]string{
		"GIT_CONFIG_GLOBAL": ".gitconfig", "RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv", "NVM_DIR": ".nvm", "VOLTA_HOME": ".volta",
	} {
		path = filepath.Join(r.walls.home, path)
		if r.walls.home != "" && slices.ContainsFunc(r.walls.fixed, func(m Mount) bool { return m.Path == path && m.Access == ReadOnly }) {
			own = append(own, name+"="+path)
		}
	}
	slices.Sort(own)
	return dedupe(slices.Concat(env, own, opts.ExtraEnv))
}

func (r *LandlockRunner) rules(opts RunOptions) landlockRules {
	rules := landlockRules{
		Network: r.reached(opts) == Network,
		Read:    []string{"/proc", "/sys"},
		Write:   []string{r.privateDir.path},
		Devices: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"},
	}
	mounts := append(slices.Clone(r.walls.fixed), r.walls.sources.mounts(opts.Reach)...)
	hidden := map[string]bool{}
	for _, m := range mounts {
		if m.Access == Hidden {
			hidden[m.Path] = true
		}
	}
	for _, m := range mounts {
		switch m.Access {
		case Writable:
			rules.Write = append(rules.Write, m.Source)
		case ReadOnly:
			rules.expose(m.Source, hidden)
		}
	}
	for _, m := range r.walls.git.mounts() {
		if _, in := r.walls.inside(m.Path); m.Access == Writable && in == "" {
			rules.Write = append(rules.Write, m.Source)
		}
	}
	if rules.Network {
		if target, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
			rules.Read = append(rules.Read, target)
		}
	}
	return rules
}

// expose allows reading below a path, but not what is hidden there: rules only
// add up, so a directory that holds something hidden is taken apart.
func (l *landlockRules) expose(path string, hidden map[string]bool) {
	if hidden[path] {
		return
	}
	holds := false
	for h := range hidden {
		holds = holds || strings.HasPrefix(h, path+"/")
	}
	if !holds {
		l.Read = append(l.Read, path)
		return
	}
	l.List = append(l.List, path)
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		l.expose(filepath.Join(path, e.Name()), hidden)
	}
}

// ReadOnlyRoots is [BubblewrapRunner.ReadOnlyRoots].
func (r *LandlockRunner) ReadOnlyRoots() []string { return r.walls.ReadOnlyRoots() }

// Mounts tells what a command can reach and why. Nothing is mounted: the rules
// are the kernel's.
func (r *LandlockRunner) Mounts() ([]Mount, error) {
	mounts := []Mount{
		{Path: r.privateDir.path, Source: r.privateDir.path, Access: Writable, Why: "a home and temp directory of this session"},
		{Path: "/proc", Source: "/proc", Access: ReadOnly, Why: "the kernel's"},
		{Path: "/sys", Source: "/sys", Access: ReadOnly, Why: "the kernel's"},
	}
	for _, m := range append(slices.Clone(r.walls.fixed), r.walls.sources.mounts(Sandboxed)...) {
		if m.Access == Private {
			m.Access, m.Why = Hidden, "cannot be read, but for what is listed inside"
		}
		mounts = append(mounts, m)
	}
	return arrange(mounts), nil
}

// Probe runs a command under the restrictions, and checks that they hold.
func (r *LandlockRunner) Probe(ctx context.Context) error {
	outside, err := os.MkdirTemp("", "phero-probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(outside)
	cmd, err := r.Command(ctx, "! : 2>/dev/null >"+quote(filepath.Join(outside, "x")), RunOptions{Dir: r.walls.workspace})
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, cmd.Path)
	c.Args, c.Env, c.Dir = cmd.Args, cmd.Env, cmd.Dir
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the Landlock sandbox cannot work here: %s%w", out, err)
	}
	return nil
}
