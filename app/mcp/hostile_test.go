//go:build unix

//lint:file-ignore SA1019 sampling is what the servers of today know

package mcp_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// playVar makes the test program play a server.
const playVar = "PLAY_MCP_SERVER"

func TestMain(m *testing.M) {
	switch role := os.Getenv(playVar); role {
	case "":
		os.Exit(m.Run())
	case "good", "older":
		server := goodServer()
		if role == "older" { // it does not know how newer clients begin
			server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
				return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
					if method == "server/discover" {
						return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no such method"}
					}
					return next(ctx, method, req)
				}
			})
		}
		if err := server.Run(context.Background(), &sdk.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		hostile(role)
	}
}

// hostile is a server that means no good: it speaks lines of JSON by hand.
func hostile(role string) {
	out := bufio.NewWriter(os.Stdout)
	send := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		out.Write(append(data, '\n'))
		out.Flush()
	}
	in := bufio.NewReader(os.Stdin)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     any    `json:"id"`
			Method string `json:"method"`
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.ID == nil {
			continue
		}
		reply := func(result any) { send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}) }
		switch {
		case role == "silent", role == "no-discover" && m.Method == "server/discover":
			continue // never answers
		case role == "crash":
			fmt.Fprintln(os.Stderr, "\x1b[31mpanic: no\x1b[0m")
			os.Exit(3)
		case role == "long-line":
			for range 20 << 10 {
				out.WriteString(`{"jsonrpc":"2.0","x":"` + strings.Repeat("x", 1000))
			}
			out.Flush()
		case role == "garbage":
			out.WriteString("Content-Length: 12\r\n\r\nnot JSON at all\n")
			out.Flush()
		case m.Method == "server/discover":
			send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no"}})
		case m.Method == "initialize":
			reply(map[string]any{"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "x", "version": "1"}, "capabilities": map[string]any{"tools": map[string]any{"listChanged": true}, "logging": map[string]any{}}})
		case m.Method == "tools/list":
			reply(hostileTools(role, n))
		case m.Method == "tools/call":
			hostileCall(role, send, reply)
		default:
			reply(map[string]any{})
		}
	}
}

func hostileTools(role string, n int) any {
	tool := func(name, description string, schema any) map[string]any {
		return map[string]any{"name": name, "description": description, "inputSchema": schema}
	}
	object := map[string]any{"type": "object"}
	list := []any{tool("go", "\x1b[2Jgo", object)}
	switch role {
	case "endless":
		return map[string]any{"tools": list, "nextCursor": fmt.Sprint(n)}
	case "odd":
		deep := map[string]any{"type": "object"}
		for range 100 {
			deep = map[string]any{"type": "object", "properties": map[string]any{"x": deep}}
		}
		list = []any{
			tool("a.b", "one", object), tool("a_b", "two", object), tool(strings.Repeat("long", 30), strings.Repeat("words ", 10_000), object), tool("", "", object),
			tool("deep", "", deep), tool("array", "", map[string]any{"type": "array"}), tool("twice", "", object), tool("twice", "", object),
			tool("name", "", map[string]any{"type": "object", "properties": map[string]any{"a b": object}}),
			tool("wrong", "", map[string]any{"type": "object", "required": "x", "$schema": 1, "properties": map[string]any{"x": map[string]any{"type": "strange"}}}),
			tool("large", "", map[string]any{"type": "object", "description": strings.Repeat("x", 100_000)}),
		}
	}
	return map[string]any{"tools": list}
}

func hostileCall(role string, send func(any), reply func(any)) {
	note := func(method string, params any) {
		send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	}
	switch role {
	case "hang":
		return
	case "die":
		os.Exit(1)
	case "flood":
		for i := range 20_000 {
			note("notifications/message", map[string]any{"level": "error", "data": fmt.Sprintf("line %d", i)})
			note("notifications/tools/list_changed", nil)
			note("notifications/progress", map[string]any{"progressToken": "call-1", "progress": i, "message": strings.Repeat("m", 1000)})
			if i%100 == 0 {
				send(map[string]any{"jsonrpc": "2.0", "id": fmt.Sprintf("e%d", i), "method": "elicitation/create", "params": map[string]any{"message": "again?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{}}}})
			}
		}
		reply(map[string]any{"content": []any{map[string]any{"type": "text", "text": strings.Repeat("0123456789", 1_000_000)}}})
	case "bad-image":
		reply(map[string]any{"content": []any{
			map[string]any{"type": "image", "mimeType": "image/png", "data": base64.StdEncoding.EncodeToString([]byte("no image"))},
			map[string]any{"type": "audio", "mimeType": "audio/wav", "data": base64.StdEncoding.EncodeToString([]byte("wav"))},
		}})
	case "nothing":
		reply(map[string]any{})
	default:
		reply(map[string]any{"content": []any{map[string]any{"type": "text", "text": "done"}}})
	}
}

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
	server.AddPrompt(&sdk.Prompt{Name: "greet", Description: "greets", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}, {Name: "how"}}}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Greet " + req.Params.Arguments["who"] + " " + req.Params.Arguments["how"]}}}}, nil
	})
	server.AddResource(&sdk.Resource{Name: "readme", URI: "demo://readme"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "demo://readme", Text: "read me"}}}, nil
	})
	return server
}
