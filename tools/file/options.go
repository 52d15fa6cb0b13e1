package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Defaults of the options.
const (
	DefaultMaxFileSize    int64 = 10 << 20 // bytes
	DefaultMaxOutputChars       = 30_000   // characters
	DefaultMaxResults           = 1000     // paths of glob, entries of grep
)

// Option changes how the tools work. Every constructor takes every option; those
// that a tool has no use for change nothing (FILE-02).
type Option func(*options)

type options struct {
	workingDir  string // as given; resolved by newOptions
	moreRoots   []string
	readRoots   []string
	maxFileSize int64
	maxChars    int
	maxResults  int
	maxListed   int // entries of one directory that a search looks at together; twice as many are held
	tracker     *ReadTracker
	noOverwrite bool
	noIgnore    bool
	beforeWrite func(context.Context, Change) error
	onWrite     func(context.Context, Change)
}

// WithWorkingDirectory confines all operations to dir, and takes relative paths
// against it. "" confines nothing (FILE-03).
func WithWorkingDirectory(dir string) Option { return func(o *options) { o.workingDir = dir } }

// WithReadOnlyRoots lets read, glob and grep also reach the files under dirs.
// A relative one is taken against the working directory; a missing one grants
// nothing; the file system's root is refused (FILE-10 to FILE-13).
func WithReadOnlyRoots(dirs ...string) Option {
	return func(o *options) { o.readRoots = append(o.readRoots, dirs...) }
}

// WithRoots lets all tools also reach, and change, the files under dirs, as if each
// were part of the working directory. What holds for a read-only root holds for them.
func WithRoots(dirs ...string) Option {
	return func(o *options) { o.moreRoots = append(o.moreRoots, dirs...) }
}

// WithMaxFileSize limits, in bytes, the file that an edit takes, a whole-file
// read and a multiline grep. 0 is no limit (FILE-14).
func WithMaxFileSize(bytes int64) Option { return func(o *options) { o.maxFileSize = bytes } }

// WithMaxOutputChars caps the text of one read, glob or grep. 0 is no cap (FILE-19).
func WithMaxOutputChars(n int) Option { return func(o *options) { o.maxChars = n } }

// WithMaxResults caps the paths of one glob and the entries of one grep. 0 is no cap (FILE-20).
func WithMaxResults(n int) Option { return func(o *options) { o.maxResults = n } }

// WithReadTracker shares t between the tools, so that a file which the model has
// not read, or which changed since, is not changed (FILE-60).
func WithReadTracker(t *ReadTracker) Option { return func(o *options) { o.tracker = t } }

// WithNoOverwrite makes write refuse a target that exists, with [ErrFileExists] (FILE-39).
func WithNoOverwrite() Option { return func(o *options) { o.noOverwrite = true } }

// WithNoIgnore makes glob and grep search everything: what .gitignore ignores,
// node_modules, and .git too (FILE-21).
func WithNoIgnore() Option { return func(o *options) { o.noIgnore = true } }

// WithBeforeWrite calls hook when every check of a change has passed and nothing
// is made on disk yet. Its error fails the call. Before the file is replaced its
// content is compared with Change.Before once more.
func WithBeforeWrite(hook func(ctx context.Context, c Change) error) Option {
	return func(o *options) { o.beforeWrite = hook }
}

// WithOnWrite calls hook after each change that is on disk (FILE-70). It is not
// called for a failed call, nor when the content is what it was.
func WithOnWrite(hook func(ctx context.Context, c Change)) Option {
	return func(o *options) { o.onWrite = hook }
}

func newOptions(opts []Option) (*options, error) {
	o := &options{maxFileSize: DefaultMaxFileSize, maxChars: DefaultMaxOutputChars, maxResults: DefaultMaxResults, maxListed: 100_000}
	for _, opt := range opts {
		if opt != nil {
			opt(o)
		}
	}
	if o.maxFileSize < 0 || o.maxChars < 0 || o.maxResults < 0 {
		return nil, errors.New("a limit is negative; 0 means no limit")
	}
	if o.workingDir == "" {
		return o, nil
	}
	dir, err := absolute(o.workingDir, "")
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	if o.workingDir, err = resolveLinks(dir); err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	if info, err := os.Stat(o.workingDir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("working directory: %s is not a directory", o.workingDir)
	}
	for _, r := range slices.Concat(o.moreRoots, o.readRoots) {
		abs, err := absolute(r, o.workingDir)
		if err != nil {
			return nil, fmt.Errorf("root %s: %w", r, err)
		}
		if filepath.Dir(abs) == abs {
			return nil, fmt.Errorf("root %s is the whole file system; name the directories that are needed", abs)
		}
	}
	return o, nil
}
