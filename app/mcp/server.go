package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/phero-agent/agent/app/config"
	"github.com/phero-agent/agent/tools/mcp"
)

// server is one server and its connection. Its life is led by run.
type server struct {
	all     *Servers
	def     config.Server
	settled chan struct{} // closed when it was ready or failed for the first time
	again   chan struct{} // somebody wants it started anew
	stale   chan struct{} // a list changed
	turn    chan struct{} // held by the question that is open
	waiting atomic.Int32  // questions, the open one among them
	settle  func()

	mu      sync.Mutex
	state   State
	why     string // it failed
	failing bool   // since it was ready last, and the person knows
	next    time.Time
	link    *link         // while it is ready
	change  chan struct{} // closed at the next change of state
	has     lists
	said    *log
	calls   map[string]*running
	serial  int
}

// State is where a server is in its life.
type State string

// The states.
const (
	Off      State = "off"
	Starting State = "starting"
	Ready    State = "ready"
	Waiting  State = "waiting" // for the next try
	Failed   State = "failed"  // for good, until somebody starts it anew
	SignIn   State = "sign in" // it wants to know who the person is
)

// lists are what a server offers.
type lists struct {
	tools     []mcp.Definition
	out       []mcp.LeftOut
	prompts   []Prompt
	resources []Resource
	changing  bool // it says that its tools can change
}

const (
	maxFailures = 5           // in a row, until nothing is tried any more
	maxRetry    = time.Minute // between two tries
	steady      = time.Minute // a server that was ready for so long has not failed in a row
)

func newServer(all *Servers, def config.Server) *server {
	v := &server{
		all: all, def: def, state: Off, settled: make(chan struct{}), again: make(chan struct{}, 1), stale: make(chan struct{}, 1),
		turn: make(chan struct{}, 1), change: make(chan struct{}), said: &log{}, calls: map[string]*running{},
	}
	v.settle = sync.OnceFunc(func() { close(v.settled) })
	if def.On() {
		v.state = Starting
	}
	return v
}

// run keeps the server alive until the context ends.
func (v *server) run(ctx context.Context) {
	for failures := 0; ; {
		begun := time.Now()
		v.enter(Starting, nil, nil)
		err := v.live(ctx)
		if ctx.Err() != nil {
			v.enter(Off, nil, nil)
			return
		}
		if time.Since(begun) > steady {
			failures = 0
		}
		failures++
		if !v.rest(ctx, err, failures) {
			failures = 0
		}
	}
}

// rest waits until the server is to be started again. It is false when somebody
// wants that.
func (v *server) rest(ctx context.Context, err error, failures int) bool {
	var timer <-chan time.Time
	var signIn *signInError
	switch {
	case errors.As(err, &signIn):
		v.enter(SignIn, err, nil)
	case failures >= maxFailures || errors.As(err, new(hopelessError)):
		v.enter(Failed, err, nil)
	default:
		wait := min(v.all.opts.Limits.Retry<<(failures-1), maxRetry)
		v.mu.Lock()
		v.next = time.Now().Add(wait)
		v.mu.Unlock()
		v.enter(Waiting, err, nil)
		timer = time.After(wait)
	}
	v.settle()
	select {
	case <-timer:
		return true
	case <-v.again:
		return false
	case <-ctx.Done():
		return false
	}
}

// enter changes the state, and tells the person of bad news.
func (v *server) enter(state State, err error, link *link) {
	v.mu.Lock()
	news := state != Waiting || !v.failing
	v.failing = state == Waiting || v.failing && state == Starting
	v.state, v.link = state, link
	if v.why = ""; err != nil {
		v.why = plainLines(err.Error())
	}
	close(v.change)
	v.change = make(chan struct{})
	v.mu.Unlock()
	name := v.def.Name
	switch {
	case !news:
	case state == SignIn:
		v.all.opts.Tell(true, fmt.Sprintf("the MCP server %s wants you to sign in: /mcp login %s, or agent mcp login %s", name, name, name))
	case state == Failed:
		v.all.opts.Tell(true, fmt.Sprintf("the MCP server %s does not work: %s; /mcp restart %s tries again", name, plain(firstLine(err.Error())), name))
	case state == Waiting:
		v.all.opts.Tell(true, fmt.Sprintf("the MCP server %s failed and is started again: %s", name, plain(firstLine(err.Error()))))
	}
}

// plainLines is [plain] for some lines.
func plainLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// restart has the server started anew.
func (v *server) restart() {
	select {
	case v.again <- struct{}{}:
	default:
	}
}

// hopelessError is one that another try does not help.
type hopelessError struct{ error }

func (e hopelessError) Unwrap() error { return e.error }

var errRestarted = errors.New("it is started anew")

// live connects, and serves until the connection ends. It returns why it did.
func (v *server) live(ctx context.Context) error {
	starting, cancel := context.WithTimeout(ctx, v.all.opts.Limits.Start)
	defer cancel()
	link, err := v.connect(starting)
	if err != nil {
		return err
	}
	defer link.close()
	if err := v.list(starting, link); err != nil {
		return link.explain(err)
	}
	v.enter(Ready, nil, link)
	v.settle()
	v.all.opts.Changed()
	err = v.serve(ctx, link)
	v.gone(link)
	return link.explain(err)
}

// gone lets calls wait for the next connection as soon as one is known to be lost.
func (v *server) gone(link *link) {
	v.mu.Lock()
	is := v.link == link
	v.mu.Unlock()
	if is {
		v.enter(Starting, nil, nil)
	}
}

// serve waits for the end, and lists anew what changes, at most once a second
// however often the server says so.
func (v *server) serve(ctx context.Context, link *link) error {
	stale, pause := v.stale, (<-chan time.Time)(nil)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-v.again:
			return errRestarted
		case err := <-link.over:
			return err
		case <-stale:
			stale = nil
			v.relist(ctx, link)
			pause = time.After(time.Second)
		case <-pause:
			stale, pause = v.stale, nil
		}
	}
}

// relist takes the lists anew, and tells how the tools changed. Where they cannot be
// had the old ones stay.
func (v *server) relist(ctx context.Context, link *link) {
	ctx, cancel := context.WithTimeout(ctx, v.all.opts.Limits.Start)
	defer cancel()
	before := v.tools()
	if err := v.list(ctx, link); err != nil {
		v.complain("lists", err)
		return
	}
	if words := difference(before, v.tools()); words != "" {
		v.all.opts.Tell(false, fmt.Sprintf("the MCP server %s changed its tools: %s. The model sees that through %s; its own list is of the session's start", v.def.Name, plain(words), mcp.SearchName))
	}
	v.all.opts.Changed()
}

// tools are what the server offers, also while it is being started again.
func (v *server) tools() []mcp.Definition {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.has.tools
}

func (v *server) changeable() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.has.changing || v.state != Ready
}

// ready waits for a server that is being started, for a while.
func (v *server) ready(ctx context.Context) (*link, error) {
	timeout := time.NewTimer(v.all.opts.Limits.Ready)
	defer timeout.Stop()
	for {
		v.mu.Lock()
		state, why, link, change := v.state, v.why, v.link, v.change
		v.mu.Unlock()
		switch {
		case link != nil:
			return link, nil
		case state == Failed || state == Off || state == SignIn:
			return nil, fmt.Errorf("the MCP server %s is not there (%s): %s", v.def.Name, state, firstLine(why))
		}
		select {
		case <-change:
		case <-timeout.C:
			return nil, fmt.Errorf("the MCP server %s is not ready yet; try again later", v.def.Name)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// noteStale marks the lists to be read anew.
func (v *server) noteStale() {
	select {
	case v.stale <- struct{}{}:
	default:
	}
}
