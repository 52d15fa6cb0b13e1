package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

// looked is a context that counts how often it is looked at, and ends at one of them.
type looked struct {
	context.Context
	ends  int64 // number of the look at which it has ended; 0 is never
	looks atomic.Int64
}

func (l *looked) Err() error {
	if n := l.looks.Add(1); l.ends > 0 && n >= l.ends {
		return context.Canceled
	}
	return nil
}

// FILE-89: the context is looked at often, and soon after it has ended nothing is done
// any more. Work is counted by looks: a time would depend on the machine.
func TestCancelIsSeen(t *testing.T) {
	const size = 2 << 20
	lines := bytes.Repeat([]byte("some text to search, line after line\n"), size/37)
	long := bytes.Repeat([]byte("word, "), size/6)
	files := map[string]string{"lines": string(lines), "long": string(long)}
	for i := range 3000 {
		files[fmt.Sprint("dir/f", i)] = ""
	}
	ws := tree(t, files)
	photo := encode(t, "x.png", picture(2000, 3000))
	search := func(text []byte, pattern string, multi bool) func(context.Context) error {
		return func(ctx context.Context) error {
			m, err := compileMatcher(pattern, false, multi)
			if err != nil {
				return err
			}
			s := &searcher{query: &query{matcher: m, mode: modeContent}}
			s.search(ctx, "f", bytes.NewReader(text))
			return ctx.Err()
		}
	}
	read := func(in ReadInput, opts ...Option) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := must(NewReadTool(append(opts, WithWorkingDirectory(ws), WithMaxFileSize(0))...)).handle(ctx, &in)
			return err
		}
	}
	for _, c := range []struct {
		name  string
		run   func(context.Context) error
		least int64 // looks of a whole run
	}{
		{"grep, nothing found", search(lines, "absent", false), size / searchBlock},
		{"grep, a literal in every line", search(lines, "text", false), size / 40},
		{"grep, no literal", search(lines, `[a-z]+\d`, false), size / searchBlock},
		{"grep, long lines", search(long, `\B,`, false), size / pause / 2},
		{"grep, multiline", search(lines, `text[^z]*[zq]`, true), size / pause},
		{"grep, multiline, one match to the end", search(lines, `(?s)text.*\z`, true), size / pause},
		{"grep, multiline, many matches", search(lines, `text\n|line\n`, true), size / 40},
		{"read", read(ReadInput{FilePath: "lines"}, WithMaxOutputChars(0)), size / 40},
		{"read, far on", read(ReadInput{FilePath: "lines", Offset: size / 40, Limit: 1}), size / 40},
		{"read, one long line", read(ReadInput{FilePath: "long", Offset: 2}), size / (64 << 10)},
		{"an image", func(ctx context.Context) error {
			_, err := imageResult(ctx, "x.png", "image/png", photo)
			return err
		}, 200},
		{"glob", func(ctx context.Context) error {
			_, err := must(NewGlobTool(WithWorkingDirectory(ws))).handle(ctx, &GlobInput{Pattern: "dir/*"})
			return err
		}, 3000},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := &looked{Context: t.Context()}
			if err := c.run(whole); err != nil {
				t.Fatal(err)
			}
			if n := whole.looks.Load(); n < c.least {
				t.Errorf("a whole run looks %d times, want %d", n, c.least)
			}
			ends := c.least / 2
			cut := &looked{Context: t.Context(), ends: ends}
			if err := c.run(cut); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if after := cut.looks.Load() - ends; after > 20 {
				t.Errorf("%d looks after the end", after)
			}
		})
	}
}
