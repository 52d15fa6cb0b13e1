package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/phero-agent/agent/tools"
)

const (
	maxLimit   = 2000     // lines of one read with limit
	wholeFile  = 10 << 20 // bytes; a larger file is read as a stream, never whole
	binaryHead = 8 << 10  // bytes in which a NUL tells a binary file
)

// ReadTool shows files to the model.
type ReadTool struct {
	tool *tools.Tool
	opts *options
}

// ReadInput is the input of read.
type ReadInput struct {
	FilePath string `json:"file_path" description:"the file to read"`
	Offset   int    `json:"offset,omitempty" description:"number of the first line to show, from 1"`
	Limit    int    `json:"limit,omitempty" description:"how many lines to show, at most 2000"`
}

const readDescription = `Reads a file. Every line comes with its number and a tab before it, which are not part of the file.
Read the whole file unless it is large: then page with offset and limit, or find the place with grep first. When the end of a result says to read on with an offset, there is more.
PNG, JPEG, GIF and WebP images are shown as images.`

// NewReadTool returns the read tool.
func NewReadTool(opts ...Option) (*ReadTool, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	t := &ReadTool{opts: o}
	t.tool, err = tools.NewTool("read", readDescription, t.handle)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Tool returns the tool that the model calls. Its result is a string, or for an
// image a [tools.Result].
func (t *ReadTool) Tool() *tools.Tool { return t.tool }

func (t *ReadTool) handle(ctx context.Context, in *ReadInput) (any, error) {
	if in == nil {
		return nil, ErrNilInput
	}
	if in.Offset < 0 || in.Limit < 0 {
		return nil, errors.New("offset and limit cannot be negative; offset 1 is the first line")
	}
	root, resolved, err := t.opts.resolve(in.FilePath, true)
	if err != nil {
		return nil, err
	}
	p, info, err := openFile(root, resolved)
	if err != nil {
		return nil, err
	}
	defer p.close()
	limit, parts := t.opts.maxFileSize, in.Offset > 0 || in.Limit > 0
	if limit == 0 {
		parts, limit = true, wholeFile
	}
	if info.Size() > limit && !parts {
		return nil, &TooLargeError{Path: p.path, Size: info.Size(), Limit: limit}
	}
	pg := &page{first: max(in.Offset, 1), limit: in.Limit, chars: t.opts.maxChars}
	if most := min(limit, wholeFile); info.Size() <= most {
		res, err := t.whole(ctx, p, info, pg, most)
		if !parts || !errors.Is(err, ErrFileTooLarge) { // it can be longer than it said
			return res, err
		}
	}
	return t.stream(ctx, p, info, pg)
}

// whole shows a page of a file that is held in memory, or an image. limit is in bytes.
func (t *ReadTool) whole(ctx context.Context, p *place, at fs.FileInfo, pg *page, limit int64) (any, error) {
	content, _, err := p.read(at, limit)
	if err != nil {
		return nil, err
	}
	var result any
	if kind := imageType(content); kind != "" {
		result, err = imageResult(ctx, p.path, kind, content)
	} else if err = refuseBinary(p.path, content); err == nil {
		result, err = pg.show(ctx, bytes.NewReader(content), int64(len(content)))
	}
	if err != nil {
		return nil, err
	}
	t.opts.tracker.Seen(p.path, content)
	return result, nil
}

// stream shows a page of a file that is too large to be held.
func (t *ReadTool) stream(ctx context.Context, p *place, at fs.FileInfo, pg *page) (any, error) {
	f, info, err := p.open(at, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, binaryHead)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", p.path, unwrapPath(err))
	}
	if err := refuseBinary(p.path, head[:n]); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, unwrapPath(err))
	}
	size := info.Size()
	if size == 0 {
		size = math.MaxInt64 // it says so, and is maybe endless
	}
	text, err := pg.show(ctx, f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, unwrapPath(err))
	}
	t.opts.tracker.seenPart(p.path, info)
	return text, nil
}

// refuseBinary refuses content with NUL bytes.
func refuseBinary(path string, content []byte) error {
	if bytes.IndexByte(content, 0) < 0 {
		return nil
	}
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		return fmt.Errorf("%s: %w: UTF-16 text; convert it with iconv to read it", path, ErrBinaryFile)
	}
	return fmt.Errorf("%s: %w: it holds NUL bytes; look at it with a program such as file, xxd or strings", path, ErrBinaryFile)
}

// page is the part of a file that one read shows.
type page struct {
	first int // number of the first line
	limit int // of lines; 0 is none
	chars int // of the output; 0 is no cap

	out   strings.Builder
	used  int  // characters in out
	odd   bool // bytes were shown as \xNN
	lines int  // lines read so far
}

// show renders the page of a file of the given size.
func (pg *page) show(ctx context.Context, r io.Reader, size int64) (string, error) {
	if size == 0 {
		// It may be one of the files that only say so.
		buf := bufio.NewReader(r)
		if _, err := buf.Peek(1); err == io.EOF {
			return "[file is empty]", nil
		}
		r = buf
	}
	lines := &lineReader{r: bufio.NewReaderSize(r, 64<<10), keep: pg.keepBytes()}
	want := pg.limit
	if want > maxLimit {
		want = maxLimit
	}
	for shown := 0; ; {
		if want > 0 && shown == want {
			return pg.paged(ctx, lines, size)
		}
		line, err := lines.next(ctx, pg.lines+1 >= pg.first)
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
		pg.lines++
		if pg.lines < pg.first {
			continue
		}
		if !pg.add(line, lines) {
			return pg.end(fmt.Sprintf("[output cut at %d characters: read on with offset=%d]", pg.chars, pg.lines)), nil
		}
		shown++
		if pg.chars > 0 && pg.used >= pg.chars { // one line filled it
			if more, err := lines.more(); err != nil || !more {
				return pg.end(""), err
			}
			return pg.end(fmt.Sprintf("[output cut at %d characters: read on with offset=%d]", pg.chars, pg.lines+1)), nil
		}
	}
	if pg.lines < pg.first {
		return fmt.Sprintf("[file has %s]", plural(pg.lines, "line")), nil
	}
	return pg.end(""), nil
}

// paged ends a page whose limit of lines is full. How many lines there are is only
// counted where that is cheap.
func (pg *page) paged(ctx context.Context, lines *lineReader, size int64) (string, error) {
	more, err := lines.more()
	if err != nil || !more {
		return pg.end(""), err
	}
	last, of := pg.lines, ""
	if size <= wholeFile {
		for {
			if _, err := lines.next(ctx, false); err == io.EOF {
				break
			} else if err != nil {
				return "", err
			}
			pg.lines++
		}
		of = fmt.Sprintf(" of %d", pg.lines)
	}
	return pg.end(fmt.Sprintf("[lines %d-%d%s: read on with offset=%d]", pg.first, last, of, last+1)), ctx.Err()
}

// keepBytes is how much of one line is worth holding.
func (pg *page) keepBytes() int {
	if pg.chars == 0 {
		return 0
	}
	return pg.chars*utf8.UTFMax + 16
}

// add appends a line that lines has read. It tells false when the line does not fit
// any more. A line that would not fit on an empty page is clipped.
func (pg *page) add(line []byte, lines *lineReader) bool {
	if pg.lines == 1 {
		line = bytes.TrimPrefix(line, []byte(bom))
	}
	if lines.cut { // maybe in the middle of a character
		for n := 0; n < utf8.UTFMax && len(line) > 0 && !utf8.RuneStart(line[len(line)-1]); n++ {
			line = line[:len(line)-1]
		}
		line = line[:max(len(line)-1, 0)]
	}
	text := showBytes(string(line))
	if len(text) != len(line) {
		pg.odd = true
	}
	head := fmt.Sprintf("%6d\t", pg.lines)
	if pg.used > 0 {
		head = "\n" + head
	}
	n := utf8.RuneCountInString(head) + utf8.RuneCountInString(text)
	if pg.chars > 0 && pg.used+n > pg.chars {
		if pg.used > 0 {
			return false
		}
		mark := fmt.Sprintf("… [line clipped: it has %d bytes]", lines.length)
		text = text[:runeOffset(text, max(pg.chars-len(head)-utf8.RuneCountInString(mark), 0))] + mark
		n = pg.chars
	}
	pg.out.WriteString(head)
	pg.out.WriteString(text)
	pg.used += n
	return true
}

// end appends the notes, each on a line of its own.
func (pg *page) end(note string) string {
	if pg.odd {
		pg.out.WriteString("\n[bytes that are not UTF-8 are shown as \\xNN; an old_string cannot hold them]")
	}
	if note != "" {
		pg.out.WriteString("\n" + note)
	}
	return pg.out.String()
}

// lineReader reads lines without their ends, and holds at most keep bytes of one;
// 0 is no limit.
type lineReader struct {
	r      *bufio.Reader
	keep   int
	length int64 // of the last line, in bytes
	cut    bool  // not all of the last line is held
	buf    []byte
}

// next returns the next line, or only passes over it.
func (l *lineReader) next(ctx context.Context, want bool) ([]byte, error) {
	l.buf, l.length, l.cut = l.buf[:0], 0, false
	for {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		piece, err := l.r.ReadSlice('\n')
		l.length += int64(len(piece))
		if want && (l.keep == 0 || len(l.buf) < l.keep) {
			l.buf = append(l.buf, piece...)
		} else {
			l.cut = true
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && l.length > 0 || err == nil:
			if err == nil {
				l.length--
			}
			line, ended := bytes.CutSuffix(l.buf, []byte("\n"))
			if ended {
				line = bytes.TrimSuffix(line, []byte("\r"))
			}
			return line, nil
		default:
			return nil, err
		}
	}
}

// more tells whether another line follows.
func (l *lineReader) more() (bool, error) {
	_, err := l.r.Peek(1)
	if err == io.EOF {
		return false, nil
	}
	return err == nil, err
}
