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

// running is a call that a server works on.
type running struct {
	callID string
	ctx    context.Context
	watch  *watch
	shown  time.Time // when its progress was shown last
}

// progressEvery is how often a call's progress is shown at most.
const progressEvery = 100 * time.Millisecond

// call runs one call. It returns when the context ends, whatever the server does.
func (v *server) call(ctx context.Context, d mcp.Definition, arguments json.RawMessage) (tools.Result, error) {
	session, err := v.ready(ctx)
	if err != nil {
		return tools.Result{}, err
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
		result *sdk.CallToolResult
		err    error
	}
	ended := make(chan ending, 1)
	go func() {
		params := &sdk.CallToolParams{Meta: sdk.Meta{"progressToken": token}, Name: d.Tool, Arguments: arguments}
		r, err := session.CallTool(ctx, params)
		ended <- ending{r, err}
	}()
	select {
	case e := <-ended:
		switch {
		case ctx.Err() != nil:
			return tools.Result{}, context.Cause(ctx)
		case e.err != nil:
			return tools.Result{}, v.callError(e.err)
		}
		return v.result(ctx, d, e.result)
	case <-ctx.Done():
		return tools.Result{}, context.Cause(ctx)
	}
}

// callError says what became of a call: refused by the server, or lost with it.
func (v *server) callError(err error) error {
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("the MCP server %s refuses: %s", v.def.Name, refused.Message)
	}
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
	show := c != nil && now.Sub(c.shown) >= progressEvery
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
