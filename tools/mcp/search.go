package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/tools"
)

// The names of the tools that stand for all that are not in the model's list.
const (
	SearchName = "mcp_search"
	CallName   = "mcp_call"
)

const (
	searchMost  = 8      // tools that a search returns with their schemas
	searchChars = 16_000 // of a search's result, in bytes
)

// SearchInput is a call of mcp_search.
type SearchInput struct {
	Query string `json:"query,omitempty" description:"words of what the tool should do, or its name; without it, all names"`
}

// NewSearch makes mcp_search over what list returns at each call.
func NewSearch(list func() []Definition) (*tools.Tool, error) {
	return tools.NewTool(SearchName, "Find tools of the connected MCP servers that are not in your list. The result has their names, descriptions and the schemas of their arguments; call one with "+CallName+". The descriptions are the servers' words.",
		func(_ context.Context, in *SearchInput) (string, error) {
			all := list()
			if in == nil || strings.TrimSpace(in.Query) == "" {
				return nameList(all), nil
			}
			found := Search(all, in.Query)
			if len(found) == 0 {
				return fmt.Sprintf("no tool matches %q. There are:\n%s", in.Query, nameList(all)), nil
			}
			return describeAll(found), nil
		})
}

// Search finds the tools that match most words of a query, the best first.
func Search(all []Definition, query string) []Definition {
	words := strings.FieldsFunc(strings.ToLower(query), notInArgument)
	type match struct {
		Definition
		points int
	}
	var found []match
	for _, d := range all {
		name, text, points := strings.ToLower(d.Name), strings.ToLower(d.Description), 0
		for _, w := range words {
			switch {
			case w == name || w == strings.ToLower(d.Tool):
				points += 100
			case strings.Contains(name, w):
				points += 3
			case strings.Contains(text, w):
				points++
			}
		}
		if points > 0 {
			found = append(found, match{d, points})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.points, a.points) })
	var list []Definition
	for _, m := range found[:min(len(found), searchMost)] {
		list = append(list, m.Definition)
	}
	return list
}

func describeAll(list []Definition) string {
	var b strings.Builder
	for i, d := range list {
		schema, err := json.Marshal(d.Schema)
		if err != nil {
			continue // it came as JSON
		}
		one := fmt.Sprintf("%s: %s\narguments: %s\n", d.Name, d.Description, schema)
		if i > 0 && b.Len()+len(one) > searchChars {
			fmt.Fprintf(&b, "and %d more: search for their names\n", len(list)-i)
			break
		}
		b.WriteString(one)
	}
	return b.String()
}

func nameList(list []Definition) string {
	if len(list) == 0 {
		return "no MCP server offers a tool now"
	}
	var b strings.Builder
	for i, d := range list {
		if b.Len() > searchChars {
			fmt.Fprintf(&b, "and %d more\n", len(list)-i)
			break
		}
		first, _, _ := strings.Cut(d.Description, "\n")
		if len(first) > 100 {
			first = strings.ToValidUTF8(first[:100], "") + " …"
		}
		fmt.Fprintf(&b, "%s: %s\n", d.Name, first)
	}
	return b.String()
}

// ErrToolRequired is the error of a call of mcp_call that names no tool.
var ErrToolRequired = errors.New("the name of the tool is required")

// NewCall makes mcp_call. find gives the real tool of a name, nil where there is
// none; the call goes through that tool's middleware under its own name, so that
// rules and questions are about what really runs.
func NewCall(find func(name string) *tools.Tool) (*tools.Tool, error) {
	schema := map[string]any{
		"type": "object",
		"properties": map[string]any{
			"tool":      map[string]any{"type": "string", "description": "the whole name, as " + SearchName + " gives it"},
			"arguments": map[string]any{"type": "object", "description": "the arguments of that tool, by its schema"},
		},
		"required": []string{"tool"},
	}
	return tools.NewRawTool(CallName, "Call a tool of an MCP server that is not in your list; find it with "+SearchName+" first.", schema, func(ctx context.Context, arguments string) (any, error) {
		name, real, err := Resolve(arguments)
		if err != nil {
			return nil, err
		}
		tool := find(name)
		if tool == nil {
			return nil, fmt.Errorf("there is no tool named %q; %s finds the ones there are", name, SearchName)
		}
		call, _ := tools.ToolCallFromContext(ctx)
		call.Name, call.Arguments = name, real
		return tool.Handle(tools.ContextWithToolCall(ctx, call), real)
	})
}

// Resolve is the tool that a call of mcp_call is for, and its arguments. Some
// models send those as a text that holds the object.
func Resolve(arguments string) (name, real string, err error) {
	var in struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := tools.DecodeArguments(arguments, &in); err != nil {
		return "", "", err
	}
	if in.Tool == "" {
		return "", "", ErrToolRequired
	}
	real = string(in.Arguments)
	var text string
	if json.Unmarshal(in.Arguments, &text) == nil && text != "" {
		real = text
	}
	if real == "" || real == "null" {
		real = "{}"
	}
	return in.Tool, real, nil
}
