package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/phero-agent/agent/app"
	"github.com/phero-agent/agent/app/catalogue"
)

// logFile is the program's log, in the state directory (IMP-40). It is made at the
// first line, so that a start does not wait for it; what cannot be written is
// dropped, because the terminal belongs to the screen.
type logFile struct {
	path string
	once sync.Once
	file io.Writer
}

func (l *logFile) Write(line []byte) (int, error) {
	l.once.Do(func() {
		l.file = io.Discard
		if os.MkdirAll(filepath.Dir(l.path), 0o700) != nil {
			return
		}
		if f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err == nil {
			l.file = f
		}
	})
	return l.file.Write(line)
}

// logPath is the log below a state directory.
func logPath(stateDir string) string { return filepath.Join(stateDir, "agent.log") }

// logTo sends what the program logs to a file of the state directory; with debug
// also every request and event, without what is in them. Keys are masked, and of a
// panic only its kind is written: its text can be anything that the program works on.
func logTo(stateDir string, debug bool, getenv func(string) string) {
	opts := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch kind := a.Value.Kind(); {
		case a.Key == "panic":
			a.Value = slog.StringValue(kindOfPanic(a.Value.Any()))
		case kind == slog.KindString, kind == slog.KindAny:
			a.Value = slog.StringValue(masked(fmt.Sprint(a.Value.Any()), getenv))
		}
		return a
	}}
	if debug {
		opts.Level = slog.LevelDebug
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(&logFile{path: logPath(stateDir)}, opts)))
}

// kindOfPanic is what can be said of a panic's value without contents: the words of
// Go itself, which names types and numbers, or its type.
func kindOfPanic(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a panic with a %T", value)
}

// masked is a text without the keys of the environment and the file of keys.
func masked(s string, getenv func(string) string) string {
	for _, p := range catalogue.Providers() {
		for _, name := range p.Keys {
			if key := strings.TrimSpace(getenv(name)); len(key) > 3 {
				s = strings.ReplaceAll(s, key, "***")
			}
		}
	}
	return s
}

// logged logs the requests to the model's server: where they went and what became of
// them, neither their headers nor their bodies.
type logged struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l logged) RoundTrip(r *http.Request) (*http.Response, error) {
	start := time.Now()
	res, err := l.RoundTripper.RoundTrip(r)
	at := []any{"method", r.Method, "host", r.URL.Host, "path", r.URL.Path, "bytes", r.ContentLength, "elapsed", time.Since(start)}
	if err != nil {
		slog.Debug("request failed", append(at, "error", err.Error())...)
		return res, err
	}
	slog.Debug("request", append(at, "status", res.StatusCode, "request_id", res.Header.Get("X-Request-Id"))...)
	return res, nil
}

// logEvents logs what happens beside telling it: kinds, sizes and ends, no contents.
func logEvents(emit func(app.Event)) func(app.Event) {
	return func(e app.Event) {
		logEvent(e)
		emit(e)
	}
}

func logEvent(e app.Event) {
	switch e := e.(type) {
	case app.State:
		slog.Debug("state", "model", e.Model, "provider", e.Provider, "sandbox", e.Sandbox, "network", e.Network)
	case app.TurnStarted:
		slog.Debug("turn started", "turn", e.Turn)
	case app.TurnEnded:
		slog.Debug("turn ended", "turn", e.Turn, "outcome", e.Outcome)
	case app.ToolStarted:
		slog.Debug("call", "id", e.Call.ID, "tool", e.Call.Name, "agent", e.Call.Agent, "bytes", len(e.Call.Arguments))
	case app.Asked:
		slog.Debug("asked", "id", e.ID, "call", e.Call.ID, "tool", e.Call.Name)
	case app.Closed:
		slog.Debug("closed", "id", e.ID)
	case app.Retrying:
		slog.Debug("retrying", "attempt", e.Attempt)
	case app.Usage:
		slog.Debug("usage", "input", e.Last.Input, "output", e.Last.Output, "window", e.Window, "estimated", e.Estimated)
	case app.Committed:
		at := []any{"seq", e.Entry.Seq, "kind", e.Entry.Kind}
		if m := e.Entry.Message; m != nil {
			at = append(at, "role", m.Role, "status", m.Status, "call", m.CallID, "calls", len(m.Calls), "bytes", len(m.Text), "cut", m.Cut)
		}
		slog.Debug("entry", at...)
	}
}
