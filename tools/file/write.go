package file

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/phero-agent/agent/tools"
)

// maxReplaced is the largest file, in bytes, that write replaces: its old content is
// a part of the change.
const maxReplaced = 1 << 30

// bom is the UTF-8 byte order mark.
const bom = "\ufeff"

// WriteTool creates and overwrites files.
type WriteTool struct {
	tool *tools.Tool
	opts *options
}

// WriteInput is the input of write.
type WriteInput struct {
	FilePath string `json:"file_path" description:"the file to write"`
	Content  string `json:"content" description:"the whole content of the file"`
}

// WriteOutput is the result of write.
type WriteOutput struct {
	BytesWritten int `json:"bytes_written"`
}

const writeDescription = `Creates a file, or replaces the whole content of one. Missing parent directories are made.
An existing file must have been read before. To change a part of a file use edit or multi_edit: they are shorter and cannot lose the rest. Write line ends as \n; a file whose lines all end in \r\n keeps those.`

// NewWriteTool returns the write tool.
func NewWriteTool(opts ...Option) (*WriteTool, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	t := &WriteTool{opts: o}
	t.tool, err = tools.NewTool("write", writeDescription, t.handle)
	if err != nil {
		return nil, err
	}
	t.tool.SetExclusive(true)
	return t, nil
}

// Tool returns the tool that the model calls.
func (t *WriteTool) Tool() *tools.Tool { return t.tool }

// Preview returns the change that a call would make, and writes nothing. It fails as the call would.
func (t *WriteTool) Preview(in *WriteInput) (*Change, error) { return preview(t.plan(in)) }

func (t *WriteTool) handle(ctx context.Context, in *WriteInput) (*WriteOutput, error) {
	p, err := t.plan(in)
	if err := t.opts.finish(ctx, p, err); err != nil {
		return nil, err
	}
	return &WriteOutput{BytesWritten: len(p.change.After)}, nil
}

func (t *WriteTool) plan(in *WriteInput) (*plan, error) {
	if in == nil {
		return nil, ErrNilInput
	}
	if t.opts.noOverwrite {
		if err := t.opts.free(in.FilePath); err != nil {
			return nil, err
		}
	}
	return t.opts.plan(in.FilePath, maxReplaced, false, func(p *plan) error {
		if p.change.Existed && t.opts.noOverwrite {
			return ErrFileExists // it came up since free looked
		}
		p.change.After = keepForm(p.change.Before, in.Content)
		return nil
	})
}

// Replace writes content, byte for byte, in place of a change that was previewed: the
// person's own version of it. It fails with a *[ChangedError] when the file is no longer
// what the change was made from (FILE-69). The hooks are called as for a call.
func (t *WriteTool) Replace(ctx context.Context, shown *Change, content []byte) error {
	p, err := t.opts.plan(shown.Path, maxReplaced, false, func(p *plan) error {
		if p.change.Existed != shown.Existed || !bytes.Equal(p.change.Before, shown.Before) {
			return &ChangedError{Path: shown.Path, Since: "the change was shown", Gone: !p.change.Existed, Hunks: Hunks(shown.Before, p.change.Before, 1)}
		}
		p.change.After = content
		return nil
	})
	return t.opts.finish(ctx, p, err)
}

// keepForm gives new content what the model cannot see in the old one: a byte order
// mark, and line ends of "\r\n" where all lines have them. Content with a "\r" of its
// own is taken literally.
func keepForm(before []byte, content string) []byte {
	if bytes.HasPrefix(before, []byte(bom)) && !strings.HasPrefix(content, bom) {
		content = bom + content
	}
	crlf := bytes.Count(before, []byte("\r\n"))
	if crlf > 0 && crlf == bytes.Count(before, []byte("\n")) && !strings.Contains(content, "\r") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	return []byte(content)
}

// free refuses a path at which there is anything, be it a directory or a dangling link.
func (o *options) free(path string) error {
	if _, _, err := o.resolve(path, false); err != nil {
		return err
	}
	abs, err := absolute(path, o.workingDir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(abs); err == nil {
		return fmt.Errorf("%s: %w", path, ErrFileExists)
	}
	return nil
}
