//lint:file-ignore SA1019 sampling, roots and logging are what the servers of today know

package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/tools/mcp"
)

const (
	maxPages = 50   // of one list
	maxItems = 1000 // of one list
	maxText  = 300  // bytes of a name or an address of a prompt or resource
)

// list reads what the server offers. One that cannot list its prompts or
// resources has none.
func (v *server) list(ctx context.Context, session *sdk.ClientSession) error {
	caps := session.InitializeResult().Capabilities
	if caps == nil {
		caps = &sdk.ServerCapabilities{}
	}
	var has lists
	if caps.Tools != nil {
		given, err := pages(func(cursor string) ([]*sdk.Tool, string, error) {
			r, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Tools, r.NextCursor, nil
		})
		if err != nil {
			return err
		}
		has.changing = caps.Tools.ListChanged
		has.tools, has.out = mcp.Definitions(v.def.Name, v.wanted(given))
	}
	if caps.Prompts != nil {
		given, err := pages(func(cursor string) ([]*sdk.Prompt, string, error) {
			r, err := session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Prompts, r.NextCursor, nil
		})
		has.prompts = v.prompts(given)
		v.complain("prompts", err)
	}
	if caps.Resources != nil {
		given, err := pages(func(cursor string) ([]*sdk.Resource, string, error) {
			r, err := session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Resources, r.NextCursor, nil
		})
		for _, r := range given {
			if r.URI != "" && len(r.URI) <= maxText && !strings.ContainsAny(r.URI, " \t\n\r\"") {
				has.resources = append(has.resources, Resource{Server: v.def.Name, URI: r.URI, Name: r.Name})
			}
		}
		v.complain("resources", err)
	}
	if caps.Logging != nil {
		_ = session.SetLoggingLevel(ctx, &sdk.SetLoggingLevelParams{Level: "info"}) // else it says what it wants
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.has = has
	return nil
}

func (v *server) complain(what string, err error) {
	if err != nil {
		v.said.add(fmt.Sprintf("its %s cannot be listed: %v", what, err))
	}
}

var errEndless = errors.New("its list does not end")

// pages reads all pages of a list.
func pages[T any](page func(cursor string) ([]T, string, error)) (all []T, err error) {
	cursor := ""
	for range maxPages {
		part, next, err := page(cursor)
		if err != nil {
			return nil, err
		}
		if all = append(all, part...); len(all) > maxItems {
			return nil, errEndless
		}
		if next == "" {
			return slices.DeleteFunc(all, func(one T) bool { return reflect.ValueOf(one).IsNil() }), nil
		}
		cursor = next
	}
	return nil, errEndless
}

// wanted are the tools that the settings let count.
func (v *server) wanted(given []*sdk.Tool) (list []mcp.Given) {
	for _, t := range given {
		if len(v.def.Tools) == 0 || slices.ContainsFunc(v.def.Tools, func(pattern string) bool { return matches(pattern, t.Name) }) {
			list = append(list, mcp.Given{Name: t.Name, Title: t.Title, Description: t.Description, Schema: t.InputSchema, Hints: hints(t.Annotations)})
		}
	}
	return list
}

// matches tells whether a name is of a pattern, in which * is any text.
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if !ok {
			return false
		}
		_, rest, ok = strings.Cut(rest, part)
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}

// hints are what the server says of a tool's effects, in words.
func hints(a *sdk.ToolAnnotations) (list []string) {
	if a == nil {
		return nil
	}
	if a.ReadOnlyHint {
		return []string{"it only reads"}
	}
	if a.DestructiveHint != nil && !*a.DestructiveHint {
		list = append(list, "it destroys nothing")
	}
	if a.OpenWorldHint != nil && !*a.OpenWorldHint {
		list = append(list, "it reaches nothing outside")
	}
	return list
}

// prompts are those that a command can be made of.
func (v *server) prompts(given []*sdk.Prompt) (list []Prompt) {
	for _, p := range given {
		if p.Name == "" || len(p.Name) > maxText {
			continue
		}
		one := Prompt{Server: v.def.Name, Name: p.Name, Description: plain(firstLine(p.Description))}
		if one.Description == "" {
			one.Description = plain(firstLine(p.Title))
		}
		for _, a := range p.Arguments {
			if a != nil {
				one.Arguments = append(one.Arguments, Argument{Name: plain(a.Name), Required: a.Required})
			}
		}
		list = append(list, one)
	}
	return list
}

// difference says how a list of tools changed, "" for not at all.
func difference(before, after []mcp.Definition) string {
	old := map[string]mcp.Definition{}
	for _, d := range before {
		old[d.Tool] = d
	}
	var words []string
	for _, d := range after {
		was, ok := old[d.Tool]
		switch {
		case !ok:
			words = append(words, "new "+d.Tool)
		case !reflect.DeepEqual(was, d):
			words = append(words, "other "+d.Tool)
		}
		delete(old, d.Tool)
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		words = append(words, "without "+name)
	}
	if more := len(words) - 10; more > 0 {
		words = append(words[:10], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}
