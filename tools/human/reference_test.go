package human_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/human"
)

// The reference's snippets, as they stand there.

type adder struct{ added []*tools.Tool }

func (a *adder) AddTool(t *tools.Tool) error {
	a.added = append(a.added, t)
	return nil
}

func referenceTool(a *adder) {
	humanTool, err := human.New(
		human.WithInteractor(consoleInteractor),
	)
	if err != nil {
		panic(err)
	}
	if err := a.AddTool(humanTool.Tool()); err != nil {
		panic(err)
	}
}

func consoleInteractor(_ context.Context, in *human.Input) (map[string]human.Answer, error) {
	answers := make(map[string]human.Answer)
	for _, q := range in.Questions {
		fmt.Printf("[%s] %s\n", q.Header, q.Question)
		for i, opt := range q.Options {
			fmt.Printf(" %d) %s — %s\n", i+1, opt.Label, opt.Description)
		}
		fmt.Print("Your choice: ")
		var line string
		fmt.Scanln(&line)
		answers[q.Header] = human.Answer{Selections: []string{strings.TrimSpace(line)}}
	}
	return answers, nil
}

// HUMAN-03
var _ human.Interactor = consoleInteractor

// CORE-03
var _ func(*human.Tool) *tools.Tool = (*human.Tool).Tool

func TestReferenceTool(t *testing.T) {
	a := &adder{}
	referenceTool(a)
	if len(a.added) != 1 || a.added[0].Name() != "user_interaction" {
		t.Errorf("added %v", a.added)
	}
}

// HUMAN-01
func Example() {
	tool, err := human.New(human.WithInteractor(
		func(_ context.Context, in *human.Input) (map[string]human.Answer, error) {
			q := in.Questions[0]
			fmt.Println(q.Question)
			for i, o := range q.Options {
				fmt.Printf("%d) %s — %s\n", i+1, o.Label, o.Description)
			}
			return map[string]human.Answer{q.Header: {Selections: []string{"2"}}}, nil // as the person typed it
		}))
	if err != nil {
		panic(err)
	}
	result, err := tool.Tool().Handle(context.Background(), `{"questions":[{
		"header":"Database","question":"Which database should the service use?",
		"options":[{"label":"PostgreSQL","description":"a server of its own"},{"label":"SQLite","description":"one file"}]}]}`)
	if err != nil {
		panic(err)
	}
	text, err := tools.Text(result)
	fmt.Println(text, err)
	// Output:
	// Which database should the service use?
	// 1) PostgreSQL — a server of its own
	// 2) SQLite — one file
	// {"answers":{"Database":{"selections":["SQLite"]}}} <nil>
}
