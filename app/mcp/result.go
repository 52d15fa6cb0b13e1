package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/mcp"
)

const (
	maxResult = 30_000 // bytes of a result's text: half from its start and half from its end
	maxImages = 5      // of one result
)

// result is what the model gets of a server's result: its text, its images, and
// its structured content where no text says the same.
func (v *server) result(ctx context.Context, d mcp.Definition, r *sdk.CallToolResult) (tools.Result, error) {
	out := v.contents(ctx, d.Name, r.Content)
	if extra := structured(r); extra != "" {
		out.Text = joinLines(out.Text, extra)
	}
	out.Text = capped(out.Text)
	if r.IsError {
		if out.Text == "" {
			out.Text = "the server says only that it failed"
		}
		return tools.Result{}, errors.New(out.Text)
	}
	if out.Text == "" && len(out.Images) == 0 {
		out.Text = "(the result is empty)"
	}
	return out, nil
}

// contents puts the parts of a content together.
func (v *server) contents(ctx context.Context, name string, parts []sdk.Content) (out tools.Result) {
	for i, part := range parts {
		text := ""
		switch c := part.(type) {
		case *sdk.TextContent:
			text = c.Text
		case *sdk.ImageContent:
			text = v.image(ctx, &out, fmt.Sprintf("image %d of %s", i+1, name), c.Data)
		case *sdk.AudioContent:
			text = fmt.Sprintf("[audio, %s, %d bytes: it cannot be heard here]", c.MIMEType, len(c.Data))
		case *sdk.ResourceLink:
			text = fmt.Sprintf("[resource %s: %s %s %s]", c.Name, c.URI, c.MIMEType, c.Description)
		case *sdk.EmbeddedResource:
			text = v.resourceText(ctx, &out, c.Resource)
		default:
			text = "[a content of a kind that is not known here]"
		}
		out.Text = joinLines(out.Text, strings.ToValidUTF8(text, "\uFFFD"))
	}
	return out
}

// image adds an image to a result, and returns what the text says of it.
func (v *server) image(ctx context.Context, out *tools.Result, name string, data []byte) string {
	if len(out.Images) == maxImages {
		return fmt.Sprintf("[%s is left out: a result has at most %d images]", name, maxImages)
	}
	r, err := v.all.opts.Image(ctx, name, data)
	if err != nil {
		return fmt.Sprintf("[%s is left out: %v]", name, err)
	}
	out.Images = append(out.Images, r.Images...)
	return r.Text
}

func (v *server) resourceText(ctx context.Context, out *tools.Result, r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return ""
	case len(r.Blob) == 0:
		return fmt.Sprintf("[resource %s]\n%s", r.URI, r.Text)
	case strings.HasPrefix(r.MIMEType, "image/"):
		return v.image(ctx, out, r.URI, r.Blob)
	}
	return fmt.Sprintf("[resource %s, %s, %d bytes: it is no text]", r.URI, r.MIMEType, len(r.Blob))
}

// structured is the structured content as JSON, "" where a text of the result says
// the same, as servers should.
func structured(r *sdk.CallToolResult) string {
	if r.StructuredContent == nil {
		return ""
	}
	for _, part := range r.Content {
		t, ok := part.(*sdk.TextContent)
		var same any
		if ok && json.Unmarshal([]byte(t.Text), &same) == nil && reflect.DeepEqual(same, r.StructuredContent) {
			return ""
		}
	}
	text, err := tools.Text(r.StructuredContent)
	if err != nil {
		return ""
	}
	return text
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimSuffix(a, "\n") + "\n" + b
}

// capped leaves out the middle of a text that is too long.
func capped(text string) string {
	over := len(text) - maxResult
	if over <= 0 {
		return text
	}
	head := strings.ToValidUTF8(text[:maxResult/2], "")
	tail := strings.ToValidUTF8(text[len(text)-maxResult/2:], "")
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// Prompted is a prompt with its arguments, as the person's message. Without such a
// prompt it is false.
func (s *Servers) Prompted(ctx context.Context, server, name, arguments string) (string, error) {
	v, err := s.find(server)
	if err != nil {
		return "", err
	}
	for _, p := range s.Prompts() {
		if p.Server != server || p.Name != name {
			continue
		}
		values, err := p.words(arguments)
		if err != nil {
			return "", err
		}
		r, err := asked(ctx, v, func(ctx context.Context, session *sdk.ClientSession, token string) (*sdk.GetPromptResult, error) {
			return session.GetPrompt(ctx, &sdk.GetPromptParams{Meta: sdk.Meta{"progressToken": token}, Name: name, Arguments: values})
		})
		if err != nil {
			return "", err
		}
		return v.promptText(ctx, r), nil
	}
	return "", fmt.Errorf("the MCP server %s has no prompt %s", server, name)
}

// promptText joins a prompt's messages; where the model speaks in one, who says
// what is told.
func (v *server) promptText(ctx context.Context, r *sdk.GetPromptResult) string {
	var b strings.Builder
	for _, m := range r.Messages {
		if m == nil || m.Content == nil {
			continue
		}
		text := v.contents(ctx, "the prompt", []sdk.Content{m.Content}).Text
		if m.Role == "assistant" {
			text = "You said: " + text
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(text)
	}
	return capped(b.String())
}

// Read reads a resource.
func (s *Servers) Read(ctx context.Context, server, uri string) (tools.Result, error) {
	v, err := s.find(server)
	if err != nil {
		return tools.Result{}, err
	}
	r, err := asked(ctx, v, func(ctx context.Context, session *sdk.ClientSession, token string) (*sdk.ReadResourceResult, error) {
		return session.ReadResource(ctx, &sdk.ReadResourceParams{Meta: sdk.Meta{"progressToken": token}, URI: uri})
	})
	if err != nil {
		return tools.Result{}, err
	}
	var out tools.Result
	for _, c := range r.Contents {
		out.Text = joinLines(out.Text, strings.ToValidUTF8(v.resourceText(ctx, &out, c), "\uFFFD"))
	}
	out.Text = capped(out.Text)
	return out, nil
}
