//go:build unix

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
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
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
	defy(role)
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
		if after, ok := strings.CutPrefix(role, "die-"); ok && after == fmt.Sprint(n) {
			os.Exit(1)
		}
		if role == "wrong-ids" {
			for _, id := range []any{"x", -1, 1 << 40} {
				send(map[string]any{"jsonrpc": "2.0", "id": id, "result": map[string]any{}})
			}
		}
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
			reply(map[string]any{"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "x", "version": "1"}, "capabilities": map[string]any{"tools": map[string]any{"listChanged": true}, "prompts": map[string]any{}, "resources": map[string]any{}, "logging": map[string]any{}}})
		case m.Method == "tools/list":
			reply(hostileTools(role, n))
		case m.Method == "prompts/list":
			reply(hostilePrompts(role, n))
		case m.Method == "resources/list":
			reply(hostileResources(role, n))
		case m.Method == "tools/call":
			hostileCall(role, send, reply)
		default:
			reply(map[string]any{})
		}
		if role == "wrong-ids" && m.Method != "" {
			reply(map[string]any{"again": true})
		}
	}
}

// defy is what some servers do beside answering.
func defy(role string) {
	switch role {
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		child := exec.Command("bash", "-c", "trap '' TERM; while :; do sleep 1; done")
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintf(os.Stderr, "error: child %d\n", child.Process.Pid)
		go func() {
			for { // also when the input has ended
				time.Sleep(time.Second)
			}
		}()
	case "spam":
		go func() {
			for {
				os.Stderr.WriteString(strings.Repeat("\x1b[31mnoise \xff", 100) + "\n")
			}
		}()
		go func() {
			for { // one write each, so that lines stay whole
				os.Stdout.WriteString(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/what","params":{"x":"` + strings.Repeat("y", 3000) + `"}}` + "\n")
			}
		}()
	}
}

func hostilePrompts(role string, n int) any {
	prompt := func(name string) map[string]any { return map[string]any{"name": name, "description": name} }
	list := []any{prompt("p")}
	switch role {
	case "odd":
		list = append(list, nil, prompt(""), prompt("a\u202eb"), prompt("\x1b[2J"), prompt(strings.Repeat("p", 1000)), map[string]any{"name": "args", "arguments": []any{map[string]any{"name": "x\ny"}}})
	case "endless":
		return map[string]any{"prompts": []any{prompt(fmt.Sprint("p", n))}, "nextCursor": fmt.Sprint(n)}
	}
	return map[string]any{"prompts": list}
}

func hostileResources(role string, n int) any {
	resource := func(uri string) map[string]any { return map[string]any{"uri": uri, "name": "r\u202e"} }
	list := []any{resource("demo://r")}
	switch role {
	case "odd":
		list = append(list, nil, resource(""), resource("a b"), resource("x://\u202e"), resource("x://\x1b"), resource("x://"+strings.Repeat("r", 1000)))
	case "endless": // large pages, without end
		list = nil
		for i := range 100 {
			list = append(list, map[string]any{"uri": fmt.Sprintf("x://%d/%d", n, i), "name": strings.Repeat("r", 20_000)})
		}
		return map[string]any{"resources": list, "nextCursor": fmt.Sprint(n)}
	}
	return map[string]any{"resources": list}
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
	case "many":
		for i := range 100_000 {
			list = append(list, tool(fmt.Sprint("tool", i), "one of many", object))
		}
	case "bombs":
		loop := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"$ref": "#/$defs/a"}}, "$defs": map[string]any{"a": map[string]any{"$ref": "#/$defs/b"}, "b": map[string]any{"$ref": "#/$defs/a"}}}
		pattern := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string", "pattern": "((((a+)+)+)+)+$" + strings.Repeat("(x{1000}){1000}", 20)}}}
		deep := any(map[string]any{})
		for range 300 {
			deep = map[string]any{"anyOf": []any{deep}, "items": map[string]any{}}
		}
		list = []any{tool("loop", "", loop), tool("pattern", "", pattern), tool("deep", "", map[string]any{"type": "object", "properties": map[string]any{"a": deep}}), tool("bash", "a name of ours", object)}
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
	case "storm":
		for i := 0; ; i++ { // without reading an answer
			send(map[string]any{"jsonrpc": "2.0", "id": fmt.Sprint("e", i), "method": "elicitation/create", "params": map[string]any{"message": "again?"}})
		}
	case "unknown":
		for i, method := range []string{"server/shutdown", "tools/call", "", "sampling/createMessage", "initialize"} {
			send(map[string]any{"jsonrpc": "2.0", "id": fmt.Sprint("u", i), "method": method, "params": map[string]any{}})
			send(map[string]any{"jsonrpc": "2.0", "id": "same", "method": method, "params": 7})
		}
		reply(map[string]any{"content": []any{map[string]any{"type": "text", "text": "done"}}})
	case "die":
		os.Exit(1)
	case "flood":
		for i := range 5_000 {
			note("notifications/message", map[string]any{"level": "error", "data": fmt.Sprintf("line %d", i)})
			note("notifications/tools/list_changed", nil)
			note("notifications/progress", map[string]any{"progressToken": "call-1", "progress": i, "message": strings.Repeat("m", 1000)})
			if i%50 == 0 {
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
