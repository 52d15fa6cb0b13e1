package todo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/todo"
)

// The reference's snippets, as they stand there.

type adder struct{ added []*tools.Tool }

func (a *adder) AddTool(t *tools.Tool) error {
	a.added = append(a.added, t)
	return nil
}

func referenceList(a *adder) *todo.List {
	list := todo.New(todo.WithOnChange(func(items []todo.Item) {
		fmt.Println(todo.Render(items)) // or update a UI
	}))
	todoTool, err := list.Tool()
	if err != nil {
		panic(err)
	}
	if err := a.AddTool(todoTool); err != nil {
		panic(err)
	}
	return list
}

func referenceResume() *todo.List {
	var saved []todo.Item
	if data, err := os.ReadFile(".phero/todo.json"); err == nil {
		_ = json.Unmarshal(data, &saved)
	}
	list := todo.New(
		todo.WithItems(saved), // must be valid items, as Items() returns
		todo.WithOnChange(func(items []todo.Item) {
			data, _ := json.Marshal(items)
			_ = os.WriteFile(".phero/todo.json", data, 0o600)
		}),
	)
	return list
}

// TODO-13
func TestReferenceResume(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir(".phero", 0o700); err != nil {
		t.Fatal(err)
	}
	first := referenceResume()
	if got := first.Items(); len(got) != 0 {
		t.Fatalf("a list without a file: %v", got)
	}
	if _, err := write(t, newTool(t, first), []todo.Item{{"a", todo.Completed}, {"b", todo.InProgress}}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(".phero", "todo.json")); err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("saved as %v, %v", info, err)
	}
	if got := todo.Render(referenceResume().Items()); got != "[x] a\n[>] b" {
		t.Errorf("resumed:\n%s", got)
	}
}

// TODO-06
func Example() {
	a := &adder{}
	list := referenceList(a)
	_, err := a.added[0].Handle(context.Background(), `{"todos":[
		{"content":"Find the bug","status":"completed"},
		{"content":"Fix it","status":"in_progress"},
		{"content":"Run the tests","status":"pending"}]}`)
	fmt.Println(err, len(list.Items()))
	// Output:
	// [x] Find the bug
	// [>] Fix it
	// [ ] Run the tests
	// <nil> 3
}
