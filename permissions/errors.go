package permissions

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Errors of the package.
var (
	ErrDenied      = errors.New("permission denied")
	ErrInvalidRule = errors.New("invalid permission rule")
	ErrNoRun       = errors.New("rules for a run need the context of a run")
	ErrArguments   = errors.New("the arguments cannot be understood") // in a [DeniedError]: nobody refused the call
)

var (
	errNobody  = errors.New("it needs a person's approval, and nobody can be asked")
	errNested  = errors.New("it needs a person's approval, and was made inside the question about another call")
	errChanged = errors.New("what it touches changed while the question was open")
	errPlan    = errors.New("plan mode changes no files; describe the change in the plan")
	errNoRule  = errors.New("no rule allows it")
)

// DeniedError says that a call was denied (PERM-11); errors.Is(err, ErrDenied)
// holds. Its text is for the model.
type DeniedError struct {
	Tool, Subject string
	Rule          string // the deny rule, when one matched
	Feedback      string // what the person said when rejecting
	Err           error  // the Asker's error, or why the call was refused without a person or a rule
}

func (e *DeniedError) Error() string {
	tool := printable(e.Tool)
	switch {
	case e.Rule != "":
		return fmt.Sprintf("%s was not run: the rule %q denies it", tool, e.Rule)
	case e.Err != nil:
		return fmt.Sprintf("%s was not run: %s", tool, printable(e.Err.Error()))
	case e.Feedback != "":
		return fmt.Sprintf("%s was not run: the user rejected it and said: %s", tool, e.Feedback)
	}
	return fmt.Sprintf("%s was not run: the user rejected it", tool)
}

// Is makes every DeniedError an [ErrDenied].
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

func (e *DeniedError) Unwrap() error { return e.Err }

// argumentsError is an [ErrArguments] in the words of what is wrong.
type argumentsError string

func (e argumentsError) Error() string        { return string(e) }
func (e argumentsError) Is(target error) bool { return target == ErrArguments }

// Feedback, returned by an Asker with Reject, is told to the model.
type Feedback string

func (f Feedback) Error() string { return string(f) }

// printable replaces control and invisible characters, which the texts of
// errors can carry over from arguments.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' {
			return r
		}
		return '�'
	}, s)
}
