package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/mcp"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
	"github.com/phero-agent/agent/tools/file"
	mcptools "github.com/phero-agent/agent/tools/mcp"
)

// openServers prepares the MCP servers of the settings.
func (a *App) openServers() *mcp.Servers {
	opts := serverOptions(a.opts, a.sandbox)
	opts.Tell = func(warning bool, text string) {
		level := Info
		if warning {
			level = Warning
		}
		a.emit(Notice{Level: level, Text: text})
	}
	opts.Progress = func(callID, text string) { a.emit(ToolProgress{CallID: callID, Text: text}) }
	opts.Changed = func() { a.emit(CommandsChanged{List: a.promptCommands()}) }
	if a.opts.Interactive {
		opts.Ask, opts.Sample = a.question, a.sampleFor
	}
	return mcp.Open(opts)
}

// OpenServers prepares the servers for who only looks at them.
func OpenServers(opts Options) (*mcp.Servers, func() error, error) {
	opts.Interactive = false
	s, err := openSandbox(opts, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	s.start(func() {})
	servers := mcp.Open(serverOptions(opts, s))
	return servers, func() error { servers.Close(); return s.close() }, nil
}

func serverOptions(opts Options, s *sandbox) mcp.Options {
	return mcp.Options{
		Servers: opts.Servers, Version: opts.Version, Workspace: opts.Workspace, StateDir: opts.StateDir, Getenv: os.Getenv,
		Launch: s.launch, Image: file.Image,
		Tell: func(bool, string) {}, Progress: func(string, string) {}, Changed: func() {},
		Limits: opts.ServerLimits,
	}
}

// launch starts the program of a server, in the sandbox unless the settings say
// otherwise. There it sees the workspace, writes only in a directory of its own, and
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
	for _, root := range s.opts.roots() {
		for _, name := range []string{"sessions", "blobs"} {
			if path := filepath.Join(root, ".phero", name); exists(path) {
				walls = append(walls, bash.WithHidden(path))
			}
		}
	}
	for _, path := range namedPaths(argv) {
		walls = append(walls, bash.WithReadOnlyPaths(path))
	}
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

// namedPaths are the files and directories that a command line names whole, so that
// the sandbox can show them.
func namedPaths(argv []string) (list []string) {
	for _, arg := range argv {
		real, err := filepath.EvalSymlinks(arg)
		if !filepath.IsAbs(arg) || err != nil {
			continue
		}
		for _, path := range []string{around(arg), around(real)} {
			if bash.CheckWorkspace(path) == nil && !slices.Contains(list, path) {
				list = append(list, path)
			}
		}
	}
	return list
}

// around is what a program needs that is installed beside others: the modules around
// it, or what is beside its bin; else the path itself.
func around(path string) string {
	const modules = "/node_modules/"
	if i := strings.Index(path, modules); i >= 0 {
		return path[:i+len(modules)-1]
	}
	if dir := filepath.Dir(path); filepath.Base(dir) == "bin" && bash.CheckWorkspace(filepath.Dir(dir)) == nil {
		return filepath.Dir(dir)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Limits of the tools in the model's list (decision 40). What is above them is
// reached through mcp_search and mcp_call.
const (
	maxTools      = 100
	maxToolTokens = 6000
)

// serversWait is how long the first turn waits for servers that are starting.
const serversWait = 10 * time.Second

// awaitServers waits for the servers before the list of tools is made.
func (a *App) awaitServers(ctx context.Context) {
	if !a.servers.Any() {
		return
	}
	wait := serversWait
	if l := a.opts.ServerLimits.Ready; l > 0 {
		wait = l
	}
	late := a.servers.Wait(ctx, wait)
	if len(late) > 0 && ctx.Err() == nil {
		a.emit(Notice{Text: fmt.Sprintf("MCP servers that are still starting: %s. The model finds their tools through %s once they are there", strings.Join(late, ", "), mcptools.SearchName)})
	}
}

// remotes are the tools of the servers.
type remotes struct {
	app    *App
	listed map[string]bool // those in the model's list, by name

	mu    sync.Mutex
	known map[string]remote // the others, as they were made last
}

type remote struct {
	def  mcptools.Definition
	tool *tools.Tool
}

// newRemotes takes the servers' tools that fit beside ours, whole servers in their
// order, and returns what to add to the list: those, and the two that stand for
// what is not in it, where something is not or may come later.
func (a *App) newRemotes(ours []*tools.Tool) (r *remotes, listed, stand []*tools.Tool, err error) {
	r = &remotes{app: a, listed: map[string]bool{}, known: map[string]remote{}}
	if !a.servers.Any() {
		return r, nil, nil, nil
	}
	search, err := mcptools.NewSearch(r.unlisted)
	if err != nil {
		return nil, nil, nil, err
	}
	call, err := mcptools.NewCall(r.tool)
	if err != nil {
		return nil, nil, nil, err
	}
	call.Use(a.mayPassOn)
	stand = []*tools.Tool{search, call}
	n, bytes := len(ours)+len(stand), weightOf(Specs(ours))+weightOf(Specs(stand))
	all := a.servers.Tools()
	for _, name := range a.servers.Names() {
		var theirs []*tools.Tool
		for _, d := range all {
			if d.Server != name {
				continue
			}
			t, err := mcptools.New(d, a.servers.Call)
			if err != nil {
				return nil, nil, nil, err
			}
			theirs = append(theirs, t)
		}
		more := weightOf(Specs(theirs))
		if n+len(theirs) > maxTools || (bytes+more)/bytesPerToken > maxToolTokens {
			continue
		}
		n, bytes = n+len(theirs), bytes+more
		for _, t := range theirs {
			r.listed[t.Name()] = true
		}
		listed = append(listed, theirs...)
	}
	if len(listed) == len(all) && !a.servers.Changeable() {
		stand = nil
	}
	return r, listed, stand, nil
}

// definition is a server's tool as it is now.
func (r *remotes) definition(name string) (mcptools.Definition, bool) {
	all := r.app.servers.Tools()
	i := slices.IndexFunc(all, func(d mcptools.Definition) bool { return d.Name == name })
	if i < 0 {
		return mcptools.Definition{}, false
	}
	return all[i], true
}

// words are what a server says of its tool, nil for a tool of ours.
func (r *remotes) words(name string) *Remote {
	d, ok := r.definition(name)
	if !ok {
		return nil
	}
	return &Remote{Server: d.Server, Tool: d.Tool, Description: d.Description, Hints: d.Hints}
}

// unlisted are the tools that are not in the model's list.
func (r *remotes) unlisted() (list []mcptools.Definition) {
	for _, d := range r.app.servers.Tools() {
		if !r.listed[d.Name] {
			list = append(list, d)
		}
	}
	return list
}

// tool is a server's tool behind the policy, nil where there is none of the name.
func (r *remotes) tool(name string) *tools.Tool {
	d, ok := r.definition(name)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.known[name]; k.tool != nil && reflect.DeepEqual(k.def, d) {
		return k.tool
	}
	t, err := mcptools.New(d, r.app.servers.Call)
	if err != nil {
		return nil // a definition has a name
	}
	r.app.perms.policy.Apply(t)
	t.Use(r.app.started)
	r.known[name] = remote{d, t}
	return t
}

// mayPassOn holds deny rules that name mcp_call itself. What it passes on is decided
// under the name of the real tool.
func (a *App) mayPassOn(t *tools.Tool, next tools.Handler) tools.Handler {
	return func(ctx context.Context, arguments string) (any, error) {
		if trace := a.perms.policy.ExplainIn(ctx, t.Name(), arguments); trace.By == permissions.ByDenyRule {
			return nil, &permissions.DeniedError{Tool: t.Name(), Rule: trace.Rule.Text}
		}
		return next(ctx, arguments)
	}
}

// subjects are the arguments of servers' tools that rules match.
func subjects(servers []config.Server) (list []permissions.Option) {
	for _, s := range servers {
		for tool, argument := range s.Subjects {
			list = append(list, permissions.WithSubject(mcptools.Name(s.Name, tool), argument))
		}
	}
	return list
}

// Servers answers /mcp: how each server is, all that is known of one, and what can
// be done with it.
func (a *App) Servers(args string) (string, error) {
	verb, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	switch {
	case verb == "restart" && name != "":
		if err := a.servers.Restart(name); err != nil {
			return "", err
		}
		return "the MCP server " + name + " is started anew", nil
	case verb == "login" && name != "":
		a.working.Go(func() { a.login(name) })
		return "", nil
	}
	var lines []string
	now := time.Now()
	for _, s := range a.servers.Status() {
		if args == "" {
			lines = append(lines, s.Line(now))
		} else if s.Name == args {
			return s.Details(now), nil
		}
	}
	switch {
	case args != "":
		return "", fmt.Errorf("there is no MCP server %q; /mcp lists them, /mcp restart <name> starts one anew, /mcp login <name> signs you in", args)
	case lines == nil:
		return "There are no MCP servers. agent mcp add adds one; so does [mcp.<name>] in the settings.", nil
	}
	return strings.Join(lines, "\n"), nil
}

// ServerNames are the names of the MCP servers.
func (a *App) ServerNames() []string { return a.servers.Names() }

// login signs the person in at a server, in the background: the address stands in a
// question that closes when the browser comes back.
func (a *App) login(name string) {
	ctx, cancel := context.WithTimeout(a.life, loginTime)
	defer cancel()
	err := a.servers.Login(ctx, name, func(address string) {
		a.working.Go(func() {
			if a.waitForBrowser(ctx, name, address) {
				cancel()
			}
		})
	})
	switch {
	case err == nil:
		a.emit(Notice{Text: "you are signed in at the MCP server " + name})
	case errors.Is(err, context.Canceled):
	default:
		a.emit(Notice{Level: Error, Text: fmt.Sprintf("you are not signed in at %s: %v", name, err)})
	}
}

// loginTime is how long signing in may take.
const loginTime = 5 * time.Minute
