// Package mcp makes the tools of servers of the Model Context Protocol tools of
// the model. How the servers are reached is the [Caller]'s business.
//
//	server's list ──► Definitions ──► New: a tool each, as mcp_<server>_<tool>
//	                       └── too many ──► mcp_search, and mcp_call ──► the real tool
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools"
)

// maxDescription is how much of a server's description the model and the person
// see, in bytes; some model servers take no more.
const maxDescription = 1000

// maxGiven is the longest name of a tool on a server, in bytes.
const maxGiven = 300

// Definition is a tool of a server. All of it is the server's word.
type Definition struct {
	Server      string
	Tool        string // its name on the server
	Name        string // for the model and for rules
	Description string
	Schema      map[string]any
	Hints       []string // what the server says that it does or does not, as "only reads"; they allow nothing
}

// Given is a tool as a server lists it, cut to what is used.
type Given struct {
	name, description string
	schema            map[string]any
	hints             []string
	err               error // it cannot be used
}

// NewGiven takes a tool with the schema of its arguments, and what the server says
// of its effects.
func NewGiven(name, title, description string, schema any, hints []string) Given {
	g := Given{name: name, description: describe(title, description), hints: hints}
	if name == "" {
		g.err = errors.New("it has no name")
	} else if len(name) > maxGiven {
		g.name, g.err = strings.ToValidUTF8(name[:maxGiven], "")+" …", fmt.Errorf("its name has more than %d bytes", maxGiven)
	} else {
		g.schema, g.err = Schema(schema)
	}
	return g
}

// LeftOut is a tool that cannot be used, and why.
type LeftOut struct {
	Tool string
	Err  error
}

// Definitions are the tools of a server in the order of their names, and what had
// to be left out of them.
func Definitions(server string, given []Given) (list []Definition, out []LeftOut) {
	given = slices.Clone(given)
	slices.SortStableFunc(given, func(a, b Given) int { return strings.Compare(a.name, b.name) })
	taken := map[string]bool{}
	for i, g := range given {
		if g.err == nil && i > 0 && given[i-1].name == g.name {
			g.err = errors.New("there are two of this name")
		}
		if g.err != nil {
			out = append(out, LeftOut{g.name, g.err})
			continue
		}
		name := Name(server, g.name)
		if taken[name] {
			name = hashed(name, server, g.name)
		}
		taken[name] = true
		list = append(list, Definition{Server: server, Tool: g.name, Name: name, Description: g.description, Schema: g.schema, Hints: g.hints})
	}
	return list, out
}

func describe(title, description string) string {
	text := strings.TrimSpace(strings.ToValidUTF8(description, "\uFFFD"))
	if text == "" {
		text = strings.ToValidUTF8(title, "\uFFFD")
	}
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + " …"
	}
	return text
}

// Caller runs a call of a server's tool. The arguments are a JSON object.
type Caller func(ctx context.Context, d Definition, arguments json.RawMessage) (tools.Result, error)

// New makes a definition a tool.
func New(d Definition, call Caller) (*tools.Tool, error) {
	return tools.NewRawTool(d.Name, d.Description, d.Schema, func(ctx context.Context, arguments string) (any, error) {
		if strings.TrimSpace(arguments) == "" {
			arguments = "{}"
		}
		var object map[string]json.RawMessage
		if err := tools.DecodeArguments(arguments, &object); err != nil {
			return nil, err
		}
		return call(ctx, d, json.RawMessage(arguments))
	})
}
