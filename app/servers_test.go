//go:build unix

package app_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/mcp"
	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

// serverRole is the variable that makes the test program an MCP server.
const serverRole = "AGENT_TEST_MCP_SERVER"

// serve is an MCP server, until its input ends.
func serve(role string) {
	if role == "late" { // ready only once the test says so
		if _, err := os.ReadFile(os.Getenv("GATE")); err != nil {
			panic(err)
		}
	}
	server := sdk.NewServer(&sdk.Implementation{Name: role, Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	say := func(text string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	}
	type path struct {
		Path string `json:"path"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "touch", Description: "makes a file", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, func(_ context.Context, _ *sdk.CallToolRequest, in path) (*sdk.CallToolResult, any, error) {
		if err := os.WriteFile(in.Path, nil, 0o600); err != nil {
			return nil, nil, err
		}
		return say("made"), nil, nil
	})
	sdk.AddTool(server, &sdk.Tool{Name: "read"}, func(_ context.Context, _ *sdk.CallToolRequest, in path) (*sdk.CallToolResult, any, error) {
		data, err := os.ReadFile(in.Path)
		return say(string(data)), nil, err
	})
	if role == "many" {
		for i := range 120 {
			sdk.AddTool(server, &sdk.Tool{Name: fmt.Sprintf("tool%d", i), Description: strings.Repeat("many words ", 20)}, func(context.Context, *sdk.CallToolRequest, path) (*sdk.CallToolResult, any, error) {
				return say(fmt.Sprintf("result %d", i)), nil, nil
			})
		}
	}
	server.AddPrompt(&sdk.Prompt{Name: "Greet", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Say hello to " + req.Params.Arguments["who"]}}}}, nil
	})
	server.AddResource(&sdk.Resource{Name: "readme", URI: "demo://readme"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "demo://readme", Text: "the resource's words"}}}, nil
	})
	_ = server.Run(context.Background(), &sdk.StdioTransport{})
	os.Exit(0)
}

func mcpServer(t *testing.T, name, role string, change ...func(*config.Server)) config.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	no := false
	s := config.Server{Name: name, Command: self, Env: map[string]string{serverRole: role}, Sandbox: &no, Source: "test"}
	for _, c := range change {
		c(&s)
	}
	return s
}

func withServers(list ...config.Server) func(*app.Options) {
	return func(o *app.Options) {
		o.Servers, o.ServerLimits = list, mcp.Limits{Goodbye: 50 * time.Millisecond}
	}
}

func specNames(req app.Request) (names []string) {
	for _, s := range req.Tools {
		names = append(names, s.Name)
	}
	return names
}

// A server's tools stand in the model's list behind the policy: a hint that it only
// reads allows nothing, and rules match by name and by subject (decision 5).
func TestServersToolsAreAsked(t *testing.T) {
	dir := t.TempDir()
	made, other, third := filepath.Join(dir, "made"), filepath.Join(dir, "other"), filepath.Join(dir, "third")
	r := newRig(t, fmt.Sprintf(`== 1
> mcp_x_touch {"path":%q}
== 2
> mcp_x_touch {"path":%q}
== 3
> mcp_x_touch {"path":%q}
== 4
done
`, made, other, third), nil, withServers(mcpServer(t, "x", "plain", func(s *config.Server) { s.Subjects = map[string]string{"touch": "path"} })), func(o *app.Options) {
		o.Allow = []permissions.Rule{{Text: "mcp_x_touch(" + other + ")"}}
		o.Deny = []permissions.Rule{{Text: "mcp_x_touch(" + third + ")"}}
	})
	from := r.seen()
	if ended := r.turn("go"); ended.Outcome != session.OutcomeDone {
		t.Fatalf("%+v", ended)
	}
	asked, next := await[app.Asked](r, from, nil)
	if asked.Remote == nil || asked.Remote.Server != "x" || asked.Remote.Description != "makes a file" || !slices.Equal(asked.Remote.Hints, []string{"it only reads"}) {
		t.Errorf("%+v", asked.Remote)
	}
	r.mu.Lock()
	for _, e := range r.events[next:] {
		if q, ok := e.(app.Asked); ok {
			t.Errorf("asked although a rule decides: %+v", q.Request)
		}
	}
	r.mu.Unlock()
	for path, want := range map[string]bool{made: true, other: true, third: false} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if m := r.result(2); m.Status != session.StatusDenied {
		t.Errorf("%+v", m)
	}
	names := specNames(r.provider.all()[0])
	if !slices.Contains(names, "mcp_x_read") || slices.Contains(names, "mcp_call") {
		t.Errorf("%q", names)
	}
}

// Decision 40: above the limits a server's tools are found and called through two,
// decided and asked under the real name.
func TestManyTools(t *testing.T) {
	r := newRig(t, `== 1
> mcp_search {"query":"tool77"}
== 2
> mcp_call {"tool":"mcp_x_tool77","arguments":{"path":"p"}}
> mcp_call {"tool":"mcp_x_tool78","arguments":{"path":"p"}}
> mcp_call {"tool":"mcp_x_none","arguments":{}}
== 3
done
`, nil, withServers(mcpServer(t, "x", "many"), mcpServer(t, "y", "plain")), func(o *app.Options) {
		o.Deny = []permissions.Rule{{Text: "mcp_x_tool78"}}
	})
	from := r.seen()
	if ended := r.turn("go"); ended.Outcome != session.OutcomeDone {
		t.Fatalf("%+v", ended)
	}
	asked, _ := await[app.Asked](r, from, nil)
	if asked.Request.Tool != "mcp_x_tool77" || asked.Request.Arguments != `{"path":"p"}` || asked.Call.Name != "mcp_x_tool77" || len(asked.Offers) != 1 {
		t.Errorf("%+v", asked)
	}
	req := r.provider.all()[0]
	names := specNames(req)
	if len(names) > 100 || slices.Contains(names, "mcp_x_tool1") || !slices.Contains(names, "mcp_y_touch") || !slices.Contains(names, "mcp_call") {
		t.Errorf("%q", names)
	}
	if m := r.result(0); !strings.Contains(m.Text, "mcp_x_tool77: many words") || !strings.Contains(m.Text, `"path"`) {
		t.Errorf("%+v", m)
	}
	if m := r.result(1); m.Text != "result 77" || m.Status != session.StatusOK {
		t.Errorf("%+v", m)
	}
	if m := r.result(2); m.Status != session.StatusDenied {
		t.Errorf("%+v", m)
	}
	if m := r.result(3); m.Status != session.StatusFailed || !strings.Contains(m.Text, "mcp_search") {
		t.Errorf("%+v", m)
	}
}

// Decision 26: the list of tools stays as it was at the first turn; a server that
// comes later is reached all the same, and nobody waits for it long.
func TestLateServer(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	mkfifo(t, gate)
	r := newRig(t, `== 1
first
== 2
> mcp_call {"tool":"mcp_x_touch","arguments":{"path":"p"}}
== 3
done
`, nil, withServers(mcpServer(t, "x", "late", func(s *config.Server) { s.Env["GATE"] = gate })), func(o *app.Options) {
		o.ServerLimits.Ready = 1100 * time.Millisecond
	})
	from := r.seen()
	r.turn("one")
	await(r, from, func(n app.Notice) bool { return strings.Contains(n.Text, "are starting, at most 1.1s: x") })
	await(r, from, func(n app.Notice) bool { return strings.Contains(n.Text, "still starting: x") })
	openGate(t, gate)
	await[app.CommandsChanged](r, from, nil)
	r.answer = yes
	r.turn("two")
	if m := r.result(0); m.Status != session.StatusOK || m.Text != "made" {
		t.Errorf("%+v", m)
	}
	all := r.provider.all()
	if one, two := specNames(all[0]), specNames(all[len(all)-1]); !slices.Equal(one, two) {
		t.Errorf("the list of tools changed:\n%q\n%q", one, two)
	}
}

// Prompts are commands, resources can be mentioned.
func TestPromptsAndResources(t *testing.T) {
	r := newRig(t, "== 1\none\n== 2\ntwo\n", nil, withServers(mcpServer(t, "x", "plain")))
	changed, _ := await(r, 0, func(e app.CommandsChanged) bool { return len(e.List) > 0 })
	if c := changed.List[0]; c.Name != "mcp_x_greet" || c.Hint != "<who>" {
		t.Errorf("%+v", c)
	}
	from := r.seen()
	if err := r.app.RunCommand("mcp_x_greet", "Ann"); err != nil {
		t.Fatal(err)
	}
	await[app.TurnEnded](r, from, nil)
	if last := r.last(); !strings.Contains(last[len(last)-1].Text, "Say hello to Ann") {
		t.Errorf("%+v", last)
	}
	if files, err := r.app.Files(); err != nil || !slices.Contains(files, "x:demo://readme") {
		t.Errorf("%q, %v", files, err)
	}
	r.turn("look at @x:demo://readme, please")
	if last := r.last(); !strings.Contains(last[len(last)-1].Text, "the resource's words") {
		t.Errorf("%+v", last)
	}
	if text, err := r.app.Servers(""); err != nil || text != "x  ready, 2 tools, 1 prompt, 1 resource" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := r.app.Servers("x"); err != nil || !strings.Contains(text, "mcp_x_touch: makes a file") {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := r.app.Servers("y"); err == nil {
		t.Error("there is no y")
	}
}

// serverEverything is a real server that is not ours.
func serverEverything(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("mcp-server-everything")
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("mcp-server-everything is missing: .ci/run installs it")
	}
	t.Skip("mcp-server-everything is not installed")
	return ""
}

// A real server that is not ours: every kind of result, and its questions.
func TestServerEverything(t *testing.T) {
	path := serverEverything(t)
	no := false
	r := newRig(t, `== 1
> mcp_e_echo {"message":"hello"}
> mcp_e_get-sum {"a":2,"b":3}
> mcp_e_get-tiny-image {}
> mcp_e_get-structured-content {"location":"New York"}
> mcp_e_trigger-long-running-operation {"duration":0.3,"steps":3}
> mcp_e_trigger-elicitation-request {}
== 2
done
`, nil, withServers(config.Server{Name: "e", Command: path, Args: []string{"stdio"}, Sandbox: &no}))
	r.decline = true
	from := r.seen()
	if ended := r.turn("go"); ended.Outcome != session.OutcomeDone {
		t.Fatalf("%+v", ended)
	}
	for n, want := range []string{"Echo: hello", "The sum of 2 and 3 is 5.", "image", "temperature", "Long running operation completed", "declined"} {
		if m := r.result(n); !strings.Contains(m.Text, want) {
			t.Errorf("%d: %+v, not %q", n, m, want)
		}
	}
	if m := r.result(2); len(m.Images) != 1 {
		t.Errorf("%+v", m)
	}
	await(r, from, func(p app.ToolProgress) bool { return strings.HasSuffix(p.Text, "/3") })
	await(r, from, func(q app.Questioned) bool { return strings.Contains(q.Source, "MCP server e") })
	await(r, from, func(e app.CommandsChanged) bool {
		return slices.ContainsFunc(e.List, func(c app.Command) bool { return c.Name == "mcp_e_args-prompt" })
	})
}

// Sampling is asked twice: before the model hears it, and before the server does.
func TestSamplingIsAsked(t *testing.T) {
	path := serverEverything(t)
	no := false
	r := newRig(t, `== 1
> mcp_e_trigger-sampling-request {"prompt":"what is 2+2?","maxTokens":10}
-> end
== 2
@ Resource trigger-sampling-request context
four
== end
done
`, nil, withServers(config.Server{Name: "e", Command: path, Args: []string{"stdio"}, Sandbox: &no}))
	from := r.seen()
	r.app.Submit("go")
	for _, want := range []string{"what is 2+2?", "four"} {
		q, next := await(r, from, func(q app.Questioned) bool { return q.Source == "The MCP server e asks" })
		from = next
		question := q.Input.Questions[0]
		if !strings.Contains(question.Question, want) {
			t.Errorf("%q", question.Question)
		}
		r.app.Reply(q.ID, map[string]human.Answer{question.Header: {Selections: []string{question.Options[1].Label}}})
	}
	await[app.TurnEnded](r, from, nil)
	if m := r.result(0); !strings.Contains(m.Text, "four") {
		t.Errorf("%+v", m)
	}
}
