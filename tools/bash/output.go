package bash

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// capture keeps the start and the end of what is written to it (BASH-13).
// Memory is bounded by the limit; 0 is no limit.
type capture struct {
	limit int
	head  []byte
	ring  []byte
	next  int // where the ring's oldest byte is, once it is full
	total int64
}

func (c *capture) headCap() int { return c.limit / 2 }

func (c *capture) Write(p []byte) {
	c.total += int64(len(p))
	if c.limit == 0 {
		c.head = append(c.head, p...)
		return
	}
	n := min(len(p), c.headCap()-len(c.head))
	c.head = append(c.head, p[:n]...)
	p = p[n:]

	size := c.limit - c.headCap()
	if len(p) >= size {
		c.ring, c.next = append(c.ring[:0], p[len(p)-size:]...), 0
		return
	}
	n = min(len(p), size-len(c.ring))
	c.ring = append(c.ring, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(c.ring[c.next:], p)
		c.next = (c.next + n) % size
	}
}

// String is the output, cut in its middle where it was too long. The cut never
// splits a UTF-8 character (BASH-14).
func (c *capture) String() (text string, cut bool) {
	tail := make([]byte, 0, len(c.ring))
	tail = append(append(tail, c.ring[c.next:]...), c.ring[:c.next]...)
	if c.limit == 0 || c.total <= int64(c.limit) {
		return valid(append(c.head[:len(c.head):len(c.head)], tail...)), false
	}
	head := c.head[:len(c.head)-incomplete(c.head)]
	tail = tail[continuation(tail):]
	gone := c.total - int64(len(head)+len(tail))
	return fmt.Sprintf("%s\n[... %d bytes truncated ...]\n%s", valid(head), gone, valid(tail)), true
}

// tail keeps the last bytes of what is written to it, and remembers what was
// read. It may hold twice its capacity, and hands out no more than that.
type tail struct {
	capacity int // 0: no cap
	buf      []byte
	start    int64 // offset of buf[0] in everything written
	read     int64 // offset of the first unread byte
	broken   bool  // it may be inside a character whose start was dropped
}

func (t *tail) Write(p []byte) {
	t.buf = append(t.buf, p...)
	if t.capacity > 0 && len(t.buf) > 2*t.capacity {
		gone := len(t.buf) - t.capacity
		t.buf = append(t.buf[:0], t.buf[gone:]...)
		t.start += int64(gone)
	}
}

func (t *tail) end() int64 { return t.start + int64(len(t.buf)) }

// oldest is the offset of the first byte that is kept.
func (t *tail) oldest() int64 {
	if t.capacity == 0 {
		return t.start
	}
	return max(t.start, t.end()-int64(t.capacity))
}

// Next takes what is unread. Unless it is the last time, half a character at
// the end waits for its other half, and with whole lines only, half a line
// does too. dropped counts unread bytes that are no longer kept.
func (t *tail) Next(last, wholeLines bool) (unread []byte, dropped int64) {
	from := max(t.read, t.oldest())
	unread = t.buf[from-t.start:]
	if from > t.read || t.broken {
		n := continuation(unread)
		unread, from = unread[n:], from+int64(n)
		dropped = from - t.read
		t.broken = len(unread) == 0
	}
	if !last {
		unread = unread[:len(unread)-incomplete(unread)]
		if wholeLines && len(unread) < maxHeldLine {
			unread = unread[:strings.LastIndexByte(string(unread), '\n')+1]
		}
	}
	t.read = from + int64(len(unread))
	return append([]byte(nil), unread...), dropped
}

// maxHeldLine is how long a line without an end is held back from a filter.
const maxHeldLine = 64 << 10

// Peek is the end of the output, for a person to see.
func (t *tail) Peek(n int) string {
	b := t.buf[max(0, len(t.buf)-n):]
	return valid(b[continuation(b):])
}

// incomplete is the length of a UTF-8 character at the end of b that is not whole yet.
func incomplete(b []byte) int {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if end := b[len(b)-i:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return i
		}
	}
	return 0
}

// continuation is the length of the rest of a UTF-8 character at the start of b.
func continuation(b []byte) int {
	for i := range min(utf8.UTFMax, len(b)) {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	if len(b) < utf8.UTFMax {
		return len(b)
	}
	return 0
}

// valid is b with U+FFFD for every run of bytes that is not UTF-8. Everything
// else is as the command wrote it, NUL and escape sequences too.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// onNewLine appends a line to a text, after a newline where one is missing.
func onNewLine(text, line string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + line
}
