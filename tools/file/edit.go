package file

import (
	"bytes"
	"context"
	"fmt"

	"github.com/phero-agent/agent/tools"
)

// EditTool replaces exact text in a file.
type EditTool struct {
	tool *tools.Tool
	opts *options
}

// EditInput is the input of edit.
type EditInput struct {
	FilePath   string `json:"file_path" description:"the file to change"`
	OldString  string `json:"old_string" description:"the exact text to replace, without the line numbers that read shows"`
	NewString  string `json:"new_string" description:"the text to put there; empty deletes"`
	ReplaceAll bool   `json:"replace_all,omitempty" description:"replace every occurrence; without it old_string must occur once"`
}

// EditOutput is the result of edit and multi_edit.
type EditOutput struct {
	Replacements int   `json:"replacements"`
	Lines        []int `json:"lines"` // of the changed file, where what was put in begins; at most 10
}

// Edit is one replacement of multi_edit.
type Edit struct {
	OldString  string `json:"old_string" description:"the exact text to replace, as it is after the edits before this one"`
	NewString  string `json:"new_string" description:"the text to put there; empty deletes"`
	ReplaceAll bool   `json:"replace_all,omitempty" description:"replace every occurrence; without it old_string must occur once"`
}

const editDescription = `Replaces exact text in a file. Read the file first, and copy old_string from it with its indentation, but without line number and tab at the front.
old_string must occur exactly once: add lines around it until it does, or set replace_all. Write line ends as \n; the file keeps the ones it has. For several changes to one file use multi_edit. When it fails, read the place again and correct old_string.
lines in the result are the numbers, after the edit, of the lines where each new_string begins (the first 10).`

// NewEditTool returns the edit tool.
func NewEditTool(opts ...Option) (*EditTool, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	t := &EditTool{opts: o}
	t.tool, err = tools.NewTool("edit", editDescription, t.handle)
	if err != nil {
		return nil, err
	}
	t.tool.SetExclusive(true)
	return t, nil
}

// Tool returns the tool that the model calls.
func (t *EditTool) Tool() *tools.Tool { return t.tool }

// Preview returns the change that a call would make, and writes nothing. It fails as the call would.
func (t *EditTool) Preview(in *EditInput) (*Change, error) { return preview(t.plan(in)) }

func (t *EditTool) handle(ctx context.Context, in *EditInput) (*EditOutput, error) {
	p, err := t.plan(in)
	if err := t.opts.finish(ctx, p, err); err != nil {
		return nil, err
	}
	return p.output(), nil
}

func (t *EditTool) plan(in *EditInput) (*plan, error) {
	if in == nil {
		return nil, ErrNilInput
	}
	e := Edit{OldString: in.OldString, NewString: in.NewString, ReplaceAll: in.ReplaceAll}
	return t.opts.plan(in.FilePath, t.opts.maxFileSize, true, func(p *plan) (err error) {
		var done []patch
		if p.change.After, done, err = replace(p.change.Before, e); err != nil {
			return err
		}
		p.replaced, p.at = len(done), p.at.add(done)
		if bytes.Equal(p.change.Before, p.change.After) {
			return ErrNoChange
		}
		return nil
	})
}

// MultiEditTool applies several replacements to one file, all or none.
type MultiEditTool struct {
	tool *tools.Tool
	opts *options
}

// MultiEditInput is the input of multi_edit.
type MultiEditInput struct {
	FilePath string `json:"file_path" description:"the file to change"`
	Edits    []Edit `json:"edits" description:"the replacements, applied in order, each to the result of the ones before"`
}

const multiEditDescription = `Applies several exact replacements to one file, in order, each seeing the result of the ones before. Either all apply or none does.
Each follows the rules of edit, and the result is edit's.`

// NewMultiEditTool returns the multi_edit tool.
func NewMultiEditTool(opts ...Option) (*MultiEditTool, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	t := &MultiEditTool{opts: o}
	t.tool, err = tools.NewTool("multi_edit", multiEditDescription, t.handle)
	if err != nil {
		return nil, err
	}
	t.tool.SetExclusive(true)
	return t, nil
}

// Tool returns the tool that the model calls.
func (t *MultiEditTool) Tool() *tools.Tool { return t.tool }

// Preview returns the change that a call would make, and writes nothing. It fails as the call would.
func (t *MultiEditTool) Preview(in *MultiEditInput) (*Change, error) { return preview(t.plan(in)) }

func (t *MultiEditTool) handle(ctx context.Context, in *MultiEditInput) (*EditOutput, error) {
	p, err := t.plan(in)
	if err := t.opts.finish(ctx, p, err); err != nil {
		return nil, err
	}
	return p.output(), nil
}

func (t *MultiEditTool) plan(in *MultiEditInput) (*plan, error) {
	if in == nil {
		return nil, ErrNilInput
	}
	if len(in.Edits) == 0 {
		return nil, ErrEditsRequired
	}
	return t.opts.plan(in.FilePath, t.opts.maxFileSize, true, func(p *plan) error {
		p.change.After = p.change.Before
		for i, e := range in.Edits {
			next, done, err := replace(p.change.After, e)
			if err != nil {
				return fmt.Errorf("edit %d of %d: %w; no edit was applied", i+1, len(in.Edits), err)
			}
			p.change.After, p.replaced, p.at = next, p.replaced+len(done), p.at.add(done)
		}
		if bytes.Equal(p.change.Before, p.change.After) {
			return fmt.Errorf("%w: the edits take each other back", ErrNoChange)
		}
		return nil
	})
}
