package bash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// outside is the host's table of mounts: what is mounted below a source is shown as well.
func (r *BubblewrapRunner) outside() string {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	return string(table)
}

// look is the sandbox's table of mounts. The kernel takes away a mount whose
// place somebody removes or replaces, moves one with the place, and names the
// source by its present path: each of them changes the table.
func (r *BubblewrapRunner) look(pid int) (string, error) {
	proc, err := innerProcess(pid)
	if err != nil {
		return "", err
	}
	table, err := os.ReadFile(filepath.Join(proc, "mountinfo"))
	return string(table), err
}

// innerProcess is bwrap's part inside, which it starts alone.
func innerProcess(pid int) (string, error) {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return "", err
	}
	child := strings.TrimSpace(string(children))
	if _, err := strconv.Atoi(child); err != nil {
		return "", fmt.Errorf("the sandbox has no process: %q", child)
	}
	return filepath.Join("/proc", child), nil
}

// matches tells what a sandbox shows otherwise than bwrap would with the same
// arguments now: every mount is there, what is bound is the file that has the name
// on the host at this moment, and the directory is the one to work in. The sandbox
// holds on to these files, so none can be another with the same number.
func (r *BubblewrapRunner) matches(cmd *exec.Cmd, pid int, table string) error {
	proc, err := innerProcess(pid)
	if err != nil {
		return err
	}
	places := map[string]bool{}
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 4 {
			places[fields[4]] = true
		}
	}
	files := map[string]os.FileInfo{} // many are /dev/null
	for _, m := range mountsOf(cmd.Args) {
		at := filepath.Join(proc, "root", m.to)
		if m.flag == "--chdir" {
			at = filepath.Join(proc, "cwd")
		} else if !places[mountinfoPath(m.to)] {
			return fmt.Errorf("%s is not mounted", m.to)
		}
		if m.from == "" {
			continue
		}
		if files[m.from] == nil {
			if files[m.from], err = os.Stat(m.from); err != nil {
				return err
			}
		}
		if shown, err := os.Stat(at); err != nil || !os.SameFile(files[m.from], shown) {
			return fmt.Errorf("%s is not what the sandbox has at %s", m.from, m.to)
		}
	}
	return nil
}

// argMount is a mount as bwrap is told, or the directory to work in.
type argMount struct {
	flag     string
	from, to string // from is "" for what has no file on the host
}

// mountsOf reads what [BubblewrapRunner.args] wrote.
func mountsOf(args []string) (list []argMount) {
	for i := 1; i < len(args); i++ {
		switch flag := args[i]; flag {
		case "--":
			return list
		case "--bind", "--ro-bind":
			list = append(list, argMount{flag, args[i+1], args[i+2]})
			i += 2
		case "--tmpfs", "--proc", "--dev":
			list = append(list, argMount{flag, "", args[i+1]})
			i++
		case "--chdir":
			list = append(list, argMount{flag, args[i+1], args[i+1]})
			i++
		case "--symlink":
			i += 2
		case "--cap-drop", "--sync-fd", "--size", "--perms", "--remount-ro", "--seccomp":
			i++
		}
	}
	return list
}

// mountinfoPath is a path as the kernel writes it in a table of mounts.
func mountinfoPath(path string) string {
	return strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(path)
}
