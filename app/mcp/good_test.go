//go:build unix

//lint:file-ignore SA1019 sampling is what the servers of today know

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// goodServer is a server as it should be, of the SDK.
func goodServer() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, nil)
	type empty struct{}
	text := func(s string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
	}
	sdk.AddTool(server, &sdk.Tool{Name: "echo", Description: "says it again", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, func(_ context.Context, _ *sdk.CallToolRequest, in struct {
		Text string `json:"text"`
	}) (*sdk.CallToolResult, any, error) {
		return text("you said " + in.Text), nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "env"}, func(_ context.Context, _ *sdk.CallToolRequest, _ empty) (*sdk.CallToolResult, any, error) {
		return text(strings.Join(os.Environ(), "\n")), nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "fail"}, func(_ context.Context, _ *sdk.CallToolRequest, _ empty) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("it went wrong")
	})
	sdk.AddTool(server, &sdk.Tool{Name: "structured"}, func(_ context.Context, _ *sdk.CallToolRequest, _ empty) (*sdk.CallToolResult, map[string]any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "see below"}}}, map[string]any{"n": 1}, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "steps"}, func(ctx context.Context, req *sdk.CallToolRequest, _ empty) (*sdk.CallToolResult, any, error) {
		for i := range 3 {
			err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: "step"})
			if err != nil {
				return nil, nil, err
			}
			time.Sleep(400 * time.Millisecond) // all in all longer than the call may go without a sign
		}
		return text("stepped"), nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "wait"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ empty) (*sdk.CallToolResult, any, error) {
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "the call was cancelled")
		return nil, nil, ctx.Err()
	})
	sdk.AddTool(server, &sdk.Tool{Name: "ask"}, func(ctx context.Context, req *sdk.CallToolRequest, _ empty) (*sdk.CallToolResult, any, error) {
		r, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Who are you?", RequestedSchema: json.RawMessage(`{"type":"object","required":["name","age","role","ok"],"properties":{
			"name":{"type":"string","description":"your name"},"age":{"type":"integer"},"role":{"type":"string","enum":["a","b"],"enumNames":["Admin","Boss"]},"ok":{"type":"boolean"},"note":{"type":"string"}}}`)})
		if err != nil {
			return nil, nil, err
		}
		data, err := json.Marshal(r.Content)
		return text(r.Action + " " + string(data)), nil, err
	})
	sdk.AddTool(server, &sdk.Tool{Name: "sample"}, func(ctx context.Context, req *sdk.CallToolRequest, _ empty) (*sdk.CallToolResult, any, error) {
		r, err := req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 10, SystemPrompt: "be short", Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "2+2?"}}}})
		if err != nil {
			return nil, nil, err
		}
		return text(r.Model + " says " + r.Content.(*sdk.TextContent).Text), nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "more"}, func(_ context.Context, _ *sdk.CallToolRequest, _ empty) (*sdk.CallToolResult, any, error) {
		sdk.AddTool(server, &sdk.Tool{Name: "later"}, func(context.Context, *sdk.CallToolRequest, empty) (*sdk.CallToolResult, any, error) {
			return text("late"), nil, nil
		})
		server.RemoveTools("fail")
		return text("added"), nil, nil
	})
	addAskingTools(server)
	server.AddPrompt(&sdk.Prompt{Name: "greet", Description: "greets", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}, {Name: "how"}}}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Greet " + req.Params.Arguments["who"] + " " + req.Params.Arguments["how"]}}}}, nil
	})
	server.AddResource(&sdk.Resource{Name: "readme", URI: "demo://readme"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "demo://readme", Text: "read me"}}}, nil
	})
	return server
}
