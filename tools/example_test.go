package tools_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/phero-agent/agent/tools"
)

func ExampleNewTool() {
	type input struct {
		Text  string `json:"text" description:"what to repeat"`
		Times int    `json:"times,omitempty" description:"how often (default 2)"`
	}
	tool, err := tools.NewTool("repeat", "Repeats a text.",
		func(_ context.Context, in input) (string, error) {
			if in.Times == 0 {
				in.Times = 2
			}
			return strings.Repeat(in.Text, in.Times), nil
		})
	if err != nil {
		panic(err)
	}
	fmt.Println(tool.InputSchema()["required"])
	fmt.Println(tool.Handle(context.Background(), `{"text":"ho "}`))
	// Output:
	// [text]
	// ho ho  <nil>
}

func ExampleTool_Use() {
	tool, _ := tools.NewTool("remove", "Removes a file.",
		func(context.Context, struct{}) (string, error) { return "removed", nil })

	tool.Use(func(t *tools.Tool, next tools.Handler) tools.Handler {
		return func(ctx context.Context, arguments string) (any, error) {
			call, _ := tools.ToolCallFromContext(ctx)
			fmt.Println("about to run", t.Name(), "for", call.ID)
			return next(ctx, arguments)
		}
	})
	ctx := tools.ContextWithToolCall(context.Background(), tools.ToolCall{ID: "call_7", Name: "remove"})
	fmt.Println(tool.Handle(ctx, "{}"))
	// Output:
	// about to run remove for call_7
	// removed <nil>
}
