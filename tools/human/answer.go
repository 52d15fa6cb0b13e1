package human

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// resolve turns an interactor's answers into the result: selections become
// labels, blank answers count as none.
func (in *Input) resolve(answers map[string]Answer) (*Output, error) {
	out := &Output{Answers: map[string]Answer{}}
	for _, q := range in.Questions {
		a, err := q.resolve(answers[q.Header])
		if err != nil {
			return nil, fmt.Errorf("the answer to %q: %w", q.Header, err)
		}
		if len(a.Selections) == 0 && a.Other == "" {
			out.Unanswered = append(out.Unanswered, q.Header)
			continue
		}
		out.Answers[q.Header] = a
	}
	for header := range answers {
		if !slices.ContainsFunc(in.Questions, func(q Question) bool { return q.Header == header }) {
			return nil, fmt.Errorf("%w: %q", ErrInvalidAnswerHeader, header)
		}
	}
	return out, nil
}

func (q *Question) resolve(a Answer) (Answer, error) {
	r := Answer{Other: strings.TrimSpace(a.Other)}
	for _, s := range a.Selections {
		label, ok := q.label(s)
		if !ok {
			return Answer{}, fmt.Errorf("%w: %q", ErrInvalidOptionSelection, s)
		}
		if !slices.Contains(r.Selections, label) {
			r.Selections = append(r.Selections, label)
		}
	}
	if len(r.Selections) > 1 && !q.MultiSelect {
		return Answer{}, fmt.Errorf("%w, not %q", ErrMultipleSelectionsNotAllowed, r.Selections)
	}
	return r, nil
}

// label finds the option that a selection means: by its label, else by its
// number from 1, so that an interactor can pass on what a person typed (HUMAN-14).
func (q *Question) label(selection string) (string, bool) {
	s := strings.TrimSpace(selection)
	for _, o := range q.Options {
		if o.Label == s {
			return o.Label, true
		}
	}
	if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1].Label, true
	}
	return "", false
}
