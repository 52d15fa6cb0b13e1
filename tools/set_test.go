package tools_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/phero-agent/agent/tools"
)

func TestSet(t *testing.T) {
	named := func(name string) *tools.Tool {
		tool, err := tools.NewTool(name, "", func(context.Context, struct{}) (string, error) { return "", nil })
		if err != nil {
			t.Fatal(err)
		}
		return tool
	}
	var s tools.Set
	a, b := named("a"), named("b")
	if err := errors.Join(s.AddTool(b), s.AddTool(a)); err != nil {
		t.Fatal(err)
	}
	err := s.AddTool(named("a"))
	var exists *tools.ToolAlreadyExistsError
	if !errors.As(err, &exists) || exists.Name != "a" || !strings.Contains(err.Error(), `"a"`) { // CORE-09
		t.Errorf("a second tool of one name: %v", err)
	}
	if s.Tool("a") != a || s.Tool("c") != nil || !slices.Equal(s.Tools(), []*tools.Tool{b, a}) { // CORE-09: the first stays
		t.Errorf("the set holds %v", s.Tools())
	}
	if err := s.AddTool(nil); !errors.Is(err, tools.ErrToolRequired) {
		t.Errorf("no tool: %v", err)
	}
}
