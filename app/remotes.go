package app

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools"
	mcptools "github.com/phero-agent/agent/tools/mcp"
)

// Limits of the tools in the model's list (decision 40). What is above them is
// reached through mcp_search and mcp_call.
const (
	maxTools      = 100
	maxToolTokens = 6000
)

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
