package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/phero-agent/agent/app/mcp"
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
		Launch: s.launch, Walled: s.walled, Image: file.Image,
		Tell: func(bool, string) {}, Progress: func(string, string) {}, Changed: func() {},
		Limits: opts.ServerLimits,
	}
}

const (
	serversWait   = 10 * time.Second // how long the first turn waits for servers that are starting
	serversUntold = time.Second      // of that, without saying so
)

// awaitServers waits for the servers before the list of tools is made.
func (a *App) awaitServers(ctx context.Context) {
	if !a.servers.Any() {
		return
	}
	wait := serversWait
	if l := a.opts.ServerLimits.Ready; l > 0 {
		wait = l
	}
	late := a.servers.Wait(ctx, min(wait, serversUntold))
	if rest := wait - serversUntold; len(late) > 0 && rest > 0 && ctx.Err() == nil {
		a.emit(Notice{Text: fmt.Sprintf("waiting for MCP servers that are starting, at most %s: %s", wait, strings.Join(late, ", "))})
		late = a.servers.Wait(ctx, rest)
	}
	if len(late) > 0 && ctx.Err() == nil {
		a.emit(Notice{Text: fmt.Sprintf("MCP servers that are still starting: %s. The model finds their tools through %s once they are there", strings.Join(late, ", "), mcptools.SearchName)})
	}
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
