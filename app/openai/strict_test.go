package openai

import (
	"strings"
	"testing"

	"github.com/phero-agent/agent/app"
)

// deltas gathers what was emitted.
type deltas struct {
	text, reasoning strings.Builder
	calls           []app.CallProgress
	retries         []app.Retry
	count           int
}

// take returns an emit that fills g, and checks that each delta has one part.
func (g *deltas) take(t testing.TB) func(app.Delta) {
	return func(d app.Delta) {
		parts := 0
		if d.Text != "" {
			parts++
			g.text.WriteString(d.Text)
		}
		if d.Reasoning != "" {
			parts++
			g.reasoning.WriteString(d.Reasoning)
		}
		if d.Call != nil {
			parts++
			g.calls = append(g.calls, *d.Call)
		}
		if d.Retry != nil {
			parts++
			g.retries = append(g.retries, *d.Retry)
		}
		if parts != 1 {
			t.Errorf("a delta with %d parts: %+v", parts, d)
		}
		g.count++
	}
}

// strict checks a request as the strictest server would.
func strict(t testing.TB, body map[string]any) {
	t.Helper()
	messages, _ := body["messages"].([]any)
	if body["stream"] != true || body["model"] == "" || len(messages) == 0 {
		t.Errorf("stream %v, model %v, %d messages", body["stream"], body["model"], len(messages))
	}
	open := map[string]bool{} // calls without a result
	lastRole := ""
	for i, item := range messages {
		m := item.(map[string]any)
		role, _ := m["role"].(string)
		if (role == "system" || role == "developer") && i != 0 {
			t.Errorf("message %d is the system's", i)
		}
		if role != "tool" && len(open) > 0 {
			t.Errorf("message %d (%s): calls without a result: %v", i, role, open)
		}
		if role == lastRole && role != "tool" {
			t.Errorf("messages %d and %d are both %s", i-1, i, role)
		}
		lastRole = role
		content, isText := m["content"].(string)
		if isText && strings.TrimSpace(content) == "" {
			t.Errorf("message %d (%s) has an empty text", i, role)
		}
		switch role {
		case "tool":
			id, _ := m["tool_call_id"].(string)
			if !isText || !open[id] {
				t.Errorf("message %d is a result of %q with content %T", i, id, m["content"])
			}
			delete(open, id)
		case "assistant":
			calls, _ := m["tool_calls"].([]any)
			if !isText && len(calls) == 0 {
				t.Errorf("message %d is empty", i)
			}
			strictCalls(t, calls, open)
		}
	}
	if len(open) > 0 || lastRole == "assistant" {
		t.Errorf("the last message is the %s's, open calls: %v", lastRole, open)
	}
}

func strictCalls(t testing.TB, calls []any, open map[string]bool) {
	t.Helper()
	for _, item := range calls {
		call := item.(map[string]any)
		f := call["function"].(map[string]any)
		id, _ := call["id"].(string)
		arguments, _ := f["arguments"].(string)
		if id == "" || open[id] || call["type"] != "function" || !isPortable(f["name"].(string), "_-") || !isObject(arguments) {
			t.Errorf("a call is %v", call)
		}
		open[id] = true
	}
}
