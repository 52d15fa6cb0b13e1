package mcp

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// What a server may send: a burst of it at once, and then so much in a second. It
// is far above what servers do that work; who floods waits at its own pipe.
const (
	paceBurst = 64 << 20 // bytes
	paceRate  = 16 << 20 // bytes in a second
	lineCost  = 4 << 10  // bytes that a message counts for beside its own: 4,000 small ones in a second
	paceChunk = 32 << 10 // bytes that are read at once
)

// pace holds back what a server sends, on all of its streams together.
type pace struct {
	total atomic.Int64  // bytes that came
	over  chan struct{} // closed: nobody waits any more
	end   func()

	mu   sync.Mutex
	left int64 // of the burst, below 0 where it is to be waited
	at   time.Time
}

func newPace() *pace {
	p := &pace{over: make(chan struct{}), left: paceBurst, at: time.Now()}
	p.end = sync.OnceFunc(func() { close(p.over) })
	return p
}

// take counts what came, and waits where it is too much.
func (p *pace) take(data []byte) {
	p.total.Add(int64(len(data)))
	if wait := p.owed(int64(len(data)+bytes.Count(data, []byte{'\n'})*lineCost), time.Now()); wait > 0 {
		select {
		case <-time.After(wait):
		case <-p.over:
		}
	}
}

// owed is how long who sends so much at a time must wait.
func (p *pace) owed(cost int64, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = min(paceBurst, p.left+int64(now.Sub(p.at).Seconds()*paceRate)) - cost
	p.at = now
	if p.left >= 0 {
		return 0
	}
	return time.Duration(float64(-p.left) / paceRate * float64(time.Second))
}

// paced is a stream of a server.
type paced struct {
	io.ReadCloser
	pace *pace
}

// Read implements io.Reader.
func (r paced) Read(data []byte) (int, error) {
	n, err := r.ReadCloser.Read(data[:min(len(data), paceChunk)])
	r.pace.take(data[:n])
	return n, err
}
