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
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/tools/mcp"
)

const (
	maxPages = 50       // of one list
	maxItems = 1000     // of one list
	maxLists = 32 << 20 // bytes of all lists together
	maxText  = 300      // bytes of a name or an address of a prompt or resource
	maxWords = 20       // arguments of a prompt
)

// list reads what the server offers, and no more of it than can be used. One that
// cannot list its prompts or resources has none.
func (v *server) list(ctx context.Context, link *link) error {
	session := link.session
	caps := session.InitializeResult().Capabilities
	if caps == nil {
		caps = &sdk.ServerCapabilities{}
	}
	enough := link.pace.total.Load() + maxLists
	full := func() bool { return link.pace.total.Load() > enough }
	var has lists
	if caps.Tools != nil {
		given, err := pages(full, v.wanted, func(cursor string) ([]*sdk.Tool, string, error) {
			r, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Tools, r.NextCursor, nil
		})
		if err != nil && !errors.Is(err, errLong) {
			return err
		}
		v.complain("tools", err)
		has.changing = caps.Tools.ListChanged
		has.tools, has.out = mcp.Definitions(v.def.Name, given)
	}
	if caps.Prompts != nil {
		given, err := pages(full, v.prompt, func(cursor string) ([]*sdk.Prompt, string, error) {
			r, err := session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Prompts, r.NextCursor, nil
		})
		has.prompts = given
		v.complain("prompts", err)
	}
	if caps.Resources != nil {
		given, err := pages(full, v.resource, func(cursor string) ([]*sdk.Resource, string, error) {
			r, err := session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Resources, r.NextCursor, nil
		})
		has.resources = given
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
		v.said.add(fmt.Sprintf("listing its %s: %v", what, err))
	}
}

// errLong says that a list is cut.
var errLong = fmt.Errorf("it is too long, and cut: %d of one kind, %d pages and %d MB are read", maxItems, maxPages, maxLists>>20)

// pages reads the pages of a list, of each what keep takes. With errLong there is
// more.
func pages[T, K any](full func() bool, keep func(T) (K, bool), page func(cursor string) ([]T, string, error)) (all []K, err error) {
	cursor := ""
	for range maxPages {
		part, next, err := page(cursor)
		if err != nil {
			return nil, err
		}
		for _, one := range part {
			if reflect.ValueOf(one).IsNil() {
				continue
			}
			k, ok := keep(one)
			if !ok {
				continue
			}
			if len(all) == maxItems {
				return all, errLong
			}
			all = append(all, k)
		}
		if next == "" {
			return all, nil
		}
		if full() {
			return all, errLong
		}
		cursor = next
	}
	return all, errLong
}

// wanted is a tool that the settings let count.
func (v *server) wanted(t *sdk.Tool) (mcp.Given, bool) {
	if len(v.def.Tools) > 0 && !slices.ContainsFunc(v.def.Tools, func(pattern string) bool { return matches(pattern, t.Name) }) {
		return mcp.Given{}, false
	}
	return mcp.NewGiven(t.Name, t.Title, t.Description, t.InputSchema, hints(t.Annotations)), true
}

// resource is one that a mention can name.
func (v *server) resource(r *sdk.Resource) (Resource, bool) {
	ok := r.URI != "" && len(r.URI) <= maxText && !strings.ContainsFunc(r.URI, func(c rune) bool {
		return c == '"' || c == '\uFFFD' || !unicode.IsGraphic(c) || unicode.IsSpace(c)
	})
	return Resource{Server: v.def.Name, URI: r.URI, Name: plain(r.Name)}, ok
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

// prompt is one that a command can be made of.
func (v *server) prompt(p *sdk.Prompt) (Prompt, bool) {
	if p.Name == "" || len(p.Name) > maxText || p.Name != plain(p.Name) || len(p.Arguments) > maxWords {
		return Prompt{}, false
	}
	one := Prompt{Server: v.def.Name, Name: p.Name, Description: plain(firstLine(p.Description))}
	if one.Description == "" {
		one.Description = plain(firstLine(p.Title))
	}
	for _, a := range p.Arguments {
		if a == nil {
			continue
		}
		if len(a.Name) > maxText || a.Name != plain(a.Name) {
			return Prompt{}, false
		}
		one.Arguments = append(one.Arguments, Argument{Name: a.Name, Required: a.Required})
	}
	return one, true
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
