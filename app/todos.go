package app

import (
	"context"

	"github.com/phero-agent/agent/session"
	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/todo"
)

// todoTool is todo_write on the list of the session that is open: a new session
// begins with an empty one, a resumed one with its own (TODO-11).
func (a *App) todoTool() (*tools.Tool, error) {
	tool, err := todo.New().Tool()
	if err != nil {
		return nil, err
	}
	return tools.NewRawTool(tool.Name(), tool.Description(), tool.InputSchema(), func(ctx context.Context, arguments string) (any, error) {
		tool, err := a.todos.Tool()
		if err != nil {
			return nil, err
		}
		return tool.Handle(ctx, arguments)
	})
}

func (a *App) newTodos(items []todo.Item) *todo.List {
	return todo.New(todo.WithItems(items), todo.WithOnChange(func(items []todo.Item) {
		a.commit(session.Entry{Kind: session.KindTodo, Todo: items})
	}))
}
