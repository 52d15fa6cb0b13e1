package app

import (
	"context"
	"strings"
	"testing"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
)

// LOOP-12: a tool that panics is a failed call, and the run goes on.
func TestToolThatPanics(t *testing.T) {
	tool, err := tools.NewRawTool("broken", "breaks", map[string]any{"type": "object"}, func(context.Context, string) (any, error) {
		panic("out of cheese")
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &App{box: &toolbox{}, own: &thread{}, clock: &deadline{}}
	if err := a.own.tools.AddTool(tool); err != nil {
		t.Fatal(err)
	}
	m := a.runCall(t.Context(), a.own, tools.ToolCall{ID: "1", Name: "broken", Arguments: "{}"})
	if m.Status != session.StatusFailed || !strings.Contains(m.Text, "out of cheese") || m.CallID != "1" {
		t.Errorf("%+v", m)
	}
}
