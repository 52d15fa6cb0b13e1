package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/ui/text"
)

func sessionsCommand(flags *config.Flags) *cobra.Command {
	c := &sessionsOf{flags: flags}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, copy, export, remove and repair the sessions of this repository",
		Long: `The sessions of the repository are below .phero/, and stay there until they are
removed here. Without a command, lists them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.list(cmd, false) },
	}
	cmd.AddCommand(c.listCommand(), c.showCommand(), c.renameCommand(), c.forkCommand(), c.exportCommand(), c.removeCommand(), c.checkCommand(), c.repairCommand())
	return cmd
}

// sessionsOf is the sessions of the workspace that the flags name.
type sessionsOf struct {
	flags *config.Flags
	*app.Sessions
}

// command makes a command on the opened sessions.
func (c *sessionsOf) command(use, short string, args cobra.PositionalArgs, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		if err := c.open(); err != nil {
			return err
		}
		err := run(cmd, args)
		if errors.Is(err, session.ErrNoSession) {
			return usage("%v; agent sessions lists them", err)
		}
		return err
	}}
}

func (c *sessionsOf) open() (err error) {
	settings, err := config.Load(*c.flags, os.Getenv)
	if err != nil {
		return usage("%v", err)
	}
	c.Sessions, err = app.OpenSessions(options(settings))
	return err
}

func (c *sessionsOf) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the sessions, the newest first, with their sizes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.list(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

// listed is a session in a list for scripts.
type listed struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Created  time.Time `json:"created"`
	Changed  time.Time `json:"changed"`
	Messages int       `json:"messages"`
	Changes  int       `json:"changes"`
	Size     int64     `json:"size"` // of the log, in bytes
	Open     bool      `json:"open"`
	Foreign  bool      `json:"foreign"`
}

func (c *sessionsOf) list(cmd *cobra.Command, asJSON bool) error {
	if err := c.open(); err != nil {
		return err
	}
	list, err := c.List()
	if err != nil {
		return err
	}
	if asJSON {
		rows := make([]listed, len(list))
		for i, s := range list {
			rows[i] = listed{s.ID, s.Title, s.Created, s.Changed, s.Messages, s.Changes, s.Size, s.Open, s.Foreign}
		}
		return printJSON(cmd.OutOrStdout(), rows)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "there are no sessions here yet")
		return err
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	var total int64
	for _, s := range list {
		total += s.Size
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", s.ID, s.Changed.Local().Format("2006-01-02 15:04"), counted(s.Messages, "message"), counted(s.Changes, "change"), text.Size(s.Size), titled(s))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, %s; agent --resume ID goes on with one\n", counted(len(list), "session"), text.Size(total))
	return err
}

// titled is a session's title with what is special about it.
func titled(s app.SessionInfo) string {
	title := visible(s.Title)
	if s.Open {
		title += " (open)"
	}
	if s.Foreign {
		title += " (not made here)"
	}
	return title
}

func (c *sessionsOf) showCommand() *cobra.Command {
	return c.command("show id", "Show what is in a session: your messages with their numbers, the end, the changed files", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		p, err := c.Preview(args[0])
		if err != nil {
			return err
		}
		prompts, err := c.Prompts(args[0])
		if err != nil {
			return err
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		for i, m := range prompts {
			fmt.Fprintf(out, "%4d  %s  %s\n", i+1, m.Time.Local().Format("2006-01-02 15:04"), visible(text.Line(m.Text)))
		}
		if n := len(p.Said); n > 0 && p.Said[n-1].Role == session.RoleAssistant {
			fmt.Fprintf(out, "\n%s\n", visible(p.Said[n-1].Text))
		}
		if len(p.Changed) > 0 {
			fmt.Fprintf(out, "\nChanged files: %s\n", visible(strings.Join(p.Changed, ", ")))
		}
		for _, d := range p.Damage {
			fmt.Fprintf(out, "\n%s\n", visible(d))
		}
		return out.Flush()
	})
}

func (c *sessionsOf) renameCommand() *cobra.Command {
	return c.command("rename id title", "Give a session a title", cobra.MinimumNArgs(2), func(_ *cobra.Command, args []string) error {
		return c.Rename(args[0], strings.Join(args[1:], " "))
	})
}

func (c *sessionsOf) forkCommand() *cobra.Command {
	var before int
	cmd := c.command("fork id", "Copy a session, also one that is open elsewhere, and print the copy's id", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		var at int64
		if cmd.Flags().Changed("before") {
			prompts, err := c.Prompts(args[0])
			if err != nil {
				return err
			}
			if before < 1 || before > len(prompts) {
				return usage("your messages in this session are 1 to %d; agent sessions show lists them", len(prompts))
			}
			at = prompts[before-1].Seq
		}
		id, notices, err := c.Fork(args[0], at)
		if err != nil {
			return err
		}
		warn(cmd, notices)
		_, err = fmt.Fprintln(cmd.OutOrStdout(), id)
		return err
	})
	cmd.Flags().IntVar(&before, "before", 0, "end before your message of this `number`, as agent sessions show counts them")
	return cmd
}

func warn(cmd *cobra.Command, notices []string) {
	for _, n := range notices {
		fmt.Fprintf(cmd.ErrOrStderr(), "agent: %s\n", visible(n))
	}
}

func (c *sessionsOf) exportCommand() *cobra.Command {
	var format, output string
	cmd := c.command("export id", "Write a session as Markdown, or as JSON with everything in it", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		if format != "md" && format != "json" {
			return usage("there is no format %q: md or json", format)
		}
		if output != "" {
			notices, err := c.ExportTo(output, args[0], format)
			warn(cmd, notices)
			return err
		}
		out := cmd.OutOrStdout()
		if out == os.Stdout && term.IsTerminal(int(os.Stdout.Fd())) {
			var b strings.Builder // what was said may hold what drives a terminal
			notices, err := c.Export(args[0], format, &b)
			warn(cmd, notices)
			if err == nil {
				_, err = io.WriteString(out, visible(b.String()))
			}
			return err
		}
		notices, err := c.Export(args[0], format, out)
		warn(cmd, notices)
		return err
	})
	cmd.Flags().StringVar(&format, "format", "md", "md or json")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this new `file` instead of stdout")
	return cmd
}

func (c *sessionsOf) removeCommand() *cobra.Command {
	var yes bool
	cmd := c.command("rm id…", "Remove sessions, with the contents for undo that no other session needs", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		for _, id := range args {
			if !yes {
				ok, err := c.confirmed(cmd, id)
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
			}
			r, err := c.Remove(id)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "removed %s: %s, %d contents\n", strings.ToUpper(id), text.Size(r.Bytes), r.Contents)
			if r.InUse {
				fmt.Fprintln(cmd.OutOrStdout(), "its contents stay for now: another session is open; the next rm drops what no session needs")
			}
		}
		return nil
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirmed asks whether a session is to be removed.
func (c *sessionsOf) confirmed(cmd *cobra.Command, id string) (bool, error) {
	p, err := c.Preview(id)
	if err != nil {
		return false, err
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return false, usage("say --yes to remove a session without being asked")
	}
	title := ""
	for _, m := range p.Said {
		if m.Role == session.RoleUser {
			title = visible(text.Line(m.Text))
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Remove session %s (last asked: %s)? Its changes can then not be undone. [y/N] ", strings.ToUpper(id), title)
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && answer == "" {
		return false, nil
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

func (c *sessionsOf) checkCommand() *cobra.Command {
	var asJSON bool
	cmd := c.command("check [id…]", "Look for damage in sessions; without an id, in all. Exits with 1 where there is some", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			list, err := c.List()
			if err != nil {
				return err
			}
			for _, s := range list {
				args = append(args, s.ID)
			}
		}
		reports := []session.Report{}
		sound := true
		for _, id := range args {
			r, err := c.Check(id)
			if err != nil {
				return err
			}
			reports = append(reports, r)
			sound = sound && r.Sound()
		}
		if err := printReports(cmd.OutOrStdout(), reports, asJSON); err != nil {
			return err
		}
		if !sound {
			return &exitError{code: app.ExitError}
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}

func printReports(out io.Writer, reports []session.Report, asJSON bool) error {
	if asJSON {
		return printJSON(out, reports)
	}
	b := bufio.NewWriter(out)
	for _, r := range reports {
		if r.Sound() {
			fmt.Fprintf(b, "%s is sound\n", r.ID)
			continue
		}
		fmt.Fprintf(b, "%s is damaged:\n", r.ID)
		for _, d := range r.Log {
			fmt.Fprintf(b, "  %s\n", visible(d))
		}
		for _, d := range r.Contents {
			fmt.Fprintf(b, "  %s: that change cannot be undone\n", visible(d))
		}
		if len(r.Log) > 0 {
			fmt.Fprintf(b, "  it can be opened as it is; agent sessions repair %s makes a log of what is good\n", r.ID)
		}
	}
	return b.Flush()
}

func (c *sessionsOf) repairCommand() *cobra.Command {
	return c.command("repair id", "Make a log of what is good of a damaged one, which is kept beside it", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		r, err := c.Repair(args[0])
		if errors.Is(err, session.ErrSound) {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "the log is sound: nothing was done")
			return err
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "repaired: %d lines are good; the damaged log is kept as %s\n", r.Kept, visible(r.Damaged))
		return err
	})
}

// counted is a number and what is counted.
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
