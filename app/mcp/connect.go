//lint:file-ignore SA1019 sampling, roots and logging are what the servers of today know

package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/tools/bash"
)

const (
	maxMessage   = 16 << 20         // bytes of one message of a server
	writeTimeout = 10 * time.Second // for a server to take a message
)

// link is a connection that stands.
type link struct {
	v       *server
	session *sdk.ClientSession
	program *bash.Program // nil for a remote server
	pace    *pace         // of what it sends
	over    chan error    // the connection ended
}

// connect makes a connection.
func (v *server) connect(ctx context.Context) (*link, error) {
	l := &link{v: v, pace: newPace(), over: make(chan error, 2)}
	transport, err := l.transport(ctx)
	if err != nil {
		return nil, err
	}
	client := v.client()
	client.AddReceivingMiddleware(l.bounded())
	client.AddSendingMiddleware(v.beginning)
	l.session, err = client.Connect(ctx, transport, nil)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("it did not answer within %v", v.all.opts.Limits.Start)
		}
		err = l.explain(err)
		l.close()
		return nil, err
	}
	go func() { l.lose(l.session.Wait()) }()
	return l, nil
}

// client is this program as the server sees it.
func (v *server) client() *sdk.Client {
	opts := &sdk.ClientOptions{
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}},

		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { v.noteStale() },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { v.noteStale() },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { v.noteStale() },
		LoggingMessageHandler:       v.logged,
		ProgressNotificationHandler: v.progressed,
	}
	if v.all.opts.Ask != nil {
		opts.ElicitationHandler = v.elicit
		opts.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
	}
	if v.all.opts.Sample != nil {
		opts.CreateMessageWithToolsHandler = v.sample
		opts.Capabilities.Sampling = &sdk.SamplingCapabilities{} // without tools
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: v.all.opts.Version}, opts)
	client.AddRoots(&sdk.Root{URI: (&url.URL{Scheme: "file", Path: v.all.opts.Workspace}).String(), Name: "workspace"})
	return client
}

// beginning is a middleware for servers that do not know how newer clients begin,
// and say nothing to it: after a while they are spoken to as older ones did.
func (v *server) beginning(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "server/discover" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, v.all.opts.Limits.Begin)
			defer cancel()
		}
		return next(ctx, method, req)
	}
}

// A server may send so many requests in a time; with more the connection ends.
const (
	maxRequests = 500
	requestsIn  = 10 * time.Second
)

var errStorm = fmt.Errorf("it sent more than %d requests in %v", maxRequests, requestsIn)

// bounded is a middleware against a server that asks without end.
func (l *link) bounded() sdk.Middleware {
	var mu sync.Mutex
	var since time.Time
	n := 0
	tooMany := func(now time.Time) bool {
		mu.Lock()
		defer mu.Unlock()
		if now.Sub(since) > requestsIn {
			since, n = now, 0
		}
		n++
		return n > maxRequests
	}
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if !strings.HasPrefix(method, "notifications/") && tooMany(time.Now()) {
				l.lose(errStorm)
				return nil, errStorm
			}
			return next(ctx, method, req)
		}
	}
}

func (l *link) transport(ctx context.Context) (sdk.Transport, error) {
	def, getenv := l.v.def, l.v.all.opts.Getenv
	if def.URL != "" {
		return l.v.remote(l.pace)
	}
	env, err := expandAll(def.Env, getenv)
	if err != nil {
		return nil, hopelessError{err}
	}
	argv := make([]string, 0, 1+len(def.Args))
	for _, arg := range append([]string{def.Command}, def.Args...) {
		if arg, err = expand(arg, getenv); err != nil {
			return nil, hopelessError{err}
		}
		argv = append(argv, arg)
	}
	if _, other := env["PATH"]; !other {
		if err := l.v.installed(argv[0]); err != nil {
			return nil, err
		}
	}
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	if l.program, err = l.v.all.opts.Launch(ctx, def, argv, list); err != nil {
		return nil, err
	}
	go l.v.said.drain(paced{l.program.Err, newPace()})
	return &sdk.IOTransport{Reader: paced{l.program.Out, l.pace}, Writer: boundedWriter{l.program.In, l}, MaxLineLength: maxMessage}, nil
}

// boundedWriter writes to a program that may not read.
type boundedWriter struct {
	*os.File
	link *link
}

func (w boundedWriter) Write(p []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	n, err := w.File.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errors.New("it does not take what it is sent")
		w.link.lose(err)
	}
	return n, err
}

// lose ends a connection that is of no use any more.
func (l *link) lose(why error) {
	select {
	case l.over <- why:
	default: // it ends already
	}
}

// close ends the connection, and the program with it.
func (l *link) close() {
	l.pace.end()
	if l.program != nil {
		if err := l.program.Stop(l.v.all.opts.Limits.Goodbye); err != nil {
			slog.Error("a server", "name", l.v.def.Name, "error", err)
		}
	}
	if l.session == nil {
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = l.session.Close() // it ends in any case
	}()
	select {
	case <-closed:
	case <-time.After(2 * time.Second):
	}
}

// explain adds to an error what the program said last.
func (l *link) explain(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, errRestarted) {
		return err
	}
	if l.program == nil {
		return remoteError(err)
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		err = errors.New("it ended")
		select {
		case <-l.program.Over():
		case <-time.After(l.v.all.opts.Limits.Goodbye):
		}
	}
	if ending := l.program.Ending(); ending != "" {
		err = fmt.Errorf("%w (%s)", err, ending)
	}
	if last := l.v.said.lastLine(); last != "" {
		err = fmt.Errorf("%w: %s", err, last)
	}
	if advice := l.v.advice(); advice != "" {
		err = fmt.Errorf("%w\n%s", err, advice)
	}
	return err
}

// expandAll puts variables into the values of a table.
func expandAll(pairs map[string]string, getenv func(string) string) (map[string]string, error) {
	out := map[string]string{}
	for name, value := range pairs {
		v, err := expand(value, getenv)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

// expand puts variables of the environment in the place of ${NAME} and
// ${NAME:-default}.
func expand(text string, getenv func(string) string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			b.WriteString("${" + rest)
			return b.String(), nil
		}
		name, other, hasOther := strings.Cut(name, ":-")
		value := getenv(name)
		switch {
		case value == "" && hasOther:
			value = other
		case value == "":
			return "", fmt.Errorf("the variable %s is not set: export it before the start", name)
		}
		b.WriteString(value)
		text = after
	}
}
