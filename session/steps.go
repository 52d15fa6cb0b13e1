package session

import "slices"

// Step is a change as undo treats it: one write of a tool, or all that was found
// while commands ran.
type Step struct {
	Turn    int
	Undone  bool // it was taken back and can be made again
	Found   *Found
	Changes []Change
}

// List is every step that can be taken back, or made again, the newest first. What
// was taken back comes before the rest.
func (j *Journal) List() []Step {
	j.mu.Lock()
	defer j.mu.Unlock()
	steps := appendSteps(nil, j.undone, true)
	return appendSteps(steps, j.done, false)
}

func appendSteps(steps []Step, stack []*record, undone bool) []Step {
	if !undone {
		stack = slices.Clone(stack)
		slices.Reverse(stack)
	}
	var last *record
	for _, r := range stack {
		if last == nil || !last.with(r) {
			steps = append(steps, Step{Turn: r.turn, Undone: undone, Found: r.found})
		}
		s := &steps[len(steps)-1]
		s.Changes = append(s.Changes, r.Change)
		last = r
	}
	return steps
}
