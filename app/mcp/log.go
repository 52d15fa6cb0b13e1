package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	keptLines  = 100             // of what a server says
	maxLine    = 500             // bytes of each
	toldEvery  = 2 * time.Second // between two lines for the person
	toldAtMost = 20              // lines for the person
)

// log keeps the last lines that a server said, on its standard error and as log
// messages. However much it says, no more is kept.
type log struct {
	mu    sync.Mutex
	lines []string
	last  string // of the standard error
	told  int
	at    time.Time
}

func (l *log) add(line string) {
	if line = plain(line); line == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == keptLines {
		copy(l.lines, l.lines[1:])
		l.lines = l.lines[:keptLines-1]
	}
	l.lines = append(l.lines, line)
}

// drain keeps what a program writes until it ends.
func (l *log) drain(r io.Reader) {
	in := bufio.NewReaderSize(r, 4096)
	for {
		line, more, err := in.ReadLine()
		text := strings.TrimSpace(string(line))
		for more && err == nil { // the rest of a long line is dropped
			_, more, err = in.ReadLine()
		}
		if text != "" {
			l.add(text)
			l.noteLast()
		}
		if err != nil {
			return
		}
	}
}

// noteLast keeps the newest line as the last one, unless an error stands there and
// the new one is none: stacks and hints follow their errors.
func (l *log) noteLast() {
	l.mu.Lock()
	defer l.mu.Unlock()
	says := func(line string) bool {
		line = strings.ToLower(line)
		return slices.ContainsFunc([]string{"error", "cannot", "failed", "denied", "not found"}, func(word string) bool { return strings.Contains(line, word) })
	}
	if line := l.lines[len(l.lines)-1]; says(line) || !says(l.last) {
		l.last = line
	}
}

// plain is a line of a server's words: one line, not too long, without what drives a
// terminal or hides.
func plain(line string) string {
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + " …"
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(line, "\uFFFD")))
}

func (l *log) lastLine() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// mayTell says whether the person is told one more line, and whether it is the last.
func (l *log) mayTell(now time.Time) (yes, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told == toldAtMost || now.Sub(l.at) < toldEvery {
		return false, false
	}
	l.told, l.at = l.told+1, now
	return true, l.told == toldAtMost
}

// logged takes a log message: it is kept, and the person is told of warnings and
// errors, not too many.
func (v *server) logged(_ context.Context, req *sdk.LoggingMessageRequest) {
	p := req.Params
	text, ok := p.Data.(string)
	if !ok {
		data, err := json.Marshal(p.Data)
		if err != nil {
			return // it came as JSON
		}
		text = string(data)
	}
	v.said.add(fmt.Sprintf("%s: %s", p.Level, text))
	switch p.Level {
	case "debug", "info", "notice":
		return
	}
	if yes, last := v.said.mayTell(time.Now()); yes {
		if text = plain(firstLine(text)); last {
			text += fmt.Sprintf(" (what else it says is in /mcp %s)", v.def.Name)
		}
		v.all.opts.Tell(true, fmt.Sprintf("the MCP server %s says: %s", v.def.Name, text))
	}
}
