package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
)

// maxParallel is how many calls of a reply run at the same time.
const maxParallel = 8

// runCalls runs the calls of one reply (LOOP-05, LOOP-06). They run in parallel;
// an exclusive one waits for the calls before it and holds back the later ones,
// also while its question is open. A result is committed as soon as it is there;
// the conversation puts the results in call order (LOOP-07).
func (a *App) runCalls(ctx context.Context, t *thread, calls []tools.ToolCall) {
	slots := make(chan struct{}, maxParallel)
	var running sync.WaitGroup
	a.box.enter(calls)
	defer a.box.leave(calls)
	for _, call := range calls {
		call.Order, call.Parent, call.Agent = a.tally.order(), t.call.ID, t.path
		run := func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			a.say(t, a.runCall(ctx, t, call))
		}
		if tool := t.tools.Tool(call.Name); tool != nil && tool.Exclusive() {
			running.Wait()
			run()
			continue
		}
		running.Go(run)
	}
	running.Wait()
}

// errSkipped is why a call is not run behind one that was refused with words (IMP-14).
var errSkipped = errors.New("the user refused an earlier call of this reply and said why; heed that first")

// runCall runs one call to its result. It never fails: whatever happens is the
// result that the model sees (CORE-11, CORE-14, LOOP-12).
func (a *App) runCall(ctx context.Context, t *thread, call tools.ToolCall) session.Message {
	m := session.Message{Role: session.RoleTool, CallID: call.ID}
	result, err := a.handle(ctx, t, call)
	if err == nil {
		m.Text, m.Images, err = a.render(result)
	}
	m.Status = session.StatusOK
	if begun := a.box.began(call.ID); !begun.IsZero() {
		m.Elapsed = time.Since(begun)
	}
	if err != nil {
		m.Status, m.Text = failure(ctx, err)
	}
	return m
}

// started is the innermost middleware: it tells that the call runs now, its
// questions answered.
func (a *App) started(_ *tools.Tool, next tools.Handler) tools.Handler {
	return func(ctx context.Context, arguments string) (any, error) {
		call, _ := tools.ToolCallFromContext(ctx)
		now := time.Now()
		a.box.begin(call.ID, now)
		a.emit(ToolStarted{Call: call, Time: now})
		return next(ctx, arguments)
	}
}

func (a *App) handle(ctx context.Context, t *thread, call tools.ToolCall) (result any, err error) {
	if err := a.clock.wait(ctx); err != nil {
		return nil, err
	}
	tool := t.tools.Tool(call.Name)
	if tool == nil {
		return nil, fmt.Errorf("there is no tool named %q; the tools are: %s", call.Name, strings.Join(names(t.tools.Tools()), ", "))
	}
	if a.box.skipped(call.ID) {
		return nil, &permissions.DeniedError{Tool: call.Name, Err: errSkipped}
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Error("a tool panicked", "tool", call.Name, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the tool %s failed: %v", call.Name, p)
		}
	}()
	return tool.Handle(tools.ContextWithToolCall(ctx, call), call.Arguments)
}

// render makes a result what the log and the model take: text, and images as blobs.
func (a *App) render(result any) (string, []session.Image, error) {
	text, err := tools.Text(result)
	if err != nil {
		return "", nil, err
	}
	r, ok := result.(tools.Result)
	if !ok {
		return text, nil, nil
	}
	var images []session.Image
	for _, img := range r.Images {
		hash, err := a.blobs.Put(img.Data)
		if err != nil {
			return "", nil, fmt.Errorf("the image cannot be kept: %w", err)
		}
		images = append(images, session.Image{MediaType: img.MediaType, Blob: hash})
	}
	return text, images, nil
}

// failure says how a call ended that has no result, and what the model is told.
func failure(ctx context.Context, err error) (session.Status, string) {
	var preview *previewError
	var stopped *bash.StoppedError
	switch {
	case ctx.Err() != nil && errors.As(err, &stopped) && stopped.Output != "":
		return session.StatusInterrupted, fmt.Sprintf("%v; the output until then:\n%s", context.Cause(ctx), stopped.Output)
	case ctx.Err() != nil && (errors.Is(err, context.Cause(ctx)) || errors.Is(err, ctx.Err())):
		return session.StatusInterrupted, context.Cause(ctx).Error()
	case errors.As(err, &preview):
		err = preview.err
	case errors.Is(err, permissions.ErrDenied) && !errors.Is(err, permissions.ErrArguments):
		return session.StatusDenied, err.Error()
	}
	return session.StatusFailed, "Error: " + err.Error()
}

// names lists the tools for a model that called one that is not there.
func names(all []*tools.Tool) []string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name()
	}
	slices.Sort(names)
	return names
}
