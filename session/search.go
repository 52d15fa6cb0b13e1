package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// Hit is a session in which a text was said.
type Hit struct {
	ID   string
	Line string // the line around it, shortened
}

// Search finds the sessions in which the person or the model said a text, in any
// case of letters. It reads all logs, some at the same time, and stops when ctx ends.
func (s *Store) Search(ctx context.Context, text string) ([]Hit, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return nil, nil
	}
	root, err := s.root()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	ids, err := sessionIDs(root)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(ids))
	var (
		next  atomic.Int64
		group sync.WaitGroup
	)
	for range min(runtime.GOMAXPROCS(0), 8) {
		group.Go(func() {
			r := searcher{needle: newNeedle(text), buf: make([]byte, batchSize)}
			for i := next.Add(1) - 1; i < int64(len(ids)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				lines[i] = r.log(ctx, root, ids[i])
			}
		})
	}
	group.Wait()
	var hits []Hit
	for i, line := range lines {
		if line != "" {
			hits = append(hits, Hit{ID: ids[i], Line: line})
		}
	}
	return hits, ctx.Err()
}

// sessionIDs lists the directories that may be sessions.
func sessionIDs(root *os.Root) (ids []string, err error) {
	dir, err := root.Open(sessionsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if _, err := ulid.ParseStrict(name); err == nil {
			ids = append(ids, name)
		}
	}
	return ids, err
}

// needle is what is searched: the text, and the part of it that must stand in
// the bytes of a line.
type needle struct {
	text string
	raw  []byte // ASCII, lower case
}

func newNeedle(text string) needle {
	quoted, _ := json.Marshal(text) // of a string it cannot fail
	n := needle{text: text}
	rest := quoted[1 : len(quoted)-1]
	for len(rest) > 0 {
		run := bytes.IndexFunc(rest, func(r rune) bool { return r >= utf8.RuneSelf || r == '\\' })
		if run < 0 {
			run = len(rest)
		}
		if run > len(n.raw) {
			n.raw = rest[:run]
		}
		rest = rest[min(len(rest), run+1):]
		if run < len(rest) && bytes.HasPrefix(rest, []byte("u00")) {
			rest = rest[len("u0000"):] // an escape, which the log may spell otherwise
		}
	}
	return n
}

// searcher looks through logs, one after the other, in the same memory.
type searcher struct {
	needle
	buf, low []byte
}

// log returns the first line of a log's messages that holds the text.
func (s *searcher) log(ctx context.Context, root *os.Root, id string) string {
	f, err := root.Open(filepath.Join(sessionPath(id), logName))
	if err != nil {
		return ""
	}
	defer f.Close()
	for held := 0; ctx.Err() == nil; {
		switch {
		case held == len(s.buf) && held >= maxLine:
			held = 0 // no entry of ours is so long
		case held == len(s.buf):
			s.buf = append(s.buf, make([]byte, held)...)
		}
		n, err := f.Read(s.buf[held:])
		held += n
		cut := bytes.LastIndexByte(s.buf[:held], '\n') + 1
		if err != nil {
			cut = held
		}
		if line := s.in(s.buf[:cut]); line != "" || err != nil {
			return line
		}
		held = copy(s.buf, s.buf[cut:held])
	}
	return ""
}

// in finds the text in whole lines of a log.
func (s *searcher) in(lines []byte) string {
	s.low = appendLower(s.low[:0], lines)
	low := s.low
	for at := 0; at < len(low); {
		hit := bytes.Index(low[at:], s.raw)
		if hit < 0 {
			return ""
		}
		hit += at
		from := bytes.LastIndexByte(low[:hit], '\n') + 1
		to := len(low)
		if end := bytes.IndexByte(low[hit:], '\n'); end >= 0 {
			to = hit + end
		}
		if line := s.said(lines[from:to]); line != "" {
			return line
		}
		at = to + 1
	}
	return ""
}

// appendLower appends a text with its ASCII letters in lower case.
func appendLower(to, text []byte) []byte {
	at := len(to)
	to = append(to, text...)
	for i, c := range to[at:] {
		if 'A' <= c && c <= 'Z' {
			to[at+i] = c + 'a' - 'A'
		}
	}
	return to
}

// said is the line around the text, where a message of the conversation holds it.
func (n needle) said(line []byte) string {
	if !bytes.Contains(line, []byte(`"kind":"message"`)) {
		return ""
	}
	l := newLineRead(line)
	if l.err != nil || l.entry.Kind != KindMessage || l.entry.Message.Parent != "" || l.entry.Message.Role == RoleTool {
		return ""
	}
	text := l.entry.Message.Text
	at := strings.Index(strings.ToLower(text), n.text)
	if at < 0 {
		return ""
	}
	at = min(at, len(text)-1) // lower case may be longer
	from := strings.LastIndexByte(text[:at], '\n') + 1
	for from < at-60 || !utf8.RuneStart(text[from]) {
		from++
	}
	return titleLine(text[from:])
}
