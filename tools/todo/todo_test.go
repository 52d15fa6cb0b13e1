package todo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/todo"
)

func newTool(t *testing.T, l *todo.List) *tools.Tool {
	t.Helper()
	tool, err := l.Tool()
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func write(t *testing.T, tool *tools.Tool, items []todo.Item) (string, error) {
	t.Helper()
	arguments, err := json.Marshal(todo.Input{Todos: items})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tool.Handle(t.Context(), string(arguments))
	return got.(string), err
}

// TODO-01, TODO-02
func TestTool(t *testing.T) {
	tool := newTool(t, todo.New())
	if tool.Name() != "todo_write" || tool.Exclusive() {
		t.Errorf("name %q, exclusive %v", tool.Name(), tool.Exclusive())
	}
	for _, part := range []string{"three or more steps", "in_progress", "at once", "whole list"} {
		if !strings.Contains(tool.Description(), part) {
			t.Errorf("the description does not say %q", part)
		}
	}
	got, err := json.Marshal(tool.InputSchema())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"properties":{"todos":{"description":"the whole list; it replaces the one before","items":{"properties":{` +
		`"content":{"description":"the step, short and in the imperative: Run the tests","type":"string"},` +
		`"status":{"enum":["pending","in_progress","completed"],"type":"string"}},"required":["content","status"],"type":"object"},"type":"array"}},` +
		`"required":["todos"],"type":"object"}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// TODO-03, TODO-06, TODO-08, TODO-09
func TestEachCallReplacesTheList(t *testing.T) {
	var changes [][]todo.Item
	l := todo.New(todo.WithOnChange(func(items []todo.Item) { changes = append(changes, items) }))
	tool := newTool(t, l)
	lists := [][]todo.Item{
		{{"a", todo.Completed}, {"b", todo.InProgress}, {"c", todo.Pending}},
		{{"d", todo.InProgress}},
		{},
	}
	for _, want := range lists {
		got, err := write(t, tool, want)
		if err != nil || got != todo.Render(want) {
			t.Errorf("result %q, %v; want %q", got, err, todo.Render(want))
		}
		if d := cmp.Diff(want, l.Items()); d != "" {
			t.Error(d)
		}
	}
	if d := cmp.Diff(lists, changes); d != "" {
		t.Error(d)
	}
	if got, _ := json.Marshal(l.Items()); string(got) != "[]" {
		t.Errorf("an empty list marshals to %s", got)
	}
}

// TODO-04, TODO-05, CORE-13
func TestInvalidListsChangeNothing(t *testing.T) {
	tests := []struct {
		arguments string
		err       error
		text      string
	}{
		{`{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"},{"content":"c","status":"in_progress"}]}`, todo.ErrMultipleInProgress, "items 1 and 3"},
		{`{"todos":[{"content":"a","status":"done"}]}`, todo.ErrInvalidStatus, `item 1: the status must be pending, in_progress or completed, not "done"`},
		{`{"todos":[{"content":"a"}]}`, todo.ErrInvalidStatus, `not ""`},
		{`{"todos":[{"content":"a","status":"pending"},{"content":" \n","status":"pending"}]}`, todo.ErrContentRequired, "item 2"},
		{`{"todos":[{"status":"pending"}]}`, todo.ErrContentRequired, "item 1"},
		{`{}`, todo.ErrTodosRequired, "[] to clear"},
		{`{"todos":null}`, todo.ErrTodosRequired, "whole list"},
		{`null`, todo.ErrTodosRequired, "whole list"},
		{`{"todos":`, nil, "ends early"},
		{`{"todos":"a"}`, nil, "todos"},
	}
	saved := []todo.Item{{"keep", todo.InProgress}}
	for _, tt := range tests {
		l := todo.New(todo.WithItems(saved), todo.WithOnChange(func([]todo.Item) { t.Errorf("%s: OnChange was called", tt.arguments) }))
		_, err := newTool(t, l).Handle(t.Context(), tt.arguments)
		if err == nil || !strings.Contains(err.Error(), tt.text) || tt.err != nil && !errors.Is(err, tt.err) {
			t.Errorf("%s: err = %v, want %v with %q", tt.arguments, err, tt.err, tt.text)
		}
		if d := cmp.Diff(saved, l.Items()); d != "" {
			t.Errorf("%s: %s", tt.arguments, d)
		}
	}
}

// TODO-07
func TestRender(t *testing.T) {
	tests := []struct {
		items []todo.Item
		want  string
	}{
		{nil, "(no tasks)"},
		{[]todo.Item{}, "(no tasks)"},
		{[]todo.Item{{"a", todo.Pending}, {"b", todo.InProgress}, {"c", todo.Completed}}, "[ ] a\n[>] b\n[x] c"},
		{[]todo.Item{{" two\nlines\r\n\tand\u2028more ", todo.Pending}}, "[ ] two lines and more"},
	}
	for _, tt := range tests {
		if got := todo.Render(tt.items); got != tt.want {
			t.Errorf("Render(%v) = %q, want %q", tt.items, got, tt.want)
		}
	}
}

// TODO-08, TODO-09, TODO-12: nobody outside holds the list's own memory.
func TestItemsAreCopies(t *testing.T) {
	saved := []todo.Item{{"a", todo.Pending}}
	l := todo.New(todo.WithItems(saved), todo.WithOnChange(func(items []todo.Item) { items[0].Content = "changed" }))
	saved[0].Content = "changed"
	if got := l.Items(); got[0].Content != "a" {
		t.Errorf("the list shares memory with WithItems: %v", got)
	}
	l.Items()[0].Content = "changed"
	if got := l.Items(); got[0].Content != "a" {
		t.Errorf("the list shares memory with Items: %v", got)
	}
	if _, err := write(t, newTool(t, l), []todo.Item{{"b", todo.Pending}}); err != nil {
		t.Fatal(err)
	}
	if got := l.Items(); got[0].Content != "b" {
		t.Errorf("the list shares memory with OnChange: %v", got)
	}
}

// TODO-10, TODO-11, TODO-12
func TestSavedItems(t *testing.T) {
	items := []todo.Item{{"a \"quoted\" <step>", todo.Completed}, {"b", todo.InProgress}, {"c", todo.Pending}}
	data, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	var saved []todo.Item
	if err := json.Unmarshal(data, &saved); err != nil {
		t.Fatal(err)
	}
	l := todo.New(todo.WithItems(saved), todo.WithOnChange(func([]todo.Item) { t.Error("OnChange was called at the start") }))
	newTool(t, l)
	if d := cmp.Diff(items, l.Items()); d != "" {
		t.Error(d)
	}

	invalid := map[error][]todo.Item{
		todo.ErrMultipleInProgress: {{"a", todo.InProgress}, {"b", todo.InProgress}},
		todo.ErrInvalidStatus:      {{"a", "open"}},
		todo.ErrContentRequired:    {{"", todo.Pending}},
	}
	for want, items := range invalid {
		l := todo.New(todo.WithItems(items))
		if _, err := l.Tool(); !errors.Is(err, want) {
			t.Errorf("Tool() with %v: %v, want %v", items, err, want)
		}
		if got := l.Items(); len(got) != 0 {
			t.Errorf("an invalid list is kept: %v", got)
		}
	}
}

// TODO-08, TODO-14: OnChange sees every list in the order of the replacements, and can read the list.
func TestConcurrentCalls(t *testing.T) {
	var last []todo.Item
	calls := 0
	var l *todo.List
	l = todo.New(todo.WithOnChange(func(items []todo.Item) {
		calls++ // no lock: the race detector sees calls that overlap
		if got := l.Items(); !slices.Equal(got, items) {
			t.Errorf("OnChange got %v while the list is %v", items, got)
		}
		last = items
	}))
	tool := newTool(t, l)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if _, err := write(t, tool, []todo.Item{{fmt.Sprint(i), todo.Pending}}); err != nil {
				t.Error(err)
			}
			l.Items()
		})
	}
	wg.Wait()
	if calls != 50 || !slices.Equal(last, l.Items()) {
		t.Errorf("%d calls of OnChange, the last with %v; the list is %v", calls, last, l.Items())
	}
}
