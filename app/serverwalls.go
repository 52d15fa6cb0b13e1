package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/bash"
)

// launch starts the program of a server, in the sandbox unless the settings say
// otherwise. There it sees the workspace without our sessions, writes only in a directory of its own, and
// has the environment of commands.
func (s *sandbox) launch(ctx context.Context, def config.Server, argv, env []string) (*bash.Program, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	runner := bash.Runner(bash.LocalRunner{})
	if def.Sandboxed() {
		var err error
		if runner, err = s.runnerFor(def, argv); err != nil {
			return nil, err
		}
	}
	return bash.StartProgram(ctx, runner, argv, bash.RunOptions{Dir: s.opts.Workspace, ExtraEnv: env})
}

// walled tells whether a server's program runs in the sandbox.
func (s *sandbox) walled(def config.Server) bool { return def.Sandboxed() && s.label != "none" }

// runnerFor is the sandbox of a server.
func (s *sandbox) runnerFor(def config.Server, argv []string) (bash.Runner, error) {
	switch s.label {
	case "none":
		return bash.LocalRunner{}, nil
	case "no commands":
		return nil, fmt.Errorf("%w; sandbox = false in its settings runs it on this machine itself", s.err)
	}
	dir := filepath.Join(config.WorkspaceState(s.opts.StateDir, s.opts.Workspace), "mcp", def.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	walls := []bash.BubblewrapOption{
		bash.WithNetwork(s.opts.Network || def.Network != nil && *def.Network), bash.WithReadOnlyPaths(s.opts.roots()...), bash.WithToolchains(),
	}
	// What is hidden must be there before, and stay: commands that run meanwhile make
	// places for their own walls, and take them away.
	if store, err := session.OpenStore(s.opts.Workspace); err == nil {
		_ = store.Make() // where nothing can be written no session is kept either
	}
	for _, root := range s.opts.roots() {
		if dir := filepath.Join(root, ".phero"); exists(filepath.Join(dir, ".gitignore")) {
			walls = append(walls, bash.WithHidden(dir))
		}
	}
	shown, err := s.shownTo(def, argv)
	if err != nil {
		return nil, err
	}
	walls = append(walls, bash.WithReadOnlyPaths(shown...))
	switch s.label {
	case "landlock":
		r, err := bash.NewLandlockRunner(dir, walls...)
		return s.kept(r, err)
	case "seatbelt":
		r, err := bash.NewSeatbeltRunner(dir, walls...)
		return s.kept(r, err)
	}
	return bash.NewBubblewrapRunner(dir, walls...)
}

// kept is a runner that is closed with the sandbox.
func (s *sandbox) kept(r interface {
	bash.Runner
	Close() error
}, err error) (bash.Runner, error) {
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = append(s.servers, r)
	return r, nil
}

// shownTo are the files and directories that a server sees beside the workspace:
// those that the settings name, and what its command line needs.
func (s *sandbox) shownTo(def config.Server, argv []string) (list []string, err error) {
	for _, path := range def.Read {
		if !exists(path) {
			return nil, fmt.Errorf("the path %s in mcp.%s.read is not there", path, def.Name)
		}
		if err := s.mayShow(path); err != nil {
			return nil, fmt.Errorf("mcp.%s.read: %w", def.Name, err)
		}
		list = append(list, path)
	}
	for i, arg := range argv {
		if i == 0 {
			if found, err := exec.LookPath(arg); err == nil {
				arg = found
			}
		} else if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		real, err := filepath.EvalSymlinks(arg)
		if !filepath.IsAbs(arg) || err != nil {
			continue
		}
		for _, path := range []string{s.around(arg), s.around(real)} {
			if s.mayShow(path) == nil && !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
	}
	return list, nil
}

// mayShow refuses what would show a home directory, a directory of the system, or
// what the program itself keeps, such as the tokens of other servers.
func (s *sandbox) mayShow(path string) error {
	for _, pair := range [][2]string{{path, s.opts.StateDir}, {s.opts.StateDir, path}} {
		if rel, err := filepath.Rel(pair[0], pair[1]); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("%s shows what agent keeps in %s", path, s.opts.StateDir)
		}
	}
	return bash.CheckWorkspace(path)
}

// markers are the files by which a directory is known as what somebody installed or
// builds as a whole.
var markers = [...]string{"package.json", "node_modules", "pyvenv.cfg", "pyproject.toml", "setup.py", "requirements.txt", "go.mod", "Cargo.toml", "deno.json"}

// around is what a program or script needs that is installed beside others: the
// modules around it, its project, or what is beside its bin; else the path itself.
func (s *sandbox) around(path string) string {
	const modules = "/node_modules/"
	if i := strings.Index(path, modules); i >= 0 {
		return path[:i+len(modules)-1]
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return path
	}
	for dir := filepath.Dir(path); s.mayShow(dir) == nil; dir = filepath.Dir(dir) {
		if !marked(dir) {
			continue
		}
		// What a project has installed in editable form is in the project.
		if up := filepath.Dir(dir); exists(filepath.Join(dir, "pyvenv.cfg")) && s.mayShow(up) == nil && marked(up) {
			return up
		}
		return dir
	}
	home, err := os.UserHomeDir()
	parent := filepath.Dir(filepath.Dir(path))
	if filepath.Base(filepath.Dir(path)) == "bin" && s.mayShow(parent) == nil && (err != nil || filepath.Dir(parent) != home) {
		return parent
	}
	return path
}

func marked(dir string) bool {
	return slices.ContainsFunc(markers[:], func(name string) bool { return exists(filepath.Join(dir, name)) })
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
