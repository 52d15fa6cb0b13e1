package tools

import (
	"errors"
	"fmt"
)

// ErrToolRequired is the error of [Set.AddTool] without a tool.
var ErrToolRequired = errors.New("the tool is nil")

// ToolAlreadyExistsError says that a set has a tool of that name.
type ToolAlreadyExistsError struct{ Name string }

func (e *ToolAlreadyExistsError) Error() string {
	return fmt.Sprintf("there is a tool named %q already; a model calls tools by their names", e.Name)
}

// Set holds the tools that one model can call, each name once. The zero value is
// empty. It must not be changed once calls run.
type Set struct {
	list   []*Tool
	byName map[string]*Tool
}

// AddTool adds a tool. When there is one of its name, that stays, and the error is a
// [*ToolAlreadyExistsError] (CORE-09).
func (s *Set) AddTool(t *Tool) error {
	if t == nil {
		return ErrToolRequired
	}
	if s.byName[t.name] != nil {
		return &ToolAlreadyExistsError{Name: t.name}
	}
	if s.byName == nil {
		s.byName = map[string]*Tool{}
	}
	s.byName[t.name] = t
	s.list = append(s.list, t)
	return nil
}

// Tool returns the tool of a name, nil when there is none.
func (s *Set) Tool(name string) *Tool { return s.byName[name] }

// Tools returns the tools in the order in which they were added. It is not a copy.
func (s *Set) Tools() []*Tool { return s.list }
