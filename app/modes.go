package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/phero-agent/agent/permissions"
	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools/human"
)

// sandboxHolds is the one sandbox that counts for modes and lists (decision 20).
const sandboxHolds = "bwrap"

// begin sets the mode of the start. Auto and yolo wait until it is known whether
// the sandbox holds, and are refused where it does not (decision 1).
func (p *Permissions) begin(s *sandbox) error {
	switch mode := p.opts.Mode; {
	case mode == permissions.ModeAuto && p.opts.Network:
		return errors.New("--permission-mode=auto needs the sandbox without the network: leave out --network")
	case mode == permissions.ModeAuto:
		if err := s.require(); err != nil {
			return fmt.Errorf("--permission-mode=auto needs the sandbox (bubblewrap): %w", err)
		}
	case mode == permissions.ModeYolo && p.opts.Sandbox != "none":
		if err := s.require(); err != nil {
			return fmt.Errorf("--yolo needs the sandbox (bubblewrap): %w; to run everything unasked on this machine itself, say --yolo --sandbox=none", err)
		}
	}
	p.policy.SetMode(p.opts.Mode)
	return nil
}

// Mode is the permission mode.
func (a *App) Mode() permissions.Mode { return a.perms.policy.Mode() }

// SetMode sets the permission mode; it counts from the next decision on, and the
// model is told. Auto is there only inside the sandbox (decision 1).
func (a *App) SetMode(m permissions.Mode) {
	if m == a.Mode() {
		return
	}
	switch {
	case m == permissions.ModeAuto && (a.sandbox.name() != sandboxHolds || a.opts.Network):
		a.emit(Notice{Level: Error, Text: "auto needs the bwrap sandbox, and no network in it"})
		return
	case m == permissions.ModeYolo:
		a.emit(Notice{Level: Error, Text: "yolo is a flag of the start: agent --yolo"})
		return
	}
	a.perms.policy.SetMode(m)
}

// The choices of a plan's question.
const (
	planHeader = "Plan"
	planAsk    = "Yes, ask me each time"
	planAccept = "Yes, accept edits"
	planKeep   = "Not yet"
)

// approvePlan asks whether the plan that the turn ended with is carried out;
// a yes ends plan mode and begins the work.
func (a *App) approvePlan(ctx context.Context) {
	answers, err := a.question(ctx, "agent", human.Input{Questions: []human.Question{{
		Header:   planHeader,
		Question: "Carry out this plan?",
		Options: []human.Choice{
			{Label: planAsk, Description: "what writes or runs is asked"},
			{Label: planAccept, Description: "edits in the workspace are not asked"},
			{Label: planKeep, Description: "plan mode stays; say what to change"},
		},
	}}})
	if err != nil || len(answers[planHeader].Selections) == 0 {
		return
	}
	switch answers[planHeader].Selections[0] {
	case planAsk:
		a.SetMode(permissions.ModeAsk)
	case planAccept:
		a.SetMode(permissions.ModeAcceptEdits)
	default:
		return
	}
	a.emit(ModeChanged{Mode: a.perms.policy.Mode()})
	a.Submit("The plan is approved: carry it out.")
}

// planned tells whether a turn ended with a plan to approve.
func (a *App) planned(outcome session.Outcome) bool {
	return outcome == session.OutcomeDone && a.opts.Interactive && a.perms.policy.Mode() == permissions.ModePlan && a.waiting() == 0
}
