package file

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Errors of the tools; most come wrapped, with the path and what to do next.
var (
	ErrNilInput                       = errors.New("the input is nil")
	ErrPathRequired                   = errors.New("file_path is required")
	ErrPatternRequired                = errors.New("pattern is required")
	ErrPathOutsideWorkingDirectory    = errors.New("path is outside the working directory")
	ErrFileTooLarge                   = errors.New("file is too large")
	ErrFileExists                     = errors.New("file exists already")
	ErrFileNotRead                    = errors.New("file has not been read; read it first")
	ErrOldStringRequired              = errors.New("old_string is required; use write to create a file")
	ErrOldStringNotFound              = errors.New("old_string was not found")
	ErrOldStringNotUnique             = errors.New("old_string is not unique")
	ErrNoChange                       = errors.New("nothing would change")
	ErrEditsRequired                  = errors.New("edits is required: a list of at least one edit")
	ErrBinaryFile                     = errors.New("file is binary")
	ErrInvalidOutputMode              = errors.New("output_mode must be files_with_matches, content or count")
	ErrContextFlagsRequireContentMode = errors.New(`-A, -B and -C need output_mode "content"`)
)

// TooLargeError says that a file is larger than the limit. It matches [ErrFileTooLarge].
type TooLargeError struct {
	Path        string
	Size, Limit int64 // bytes
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s is too large: %d bytes, the limit is %d; read it in parts with offset and limit, or search it with grep", e.Path, e.Size, e.Limit)
}

// Is makes the error match [ErrFileTooLarge].
func (e *TooLargeError) Is(target error) bool { return target == ErrFileTooLarge }

// ChangedError says that a file is not what it was: since the model read it, or
// since the change was previewed.
type ChangedError struct {
	Path  string
	Since string // what the file changed after; "" is "it was read"
	Gone  bool   // it does not exist any more
	Hunks []Hunk // what changed meanwhile; empty where it is not known
}

// Limits of the diff in the text of a ChangedError.
const (
	changedLines = 30
	changedWidth = 200 // characters of one line
)

func (e *ChangedError) Error() string {
	since := e.Since
	if since == "" {
		since = "it was read"
	}
	if e.Gone {
		return fmt.Sprintf("%s was removed after %s; nothing was written", e.Path, since)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s changed on disk after %s; nothing was written. Read it again, then decide anew.", e.Path, since)
	left := changedLines
	for _, h := range e.Hunks {
		if left <= 0 {
			break
		}
		fmt.Fprintf(&b, "\n@@ line %d @@", h.New)
		for _, line := range h.Lines {
			if left--; left < 0 {
				break
			}
			b.WriteString("\n" + clip(line, changedWidth))
		}
	}
	if left <= 0 {
		b.WriteString("\n[more changes are not shown]")
	}
	return b.String()
}

// notRegular says what is at a path where a file is needed, and what to do about it.
func notRegular(path string, mode fs.FileMode) error {
	what, next := "something else", ""
	switch {
	case mode.IsDir():
		what, next = "a directory", "; name a file, or list it with glob"
	case mode&fs.ModeNamedPipe != 0:
		what = "a FIFO"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	case mode&fs.ModeSymlink != 0:
		what = "a link that was put there meanwhile"
	}
	return fmt.Errorf("%s is %s, not a regular file%s", path, what, next)
}

// missing says in words that a file is not there; it is [fs.ErrNotExist].
type missing string

func (m missing) Error() string   { return string(m) }
func (m missing) Is(e error) bool { return e == fs.ErrNotExist }
