package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/ui"
	"github.com/phero-agent/agent/ui/text"
)

// start begins a run of the application.
type start struct {
	settings config.Settings
	line     *line
}

// headless runs one prompt without a screen.
func (s *start) headless(ctx context.Context) error {
	// A write to a pipe that nobody reads is an error then, and no end of the program:
	// what it started would live on.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	run := app.NewHeadless(app.HeadlessOptions{
		Out: stdoutFor(s.line.format), Err: cleaned{os.Stderr}, Format: s.line.format, FailOnDenied: s.line.failOnDenied,
	})
	logTo(s.settings.StateDir, s.line.debug, s.settings.Getenv)
	opts := s.options()
	opts.Emit = s.logging(run.Emit)
	tellSettings(os.Stderr, s.settings)
	m := modelFor(s.settings, func(text string) { run.Emit(app.Notice{Level: app.Warning, Text: text}) })
	if err := m.find(ctx); err != nil { // before anything of a session is written
		return err
	}
	if err := m.fill(&opts); err != nil {
		return err
	}
	a, err := app.New(opts)
	if err != nil {
		return usage("%v", err)
	}
	defer a.Close()
	ctx, stop := untilSignal(ctx)
	defer stop()
	a.Start()
	a.Prepare()
	if s.resumes() {
		if err := a.Open(s.line.resume); err != nil {
			return usage("%v", err)
		}
	}
	if code := run.Run(ctx, a, s.line.prompt); code != app.ExitOK {
		return &exitError{code: code}
	}
	return nil
}

// options are those of the settings and of the line.
func (s *start) options() app.Options {
	opts := options(s.settings)
	opts.Foreign, opts.NoSession, opts.AddPrompt = s.line.foreign, s.line.noSession, s.line.addPrompt
	return opts
}

// logging is where the events go, by way of the log with --debug.
func (s *start) logging(emit func(app.Event)) func(app.Event) {
	if !s.line.debug {
		return emit
	}
	return logEvents(emit)
}

// cleaned keeps what could steer a terminal out of what is written. Each write is
// a text of its own.
type cleaned struct{ to io.Writer }

func (c cleaned) Write(p []byte) (int, error) {
	if _, err := io.WriteString(c.to, text.Clean(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// stdoutFor is where a run without a screen prints. In a file an answer is the
// model's to the byte; JSON has no control characters.
func stdoutFor(format string) io.Writer {
	if format == app.FormatText && term.IsTerminal(int(os.Stdout.Fd())) {
		return cleaned{os.Stdout}
	}
	return os.Stdout
}

// screen opens the screen, and again when the person accepted other settings.
func (s *start) screen(ctx context.Context) error {
	for {
		err := s.once(ctx)
		if !errors.Is(err, ui.ErrRestart) {
			return err
		}
		if s.settings, err = config.Load(s.line.flags, os.Getenv); err != nil {
			return usage("%v", err)
		}
	}
}

func (s *start) once(ctx context.Context) error {
	logTo(s.settings.StateDir, s.line.debug, s.settings.Getenv)
	opts := s.options()
	pump := ui.NewPump()
	opts.Emit = s.logging(pump.Emit)
	m := modelFor(s.settings, func(text string) { pump.Emit(app.Notice{Level: app.Warning, Text: text}) })
	if err := m.fill(&opts); err != nil {
		return err
	}
	opts.SetUp = setUpFor(s.settings, m)
	opts.KeepModel = s.line.flags.Model != ""
	screen := screenOptions(s.settings.UI, os.Getenv)
	screen.Prompt, screen.Ask = s.line.prompt, s.line.resume == pick
	return show(ctx, opts, pump, screen, s.open)
}

// resumes tells whether the command line names a session, or the newest one.
func (s *start) resumes() bool { return s.line.resumed && s.line.resume != pick }

// open resumes what the command line says. A session that only the person can
// decide about is returned: the screen asks.
func (s *start) open(a *app.App) (ask string, err error) {
	if !s.resumes() {
		return "", nil
	}
	err = a.Open(s.line.resume)
	var (
		foreign *app.ForeignError
		locked  *session.LockedError
	)
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &foreign):
		return foreign.ID, nil
	case errors.As(err, &locked):
		return locked.ID, nil
	}
	return "", usage("%v", err)
}

// untilSignal ends a context when the program is told to stop, with the exit code as its cause.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			cancel(app.ExitCause(exitCode(s)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

func exitCode(s os.Signal) int {
	if s == os.Interrupt {
		return app.ExitInterrupted
	}
	return app.ExitTerminated
}
