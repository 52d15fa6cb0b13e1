package human_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/phero-agent/agent/tools"
	"github.com/phero-agent/agent/tools/human"
)

type answers = map[string]human.Answer

func newTool(t *testing.T, fn human.Interactor) *tools.Tool {
	t.Helper()
	tool, err := human.New(human.WithInteractor(fn))
	if err != nil {
		t.Fatal(err)
	}
	return tool.Tool()
}

func question(header string, labels ...string) human.Question {
	q := human.Question{Header: header, Question: "Which " + header + "?"}
	for _, l := range labels {
		q.Options = append(q.Options, human.Choice{Label: l, Description: "means " + l})
	}
	return q
}

func arguments(t *testing.T, questions ...human.Question) string {
	t.Helper()
	b, err := json.Marshal(human.Input{Questions: questions})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// HUMAN-02, HUMAN-17
func TestNew(t *testing.T) {
	if _, err := human.New(); !errors.Is(err, human.ErrInteractorRequired) {
		t.Errorf("without an interactor: %v", err)
	}
	if _, err := human.New(human.WithInteractor(nil)); !errors.Is(err, human.ErrInteractorRequired) {
		t.Errorf("with a nil interactor: %v", err)
	}
	tool := newTool(t, func(context.Context, *human.Input) (answers, error) { return nil, nil })
	if tool.Name() != "user_interaction" || tool.Exclusive() {
		t.Errorf("name %q, exclusive %v", tool.Name(), tool.Exclusive())
	}
	got, err := json.Marshal(tool.InputSchema())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"properties":{"questions":{"description":"one to four questions","items":{"properties":{` +
		`"header":{"description":"a label for the question, unique, at most 12 characters: Database","type":"string"},` +
		`"multiSelect":{"description":"whether several options can be chosen (default false)","type":"boolean"},` +
		`"options":{"description":"two to four options","items":{"properties":{` +
		`"description":{"description":"what choosing it means","type":"string"},` +
		`"label":{"description":"the option in one to five words","type":"string"}},"required":["label","description"],"type":"object"},"type":"array"},` +
		`"question":{"description":"the whole question, ending with ?","type":"string"}},"required":["header","question","options"],"type":"object"},"type":"array"}},` +
		`"required":["questions"],"type":"object"}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// HUMAN-03, HUMAN-12
func TestInteractorGetsTheQuestions(t *testing.T) {
	const in = `{"questions":[{"header":" Auth ","question":"Which one? ","multiSelect":true,
		"options":[{"label":"OAuth","description":" by a third party "},{"label":"Password","description":"our own"}]}]}`
	want := &human.Input{Questions: []human.Question{{Header: "Auth", Question: "Which one?", MultiSelect: true,
		Options: []human.Choice{{"OAuth", "by a third party"}, {"Password", "our own"}}}}}
	type key struct{}
	tool := newTool(t, func(ctx context.Context, got *human.Input) (answers, error) {
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if ctx.Value(key{}) != 1 {
			t.Error("the interactor does not get the call's context")
		}
		return answers{"Auth": {Selections: []string{"OAuth"}}}, nil
	})
	out, err := tool.Handle(context.WithValue(t.Context(), key{}, 1), in)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tools.Text(out); err != nil || got != `{"answers":{"Auth":{"selections":["OAuth"]}}}` {
		t.Errorf("result %s, %v", got, err)
	}
}

// HUMAN-04, HUMAN-05, HUMAN-06, HUMAN-07, HUMAN-09, HUMAN-10, HUMAN-11
func TestQuestionsAreChecked(t *testing.T) {
	valid := func() human.Question { return question("Auth", "OAuth", "Password") }
	with := func(change func(*human.Question)) []human.Question {
		q := valid()
		change(&q)
		return []human.Question{q}
	}
	header := func(h string) []human.Question { return with(func(q *human.Question) { q.Header = h }) }
	text := func(s string) []human.Question { return with(func(q *human.Question) { q.Question = s }) }
	label := func(l string) []human.Question { return with(func(q *human.Question) { q.Options[1].Label = l }) }
	options := func(labels ...string) []human.Question { return []human.Question{question("Auth", labels...)} }
	many := func(headers ...string) (qs []human.Question) {
		for _, h := range headers {
			qs = append(qs, question(h, "a", "b"))
		}
		return qs
	}

	tests := []struct {
		name      string
		questions []human.Question
		err       error  // nil: the questions are asked
		text      string // what the error says beside
	}{
		{name: "no questions", questions: nil, err: human.ErrQuestionsRequired},
		{name: "four questions", questions: many("a", "b", "c", "d")},
		{name: "five questions", questions: many("a", "b", "c", "d", "e"), err: human.ErrTooManyQuestions, text: "not 5"},
		{name: "no header", questions: header(" "), err: human.ErrHeaderRequired, text: "question 1"},
		{name: "12 runes", questions: header("日本語日本語日本語日本語")},
		{name: "13 runes", questions: header("日本語日本語日本語日本語x"), err: human.ErrHeaderTooLong},
		{name: "same header", questions: many("Auth", "Auth"), err: human.ErrDuplicateQuestionHeader, text: `question 2 ("Auth")`},
		{name: "same header in another case", questions: many("Auth", "x", "auth"), err: human.ErrDuplicateQuestionHeader, text: `question 3 ("auth")`},
		{name: "same header but for blanks", questions: many("Auth", " Auth"), err: human.ErrDuplicateQuestionHeader},
		{name: "no text", questions: text(" "), err: human.ErrQuestionTextRequired},
		{name: "no question mark", questions: text("Which one"), err: human.ErrQuestionMustEndWithQuestionMark, text: `question 1 ("Auth")`},
		{name: "question mark inside", questions: text("Which? One."), err: human.ErrQuestionMustEndWithQuestionMark},
		{name: "blank after the question mark", questions: text("Which one? ")},
		{name: "full-width question mark", questions: text("どれ？")},
		{name: "no options", questions: options(), err: human.ErrInvalidOptionCount, text: "not 0"},
		{name: "one option", questions: options("a"), err: human.ErrInvalidOptionCount, text: "not 1"},
		{name: "two options", questions: options("a", "b")},
		{name: "four options", questions: options("a", "b", "c", "d")},
		{name: "five options", questions: options("a", "b", "c", "d", "e"), err: human.ErrInvalidOptionCount, text: "not 5"},
		{name: "no label", questions: label("\t"), err: human.ErrOptionLabelRequired, text: "option 2"},
		{name: "five words", questions: label("one two  three four five")},
		{name: "six words", questions: label("one two three four five six"), err: human.ErrOptionLabelTooLong},
		{name: "same label", questions: options("a", "b", "a "), err: human.ErrDuplicateOptionLabel, text: "option 3"},
		{name: "no description", questions: with(func(q *human.Question) { q.Options[0].Description = " " }), err: human.ErrOptionDescriptionRequired, text: `option 1 ("OAuth")`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			tool := newTool(t, func(context.Context, *human.Input) (answers, error) { asked = true; return nil, nil })
			_, err := tool.Handle(t.Context(), arguments(t, tt.questions...))
			if !errors.Is(err, tt.err) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("err = %v, want %v with %q", err, tt.err, tt.text)
			}
			if asked != (tt.err == nil) {
				t.Errorf("asked: %v", asked)
			}
		})
	}
}

// CORE-13
func TestBadArgumentsAskNothing(t *testing.T) {
	tool := newTool(t, func(context.Context, *human.Input) (answers, error) {
		t.Error("the person was asked")
		return nil, nil
	})
	if _, err := tool.Handle(t.Context(), "null"); !errors.Is(err, human.ErrNilInput) {
		t.Errorf("null: %v", err)
	}
	if _, err := tool.Handle(t.Context(), ""); !errors.Is(err, human.ErrQuestionsRequired) {
		t.Errorf("empty: %v", err)
	}
	var parse *tools.ArgumentParseError
	if _, err := tool.Handle(t.Context(), `{"questions":{}}`); !errors.As(err, &parse) {
		t.Errorf("wrong type: %v", err)
	}
}

// HUMAN-08, HUMAN-12, HUMAN-13, HUMAN-14
func TestAnswers(t *testing.T) {
	one, several := question("Auth", "OAuth", "Password", "3"), question("Auth", "OAuth", "Password", "3")
	several.MultiSelect = true
	selected := func(s ...string) answers { return answers{"Auth": {Selections: s}} }

	tests := []struct {
		name    string
		q       human.Question
		answers answers
		want    string // the result, or
		err     error
	}{
		{name: "label", q: one, answers: selected("Password"), want: `{"answers":{"Auth":{"selections":["Password"]}}}`},
		{name: "blanks around a label", q: one, answers: selected(" OAuth\n"), want: `{"answers":{"Auth":{"selections":["OAuth"]}}}`},
		{name: "number", q: one, answers: selected("2"), want: `{"answers":{"Auth":{"selections":["Password"]}}}`},
		{name: "label before number", q: question("Auth", "2", "1"), answers: selected("2"), want: `{"answers":{"Auth":{"selections":["2"]}}}`},
		{name: "number out of range", q: one, answers: selected("4"), err: human.ErrInvalidOptionSelection},
		{name: "number 0", q: one, answers: selected("0"), err: human.ErrInvalidOptionSelection},
		{name: "unknown label", q: one, answers: selected("x"), err: human.ErrInvalidOptionSelection},
		{name: "empty line", q: one, answers: selected(""), err: human.ErrInvalidOptionSelection},
		{name: "two of one", q: one, answers: selected("OAuth", "Password"), err: human.ErrMultipleSelectionsNotAllowed},
		{name: "the same twice", q: one, answers: selected("OAuth", "1"), want: `{"answers":{"Auth":{"selections":["OAuth"]}}}`},
		{name: "two of several", q: several, answers: selected("3", "OAuth"), want: `{"answers":{"Auth":{"selections":["3","OAuth"]}}}`},
		{name: "own words", q: one, answers: answers{"Auth": {Other: " a <key> \n"}}, want: `{"answers":{"Auth":{"other":"a <key>"}}}`},
		{name: "own words beside a label", q: one, answers: answers{"Auth": {Selections: []string{"OAuth"}, Other: "with PKCE"}}, want: `{"answers":{"Auth":{"selections":["OAuth"],"other":"with PKCE"}}}`},
		{name: "unknown header", q: one, answers: answers{"Auth": {Other: "x"}, "Else": {}}, err: human.ErrInvalidAnswerHeader},
		{name: "header in another case", q: one, answers: answers{"auth": {Other: "x"}}, err: human.ErrInvalidAnswerHeader},
		{name: "no answer", q: one, answers: nil, want: `{"answers":{},"unanswered":["Auth"]}`},
		{name: "blank answer", q: one, answers: answers{"Auth": {Other: " "}}, want: `{"answers":{},"unanswered":["Auth"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := newTool(t, func(context.Context, *human.Input) (answers, error) { return tt.answers, nil })
			out, err := tool.Handle(t.Context(), arguments(t, tt.q))
			if tt.err != nil {
				if !errors.Is(err, tt.err) || errors.Is(err, human.ErrInteractionFailed) {
					t.Errorf("err = %v, want %v", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := tools.Text(out); got != tt.want {
				t.Errorf("result %s, want %s", got, tt.want)
			}
		})
	}
}

// HUMAN-15, HUMAN-16
func TestInteractorFails(t *testing.T) {
	for _, cause := range []error{errors.New("no terminal"), human.ErrDeclined, context.Canceled} {
		tool := newTool(t, func(context.Context, *human.Input) (answers, error) { return nil, cause })
		_, err := tool.Handle(t.Context(), arguments(t, question("Auth", "a", "b")))
		if !errors.Is(err, human.ErrInteractionFailed) || !errors.Is(err, cause) {
			t.Errorf("err = %v, want one of %v", err, cause)
		}
	}
}
