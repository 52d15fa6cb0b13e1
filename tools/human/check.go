package human

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxQuestions    = 4
	maxHeaderLength = 12 // runes
	minOptions      = 2
	maxOptions      = 4
	maxLabelWords   = 5
)

// check trims every text and tells what is wrong with the questions.
func (in *Input) check() error {
	if in == nil {
		return ErrNilInput
	}
	switch n := len(in.Questions); {
	case n == 0:
		return ErrQuestionsRequired
	case n > maxQuestions:
		return fmt.Errorf("%w, not %d", ErrTooManyQuestions, n)
	}
	headers := map[string]bool{}
	for i := range in.Questions {
		q := &in.Questions[i]
		err := q.check()
		if key := strings.ToLower(q.Header); err == nil && headers[key] {
			err = ErrDuplicateQuestionHeader
		} else {
			headers[key] = true
		}
		if err != nil {
			return fmt.Errorf("question %d (%q): %w", i+1, q.Header, err)
		}
	}
	return nil
}

func (q *Question) check() error {
	q.Header, q.Question = strings.TrimSpace(q.Header), strings.TrimSpace(q.Question)
	switch {
	case q.Header == "":
		return ErrHeaderRequired
	case utf8.RuneCountInString(q.Header) > maxHeaderLength:
		return ErrHeaderTooLong
	case q.Question == "":
		return ErrQuestionTextRequired
	case !strings.HasSuffix(q.Question, "?") && !strings.HasSuffix(q.Question, "？"):
		return ErrQuestionMustEndWithQuestionMark
	case len(q.Options) < minOptions || len(q.Options) > maxOptions:
		return fmt.Errorf("%w, not %d", ErrInvalidOptionCount, len(q.Options))
	}
	labels := map[string]bool{}
	for i := range q.Options {
		o := &q.Options[i]
		err := o.check()
		if err == nil && labels[o.Label] {
			err = ErrDuplicateOptionLabel
		}
		labels[o.Label] = true
		if err != nil {
			return fmt.Errorf("option %d (%q): %w", i+1, o.Label, err)
		}
	}
	return nil
}

func (o *Choice) check() error {
	o.Label, o.Description = strings.TrimSpace(o.Label), strings.TrimSpace(o.Description)
	switch {
	case o.Label == "":
		return ErrOptionLabelRequired
	case len(strings.Fields(o.Label)) > maxLabelWords:
		return ErrOptionLabelTooLong
	case o.Description == "":
		return ErrOptionDescriptionRequired
	}
	return nil
}
