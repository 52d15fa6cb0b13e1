package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limits of what is read from a server, in bytes.
const (
	maxLine  = 64 << 20 // one line, one event, or one body that is no stream
	maxStray = 1 << 20  // lines that are no field of an event stream
)

var errLineTooLong = fmt.Errorf("the server sent more than %d MiB in one piece", maxLine>>20)

// event is one event of a stream.
type event struct {
	name string // "" where the server gave none
	data []byte // valid until the next call of next
}

// eventReader reads an event stream (text/event-stream) as servers send it:
// any line ends, comments, fields without a space, a last event without its
// blank line, events that no blank line divides, and an "error:" field.
//
// The result depends on the bytes alone, never on how they arrive. Lines that
// end in a bare CR are found once their LF, or the end, has come.
type eventReader struct {
	in    *bufio.Reader
	line  []byte   // a line that did not fit the buffer of in
	lines [][]byte // lines of one LF-ended piece that are still to be read
	begun bool     // the first line has been seen
	name  string
	data  []byte // of the event that is being read
	has   bool   // data holds at least one line
	ahead []byte // a data line that begins the event after the one given out
	out   []byte // memory of the event given out
	stray []byte // lines that are no fields, "\n" after each
	end   error
}

func newEventReader(r *bufio.Reader) *eventReader { return &eventReader{in: r} }

// next returns the next event that has data. The error is io.EOF at the end
// of the stream, or why it broke.
func (r *eventReader) next() (event, error) {
	if r.ahead != nil {
		r.data, r.has = append(r.data[:0], r.ahead...), true
		r.ahead = nil
	}
	for r.end == nil {
		if len(r.data) > maxLine {
			r.end = errLineTooLong
			break
		}
		line, err := r.readLine()
		if err != nil {
			r.end = err
			break
		}
		if len(line) == 0 {
			if r.has {
				return r.dispatch(), nil
			}
			r.name = ""
			continue
		}
		if r.field(line) {
			return r.dispatch(), nil
		}
	}
	if r.has && errors.Is(r.end, io.EOF) {
		return r.dispatch(), nil
	}
	return event{}, r.end
}

// field takes one line that is not blank. It tells whether the line begins an
// event of its own, so that the one before it is complete.
func (r *eventReader) field(line []byte) (complete bool) {
	name, value, found := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "":
		if !found {
			r.addStray(line)
		} // else a comment
	case "data":
		// Some servers put no blank line between events. Two lines of one
		// event are never JSON each, for they are cut where a server broke it.
		if r.has && whole(r.data) {
			r.ahead = append(r.ahead[:0:0], value...)
			return true
		}
		if r.has {
			r.data = append(r.data, '\n')
		}
		r.data, r.has = append(r.data, value...), true
	case "error":
		r.name = "error"
		r.data, r.has = append(r.data, value...), true
	case "event":
		r.name = string(value)
	case "id", "retry":
	default:
		r.addStray(line)
	}
	return false
}

func (r *eventReader) addStray(line []byte) {
	if len(r.stray)+len(line) < maxStray {
		r.stray = append(append(r.stray, line...), '\n')
	}
}

// whole tells whether data is an event that needs no more lines.
func whole(data []byte) bool {
	return bytes.Equal(bytes.TrimSpace(data), done) || json.Valid(data)
}

func (r *eventReader) dispatch() event {
	// Swapping the two keeps the bytes that were given out while the next
	// event is read into the other.
	r.out, r.data = r.data, r.out[:0]
	ev := event{name: r.name, data: r.out}
	r.has = false
	if r.ahead == nil {
		r.name = ""
	}
	return ev
}

// readLine returns the next line without its end, valid until the next call.
func (r *eventReader) readLine() ([]byte, error) {
	if len(r.lines) > 0 {
		line := r.lines[0]
		r.lines = r.lines[1:]
		return line, nil
	}
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.longLine(line)
	}
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return nil, err // the part of a line before a break is no line
	}
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if bytes.IndexByte(line, '\r') < 0 {
		return line, nil
	}
	r.lines = bytes.Split(line, []byte("\r"))
	return r.readLine()
}

// longLine reads on to the end of a line that begins with head.
func (r *eventReader) longLine(head []byte) ([]byte, error) {
	r.line = append(r.line[:0], head...)
	for {
		part, err := r.in.ReadSlice('\n')
		r.line = append(r.line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.line, err
		}
		if len(r.line) > maxLine {
			return nil, errLineTooLong
		}
	}
}
