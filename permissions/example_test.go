package permissions_test

import (
	"context"
	"fmt"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools"
)

// The reference's example: rules, and a person who is asked.
func Example() {
	run := func(context.Context, string) (any, error) { return "ran", nil }
	bash, err := tools.NewRawTool("bash", "runs a command", nil, run)
	if err != nil {
		panic(err)
	}
	policy, err := permissions.New(
		permissions.WithAllow("read", "grep", "glob", "bash(go test *)", "bash(go build *)", "edit(/repo/*)"),
		permissions.WithAsk("edit(/repo/go.mod)"),
		permissions.WithDeny("bash(git push *)", "edit(/repo/secrets/*)"), // bash rules guard against mistakes
		permissions.WithAsker(func(ctx context.Context, req permissions.Request) (permissions.Answer, error) {
			fmt.Printf("Allow %s(%s)? ", req.Tool, req.Subject)
			return permissions.AllowOnce, nil
		}),
	)
	if err != nil {
		panic(err)
	}
	policy.Apply(bash)

	for _, line := range []string{"go test ./...", "make", "go build . && git push origin"} {
		result, err := bash.Handle(context.Background(), `{"command":"`+line+`"}`)
		fmt.Println(result, err)
	}
	// Output:
	// ran <nil>
	// Allow bash(make)? ran <nil>
	// <nil> bash was not run: the rule "bash(git push *)" denies it
}

// A trace says what a line comes to, and why.
func ExamplePolicy_Explain() {
	policy, err := permissions.New(
		permissions.WithRules(permissions.Allow, permissions.Rule{Text: "bash(go test *)", Source: "config.toml"}))
	if err != nil {
		panic(err)
	}
	trace := policy.Explain("bash", `{"command":"go test ./... && rm -rf x"}`)
	for _, step := range trace.Steps {
		fmt.Println(step.Decision, step.Subject, step.By, step.Rule)
	}
	fmt.Println(trace.Decision, trace.Uncovered())
	// Output:
	// allow go test ./... allow rule {bash(go test *) config.toml}
	// ask rm -rf x default { }
	// ask [rm -rf x]
}
