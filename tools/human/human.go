// Package human asks the person structured questions in the middle of a run.
// How they are shown and answered is the [Interactor]'s business.
//
//	model ──user_interaction──► validate ──► Interactor ──► the person
//	      ◄──────answers─────── resolve  ◄──────┘
package human

import (
	"context"
	"errors"
	"fmt"

	"github.com/phero-agent/agent/tools"
)

const description = `Ask the user one to four questions and wait for the answers.

Use it when a decision is the user's and neither the request, the code nor a sensible default settles it: requirements that can be read in two ways, approaches with different consequences. Do not use it to ask whether to go on, or for permission to run a tool: that is asked by itself.
- Ask related questions in one call; no question may depend on the answer to another.
- Put the option that you recommend first. Say in each description what choosing it means.
- The user can always write an answer of their own, so never offer "Other".`

// Input is what the model asks: one to four questions.
type Input struct {
	Questions []Question `json:"questions" description:"one to four questions"`
}

// Question is one question with its choices.
type Question struct {
	Header      string   `json:"header" description:"a label for the question, unique, at most 12 characters: Database"`
	Question    string   `json:"question" description:"the whole question, ending with ?"`
	MultiSelect bool     `json:"multiSelect,omitempty" description:"whether several options can be chosen (default false)"`
	Options     []Choice `json:"options" description:"two to four options"`
}

// Choice is one of the answers offered.
type Choice struct {
	Label       string `json:"label" description:"the option in one to five words"`
	Description string `json:"description" description:"what choosing it means"`
}

// Answer is what the person chose or wrote.
type Answer struct {
	Selections []string `json:"selections,omitempty"` // labels of the options
	Other      string   `json:"other,omitempty"`      // the person's own words
}

// Output is the tool's result.
type Output struct {
	Answers    map[string]Answer `json:"answers"`              // by header
	Unanswered []string          `json:"unanswered,omitempty"` // headers of the questions left out
}

// Interactor shows the questions and returns the answers by header. A selection
// is an option's label or its number, counted from 1. A question without an
// answer was left out. An error, such as [ErrDeclined], fails the call; so must
// the end of the context. The input is valid and free of outer blanks.
type Interactor func(ctx context.Context, input *Input) (map[string]Answer, error)

// ErrDeclined is for an [Interactor] whose person does not want to answer (HUMAN-16).
var ErrDeclined = errors.New("the user declined to answer")

// What a call can fail with. Errors about the input say which question.
var (
	ErrInteractorRequired = errors.New("an interactor is required")
	ErrInteractionFailed  = errors.New("the questions were not answered")

	ErrNilInput                        = errors.New("the input is missing")
	ErrQuestionsRequired               = errors.New("at least one question is required")
	ErrTooManyQuestions                = errors.New("at most four questions can be asked at once")
	ErrHeaderRequired                  = errors.New("a header is required")
	ErrHeaderTooLong                   = errors.New("a header has at most 12 characters")
	ErrDuplicateQuestionHeader         = errors.New("two questions have the same header")
	ErrQuestionTextRequired            = errors.New("the question's text is required")
	ErrQuestionMustEndWithQuestionMark = errors.New("a question must end with a question mark")
	ErrInvalidOptionCount              = errors.New("a question has two to four options")
	ErrOptionLabelRequired             = errors.New("an option's label is required")
	ErrOptionLabelTooLong              = errors.New("an option's label has at most five words")
	ErrDuplicateOptionLabel            = errors.New("two options have the same label")
	ErrOptionDescriptionRequired       = errors.New("an option's description is required")
	ErrInvalidAnswerHeader             = errors.New("there is an answer to a question that was not asked")
	ErrInvalidOptionSelection          = errors.New("the selection is none of the options")
	ErrMultipleSelectionsNotAllowed    = errors.New("only one option can be selected")
)

// Tool is the tool user_interaction.
type Tool struct {
	interactor Interactor
	tool       *tools.Tool
}

// Option configures a [Tool].
type Option func(*Tool)

// WithInteractor sets who shows the questions; it is required.
func WithInteractor(fn Interactor) Option {
	return func(t *Tool) { t.interactor = fn }
}

// New makes the tool. Without an interactor it returns [ErrInteractorRequired].
func New(opts ...Option) (*Tool, error) {
	t := &Tool{}
	for _, o := range opts {
		o(t)
	}
	if t.interactor == nil {
		return nil, ErrInteractorRequired
	}
	var err error
	t.tool, err = tools.NewTool("user_interaction", description, t.ask)
	return t, err
}

// Tool returns what the model calls.
func (t *Tool) Tool() *tools.Tool { return t.tool }

func (t *Tool) ask(ctx context.Context, in *Input) (*Output, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	answers, err := t.interactor(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInteractionFailed, err)
	}
	return in.resolve(answers)
}
