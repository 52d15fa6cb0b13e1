// Command agent is a coding agent in the terminal.
//
//	flags and commands → config → app → ui, or one headless run
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/tools/bash"
)

func main() {
	bash.MaybeHelper() // a sandbox is this program again
	os.Exit(run(context.Background(), os.Args[1:]))
}

// exitError is an error that says with what code to exit. Its text is for the person.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{code: app.ExitUsage, err: fmt.Errorf(format, args...)}
}

// run is the program, and returns its exit code.
func run(ctx context.Context, args []string) int {
	cmd := newCommand()
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return app.ExitOK
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintf(os.Stderr, "agent: %v\n", exit.err)
		}
		return exit.code
	}
	fmt.Fprintf(os.Stderr, "agent: %v\n", err)
	return app.ExitError
}
