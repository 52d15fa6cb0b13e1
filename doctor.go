package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/catalogue"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/app/doctor"
	"github.com/phero-agent/agent/ui/text"
)

func doctorCommand(sandbox *config.Flags) *cobra.Command {
	var (
		flags     config.Flags
		forReport bool
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what works here: key, server, model, sandbox, terminal, git",
		Long: `Examines the settings, asks the model's server what it can do with a few tiny
requests, which cost next to nothing, and remembers what it refuses. Then the sandbox, the
terminal and git. Each line says ok, or what to do. The exit code is 1 when something is BAD.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags.Sandbox = sandbox.Sandbox
			if forReport {
				settings, err := config.Load(flags, os.Getenv)
				if err != nil {
					return usage("%v", err)
				}
				report(cmd.Context(), cmd.OutOrStdout(), settings)
				return nil
			}
			return examine(cmd.Context(), os.Stdout, flags)
		},
	}
	cmd.Flags().BoolVar(&forReport, "report", false, "print versions and settings for a bug report, without secrets; sends nothing")
	modelFlags(cmd, &flags)
	return cmd
}

// examine is agent doctor.
func examine(ctx context.Context, out io.Writer, flags config.Flags) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	settings, err := config.Load(flags, os.Getenv)
	if err != nil {
		return usage("%v", err)
	}
	tell := func(f doctor.Finding) { fmt.Fprintln(out, text.Line(f.String())) }
	opts := options(settings)
	_, err = os.Lstat(filepath.Join(settings.Workspace, ".git"))
	well := doctor.Run(ctx, tell,
		settingsCheck(settings),
		skillsCheck(opts),
		modelCheck(settings),
		doctor.Sandbox(settings.Sandbox, func(ctx context.Context) (string, error) { return app.CheckSandbox(ctx, opts) }),
		doctor.Terminal(term.IsTerminal(int(os.Stdout.Fd())), os.Getenv),
		doctor.Git(err == nil),
	)
	var exit app.ExitCause
	switch {
	case errors.As(context.Cause(ctx), &exit):
		return &exitError{code: int(exit)}
	case !well:
		return &exitError{code: app.ExitError, err: errors.New("something must be mended: see the lines that say BAD")}
	}
	return nil
}

// settingsCheck says which settings hold and where they come from.
func settingsCheck(s config.Settings) doctor.Check {
	return func(_ context.Context, tell func(doctor.Finding)) {
		tell(doctor.Finding{State: doctor.OK, Topic: "workspace", Text: s.Workspace})
		if err := writable(s.StateDir); err != nil {
			tell(doctor.Finding{State: doctor.Bad, Topic: "state", Text: err.Error(), Do: "make it writable, or set XDG_STATE_HOME"})
		} else {
			tell(doctor.Finding{State: doctor.OK, Topic: "state", Text: s.StateDir})
		}
		for _, v := range s.Given() {
			tell(doctor.Finding{State: doctor.OK, Topic: "setting", Text: fmt.Sprintf("%s = %s (%s)", v.Key, v.Value, strings.Join(v.Source, ", "))})
		}
		for _, item := range s.Untrusted {
			tell(doctor.Finding{State: doctor.Note, Topic: "setting", Text: item.Name + " is not trusted: what it loosens does not count", Do: "agent trust shows it and accepts it"})
		}
		for _, n := range s.Notices {
			tell(doctor.Finding{State: doctor.Note, Topic: "setting", Text: n})
		}
	}
}

// skillsCheck says what of the skills and commands cannot be used (SKILL-09).
func skillsCheck(opts app.Options) doctor.Check {
	return func(_ context.Context, tell func(doctor.Finding)) {
		n, skipped, err := app.CheckSkills(opts)
		if err != nil {
			tell(doctor.Finding{State: doctor.Bad, Topic: "skills", Text: err.Error()})
			return
		}
		if n > 0 {
			tell(doctor.Finding{State: doctor.OK, Topic: "skills", Text: fmt.Sprintf("%d skills and commands", n)})
		}
		for _, s := range skipped {
			tell(doctor.Finding{State: doctor.Note, Topic: "skills", Text: fmt.Sprintf("left out: %s: %v", s.Dir, s.Err)})
		}
	}
}

func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// modelCheck says which provider and key are taken, and examines the server.
func modelCheck(s config.Settings) doctor.Check {
	return func(ctx context.Context, tell func(doctor.Finding)) {
		m := modelFor(s, func(t string) { tell(doctor.Finding{State: doctor.Note, Topic: "profile", Text: t}) })
		t, err := m.target(ctx, "")
		switch {
		case errors.Is(err, errNoModel):
			tell(doctor.Finding{State: doctor.Bad, Topic: "key", Text: "none is set, and no model server runs on this machine",
				Do: "export OPENAI_API_KEY=…, or another provider's, or start a server as Ollama"})
			return
		case err != nil:
			tell(doctor.Finding{State: doctor.Bad, Topic: "key", Text: err.Error()})
			return
		}
		name := t.Provider.Name
		if name == "" {
			name = "a server that the catalogue does not know"
		}
		tell(doctor.Finding{State: doctor.OK, Topic: "provider", Text: name + ", " + t.BaseURL})
		tell(keyFinding(t, s.Getenv))
		doctor.Server(m.config(t))(ctx, tell)
	}
}

// keyFinding says where the key comes from, and never what it is.
func keyFinding(t catalogue.Target, getenv func(string) string) doctor.Finding {
	f := doctor.Finding{State: doctor.OK, Topic: "key", Text: "none is sent"}
	if t.Key != "" {
		f.Text = "from " + t.KeyName
		if os.Getenv(t.KeyName) == "" {
			f.Text += " in the file of keys"
		}
	}
	var others []string
	for _, p := range catalogue.WithKeys(getenv) {
		if p.ID != t.Provider.ID && !slices.Contains(p.Keys, t.KeyName) {
			others = append(others, p.ID)
		}
	}
	if len(others) > 0 {
		f.Text += "; there are keys for -m " + strings.Join(others, "/…, -m ") + "/… too"
	}
	return f
}
