package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	oai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/phero-agent/agent/app"
)

const (
	readBuffer   = 64 << 10
	maxErrorBody = 1 << 20
	afterFinish  = 10 * time.Second      // for usage that may follow the reason of the end
	afterDone    = 20 * time.Millisecond // for the end of the body, so that the connection can be used again
)

// attempt sends a request once. begun says that something was emitted.
func (c *Client) attempt(ctx context.Context, p Profile, req app.Request, emit func(app.Delta)) (app.Reply, bool, error) {
	body, err := c.body(p, req)
	if err != nil {
		return app.Reply{}, false, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := newWatch(c.cfg.IdleTimeout, cancel)
	defer w.stop()

	r := newReply(func(name string) bool {
		return slices.ContainsFunc(req.Tools, func(t app.ToolSpec) bool { return t.Name == name })
	}, emit)
	res, err := c.post(ctx, body)
	if err != nil {
		return r.close(true), false, c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
		return r.close(true), false, c.refused(res, text)
	}
	s := &stream{reply: r, watch: w, body: w.reader(res.Body)}
	err = s.read()
	switch {
	case err == nil && finishes(r.finish) == finishFilter:
		err = c.filtered()
	case err == nil && finishes(r.finish) == finishBadCall:
		err = c.failed(res, failure{text: "the model wrote a call that cannot be read", code: "malformed_function_call"})
	case err == nil && finishes(r.finish) == finishError:
		err = c.failed(res, failure{text: "the reply ended with an error (" + clip(r.finish) + ")"})
	default:
		err = c.broken(ctx, res, err)
	}
	out := r.close(err != nil)
	out.Message.Model = c.cfg.Model
	if err != nil && finishes(r.finish) == finishFilter {
		out.Finish = finishFilter
	}
	return out, r.begun, err
}

// post sends the body. The response may have any status. The caller closes its body.
func (c *Client) post(ctx context.Context, body []byte) (*http.Response, error) {
	var res *http.Response
	// The parameters are in the body already, made from those of the conversation's last request.
	_, err := c.chat.New(ctx, oai.ChatCompletionNewParams{},
		option.WithRequestBody("application/json", body),
		option.WithResponseBodyInto(&res),
		option.WithMiddleware(limitErrors))
	if res != nil && (err == nil || res.StatusCode >= 400) {
		return res, nil // openai-go reads an error's body and puts it back
	}
	return nil, err
}

// limitErrors caps the body of an error, which openai-go reads whole.
func limitErrors(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(r)
	if res != nil && res.StatusCode >= 400 {
		res.Body = limitedBody{io.LimitReader(res.Body, maxErrorBody), res.Body}
	}
	return res, err
}

type limitedBody struct {
	io.Reader
	io.Closer
}

// stream reads the body of a reply.
type stream struct {
	reply *reply
	watch *watch
	body  io.Reader
}

// failedEvent is an error that came inside of a stream.
type failedEvent struct{ failure }

func (failedEvent) Error() string { return "the server reported an error inside of the reply" }

// Why a reply is no reply.
var (
	errCut     = errors.New("the reply broke off")
	errGarbled = errors.New("the reply broke off inside of a piece")
	errNoReply = errors.New("the answer is not a chat completion")
)

// read reads to the end of the reply. The error is nil only for a reply that came to its end.
func (s *stream) read() error {
	in := bufio.NewReaderSize(s.body, readBuffer)
	switch first := peek(in); first {
	case '{', '[':
		return s.readWhole(in)
	case '<':
		page, _ := io.ReadAll(io.LimitReader(in, maxErrorBody))
		return failedEvent{readFailure(page)}
	}
	events := newEventReader(in)
	for {
		ev, err := events.next()
		if err != nil {
			return s.ended(events, err)
		}
		if err := s.event(ev); err != nil {
			return err
		}
		if s.reply.ended {
			s.watch.shorten(afterDone)
			_, _ = io.CopyN(io.Discard, in, readBuffer)
			return nil
		}
	}
}

// peek returns the first byte that is no white space, 0 where there is none.
// A byte order mark is white space here.
func peek(in *bufio.Reader) byte {
	for n := 1; n <= in.Size(); n++ {
		head, err := in.Peek(n)
		if err != nil {
			return 0
		}
		switch b := head[n-1]; b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
		default:
			return b
		}
	}
	return 0
}

// event takes one event.
func (s *stream) event(ev event) error {
	data := bytes.TrimSpace(ev.data)
	switch {
	case len(data) == 0:
		return nil
	case bytes.Equal(data, done):
		s.reply.ended = true
		return nil
	case ev.name == "error":
		return failedEvent{readFailure(data)}
	case data[0] != '{' && data[0] != '[':
		return nil // a greeting or a heartbeat in words
	}
	return s.chunk(data)
}

func (s *stream) chunk(data []byte) error {
	c, err := decodeChunk(data)
	if err != nil {
		return errGarbled
	}
	s.reply.add(c)
	if c.failed() {
		return failedEvent{readFailure(data)}
	}
	if s.reply.finish != "" {
		s.watch.shorten(afterFinish)
	}
	return nil
}

// ended tells whether the stream's end is the reply's.
func (s *stream) ended(events *eventReader, err error) error {
	r := s.reply
	if r.finish != "" {
		return nil // all of it had come
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	// An error may come without a frame.
	stray := bytes.TrimSpace(events.stray)
	if len(stray) > 0 && !r.begun {
		return s.values(stray)
	}
	if f := readFailure(stray); f.shaped {
		return failedEvent{f}
	}
	return errCut
}

// readWhole reads a reply that is no stream, though one was asked for.
func (s *stream) readWhole(in *bufio.Reader) error {
	data, err := io.ReadAll(io.LimitReader(in, maxLine))
	if err != nil {
		return err
	}
	return s.values(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
}

// values takes JSON values, one after the other.
func (s *stream) values(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var value json.RawMessage
		err := dec.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errCut
		}
		if err != nil && !s.reply.begun {
			return failedEvent{readFailure(data)}
		}
		if err != nil {
			return errGarbled
		}
		if value[0] == '[' { // Gemini wraps errors in a list
			return failedEvent{readFailure(value)}
		}
		if err := s.chunk(value); err != nil {
			return err
		}
	}
	if s.reply.finish == "" && !s.reply.begun {
		f := readFailure(data)
		if !f.shaped {
			return errNoReply
		}
		return failedEvent{f}
	}
	return nil
}
