package mcp

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// installed says when there is no such program at all.
func (v *server) installed(program string) error {
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			program = filepath.Join(v.all.opts.Workspace, program)
		}
		if _, err := exec.LookPath(program); err != nil {
			return hopelessError{fmt.Errorf("%s cannot be run: %w", program, err)}
		}
		return nil
	}
	if _, err := exec.LookPath(program); err != nil {
		return hopelessError{fmt.Errorf("%s is not installed: no directory of PATH has it", program)}
	}
	return nil
}

// advice names the setting that lets a program do what it probably could not in the
// sandbox; "" outside of it.
func (v *server) advice() string {
	if !v.all.opts.Walled(v.def) {
		return ""
	}
	table := fmt.Sprintf("[mcp.%s]", v.def.Name)
	network := v.def.Network != nil && *v.def.Network
	switch program := filepath.Base(v.def.Command); program {
	case "docker", "podman", "nerdctl":
		return fmt.Sprintf("%s needs what the sandbox does not reach: sandbox = false in %s starts it with your rights", program, table)
	case "npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "deno":
		if !network {
			return fmt.Sprintf("%s may want to load the program: network = true in %s gives it the network in the sandbox", program, table)
		}
	}
	words := "it runs in the sandbox"
	if !network {
		words += ", without the network (network = true lets it)"
	}
	return fmt.Sprintf("%s; it sees the workspace and what its command names (read = [\"/path\"] shows more), and sandbox = false takes it out, all in %s", words, table)
}
