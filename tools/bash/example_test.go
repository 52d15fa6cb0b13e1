//go:build unix

package bash_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
)

// An agent gets all three tools, so that it can manage what runs in the background.
func Example() {
	bashTool, err := bash.New(
		bash.WithSafeMode(), // built-in dangerous-command blocklist + 30 s timeout
		bash.WithWorkingDirectory(os.TempDir()),
	)
	if err != nil {
		panic(err)
	}
	defer bashTool.Close() // kill the background shells when the app ends

	var a tools.Set
	for _, t := range []*tools.Tool{bashTool.Tool(), bashTool.OutputTool(), bashTool.KillTool()} {
		if err := a.AddTool(t); err != nil {
			panic(err)
		}
	}
	result, err := a.Tool("bash").Handle(context.Background(), `{"command":"echo hello; exit 3"}`)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%q\n", result.(*bash.Output).Output)
	_, err = a.Tool("bash").Handle(context.Background(), `{"command":"rm -rf /"}`)
	fmt.Println(errors.Is(err, bash.ErrCommandBlocked))
	// Output:
	// "hello\nexit code: 3"
	// true
}

// Output is shown as the command writes it; the model gets the whole at its end.
func ExampleWithOutputHandler() {
	bashTool, err := bash.New(
		bash.WithOutputHandler(func(ctx context.Context, chunk []byte) {
			os.Stdout.Write(chunk) // show progress while the command runs
		}),
	)
	if err != nil {
		panic(err)
	}
	defer bashTool.Close()
	if _, err := bashTool.Tool().Handle(context.Background(), `{"command":"echo working"}`); err != nil {
		panic(err)
	}
	// Output: working
}

// Commands of a repository run in a sandbox; .git cannot be written there.
func ExampleNewBubblewrapRunner() {
	repoDir, goBuildCache, toolchainDir := os.TempDir(), os.TempDir(), "/usr"
	runner, err := bash.NewBubblewrapRunner(repoDir,
		bash.WithWritablePaths(goBuildCache),    // tools that write outside the workspace
		bash.WithReadOnlyPaths(toolchainDir),    // tools installed outside the system directories
		bash.WithReadOnlyPaths(repoDir+"/.git"), // inside the workspace: the most specific mount wins
		bash.WithNetwork(false),                 // true shares the host's network
	)
	if err != nil {
		fmt.Println(err) // bash.ErrBubblewrapNotFound when bwrap is not installed
		return
	}
	bashTool, err := bash.New(bash.WithRunner(runner), bash.WithWorkingDirectory(repoDir))
	if err != nil {
		panic(err)
	}
	defer bashTool.Close()
}
