package bash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// ErrSeatbeltNotFound says that there is no sandbox-exec, which macOS has.
var ErrSeatbeltNotFound = errors.New("sandbox-exec was not found: the Seatbelt sandbox needs macOS")

const sandboxExec = "/usr/bin/sandbox-exec"

// SeatbeltRunner runs commands under a Seatbelt profile (macOS). A command can
// write in the workspace, the writable paths and a private temp directory,
// which is also its home directory; it can read the system, the workspace and
// what is mounted in [BubblewrapRunner]; it has no network. Hidden and
// read-only paths, the repository's too, hold inside the workspace.
//
// The profile is tested as a text and by macOS machines of the project's
// workflow; it has not been proven by use yet.
type SeatbeltRunner struct {
	walls *BubblewrapRunner
	privateDir
}

// NewSeatbeltRunner takes the options of [NewBubblewrapRunner].
// Close removes the private directory.
func NewSeatbeltRunner(workspace string, opts ...BubblewrapOption) (*SeatbeltRunner, error) {
	if _, err := os.Stat(sandboxExec); err != nil {
		return nil, ErrSeatbeltNotFound
	}
	walls, err := newWalls(workspace, opts)
	if err != nil {
		return nil, err
	}
	private, err := newPrivateDir()
	if err != nil {
		return nil, err
	}
	return &SeatbeltRunner{walls: walls, privateDir: private}, nil
}

// Command runs bash under the profile.
func (r *SeatbeltRunner) Command(_ context.Context, command string, opts RunOptions) (*exec.Cmd, error) {
	if opts.Reach == Host {
		return nil, fmt.Errorf("%w: the sandbox does not reach the host", ErrReachUnsupported)
	}
	shell, err := bashPath()
	if err != nil {
		return nil, err
	}
	mounts, err := r.walls.begin(opts)
	if err != nil {
		return nil, err
	}
	profile := seatbeltProfile(mounts, r.privateDir.path, r.reached(opts) == Network)
	cmd := exec.Command(sandboxExec, append([]string{"-p", profile, shell}, bashArgs(command)...)...)
	cmd.Dir = opts.Dir
	env := r.walls.environment(RunOptions{Env: opts.Env})
	cmd.Env = dedupe(slices.Concat(env, []string{"HOME=" + r.privateDir.path, "TMPDIR=" + r.privateDir.path}, opts.ExtraEnv))
	return cmd, nil
}

func (r *SeatbeltRunner) reached(opts RunOptions) Reach { return r.walls.reached(opts) }

func (r *SeatbeltRunner) hides(path string) bool { return r.walls.hides(path) }

func (r *SeatbeltRunner) finish(opts RunOptions) []string { return r.walls.finish(opts) }

// ReadOnlyRoots is [BubblewrapRunner.ReadOnlyRoots].
func (r *SeatbeltRunner) ReadOnlyRoots() []string { return r.walls.ReadOnlyRoots() }

// Mounts tells what a command can reach and why. Nothing is mounted: the rules
// are the profile's.
func (r *SeatbeltRunner) Mounts() ([]Mount, error) { return r.walls.Mounts() }

// Probe runs `true` in the sandbox.
func (r *SeatbeltRunner) Probe(ctx context.Context) error {
	cmd, err := r.Command(ctx, "true", RunOptions{Dir: r.walls.workspace})
	if err != nil {
		return err
	}
	if out, err := runProbe(ctx, cmd); err != nil {
		return fmt.Errorf("the Seatbelt sandbox cannot work here: %s", out)
	}
	return nil
}

// seatbeltBase lets programs start and little else. In a profile the last rule
// that matches wins.
const seatbeltBase = `(version 1)
(deny default)
(allow process-exec process-fork process-info* sysctl-read)
(allow signal (target same-sandbox))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.trustd.agent"))
(allow ipc-posix-sem ipc-posix-shm)
(allow file-read-metadata)
(allow file-read* (literal "/") (subpath "/System") (subpath "/Library") (subpath "/opt/homebrew") (subpath "/private/etc") (subpath "/private/var/db/timezone") (subpath "/private/var/db/dyld") (subpath "/dev"))
(allow file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))
`

// seatbeltProfile writes mounts as a profile, in their order.
func seatbeltProfile(mounts []Mount, private string, network bool) string {
	var b strings.Builder
	b.WriteString(seatbeltBase)
	path := func(p string) string { return "(subpath " + seatbeltQuote(p) + ")" }
	for _, m := range mounts {
		switch m.Access {
		case Private:
			fmt.Fprintf(&b, "(deny file-read-data file-write* %s)\n", path(m.Path))
		case Writable:
			fmt.Fprintf(&b, "(allow file-read* file-write* %s)\n", path(m.Source))
			if m.Why == gitWhy { // it must not be renamed
				fmt.Fprintf(&b, "(deny file-write-unlink (literal %s))\n", seatbeltQuote(m.Source))
			}
		case ReadOnly:
			fmt.Fprintf(&b, "(allow file-read* %s)\n(deny file-write* %[1]s)\n", path(m.Source))
		case Hidden:
			fmt.Fprintf(&b, "(deny file-read-data file-write* %s)\n", path(m.Path))
		}
	}
	// It may be below a directory that was denied just now.
	fmt.Fprintf(&b, "(allow file-read* file-write* %s)\n", path(private))
	if network {
		b.WriteString("(allow network* system-socket)\n(allow file-read* (literal \"/private/var/run/resolv.conf\"))\n")
	}
	return b.String()
}

func seatbeltQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
