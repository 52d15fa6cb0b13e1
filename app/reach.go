package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/bash"
)

// silentAfter is how long a command may print nothing until the person is told.
const silentAfter = 30 * time.Second

// commandReach decides how far commands may reach (decision 19). What widens it comes
// from the person: an answer to the question about that one call, or a rule of
// sandbox.network_for. Nothing that the model sends does, and no answer is kept.
type commandReach struct {
	networked *permissions.Policy // allows the lines that run with the network; nil: none

	mu    sync.Mutex
	given map[string]bash.Reach // by call, until it runs
}

func newCommandReach(networkFor []string) (*commandReach, error) {
	r := &commandReach{given: map[string]bash.Reach{}}
	if len(networkFor) == 0 {
		return r, nil
	}
	rules := make([]permissions.Rule, len(networkFor))
	for i, pattern := range networkFor {
		if strings.TrimSpace(pattern) == "" || strings.HasPrefix(pattern, "bash(") {
			return nil, fmt.Errorf("sandbox.network_for: %q is no pattern of a command; write one as in \"npm install *\"", pattern)
		}
		rules[i] = permissions.Rule{Text: "bash(" + pattern + ")", Source: "sandbox.network_for"}
	}
	var err error
	r.networked, err = permissions.New(permissions.WithRules(permissions.Allow, rules...))
	return r, err
}

// usual is how far a command line reaches unless the person says more: with the
// network when every command of it matches a rule.
func (r *commandReach) usual(command string) bash.Reach {
	if r.networked == nil {
		return bash.Sandboxed
	}
	arguments, err := json.Marshal(map[string]string{"command": command})
	if err != nil || r.networked.Decide("bash", string(arguments)) != permissions.Allow {
		return bash.Sandboxed
	}
	return bash.Network
}

func (r *commandReach) give(call string, reach bash.Reach) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given[call] = reach
}

// take is what the person gave a call, once.
func (r *commandReach) take(call string) bash.Reach {
	r.mu.Lock()
	defer r.mu.Unlock()
	reach := r.given[call]
	delete(r.given, call)
	return reach
}

// reachOf is the shell's question before each command.
func (a *App) reachOf(ctx context.Context, command string) bash.Reach {
	call, _ := tools.ToolCallFromContext(ctx)
	return max(a.reach.take(call.ID), a.reach.usual(command))
}

// wider are the reaches beyond one that the person can give where a sandbox holds.
func (a *App) wider(than bash.Reach) []bash.Reach {
	if !a.sandbox.holds() {
		return nil
	}
	all := []bash.Reach{bash.Network, bash.Host}
	if a.opts.Network {
		all = all[1:]
	}
	return slices.DeleteFunc(all, func(r bash.Reach) bool { return r <= than })
}

// rerun asks whether a command that failed for want of reach is run once more,
// with more.
func (a *App) rerun(ctx context.Context, command string, lack bash.Lack) bash.Reach {
	wider := a.wider(lack.Reach - 1)
	call, _ := tools.ToolCallFromContext(ctx)
	ran := a.box.ran(call.ID)
	got, err := a.questions.ask(ctx, func(id string) Event {
		return Asked{ID: id, Call: call, Wider: wider, Lack: &lack, Request: permissions.Request{
			Tool: "bash", CallID: call.ID, Arguments: call.Arguments, Subject: command, Raw: command,
		}}
	})
	answer, _ := got.(Answer)
	if err != nil || !answer.Allow || !slices.Contains(wider, answer.Reach) {
		a.box.begin(call.ID, time.Now().Add(-ran)) // the question took none of its time
		return bash.Sandboxed
	}
	now := time.Now()
	a.box.begin(call.ID, now)
	a.emit(ToolStarted{Call: call, Time: now})
	return answer.Reach
}

// silent is told of a command that prints nothing.
func (a *App) silent(ctx context.Context, since time.Time) {
	call, _ := tools.ToolCallFromContext(ctx)
	a.emit(ToolSilent{CallID: call.ID, Since: since})
}
