package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// eventsOf reads all events of r, each as "name|data", with the stray lines at the end.
func eventsOf(r io.Reader, buffer int) (events []string, stray string, err error) {
	er := newEventReader(bufio.NewReaderSize(r, buffer))
	for {
		ev, err := er.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return events, string(er.stray), err
		}
		events = append(events, ev.name+"|"+string(ev.data))
	}
}

func TestEventReader(t *testing.T) {
	for name, row := range map[string]struct {
		in, want, stray string
	}{
		"plain":                  {in: "data: a\n\ndata: b\n\n", want: "|a,|b"},
		"no space":               {in: "data:a\n\ndata:b\n\n", want: "|a,|b"},
		"one space only":         {in: "data:  a\n\n", want: "| a"},
		"crlf":                   {in: "event: x\r\ndata: a\r\ndata: b\r\n\r\n", want: "x|a\nb"},
		"bare cr":                {in: "data: a\r\rdata: b\r\r", want: "|a,|b"},
		"mixed ends":             {in: "data: a\r\n\r\ndata: b\n\rdata: c\n\n", want: "|a,|b,|c"},
		"comments":               {in: ": hello\n:\ndata: a\n: x\n\n", want: "|a"},
		"ids and retries":        {in: "id: 1\nretry: 10\ndata: a\n\n", want: "|a"},
		"no data, no event":      {in: "event: ping\n\ndata: a\n\n", want: "|a"},
		"empty data":             {in: "data:\n\ndata: a\n\n", want: "|,|a"},
		"byte order mark":        {in: "\xef\xbb\xbfdata: a\n\n", want: "|a"},
		"no last blank line":     {in: "data: a\n", want: "|a"},
		"no last line end":       {in: "data: a\n\ndata: b", want: "|a,|b"},
		"error field":            {in: "error: {\"x\":1}\n\n", want: `error|{"x":1}`},
		"json over two lines":    {in: "data: {\"a\":\ndata: 1}\n\n", want: "|{\"a\":\n1}"},
		"no blank lines between": {in: "data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", want: `|{"a":1},|{"b":2},|[DONE]`},
		"stray lines":            {in: "{\"error\":{\n\"message\":\"x\"}}\n", stray: "{\"error\":{\n\"message\":\"x\"}}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(row.in), iotest.OneByteReader(strings.NewReader(row.in))} {
				events, stray, err := eventsOf(r, 16)
				if got := strings.Join(events, ","); got != row.want || stray != row.stray || err != nil {
					t.Errorf("%q, stray %q, %v; want %q, %q", got, stray, err, row.want, row.stray)
				}
			}
		})
	}
}

// TestBrokenLineIsNoEvent loses the line in which a stream broke, and nothing before it.
func TestBrokenLineIsNoEvent(t *testing.T) {
	broken := errors.New("reset")
	r := io.MultiReader(strings.NewReader("data: a\n\ndata: {\"half"), iotest.ErrReader(broken))
	events, _, err := eventsOf(r, 16)
	if fmt.Sprint(events) != "[|a]" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", events, err)
	}
}

func TestLineThatNeverEnds(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("data: "), endlessReader{})
	if _, _, err := eventsOf(endless, 1<<20); !errors.Is(err, errLineTooLong) {
		t.Errorf("%v", err)
	}
}

func TestEventThatNeverEnds(t *testing.T) {
	line := "data: " + strings.Repeat("x", 1<<20) + "\n"
	if _, _, err := eventsOf(io.LimitReader(&repeatReader{s: line}, 2*maxLine), 1<<20); !errors.Is(err, errLineTooLong) {
		t.Errorf("%v", err)
	}
}

type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

type repeatReader struct {
	s  string
	at int
}

func (r *repeatReader) Read(p []byte) (int, error) {
	n := copy(p, r.s[r.at:])
	r.at = (r.at + n) % len(r.s)
	return n, nil
}

// splitReader gives its bytes in pieces whose sizes follow from seed.
type splitReader struct {
	rest []byte
	seed uint32
}

func (r *splitReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	r.seed = r.seed*1664525 + 1013904223
	n := min(len(p), len(r.rest), int(r.seed>>24)%7+1)
	copy(p, r.rest[:n])
	r.rest = r.rest[n:]
	return n, nil
}

// FuzzEventReader holds that the events depend on the bytes, not on how they arrive.
func FuzzEventReader(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n", "data: {\"a\":1}\r\n\r\n: x\ndata:b\n", "event: error\rdata: x\r\r", "\xef\xbb\xbfdata: a\ndata: b\n\n",
		"{\"error\":1}\n", "data: 1\ndata: 2\n\ndata: [DONE]\n\n", "data: " + strings.Repeat("long ", 20) + "\n\n",
	} {
		f.Add([]byte(seed), uint32(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint32) {
		want, wantStray, err := eventsOf(bytes.NewReader(in), 4096)
		if err != nil {
			t.Fatal(err)
		}
		for _, buffer := range []int{16, 64} {
			got, stray, err := eventsOf(&splitReader{rest: in, seed: seed}, buffer)
			if err != nil || strings.Join(got, "\x00") != strings.Join(want, "\x00") || stray != wantStray {
				t.Fatalf("split: %q %q, whole: %q %q (%v)", got, stray, want, wantStray, err)
			}
		}
	})
}
