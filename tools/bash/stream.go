package bash

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// sink is where a command's output goes: into the capture of its call, or into
// the tail of a background shell. A call that moves to the background changes
// from the one to the other between two writes.
type sink struct {
	mu      sync.Mutex
	capture *capture
	tail    *tail
	stream  *stream
	last    time.Time // of the newest output; zero: none yet
}

func (s *sink) write(p []byte) {
	s.mu.Lock()
	if s.tail != nil {
		s.tail.Write(p)
	} else {
		s.capture.Write(p)
	}
	st := s.stream
	s.last = time.Now()
	s.mu.Unlock()
	if st != nil {
		st.send(p)
	}
}

// lastWrite is when the newest output came; zero when none did.
func (s *sink) lastWrite() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// flush shows what was held back of the output.
func (s *sink) flush() {
	s.mu.Lock()
	st := s.stream
	s.mu.Unlock()
	if st != nil {
		st.flush()
	}
}

// captured is the output of the call until now.
func (s *sink) captured() (text string, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capture.String()
}

// moveTo sends everything that follows to t, and returns what was captured before.
func (s *sink) moveTo(t *tail) (text string, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail, s.stream = t, nil
	return s.capture.String()
}

// next takes the unread output of a background shell, see [tail.Next].
func (s *sink) next(last, wholeLines bool) ([]byte, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.Next(last, wholeLines)
}

func (s *sink) peek(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.Peek(n)
}

// stream hands the output of one call to the handler (BASH-36).
type stream struct {
	ctx    context.Context
	fn     OutputHandler
	turn   chan struct{} // held while the handler runs
	closed atomic.Bool
	half   []byte // the start of a character whose rest is not written yet
}

func newStream(ctx context.Context, fn OutputHandler) *stream {
	if fn == nil {
		return nil
	}
	return &stream{ctx: ctx, fn: fn, turn: make(chan struct{}, 1)}
}

func (st *stream) send(p []byte) {
	st.turn <- struct{}{}
	defer func() { <-st.turn }()
	chunk := append(st.half, p...)
	n := len(chunk) - incomplete(chunk)
	st.half = append([]byte(nil), chunk[n:]...)
	st.call(chunk[:n:n])
}

// flush sends half a character that nothing will complete any more.
func (st *stream) flush() {
	st.turn <- struct{}{}
	defer func() { <-st.turn }()
	st.call(st.half)
	st.half = nil
}

func (st *stream) call(chunk []byte) {
	if len(chunk) == 0 || st.closed.Load() {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			st.closed.Store(true)
			slog.Error("the output handler panicked; the command's output is not shown any more", "panic", v)
		}
	}()
	st.fn(st.ctx, chunk)
}

// close makes sure that no further call begins. It waits for one that runs,
// but not for one that hangs.
func (st *stream) close() {
	if st == nil {
		return
	}
	select {
	case st.turn <- struct{}{}:
		st.closed.Store(true)
		<-st.turn
	case <-time.After(time.Second):
		st.closed.Store(true)
	}
}
