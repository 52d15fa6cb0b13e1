package todo

import (
	"context"
	"fmt"
	"sync"

	"github.com/phero-agent/agent/tools"
)

const description = `Write the task list, which the user sees while you work. Use it for work of three or more steps and when the user asks for several things.

- Each call replaces the whole list: send every item, in the order of work. An empty list clears it.
- While work remains, exactly one item is in_progress. Mark it completed at once when it is done, nothing failing and nothing left out, and send that in the same reply as the first calls of the next item. Only the last tick has a reply of its own.
- When something blocks an item, leave it in_progress and add an item for that. Drop items that no longer matter.`

// Input is what the model sends: the whole list.
type Input struct {
	Todos []Item `json:"todos" description:"the whole list; it replaces the one before"`
}

// List is the task list of a session. It is safe for concurrent use.
type List struct {
	onChange func([]Item)
	invalid  error // of the items that it was made with

	// calls is held from a replacement through its OnChange, so that OnChange
	// sees the lists in their order; mu only guards items, so that OnChange can
	// call Items.
	calls sync.Mutex
	mu    sync.Mutex
	items []Item
}

// Option configures a [List].
type Option func(*List)

// WithItems starts the list with saved items, as [List.Items] returned them.
// When they are invalid the list starts empty and [List.Tool] returns the error (TODO-12).
func WithItems(items []Item) Option {
	return func(l *List) {
		if l.invalid = validate(items); l.invalid == nil {
			l.items = clone(items)
		}
	}
}

// WithOnChange calls fn with a copy of the items after each call that was
// accepted, one call at a time and in their order. fn must not call the tool.
func WithOnChange(fn func(items []Item)) Option {
	return func(l *List) { l.onChange = fn }
}

// New makes a list, empty unless [WithItems] is given.
func New(opts ...Option) *List {
	l := &List{}
	for _, o := range opts {
		o(l)
	}
	return l
}

// Items returns a copy of the current items, never nil.
func (l *List) Items() []Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	return clone(l.items)
}

// Tool returns the tool todo_write. It fails when the items of [WithItems] are not valid.
func (l *List) Tool() (*tools.Tool, error) {
	if l.invalid != nil {
		return nil, fmt.Errorf("the saved task list: %w", l.invalid)
	}
	return tools.NewTool("todo_write", description, func(_ context.Context, in Input) (string, error) {
		if in.Todos == nil {
			return "", ErrTodosRequired
		}
		if err := validate(in.Todos); err != nil {
			return "", fmt.Errorf("the list is unchanged: %w", err)
		}
		l.replace(in.Todos)
		return Render(in.Todos), nil
	})
}

func (l *List) replace(items []Item) {
	l.calls.Lock()
	defer l.calls.Unlock()

	l.mu.Lock()
	l.items = clone(items)
	l.mu.Unlock()

	if l.onChange != nil {
		l.onChange(clone(items))
	}
}
