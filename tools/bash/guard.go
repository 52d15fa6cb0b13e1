package bash

import (
	"fmt"
	"strings"
)

// safeModeBlocklist are the texts that safe mode refuses. They are parts of
// the command, so `rm -rf /tmp/x` is refused for its `rm -rf /`; `rm -r -f x`,
// a variable other than $HOME, and `curl … | sh` are not covered.
func safeModeBlocklist() []string {
	return []string{
		"rm -rf /", "rm -fr /", "rm -r -f /", "rm -f -r /", "--no-preserve-root",
		"rm -rf ~", "rm -fr ~", `rm -rf $home`, `rm -rf "$home`, `rm -rf ${home`, `rm -rf "${home`,
		"dd if=", "of=/dev/", "mkfs.", "mkfs ", "wipefs ",
		"> /dev/sd", ">/dev/sd", "> /dev/nvme", ">/dev/nvme", "> /dev/vd", ">/dev/vd",
		":(){", ":() {", "chmod -r 777 /", "chmod -r 000 /",
		"shutdown -", "shutdown now", "systemctl poweroff", "systemctl reboot",
	}
}

// guard checks a command against the blocklist, then the allowlist. Both match
// texts, so they are easy to get around: they stop accidents (BASH-51).
func (t *Tool) guard(command string) error {
	lower := strings.ToLower(command)
	spaced := strings.Join(strings.Fields(lower), " ")
	for _, p := range t.blocklist {
		text := strings.ToLower(p)
		if p != "" && (strings.Contains(lower, text) || strings.Contains(spaced, text)) {
			return fmt.Errorf("%w: it contains %q", ErrCommandBlocked, p)
		}
	}
	if !t.allowLimited {
		return nil
	}
	for _, p := range t.allowlist {
		if p != "" && strings.Contains(lower, strings.ToLower(p)) {
			return nil
		}
	}
	return fmt.Errorf("%w: it must contain one of %q", ErrCommandNotAllowed, t.allowlist)
}
