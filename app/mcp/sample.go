//lint:file-ignore SA1019 sampling is what the servers of today know

package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSample is how much a server can put to the model, in bytes.
const maxSample = 100_000

// sample lets the model answer a server, where the person agrees.
func (v *server) sample(ctx context.Context, req *sdk.CreateMessageWithToolsRequest) (*sdk.CreateMessageWithToolsResult, error) {
	s, err := sampleOf(req.Params)
	if err != nil {
		return nil, err
	}
	ctx, done, err := v.begin(ctx)
	if err != nil {
		return nil, err
	}
	out, err := v.all.opts.Sample(ctx, v.def.Name, s)
	done(errors.Is(err, ErrSampleDeclined))
	if err != nil {
		return nil, err
	}
	return &sdk.CreateMessageWithToolsResult{Role: "assistant", Model: out.Model, StopReason: "endTurn", Content: []sdk.Content{&sdk.TextContent{Text: out.Text}}}, nil
}

// sampleOf is a request as it is put to the model: texts, and nothing else.
func sampleOf(p *sdk.CreateMessageWithToolsParams) (s Sample, err error) {
	if len(p.Tools) > 0 {
		return s, errors.New("the model gets no tools of a server here: ask without tools")
	}
	s.System = limited(p.SystemPrompt)
	size := 0
	for _, m := range p.Messages {
		if m == nil {
			continue
		}
		var texts []string
		for _, c := range m.Content {
			text, ok := c.(*sdk.TextContent)
			if !ok {
				return s, errors.New("only text can be put to the model here")
			}
			texts = append(texts, strings.ToValidUTF8(text.Text, "\uFFFD"))
			size += len(text.Text)
		}
		s.Messages = append(s.Messages, SampleMessage{Assistant: m.Role == "assistant", Text: strings.Join(texts, "\n")})
	}
	switch {
	case size == 0:
		return s, errors.New("there is nothing to put to the model")
	case size > maxSample:
		return s, fmt.Errorf("at most %d bytes can be put to the model", maxSample)
	}
	return s, nil
}
