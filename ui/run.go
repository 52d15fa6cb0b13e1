package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

const tailLines = 20 // of the transcript that stay on the normal screen

// ErrRestart says that the application wants to be made anew, since other settings hold.
var ErrRestart = errors.New("start again with the new settings")

// SignalError says that a signal ended the screen.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "ended by the signal " + e.Signal.String() }

// Run shows the screen until the person quits, a signal comes or ctx ends. The
// terminal is as before on every way out, also after a panic. What was said last
// and how to resume stay on the normal screen.
//
// A SIGTERM or SIGHUP ends it with a *[SignalError]; a panic with an error; and
// [ErrRestart] asks for a new application and screen.
func Run(ctx context.Context, m *Model, opts ...tea.ProgramOption) error {
	if m.opts.Plain {
		return runPlain(ctx, m, os.Stdin, os.Stdout)
	}
	p := tea.NewProgram(m, append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFilter(calmMouse()),
	}, opts...)...)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	defer signal.Stop(signals)
	ended := make(chan struct{})
	caught := make(chan os.Signal, 1)
	go func() {
		select {
		case s := <-signals:
			caught <- s
			p.Quit()
		case <-ended:
		}
	}()
	_, err := p.Run()
	close(ended)
	m.pump.Close()
	if !errors.Is(err, tea.ErrProgramPanic) { // else it was saved a moment ago
		m.saveLastDraft()
	}
	if m.restart && err == nil {
		return ErrRestart
	}
	screen := colorprofile.NewWriter(os.Stdout, os.Environ())
	if !errors.Is(err, tea.ErrProgramPanic) { // else what is shown may be what panicked
		m.goodbye(screen)
	}
	m.howToResume(screen)
	select {
	case s := <-caught:
		return &SignalError{s}
	default:
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// goodbye writes the transcript's end.
func (m *Model) goodbye(w io.Writer) {
	for _, l := range m.transcript.tail(max(20, min(m.w, 100)), tailLines) {
		fmt.Fprintln(w, strings.TrimRight(l, " "))
	}
}

// howToResume writes the line to resume with, when there is something to resume.
func (m *Model) howToResume(w io.Writer) {
	if m.spoken && m.session != "" {
		fmt.Fprintf(w, "\nresume with: %s %s\n", cmp.Or(m.opts.Resume, "agent --resume"), m.session)
	}
}

// calmMouse lets through at most one turn of the wheel or move of the pointer in
// the time in which the terminal could show it.
func calmMouse() func(tea.Model, tea.Msg) tea.Msg {
	const least = 10 * time.Millisecond
	var last time.Time
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg.(type) {
		case tea.MouseWheelMsg, tea.MouseMotionMsg:
			now := time.Now()
			if now.Sub(last) < least {
				return nil
			}
			last = now
		}
		return msg
	}
}
