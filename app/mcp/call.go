package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/mcp"
)

// running is something that a server works on.
type running struct {
	callID   string // of the tool's call; "" for a prompt or a resource
	ctx      context.Context
	watch    *watch
	shown    time.Time // when its progress was shown last
	declined bool      // the person declined what the server asked meanwhile
}

// progressEvery is how often a call's progress is shown at most.
const progressEvery = 100 * time.Millisecond

// call runs one call.
func (v *server) call(ctx context.Context, d mcp.Definition, arguments json.RawMessage) (tools.Result, error) {
	r, err := asked(ctx, v, func(ctx context.Context, session *sdk.ClientSession, token string) (*sdk.CallToolResult, error) {
		return session.CallTool(ctx, &sdk.CallToolParams{Meta: sdk.Meta{"progressToken": token}, Name: d.Tool, Arguments: arguments})
	})
	if err != nil {
		return tools.Result{}, err
	}
	return v.result(ctx, d, r)
}

// asked asks a server that is there, and waits as long as it shows progress. It
// returns when the context ends, whatever the server does.
func asked[T any](ctx context.Context, v *server, ask func(ctx context.Context, session *sdk.ClientSession, token string) (T, error)) (result T, err error) {
	link, err := v.ready(ctx)
	if err != nil {
		return result, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := v.def.CallTimeout()
	w := newWatch(limit, func() {
		cancel(fmt.Errorf("the MCP server %s gave no sign of progress for %v; mcp.%s.timeout in the settings is that limit", v.def.Name, limit, v.def.Name))
	})
	defer w.stop()
	token := v.enterCall(ctx, w)
	defer v.leaveCall(token)

	type ending struct {
		result T
		err    error
	}
	ended := make(chan ending, 1)
	go func() {
		r, err := ask(ctx, link.session, token)
		if err != nil && ctx.Err() == nil {
			err = v.callError(ctx, link, err)
		}
		ended <- ending{r, err}
	}()
	select {
	case e := <-ended:
		if e.err != nil && ctx.Err() != nil {
			return result, context.Cause(ctx)
		}
		return e.result, e.err
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
}

// callError says what became of a call: refused by the server, or lost with it.
func (v *server) callError(ctx context.Context, link *link, err error) error {
	var refused *jsonrpc.Error
	var signIn *signInError
	switch {
	case errors.As(err, &signIn):
		link.lose(signIn)
		return fmt.Errorf("the MCP server %s does not take the call: %w", v.def.Name, signIn)
	case errors.As(err, &refused) && refused.Code == sdk.CodeURLElicitationRequired:
		return v.openFirst(ctx, refused)
	case errors.As(err, &refused):
		return fmt.Errorf("the MCP server %s refuses: %s", v.def.Name, capped(refused.Message))
	}
	v.gone(link)
	link.lose(err)
	return fmt.Errorf("the MCP server %s ended in the middle of the call, and whether it did something is not known (%w)", v.def.Name, err)
}

func (v *server) enterCall(ctx context.Context, w *watch) (token string) {
	call, _ := tools.ToolCallFromContext(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.serial++
	token = fmt.Sprintf("call-%d", v.serial)
	v.calls[token] = &running{callID: call.ID, ctx: ctx, watch: w}
	return token
}

func (v *server) leaveCall(token string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.calls, token)
}

// progressed takes a sign of progress: the call gets its time anew, and the person
// sees how far it is.
func (v *server) progressed(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
	p := req.Params
	token, _ := p.ProgressToken.(string)
	now := time.Now()
	v.mu.Lock()
	c := v.calls[token]
	show := c != nil && c.callID != "" && now.Sub(c.shown) >= progressEvery
	if show {
		c.shown = now
	}
	v.mu.Unlock()
	if c == nil {
		return
	}
	c.watch.touch()
	if !show {
		return
	}
	text := plain(firstLine(p.Message))
	amount := fmt.Sprintf("%g", p.Progress)
	if p.Total > 0 {
		amount = fmt.Sprintf("%g/%g", p.Progress, p.Total)
	}
	v.all.opts.Progress(c.callID, strings.TrimSpace(amount+" "+text))
}

// watch ends a call that shows no progress. It stands still while a question of
// the server is open.
type watch struct {
	limit time.Duration
	mu    sync.Mutex
	timer *time.Timer
	held  int
}

func newWatch(limit time.Duration, up func()) *watch {
	return &watch{limit: limit, timer: time.AfterFunc(limit, up)}
}

func (w *watch) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == 0 {
		w.timer.Reset(w.limit)
	}
}

func (w *watch) hold(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if on {
		w.held++
		w.timer.Stop()
		return
	}
	if w.held--; w.held == 0 {
		w.timer.Reset(w.limit)
	}
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held++ // nothing starts it again
	w.timer.Stop()
}
