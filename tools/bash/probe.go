package bash

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Probe runs `true` in the sandbox. Its error says why the sandbox cannot work
// here and what can be done (SBX-21).
func (r *BubblewrapRunner) Probe(ctx context.Context) error {
	cmd, err := r.Command(ctx, "true", RunOptions{Dir: r.workspace})
	if err != nil {
		return err
	}
	out, err := runProbe(ctx, cmd)
	r.mu.Lock()
	r.release()
	r.mu.Unlock()
	if err == nil {
		return nil
	}
	return fmt.Errorf("the sandbox cannot work here: %s: %s", out, remedy(out))
}

func runProbe(ctx context.Context, cmd *exec.Cmd) (output string, err error) {
	c := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	c.Env, c.ExtraFiles = cmd.Env, cmd.ExtraFiles
	separate(c)
	c.Cancel = func() error { // all of it: the parts of bwrap do not end with each other yet
		kill(c.Process)
		return nil
	}
	out, err := c.CombinedOutput()
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	if err == nil {
		return "", nil
	}
	text := strings.TrimSpace(string(out))
	if text == "" {
		text = err.Error()
	}
	return text, err
}

// remedy says what helps against the known failures of bwrap.
func remedy(output string) string {
	switch {
	case strings.Contains(output, "Can't mount proc"), strings.Contains(output, "pivot_root"):
		return "a container does not allow it; start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or choose --sandbox=landlock"
	case strings.Contains(output, "setting up uid map"), strings.Contains(output, "RTM_NEWADDR"), strings.Contains(output, "Permission denied"):
		return "user namespaces are restricted, as AppArmor does on Ubuntu; as root, set kernel.apparmor_restrict_unprivileged_userns=0 or install the bwrap-userns-restrict profile"
	case strings.Contains(output, "No permissions to create new namespace"), strings.Contains(output, "Creating new namespace failed"), strings.Contains(output, "max_user_namespaces"):
		return "user namespaces are off; as root, set kernel.unprivileged_userns_clone=1 and user.max_user_namespaces=10000, or in a container choose --sandbox=landlock"
	case strings.Contains(output, "Unknown option"):
		return "this bwrap is too old; use version 0.5.0 or newer"
	}
	return "run bwrap by hand to see more, or choose --sandbox=landlock"
}
