package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/phero-agent/agent/app/mcp"
	"github.com/phero-agent/agent/session"
)

// promptCommands are the prompts of MCP servers as commands: /mcp_<server>_<prompt>.
func (a *App) promptCommands() (list []Command) {
	for _, p := range a.servers.Prompts() {
		list = append(list, Command{Name: promptName(p), Hint: p.Hint(), Help: p.Description})
	}
	return list
}

func promptName(p mcp.Prompt) string {
	return "mcp_" + strings.ToLower(p.Server) + "_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, strings.ToLower(p.Name))
}

// runPrompt sends a server's prompt of this name; false where there is none.
func (a *App) runPrompt(name, arguments string) bool {
	for _, p := range a.servers.Prompts() {
		if promptName(p) != strings.ToLower(name) {
			continue
		}
		typed := strings.TrimSpace("/" + promptName(p) + " " + arguments)
		a.submit(queued{shown: typed, expand: func(ctx context.Context) (string, error) {
			text, err := a.servers.Prompted(ctx, p.Server, p.Name, arguments)
			return typed + "\n\n" + text, err
		}})
		return true
	}
	return false
}

// resourceMentions are the resources that can be mentioned, as the text behind the @.
func (a *App) resourceMentions() (list []string) {
	for _, r := range a.servers.Resources() {
		list = append(list, r.Server+":"+r.URI)
	}
	return list
}

// lists tells whether a server lists a resource.
func (a *App) lists(server, uri string) bool {
	return slices.ContainsFunc(a.servers.Resources(), func(r mcp.Resource) bool { return r.Server == server && r.URI == uri })
}

// addResources reads the resources that a prompt mentions as @server:uri into it.
func (a *App) addResources(ctx context.Context, m *session.Message) {
	for _, word := range strings.Fields(m.Text) {
		mention, ok := strings.CutPrefix(word, "@")
		server, uri, ok2 := strings.Cut(mention, ":")
		if !ok || !ok2 || !strings.Contains(uri, ":") || !slices.Contains(a.servers.Names(), server) {
			continue
		}
		if !a.lists(server, uri) {
			uri = strings.TrimRight(uri, ".,;:!?)")
		}
		r, err := a.servers.Read(ctx, server, uri)
		if err != nil {
			a.emit(Notice{Level: Warning, Text: fmt.Sprintf("the resource %s is not attached: %v", mention, err)})
			continue
		}
		m.Text += "\n\n" + r.Text
		for _, img := range r.Images {
			hash, err := a.blobs.Put(img.Data)
			if err != nil {
				a.emit(Notice{Level: Warning, Text: fmt.Sprintf("the image of %s is not attached: %v", mention, err)})
				continue
			}
			m.Images = append(m.Images, session.Image{MediaType: img.MediaType, Blob: hash})
		}
	}
}
