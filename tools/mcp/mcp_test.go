package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/mcp"
)

func TestName(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"git-hub", "list_issues"}: "mcp_git-hub_list_issues",
		{"x", "a.b c"}:             "mcp_x_a_b_c",
	} {
		if got := mcp.Name(in[0], in[1]); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	long, other := mcp.Name("server", strings.Repeat("x", 100)), mcp.Name("server", strings.Repeat("x", 101))
	if len(long) != 64 || long == other || !strings.HasPrefix(long, "mcp_server_xxx") {
		t.Errorf("%q %q", long, other)
	}
}

func TestSchema(t *testing.T) {
	for given, want := range map[string]string{
		`null`: `{"properties":{},"type":"object"}`,
		`{"$schema":"x","type":"object","properties":{"a":{"type":"string","examples":[1]}},"required":["a"],"additionalProperties":false}`: `{"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`,
		`{"anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":["integer","null"]}}}]}`:              `{"properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},"type":"object"}`,
		`{"properties":{"a":{"anyOf":[{"type":"string"},3]},"b":true,"c":[]},"required":[1]}`:                                               `{"properties":{"a":{"anyOf":[{"type":"string"}]},"b":{}},"type":"object"}`,
		`{"type":"object","enum":[1],"not":{},"properties":{"a":{"items":{"type":"array","items":{}},"minItems":"x"}}}`:                     `{"properties":{"a":{"items":{"items":{},"type":"array"}}},"type":"object"}`,
		`[]`:                          "its schema is no object",
		`{"type":"string"}`:           "not an object",
		`{"properties":{"a b":{}}}`:   "argument",
		`{"properties":{"":{}}}`:      "argument",
		`{"type":["object","array"]}`: "not an object",
		`{"description":"` + strings.Repeat("x", 40_000) + `"}`: "larger than",
	} {
		var v any
		if err := json.Unmarshal([]byte(given), &v); err != nil {
			t.Fatal(err)
		}
		s, err := mcp.Schema(v)
		got, _ := json.Marshal(s)
		if err != nil {
			got = []byte(err.Error())
		}
		if strings.HasPrefix(want, "{") && string(got) != want || !strings.Contains(string(got), want) {
			t.Errorf("%.200s\n got %s\nwant %s", given, got, want)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"enum":[1]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil {
			return
		}
		if s, err := mcp.Schema(v); err == nil && s["type"] != "object" {
			t.Errorf("%s: %v", data, s)
		}
	})
}

func some(n int) (list []mcp.Definition) {
	for i := range n {
		list = append(list, mcp.Definition{Server: "s", Tool: fmt.Sprintf("tool%d", i), Name: fmt.Sprintf("mcp_s_tool%d", i), Description: "does thing " + fmt.Sprint(i), Schema: map[string]any{"type": "object"}})
	}
	return list
}

func TestSearch(t *testing.T) {
	all := append(some(50), mcp.Definition{Name: "mcp_git_issues", Tool: "issues", Description: "lists the issues of a repository"})
	if found := mcp.Search(all, "repository issues"); len(found) != 1 || found[0].Tool != "issues" {
		t.Errorf("%+v", found)
	}
	if found := mcp.Search(all, "mcp_s_tool7"); found[0].Tool != "tool7" {
		t.Errorf("%+v", found)
	}
	if found := mcp.Search(all, "thing"); len(found) != 8 {
		t.Errorf("%d", len(found))
	}
	search, err := mcp.NewSearch(func() []mcp.Definition { return all })
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{``: "mcp_s_tool49: does thing 49", `{"query":"tool1"}`: `arguments: {"type":"object"}`, `{"query":"zebra"}`: `no tool matches "zebra"`} {
		got, err := search.Handle(t.Context(), arguments)
		if text, _ := got.(string); err != nil || !strings.Contains(text, want) || len(text) > 20_000 {
			t.Errorf("%s: %v, %v", arguments, got, err)
		}
	}
}

// What mcp_call passes on goes through the real tool, under its own name.
func TestCall(t *testing.T) {
	var seen []tools.ToolCall
	real, err := mcp.New(some(1)[0], func(ctx context.Context, d mcp.Definition, arguments json.RawMessage) (tools.Result, error) {
		call, _ := tools.ToolCallFromContext(ctx)
		seen = append(seen, call)
		return tools.Result{Text: d.Tool + string(arguments)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	call, err := mcp.NewCall(func(name string) *tools.Tool {
		if name == real.Name() {
			return real
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"tool":"mcp_s_tool0","arguments":{"a":1}}`:         `tool0{"a":1}`,
		`{"tool":"mcp_s_tool0"}`:                             `tool0{}`,
		`{"tool":"mcp_s_tool0","arguments":null}`:            `tool0{}`,
		`{"tool":"mcp_s_tool0","arguments":"{\"a\": 1}"}`:    `tool0{"a": 1}`,
		`{"tool":"mcp_s_tool0","arguments":[1]}`:             "not valid",
		`{"tool":"mcp_s_tool0","arguments":"not an object"}`: "not valid",
		`{"tool":"x"}`: "mcp_search",
		`{}`:           "required",
		`x`:            "not valid",
	} {
		ctx := tools.ContextWithToolCall(t.Context(), tools.ToolCall{ID: "c", Name: "mcp_call", Arguments: arguments})
		got, err := call.Handle(ctx, arguments)
		text, _ := tools.Text(got)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s, not %s", arguments, text, want)
		}
	}
	for _, c := range seen {
		if c.ID != "c" || c.Name != "mcp_s_tool0" || strings.Contains(c.Arguments, "tool") {
			t.Errorf("%+v", c)
		}
	}
}
