// Package doctor finds out what works here and what does not: the settings, the
// model's server, and what the program itself needs.
//
//	settings ─► server reachable ─► a few tiny requests ─► its profile
//	sandbox, terminal, git
//
// Every finding is a line that says ok, or what to do.
package doctor

import (
	"context"
	"fmt"
)

// State says how a finding is.
type State int

// The states of findings.
const (
	OK   State = iota
	Note       // works, but something is missing or could be better
	Bad        // must be mended
)

// Finding is one line of the report.
type Finding struct {
	State State
	Topic string // a word
	Text  string
	Do    string // what to do; "" where nothing is
}

// String is the finding as a line.
func (f Finding) String() string {
	s := fmt.Sprintf("%-4s %-10s %s", [...]string{"ok", "note", "BAD"}[f.State], f.Topic, f.Text)
	if f.Do != "" {
		s += " — " + f.Do
	}
	return s
}

// Check is one examination. It tells what it finds, in order.
type Check func(ctx context.Context, tell func(Finding))

// Run makes the checks one after the other and tells whether nothing was bad. When
// the context ends nothing more is told: what is found then is the end's doing.
func Run(ctx context.Context, tell func(Finding), checks ...Check) bool {
	well := true
	for _, check := range checks {
		check(ctx, func(f Finding) {
			if ctx.Err() != nil {
				return
			}
			well = well && f.State != Bad
			tell(f)
		})
	}
	return well
}
