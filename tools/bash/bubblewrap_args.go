package bash

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// privateBytes bounds each private directory, which is in memory (sandbox V11).
const privateBytes = 2 << 30

// systemMounts are the host's system directories. As root, what the mode bits
// keep from other users is hidden, because nothing else would.
func systemMounts() []Mount {
	var mounts []Mount
	for _, p := range SystemPaths() {
		if _, err := os.Lstat(p); err == nil {
			mounts = append(mounts, Mount{Path: p, Source: p, Access: ReadOnly, Why: "system"})
		}
	}
	if os.Geteuid() == 0 {
		for _, p := range secrets("/etc") {
			mounts = append(mounts, Mount{Path: p, Access: Hidden, Why: "only root may read it"})
		}
	}
	return mounts
}

// secrets lists files and directories that are not for everybody.
func secrets(dir string) []string {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := d.Info()
		if err != nil || !d.IsDir() && !info.Mode().IsRegular() {
			return nil
		}
		if d.IsDir() && info.Mode().Perm()&0o005 != 0o005 {
			found = append(found, path)
			return fs.SkipDir
		}
		if !d.IsDir() && info.Mode().Perm()&0o004 == 0 {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// args are bwrap's, up to the command.
func (r *BubblewrapRunner) args(mounts []Mount, opts RunOptions) []string {
	network := r.reached(opts) == Network
	args := []string{
		"--unshare-all", "--unshare-user",
		"--die-with-parent",
		"--new-session", // no way to type into the terminal (V4)
		"--cap-drop", "ALL",
	}
	if r.can("--disable-userns") { // no user namespaces inside the sandbox (V10)
		args = append(args, "--disable-userns")
	}
	if network {
		args = append(args, "--share-net")
	}
	if opts.attended {
		args = append(args, "--sync-fd", strconv.Itoa(fdAlive))
	}
	for _, m := range mounts {
		args = append(args, r.mountArgs(m)...)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev")
	hidden := []string{"/proc/kallsyms", "/proc/keys"}
	if os.Geteuid() == 0 { // from everybody else the mode bits keep these
		args = append(args, "--ro-bind", "/proc/sys", "/proc/sys") // core_pattern is there (V2)
		hidden = append(hidden, "/proc/sysrq-trigger", "/proc/kcore", "/proc/timer_list")
	}
	for _, p := range hidden {
		if _, err := os.Stat(p); err == nil {
			args = append(args, "--ro-bind", "/dev/null", p)
		}
	}
	if network {
		args = append(args, resolverArgs()...)
	}
	dir := opts.Dir
	if dir == "" {
		dir = r.workspace
	}
	return append(args, "--chdir", dir)
}

// can tells whether this bwrap has an option that came late, with version 0.7 or 0.8.
func (r *BubblewrapRunner) can(option string) bool { return r.options()[option] }

func (r *BubblewrapRunner) mountArgs(m Mount) []string {
	var size []string
	if r.can("--size") {
		size = []string{"--size", strconv.FormatInt(privateBytes, 10)}
	}
	switch m.Access {
	case Private:
		return append(size, "--tmpfs", m.Path)
	case Writable:
		return []string{"--bind", m.Source, m.Path}
	case Hidden:
		if info, err := os.Stat(m.Path); err == nil && !info.IsDir() {
			return []string{"--ro-bind", "/dev/null", m.Path}
		}
		return []string{"--perms", "0555", "--tmpfs", m.Path, "--remount-ro", m.Path}
	}
	// A system directory that is a symlink is made again: its target is mounted as well.
	if target, err := os.Readlink(m.Source); err == nil && m.Path == m.Source {
		return []string{"--symlink", target, m.Path}
	}
	return []string{"--ro-bind", m.Source, m.Path}
}

// resolverArgs make names resolve where resolv.conf points into /run (SBX-12).
func resolverArgs() []string {
	target, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil || contains("/etc", target) || contains("/usr", target) {
		return nil
	}
	return []string{"--ro-bind", target, target}
}

// supervisor runs the command in a bash of its own, and then tells what that
// left running; the sandbox ends with the supervisor. Only it has [fdLeftovers]
// open.
//
// It begins only when this program says so, which it does once the sandbox was
// bound to its life: before that, the parts of bwrap do not end with each other.
// The part inside binds itself after it has started this, and just before it takes
// the filter of system calls that this has as well.
const supervisor = `exec 5>&2 2>/dev/null
if : <&4; then
	filtered() { mapfile -t words <"/proc/$1/status" && [[ ${words[*]} == *Seccomp:$'\t'2* ]]; }
	for ((try = 0; try < 500; try++)); do
		filtered 1 || ! filtered $$ && break
		read -r -t 0.002 -u 4 # nothing comes yet
	done
	printf . >&7
	read -r -N 1 -u 4 || exit
	exec 4<&-
fi
(exec -a bash "$BASH" --noprofile --norc -c -- "$1") 2>&5 5>&- 6<&- 7>&-
status=$?
for ((try = 0; try <= %d; try++)); do
	left=
	for proc in /proc/[0-9]*; do
		pid=${proc#/proc/}
		[[ $pid == 1 || $pid == $$ ]] && continue
		mapfile -d '' -t words <"$proc/cmdline" || continue
		((${#words[@]})) || read -r words <"$proc/stat" || continue
		[[ $words == *") Z "* ]] || left+="${words[*]//$'\n'/ }"$'\n'
	done
	[[ $left ]] || break
	((try < %[1]d)) && sleep 0.01
done
printf %%s "$left" >&7
exit $status`

// supervised1 are bash's arguments for a command under the supervisor.
func supervised1(command string) []string {
	return []string{"--noprofile", "--norc", "-c", fmt.Sprintf(supervisor, leftGrace.Milliseconds()/10), "bash", command}
}
