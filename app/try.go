package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/phero-agent/agent/tools/bash"
)

// Trial runs commands as the shell tool of an [App] would, for a person who
// wants to know what is in their reach.
type Trial struct {
	opts    Options
	sandbox *sandbox
	shell   *bash.Tool
}

// NewTrial finds out what commands run in here. It asks nothing: where no
// sandbox works, its error says why and what helps.
func NewTrial(ctx context.Context, opts Options) (*Trial, error) {
	reach, err := newCommandReach(opts.NetworkFor)
	if err != nil {
		return nil, err
	}
	s, err := findSandbox(ctx, opts)
	if err != nil {
		return nil, err
	}
	t := &Trial{opts: opts, sandbox: s}
	if err := s.err; err != nil {
		return nil, err
	}
	t.shell, err = s.newShell(bash.WithReach(func(_ context.Context, command string) bash.Reach { return reach.usual(command) }))
	return t, err
}

// Close ends what a command left.
func (t *Trial) Close() error {
	err := t.shell.Close()
	if closing := t.sandbox.close(); err == nil {
		err = closing
	}
	return err
}

// Run runs a command, and writes what the model would get to out. It returns
// the command's exit code, and [ExitError] for one that a signal or its timeout ended.
func (t *Trial) Run(ctx context.Context, command string, out io.Writer) (int, error) {
	arguments, err := json.Marshal(bash.Input{Command: command})
	if err != nil {
		return ExitError, err
	}
	result, err := t.shell.Tool().Handle(ctx, string(arguments))
	if err != nil {
		return ExitError, err
	}
	got := result.(*bash.Output)
	fmt.Fprintln(out, strings.TrimSuffix(got.Output, "\n"))
	if got.ExitCode < 0 {
		return ExitError, nil
	}
	return got.ExitCode, nil
}

// Notice is what does not hold here, "" when all does.
func (t *Trial) Notice() string { return t.sandbox.notice }

// Explain writes what commands can reach, and why.
func (t *Trial) Explain(ctx context.Context, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "sandbox\t%s\n", t.sandbox.label)
	fmt.Fprintf(table, "workspace\t%s\n", t.opts.Workspace)
	fmt.Fprintf(table, "network\t%s\n", t.network())
	if os.Geteuid() == 0 {
		fmt.Fprintf(table, "user\troot: files that commands leave belong to root; a person's own account is safer\n")
	}
	if err := t.explainMounts(table); err != nil {
		return err
	}
	fmt.Fprint(table, "\nenvironment\n")
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := t.Run(ctx, "env | sort", out)
	return err
}

func (t *Trial) network() string {
	switch {
	case t.sandbox.label == "none":
		return "this machine's"
	case t.opts.Network:
		return "on, with everything on localhost"
	case len(t.opts.NetworkFor) > 0:
		return "off, but for: " + strings.Join(t.opts.NetworkFor, ", ")
	}
	return "off"
}

func (t *Trial) explainMounts(table io.Writer) error {
	walled, ok := t.sandbox.runner.(interface{ Mounts() ([]bash.Mount, error) })
	if !ok {
		fmt.Fprint(table, "\nCommands run on this machine itself, with your rights. Only their environment is limited.\n")
		return nil
	}
	mounts, err := walled.Mounts()
	if err != nil {
		return err
	}
	fmt.Fprint(table, "\npath\taccess\twhy\n")
	for _, m := range mounts {
		why := m.Why
		if m.Source != "" && m.Source != m.Path {
			why += ", from " + m.Source
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", m.Path, m.Access, why)
	}
	return nil
}
