package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/file"
)

// undoing is "agent undo".
type undoing struct {
	*app.Undoing
	workspace              string
	in                     io.Reader
	out                    io.Writer
	redo, turn, yes, force bool
	terminal               bool // somebody can answer
	session                string
	list                   bool
	verb, verbed           string
}

func undoCommand(flags *config.Flags) *cobra.Command {
	var u undoing
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Take the last change of a session back, after a look at it",
		Long: `Shows what taking the last change back would do, as a diff, and asks. What was
changed since by you or a program, and what may not be the session's doing, is
left alone unless --force says so. The session must not be open: there, /undo does
the same. The model is told when the session goes on.

What git ignores, and .git itself, is not covered.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u.in, u.out = cmd.InOrStdin(), cmd.OutOrStdout()
			u.terminal = term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
			settings, err := config.Load(*flags, os.Getenv)
			if err != nil {
				return usage("%v", err)
			}
			return u.run(cmd.ErrOrStderr(), options(settings))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&u.redo, "redo", false, "make again what was taken back last")
	f.BoolVar(&u.turn, "turn", false, "all changes of the last turn that made some")
	f.BoolVar(&u.list, "list", false, "list what can be taken back, and do nothing")
	f.BoolVarP(&u.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&u.force, "force", false, "go over what was changed since, too; it is kept in .phero/")
	f.StringVar(&u.session, "session", "", "the session of this `id`, not the newest")
	return cmd
}

func (u *undoing) run(errs io.Writer, opts app.Options) (err error) {
	u.workspace = opts.Workspace
	u.Undoing, err = app.OpenUndo(opts, u.session)
	var locked *session.LockedError
	switch {
	case errors.As(err, &locked):
		return fmt.Errorf("%w: use /undo there", err)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	for _, n := range u.Notices {
		fmt.Fprintf(errs, "agent: %s\n", visible(n))
	}
	if u.list {
		return u.printList()
	}
	u.verb, u.verbed = "undo", "undone"
	if u.redo {
		u.verb, u.verbed = "redo", "redone"
	}
	return u.revert()
}

// revert shows the plan, asks, and does it.
func (u *undoing) revert() error {
	scope := session.Scope{Turn: u.turn}
	plan, err := u.Plan(scope, u.redo)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(u.out)
	var picks []session.Pick
	var conflicts []string
	for _, p := range plan {
		switch {
		case p.Conflict == "" && (p.Found == nil || p.Found.Doubt == "") || u.force:
			picks = append(picks, p.Pick())
		case p.Conflict != "":
			conflicts = append(conflicts, u.path(p.Change.Path)+" "+p.Conflict)
		}
		u.printPlanned(out, p)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	switch {
	case len(conflicts) > 0:
		return fmt.Errorf("nothing was %s: %s; --force goes over it", u.verbed, visible(strings.Join(conflicts, "; ")))
	case len(picks) == 0:
		return fmt.Errorf("nothing was %s: all of it may be somebody else's doing; --force does it", u.verbed)
	case !u.yes && !u.terminal:
		return usage("nothing was %s: nobody can be asked here; --yes does it", u.verbed)
	case !u.yes && !u.agrees(len(picks)):
		return fmt.Errorf("nothing was %s", u.verbed)
	}
	did, err := u.Undo(scope, u.redo, picks)
	if did != "" {
		fmt.Fprintln(u.out, visible(did))
	}
	return err
}

func (u *undoing) agrees(n int) bool {
	fmt.Fprintf(u.out, "%s %d of these? [y/N] ", u.verb, n)
	answer, _ := bufio.NewReader(u.in).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

func (u *undoing) path(path string) string {
	if rel, err := filepath.Rel(u.workspace, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// printPlanned prints what would be done to a path, as a unified diff.
func (u *undoing) printPlanned(out io.Writer, p session.Planned) {
	words := []string{u.path(p.Change.Path)}
	switch {
	case p.Removes:
		words = append(words, "is removed")
	case !p.Change.Existed:
		words = append(words, "is made")
	}
	if p.Kind != "" {
		words = append(words, "("+p.Kind+")")
	}
	if p.Found != nil {
		words = append(words, "· changed while "+strings.Join(p.Found.Commands, " and ")+" ran")
		if p.Found.Doubt != "" {
			words = append(words, "· left out: "+p.Found.Doubt)
		}
	}
	if p.Conflict != "" {
		words = append(words, "· it "+p.Conflict)
	}
	fmt.Fprintln(out, visible(strings.Join(words, " ")))
	if !isText(p.Change.Before) || !isText(p.Change.After) {
		fmt.Fprintf(out, "  binary, %d bytes now, %d after it\n", len(p.Change.Before), len(p.Change.After))
		return
	}
	for _, h := range file.Hunks(p.Change.Before, p.Change.After, 3) {
		fmt.Fprintf(out, "  @@ -%d +%d @@\n", h.Old, h.New)
		for _, line := range h.Lines {
			fmt.Fprintln(out, "  "+visible(line))
		}
	}
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// printList prints what can be taken back and made again, the newest first.
func (u *undoing) printList() error {
	out := bufio.NewWriter(u.out)
	steps := u.List()
	if len(steps) == 0 {
		fmt.Fprintln(out, "this session changed no files")
	}
	for _, s := range steps {
		state := "undo"
		if s.Undone {
			state = "redo"
		}
		what := s.Changes[0].Tool
		if s.Found != nil {
			what = "changed while " + strings.Join(s.Found.Commands, " and ") + " ran"
			if s.Found.Doubt != "" {
				what += " (" + s.Found.Doubt + ")"
			}
		}
		var paths []string
		for i := range s.Changes {
			if c := &s.Changes[i]; !c.IsDir() || len(s.Changes) == 1 {
				paths = append(paths, u.path(c.Path))
			}
		}
		if more := len(paths) - listMost; more > 0 {
			paths = append(paths[:listMost], fmt.Sprintf("and %d more", more))
		}
		fmt.Fprintln(out, visible(fmt.Sprintf("%s  turn %d  %s: %s", state, s.Turn, what, strings.Join(paths, ", "))))
		if s.Found != nil {
			for _, l := range s.Found.Lost {
				fmt.Fprintln(out, visible("      cannot be undone: "+u.path(l.Path)+" "+l.Why))
			}
		}
	}
	return out.Flush()
}

// listMost is how many paths of a step are listed.
const listMost = 8
