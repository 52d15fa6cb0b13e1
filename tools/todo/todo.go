// Package todo keeps the steps of a long task, so that the model does not lose
// track of it and the person sees how far it is.
//
//	model ──todo_write──► List.replace ──► OnChange: the screen, the session
//	      ◄──checklist──       ▲
//	                       WithItems: the list of a resumed session
package todo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Status is the state of an [Item].
type Status string

// The states of an item.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// Item is one step of the list.
type Item struct {
	Content string `json:"content" description:"the step, short and in the imperative: Run the tests"`
	Status  Status `json:"status" enum:"pending,in_progress,completed"`
}

// What makes a list invalid.
var (
	ErrTodosRequired      = errors.New("todos is missing; send the whole list, or [] to clear it")
	ErrMultipleInProgress = errors.New("at most one item can be in_progress")
	ErrInvalidStatus      = errors.New("the status must be pending, in_progress or completed")
	ErrContentRequired    = errors.New("the content must not be blank")
)

func validate(items []Item) error {
	working := 0
	for i, it := range items {
		if strings.TrimSpace(it.Content) == "" {
			return fmt.Errorf("item %d: %w", i+1, ErrContentRequired)
		}
		switch it.Status {
		case Pending, Completed:
		case InProgress:
			if working > 0 {
				return fmt.Errorf("items %d and %d: %w", working, i+1, ErrMultipleInProgress)
			}
			working = i + 1
		default:
			return fmt.Errorf("item %d: %w, not %q", i+1, ErrInvalidStatus, it.Status)
		}
	}
	return nil
}

// Render shows the items as a checklist, one a line whatever blanks their
// content holds: "[ ] a", "[>] b", "[x] c", or "(no tasks)" (TODO-06, TODO-07).
func Render(items []Item) string {
	if len(items) == 0 {
		return "(no tasks)"
	}
	lines := make([]string, len(items))
	for i, it := range items {
		lines[i] = box(it.Status) + " " + strings.Join(strings.Fields(it.Content), " ")
	}
	return strings.Join(lines, "\n")
}

func box(s Status) string {
	switch s {
	case InProgress:
		return "[>]"
	case Completed:
		return "[x]"
	}
	return "[ ]"
}

// clone never returns nil: an empty list marshals to [] (TODO-09).
func clone(items []Item) []Item { return slices.AppendSeq([]Item{}, slices.Values(items)) }
